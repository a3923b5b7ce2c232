//! Last texts: what a process printed or received last, read again from the lines of its calls.
//!
//! ```text
//! write(2, "bind: Address already in use\n", 29) = 29          printed, descriptor 2
//! recvfrom(3, "HTTP/1.1 400 Bad Request\r\n…", 4096) = 170       received
//! ```

use super::{EndedProcess, kdump_data, lines_of, processes};
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use parsers::Outcome;
use parsers::syscalls::Transfer;
use trace::store::event::EventKind;

table! {
    last_texts "What these processes printed or received last.";
    times: Calls;
    row {
        of: OfTask { program "Program." },
        printed: Flag "Whether the process printed it; otherwise it received it.",
        fd: Number (Same) "Descriptor.",
        target: Text "What the descriptor belongs to.",
        text: Words "The text, as far as the tracer printed it.",
        lines: Lines {
            first_line "Line of the first one.",
            last_line "Line of the last one.",
        },
    }
}

/// The last calls of each process that move data and are read again, in each direction.
const MAX_CALLS: usize = 96;
/// Bytes of a text that are kept.
const MAX_BYTES: usize = 400;

/// A text that a call moved.
struct MovedText {
    row: u32,
    last_row: u32,
    is_printed: bool,
    fd: i64,
    text: String,
    /// Length of what its first call printed.
    first_len: usize,
    /// Whether a line ends with it. Of a text that the tracer cut, that is not known.
    is_whole: bool,
    /// Whether the tracer cut it.
    is_cut: bool,
}

/// Whether a text looks like the rest of a line: a message would begin with the name of its program, or a capital letter.
fn goes_on(text: &str) -> bool {
    text.starts_with(|char: char| !char.is_uppercase() && !char.is_control())
        && !text.contains(": ")
        && !text.trim_end().contains('\n')
}

impl MovedText {
    /// Whether a text of the same descriptor belongs to the same line.
    fn is_continued_by(&self, text: &str) -> bool {
        // Of a text that the tracer cut, a line may end with it: one begins as that before began.
        let begins_anew =
            self.is_cut && self.text.len() > self.first_len && text == &self.text[..self.first_len];
        let is_open = !self.is_whole || self.is_cut && goes_on(text);
        is_open && !begins_anew && self.text.len() < MAX_BYTES
    }
}

/// Builds the table, one row per text, in the order of the lines of each process.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for process in processes(context) {
        for text in texts(context, &process) {
            write(context, &text, &mut builder);
        }
    }
    builder.finish()
}

fn texts(context: &TableContext<'_>, process: &EndedProcess) -> Vec<MovedText> {
    let mut rows: Vec<(u32, bool)> = Vec::new();
    for (is_printed, wanted) in [(true, Transfer::Write), (false, Transfer::Read)] {
        rows.extend(
            last_rows(context, process, wanted)
                .into_iter()
                .map(|row| (row, is_printed)),
        );
    }
    rows.sort_unstable();
    let only_rows: Vec<u32> = rows.iter().map(|&(row, _)| row).collect();
    let lines = lines_of(context, &only_rows);
    let data = kdump_data::of_calls(context, &only_rows);
    let mut found: Vec<MovedText> = Vec::new();
    for ((&(row, is_printed), line), data) in rows.iter().zip(&lines).zip(data) {
        let Some(text) = moved(context, row, is_printed, line, data) else {
            continue;
        };
        match found
            .iter_mut()
            .rev()
            .find(|known| known.is_printed && known.fd == text.fd)
        {
            // Programs without a buffer print a line in several calls.
            Some(known) if is_printed && known.is_continued_by(&text.text) => {
                known.text.push_str(&text.text);
                (known.is_whole, known.is_cut) = (text.is_whole, text.is_cut);
                known.last_row = row;
            }
            _ => found.push(text),
        }
    }
    // A part of a line may be a blank or a digit.
    found.retain(|text| is_text(&text.text));
    found
}

/// The last calls of a process that move data in this direction, in order.
fn last_rows(context: &TableContext<'_>, process: &EndedProcess, wanted: Transfer) -> Vec<u32> {
    let events = &context.trace.events;
    let mut rows: Vec<u32> = Vec::new();
    for &task in &process.tasks {
        let moves = |&row: &u32| {
            events.kind(row) == EventKind::Call
                && events.action(row).transfer() == Some(wanted)
                && has_text(wanted, events.outcome(row), events.ret(row))
        };
        rows.extend(context.calls_of(task).rev().filter(moves).take(MAX_CALLS));
    }
    rows.sort_unstable();
    rows.split_off(rows.len().saturating_sub(MAX_CALLS))
}

