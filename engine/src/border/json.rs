//! Rows of a table as JSON, laid out as Python's `json` does with an indent of 2.

use crate::events::NONE;
use crate::table::{Table, Values};
use std::fmt::Write as _;
use std::ops::Range;

/// These rows as objects with these members, one after the other, inside the list that is a member of a document.
///
/// `quoted` has the words of each text column as JSON strings.
pub fn objects(table: &Table, columns: &[String], quoted: &[Vec<Option<String>>], rows: Range<usize>) -> String {
    let chosen: Vec<_> = columns.iter().zip(quoted).map(|(name, words)| (name, table.column(name), words)).collect();
    let mut text = String::new();
    for row in rows.clone() {
        text.push_str(if row == rows.start { "\n    {" } else { ",\n    {" });
        for (at, (name, values, words)) in chosen.iter().enumerate() {
            text.push_str(if at == 0 { "\n      \"" } else { ",\n      \"" });
            text.push_str(name);
            text.push_str("\": ");
            push(&mut text, *values, words, row);
        }
        text.push_str("\n    }");
    }
    text
}

fn push(text: &mut String, values: Option<&Values>, words: &[Option<String>], row: usize) {
    let some = match values {
        Some(Values::Int(values)) => values[row].map(|value| write!(text, "{value}")),
        Some(Values::Float(values)) => values[row].map(|value| push_float(text, value)),
        Some(Values::Bool(values)) => values[row].map(|value| write!(text, "{value}")),
        Some(Values::Text { keys, .. }) => {
            let word = Some(keys[row]).filter(|&key| key != NONE).and_then(|key| words[key as usize].as_ref());
            word.map(|word| text.write_str(word))
        }
        Some(Values::List(_)) | None => None,
    };
    // Writing to a String does not fail.
    if some.is_none() {
        text.push_str("null");
    }
}

/// As Python shows it: 0.5, 1.0, 2e-05.
fn push_float(text: &mut String, value: f64) -> std::fmt::Result {
    let scientific = format!("{value:e}");
    match scientific.split_once("e-").and_then(|(digits, exponent)| Some((digits, exponent.parse::<u32>().ok()?))) {
        Some((digits, exponent)) if exponent > 4 => write!(text, "{digits}e-{exponent:02}"),
        _ => write!(text, "{value:?}"),
    }
}
