//! Foreign lines: the last lines of a capture that are not of the tracer. The program printed them to the same terminal.
//!
//! ```text
//! openat("/etc/app.conf") ENOENT
//! app: cannot read its configuration        no call: what `write(2, …)` would say, if it had been traced
//! +++ exited with 3 +++
//!
//! puts("no configuration") = 17             ltrace: what a function of a library prints
//! wait4(-1, cc: no input files              what a child prints while its parent waits: the line of the call goes on after it
//! ```

use super::texts::args_from;
use super::{lines_at, lines_of, processes};
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::table;
use kit::table_support::provenance::Provenance;
use parsers::scan::string_end;
use parsers::syscalls::Action;
use std::borrow::Cow;
use trace::store::recent_lines::LinePlace;

table! {
    foreign_lines "The last lines that are not of the tracer: output of the program, prose.";
    times: Calls;
    row {
        capture: Capture "Number of the capture.",
        text: Words "The text, as far as it is kept.",
        line: LastLineNumber "Its line.",
    }
}

/// Characters of a text that are kept, at its start and at its end.
const MAX_CHARACTERS: usize = 300;

/// The last waits of each task that are read again.
const MAX_WAITS: usize = 8;

/// Builds the table, one row per line, in the order of the lines.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (number, capture) in (0u32..).zip(&context.trace.captures) {
        let places: Vec<LinePlace> = capture.foreign_lines.iter().collect();
        let texts = lines_at(context, &places);
        let lines = places.iter().map(|place| place.line).zip(texts);
        let mut all: Vec<(u32, String)> = if capture.format == "ltrace" {
            lines
                .map(|(line, text)| (line, printed(&text).into_owned()))
                .collect()
        } else {
            lines.collect()
        };
        if capture.format == "strace" {
            all.extend(within_waits(context, number));
            all.sort_by_key(|&(line, _)| line);
        }
        for (line, text) in all {
            let row = TableRow {
                capture: number,
                text: Some(shortened(&text)),
                line: Some(i64::from(line)),
            };
            builder.add(row, Provenance::Rows(Vec::new()));
        }
    }
    builder.finish()
}

/// What children printed into the lines of the last calls that wait for them.
fn within_waits(context: &TableContext<'_>, capture: u32) -> Vec<(u32, String)> {
    let events = &context.trace.events;
    let mut rows: Vec<u32> = Vec::new();
    for process in processes(context) {
        for task in process.tasks {
            let is_wait = |row: &u32| {
                let action = events.action(*row);
                matches!(action, Action::WaitsForChild | Action::WaitsForChildInfo)
            };
            let waits = context.calls_of(task).rev().filter(is_wait);
            let is_own = context.trace.tasks[task].capture == capture;
            rows.extend(waits.take(if is_own { MAX_WAITS } else { 0 }));
        }
    }
    let lines = lines_of(context, &rows);
    let named = rows.iter().zip(&lines).filter_map(|(&row, line)| {
        let syscall = events.texts.string(events.shape(row).syscall);
        let text = printed_into(args_from(line, &syscall)?)?;
        Some((events.line(row), text.to_owned()))
    });
    named.collect()
}

/// The text that interrupts the arguments of a wait, none of which is a word: `-1, cc: no input files`.
fn printed_into(args: &str) -> Option<&str> {
    let (_, text) = args.split_once(", ")?;
    let is_argument = text.contains([')', '{', '[', '<']) || !text.contains(' ');
    (!is_argument).then(|| text.trim_end())
}

/// The text that a function prints: `fprintf(0x7f20, "no %s\n", "key") = 6` prints `no key`, as far as the tracer shows what
/// is put in. Calls that print nothing, and other lines, are as they are.
fn printed(line: &str) -> Cow<'_, str> {
    let body = line.get(..line.find('(').unwrap_or(0)).unwrap_or("");
    let name = body.rsplit([' ', '>']).next().unwrap_or("");
    let mut strings = Strings { rest: line };
    match name {
        // What this returns is printed by others.
        "strerror" => strings.last().map_or(line.into(), Cow::Borrowed),
        _ if !PRINTING.iter().any(|part| name.contains(part)) => line.into(),
        _ => {
            let Some(format) = strings.next() else {
                return line.into();
            };
            let format = format.strip_suffix("\\n").unwrap_or(format);
            filled(format, strings)
        }
    }
}

/// Parts of the names of functions that print.
const PRINTING: [&str; 6] = ["put", "print", "err", "warn", "syslog", "log"];

/// A format with the strings that follow it in place of its `%s`.
fn filled<'a>(format: &'a str, mut strings: Strings<'a>) -> Cow<'a, str> {
    if !format.contains("%s") {
        return format.into();
    }
    let mut parts = format.split("%s");
    let mut text = parts.next().unwrap_or("").to_owned();
    for part in parts {
        text += strings.next().unwrap_or("%s");
        text += part;
    }
    text.into()
}

/// The quoted strings of a line, in order.
struct Strings<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Strings<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let quoted = self.rest.get(self.rest.find('"')? + 1..)?;
        let end = string_end(quoted.as_bytes());
        self.rest = quoted.get(end + 1..).unwrap_or("");
        quoted.get(..end).or(Some(quoted))
    }
}

/// The start of a text and its end, which often says most.
fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= 2 * MAX_CHARACTERS {
        return text.to_owned();
    }
    let start = text.chars().take(MAX_CHARACTERS);
    let end = text.chars().skip(length - MAX_CHARACTERS);
    start.chain(['…']).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::{printed, printed_into};

    #[test]
    fn a_child_prints_into_the_wait_of_its_parent() {
        let cases = [
            ("-1, cc: no input files", Some("cc: no input files")),
            (
                "-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 7",
                None,
            ),
            ("-1,  <unfinished ...>", None),
            ("-1, NULL", None),
            ("-1", None),
        ];
        for (args, text) in cases {
            assert_eq!(printed_into(args), text, "{args}");
        }
    }

    #[test]
    fn a_function_prints_its_first_text() {
        let cases = [
            (r#"7 puts("no key") = 7"#, "no key"),
            (r#"fprintf(0x7f20, "no %s\n", "key") = 7"#, "no key"),
            (
                r#"__printf_chk(1, "%s: no %d %s", "app") = 7"#,
                "app: no %d %s",
            ),
            (
                r#"strerror(111) = "Connection refused""#,
                "Connection refused",
            ),
            (
                r#"fopen("/etc/key", "r") = 0"#,
                r#"fopen("/etc/key", "r") = 0"#,
            ),
            (r#"puts("say \"no\"") = 9"#, r#"say \"no\""#),
            (r#"puts("cut"#, "cut"),
            ("hello", "hello"),
        ];
        for (line, text) in cases {
            assert_eq!(printed(line), text, "{line}");
        }
    }
}