/// Whether a call shows a text. What a program could not print, because nobody takes it, it meant to say.
fn has_text(wanted: Transfer, outcome: Outcome, moved: i64) -> bool {
    let is_moved = outcome == Outcome::Ok && moved != 0;
    is_moved || (wanted == Transfer::Write && matches!(outcome, Outcome::Failed | Outcome::Open))
}

/// The text that a call moved, if it is one that people read: printed on the standard streams, sent to the system's log,
/// or received from a peer.
fn moved(
    context: &TableContext<'_>,
    row: u32,
    is_printed: bool,
    line: &str,
    data: Option<String>,
) -> Option<MovedText> {
    let events = &context.trace.events;
    let syscall = events.texts.string(events.shape(row).syscall);
    let args = args_from(line, &syscall)?;
    let fd = descriptor(args)?;
    let (text, is_whole) = data.map_or_else(|| literals(args), |text| (text, true));
    let is_log = is_printed
        && text.starts_with('<')
        && text[1..].starts_with(|char: char| char.is_ascii_digit());
    // Descriptor 0 of a service is its connection to the client.
    let is_stream = (0..=2).contains(&fd) || is_log || is_terminal(context, row);
    let is_message = syscall.starts_with("recv") || !is_file(context, row);
    let is_readable = is_printable(&text) && if is_printed { is_stream } else { is_message };
    is_readable.then(|| MovedText {
        row,
        last_row: row,
        is_printed,
        fd,
        is_whole: !is_whole || text.ends_with('\n'),
        is_cut: !is_whole,
        first_len: text.len(),
        text,
    })
}

/// Whether a call works on a terminal or a copy of a standard stream.
fn is_terminal(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let target = events.texts.bytes(events.target(row));
    matches!(target, b"stdout" | b"stderr" | b"/dev/tty") || target.starts_with(b"/dev/pts/")
}

/// Whether a call reads a file.
fn is_file(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    events.texts.bytes(events.target(row)).starts_with(b"/")
}

/// What follows the name of the call and its parenthesis. Second halves begin after `resumed>`.
pub(super) fn args_from<'line>(line: &'line str, syscall: &str) -> Option<&'line str> {
    let from = line.find(&format!("{syscall}("))? + syscall.len() + 1;
    line.get(from..)
}

/// The number of the descriptor that is the first argument.
pub(super) fn descriptor(args: &str) -> Option<i64> {
    let args = args.trim_start();
    let hex = args.strip_prefix("0x");
    let digits = hex.unwrap_or(args);
    let radix = if hex.is_some() { 16 } else { 10 };
    let end = digits
        .find(|char: char| !char.is_digit(radix))
        .unwrap_or(digits.len());
    i64::from_str_radix(&digits[..end], radix).ok()
}

/// The strings among the arguments, joined, and whether the tracer printed them in full.
fn literals(args: &str) -> (String, bool) {
    let bytes = args.as_bytes();
    let (mut text, mut at, mut is_whole) = (Vec::new(), 0, true);
    while let Some(found) = memchr::memchr(b'"', &bytes[at..]) {
        let from = at + found + 1;
        let len = parsers::scan::string_end(&bytes[from..]);
        unescaped(&bytes[from..(from + len).min(bytes.len())], &mut text);
        at = (from + len + 1).min(bytes.len());
        is_whole &= !bytes[at..].starts_with(b"...") && !bytes[at..].starts_with(b"..");
        if text.len() >= MAX_BYTES {
            break;
        }
    }
    text.truncate(MAX_BYTES);
    let mut text = String::from_utf8_lossy(&without_gaps(text)).into_owned();
    if !is_whole {
        text.push('…');
    }
    (text, is_whole)
}

/// The bytes of each string among the arguments.
pub(super) fn literal_bytes(args: &str) -> Vec<Vec<u8>> {
    let bytes = args.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(quote) = memchr::memchr(b'"', &bytes[at..]) {
        let from = at + quote + 1;
        let len = parsers::scan::string_end(&bytes[from..]);
        let mut text = Vec::new();
        unescaped(&bytes[from..(from + len).min(bytes.len())], &mut text);
        found.push(text);
        at = (from + len + 1).min(bytes.len());
    }
    found
}

