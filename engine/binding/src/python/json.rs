//! Rows of a table as JSON, a line for each, in the words that Python's `json` uses.

use std::fmt::Write as _;
use std::ops::Range;
use trace::parallel;
use trace::store::event::NONE;
use trace::store::table::{Table, Values};

/// Code points that are never printed as they are: first and last of each range.
pub type Hidden = [(u32, u32)];

/// Rows that one core writes at a time.
const ROWS_AT_ONCE: usize = 1024;

/// The columns of objects by their names, and what separates them.
struct Objects<'all> {
    columns: Vec<(&'all str, Option<&'all Values>)>,
    hidden: &'all Hidden,
    comma: &'static str,
    colon: &'static str,
}

/// These rows as objects with these members, one after the other, inside the list that is a member of a document.
pub fn objects(table: &Table, columns: &[String], hidden: &Hidden, rows: Range<usize>) -> String {
    let named = columns.iter();
    let objects = Objects {
        columns: named
            .map(|name| (name.as_str(), table.column(name)))
            .collect(),
        hidden,
        comma: ", ",
        colon: ": ",
    };
    let first = rows.start;
    in_parts(rows, |text, row| {
        text.push_str(if row == first { "\n    " } else { ",\n    " });
        objects.push(text, row);
    })
}

/// All rows as objects with all columns, one per line.
pub fn lines(table: &Table, hidden: &Hidden) -> String {
    let all = table.columns.iter();
    let objects = Objects {
        columns: all
            .map(|(name, values)| (name.as_str(), Some(values)))
            .collect(),
        hidden,
        comma: ",",
        colon: ":",
    };
    in_parts(0..table.len(), |text, row| {
        objects.push(text, row);
        text.push('\n');
    })
}

/// What `push` writes of each row, on all cores.
fn in_parts(rows: Range<usize>, push: impl Fn(&mut String, usize) + Sync) -> String {
    let starts: Vec<usize> = rows.clone().step_by(ROWS_AT_ONCE).collect();
    let parts = parallel::map(&starts, |&start| {
        let mut text = String::new();
        (start..rows.end.min(start + ROWS_AT_ONCE)).for_each(|row| push(&mut text, row));
        text
    });
    parts.concat()
}

impl Objects<'_> {
    fn push(&self, text: &mut String, row: usize) {
        for (at, (name, values)) in self.columns.iter().enumerate() {
            text.push_str(if at == 0 { "{" } else { self.comma });
            text.push('"');
            text.push_str(name);
            text.push('"');
            text.push_str(self.colon);
            push(text, *values, self.hidden, row);
        }
        text.push('}');
    }
}

fn push(text: &mut String, values: Option<&Values>, hidden: &Hidden, row: usize) {
    let some = match values {
        Some(Values::Int(values)) => values[row].map(|value| push_int(text, value)),
        Some(Values::Float(values)) => values[row].map(|value| push_float(text, value)),
        Some(Values::Bool(values)) => {
            values[row].map(|value| text.push_str(if value { "true" } else { "false" }))
        }
        Some(Values::Text { keys, words }) => {
            let word = Some(keys[row])
                .filter(|&key| key != NONE)
                .and_then(|key| words.get(key as usize));
            word.map(|word| push_string(text, word, hidden))
        }
        Some(Values::List(_)) | None => None,
    };
    if some.is_none() {
        text.push_str("null");
    }
}

fn push_int(text: &mut String, value: i64) {
    const DIGITS: usize = 20;
    let (mut digits, mut at, mut left) = ([0u8; DIGITS], DIGITS, value.unsigned_abs());
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if value < 0 {
        text.push('-');
    }
    digits[at..]
        .iter()
        .for_each(|&digit| text.push(char::from(digit)));
}

/// As Python shows it: 0.5, 1.0, 2e-05.
fn push_float(text: &mut String, value: f64) {
    const SMALLEST_PLAIN: f64 = 1e-4;
    // Writing to a String does not fail.
    if value == 0.0 || value.abs() >= SMALLEST_PLAIN {
        let _ = write!(text, "{value:?}");
        return;
    }
    let from = text.len();
    let _ = write!(text, "{value:e}");
    if let Some(digit) = text[from..]
        .find("e-")
        .map(|at| from + at + 2)
        .filter(|&digit| digit + 1 == text.len())
    {
        text.insert(digit, '0');
    }
}

fn push_string(text: &mut String, word: &str, hidden: &Hidden) {
    text.push('"');
    let mut plain = 0;
    let special = |byte: u8| !(0x20..0x7F).contains(&byte) || byte == b'"' || byte == b'\\';
    if word.bytes().any(special) {
        for (at, letter) in word.char_indices() {
            let code = letter as u32;
            let is_hidden = code >= 0x7F
                && hidden
                    .iter()
                    .any(|&(first, last)| (first..=last).contains(&code));
            if code < 0x20 || is_hidden || matches!(letter, '"' | '\\') {
                text.push_str(&word[plain..at]);
                push_escaped(text, letter);
                plain = at + letter.len_utf8();
            }
        }
    }
    text.push_str(&word[plain..]);
    text.push('"');
}

fn push_escaped(text: &mut String, letter: char) {
    match letter {
        '"' => text.push_str("\\\""),
        '\\' => text.push_str("\\\\"),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        '\u{8}' => text.push_str("\\b"),
        '\u{c}' => text.push_str("\\f"),
        // JSON has 16 bits for an escape: others are two surrogates.
        _ => {
            for half in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{half:04x}");
            }
        }
    }
}