/// Solaris truss prints a blank before each character.
fn without_gaps(text: Vec<u8>) -> Vec<u8> {
    let has_gaps = text.len() >= 8 && text.iter().step_by(2).all(|&byte| byte == b' ');
    if has_gaps {
        text.into_iter().skip(1).step_by(2).collect()
    } else {
        text
    }
}

/// Resolve the escapes of C.
fn unescaped(printed: &[u8], text: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(&byte) = printed.get(at) {
        at += 1;
        if byte != b'\\' {
            text.push(byte);
            continue;
        }
        let Some(&escape) = printed.get(at) else {
            break;
        };
        at += 1;
        match escape {
            b'n' => text.push(b'\n'),
            b't' => text.push(b'\t'),
            b'r' => text.push(b'\r'),
            b'x' => {
                let digits = digits_at(printed, at, 2, 16);
                text.push(number(&printed[at..at + digits], 16));
                at += digits;
            }
            b'0'..=b'7' => {
                let digits = digits_at(printed, at - 1, 3, 8);
                text.push(number(&printed[at - 1..at - 1 + digits], 8));
                at += digits - 1;
            }
            b'v' | b'f' | b'a' | b'b' | b'e' => text.push(b' '),
            other => text.push(other),
        }
    }
}

fn digits_at(printed: &[u8], at: usize, most: usize, radix: u32) -> usize {
    let digits = printed.get(at..).unwrap_or(&[]).iter().take(most);
    digits
        .take_while(|&&byte| char::from(byte).is_digit(radix))
        .count()
}

fn number(digits: &[u8], radix: u32) -> u8 {
    digits.iter().fold(0u32, |sum, &byte| {
        sum * radix + char::from(byte).to_digit(radix).unwrap_or(0)
    }) as u8
}

/// Whether people can read it.
fn is_text(text: &str) -> bool {
    text.chars().any(char::is_alphabetic) && is_printable(text)
}

/// Data of protocols and of files has other bytes in between. Some text may lie within them.
fn is_printable(text: &str) -> bool {
    let printable = text
        .chars()
        .filter(|char| !char.is_control() || char.is_whitespace())
        .count();
    let all = text.chars().count();
    all > 0 && printable * 2 >= all
}

fn write(context: &TableContext<'_>, moved: &MovedText, builder: &mut TableBuilder<'_>) {
    let events = &context.trace.events;
    let row = TableRow {
        of: TaskAt {
            task: events.task(moved.row),
            row: moved.row,
        },
        printed: moved.is_printed,
        fd: moved.fd,
        target: events.target(moved.row),
        text: Some(moved.text.to_owned()),
        lines: LinesOf {
            first_row: moved.row,
            last_row: moved.last_row,
        },
    };
    builder.add(row, Provenance::Rows(vec![moved.row]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_the_program_printed_them() {
        let cases = [
            (r#"2, "no such \"x\"\n", 14) = 14"#, "no such \"x\"\n", true),
            (
                r#"2, "a long line of tex"..., 99) = 99"#,
                "a long line of tex…",
                false,
            ),
            (
                r#"2</dev/pts/1>, [{iov_base="a: ", iov_len=3}, {iov_base="b\n", iov_len=2}], 2) = 5"#,
                "a: b\n",
                true,
            ),
            (
                r#"2, " c a n n o t   o p e n", 11) = 11"#,
                "cannot open",
                true,
            ),
            (r#"2, "\303\244\x21\0", 4) = 4"#, "ä!\0", true),
        ];
        for (args, text, is_whole) in cases {
            assert_eq!(literals(args), (text.to_owned(), is_whole), "{args}");
            assert_eq!(descriptor(args), Some(2));
        }
        assert_eq!(descriptor("0x2, \"x\""), Some(2));
        assert_eq!(descriptor("NULL"), None);
    }

    #[test]
    fn binary_data_is_not_text() {
        assert!(is_text("HTTP/1.1 400 Bad Request\r\n"));
        assert!(!is_text("\u{1}\u{0}\u{0}\u{4}ab"));
        assert!(!is_text("12 34"));
    }
}
