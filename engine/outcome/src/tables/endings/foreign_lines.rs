//! Foreign lines: the last lines of a capture that are not of the tracer. The program printed them to the same terminal.
//!
//! ```text
//! openat("/etc/app.conf") ENOENT
//! app: cannot read its configuration        no call: what `write(2, …)` would say, if it had been traced
//! +++ exited with 3 +++
//!
//! puts("no configuration") = 17             ltrace: what a function of a library prints
//! ```

use super::lines_at;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::table;
use kit::table_support::provenance::Provenance;
use parsers::scan::string_end;
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

/// Builds the table, one row per line, in the order of the lines.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (number, capture) in (0u32..).zip(&context.trace.captures) {
        let places: Vec<LinePlace> = capture.foreign_lines.iter().collect();
        for (place, text) in places.iter().zip(lines_at(context, &places)) {
            let row = TableRow {
                capture: number,
                text: Some(shortened(&if capture.format == "ltrace" {
                    printed(&text)
                } else {
                    Cow::Borrowed(text.as_str())
                })),
                line: Some(i64::from(place.line)),
            };
            builder.add(row, Provenance::Rows(Vec::new()));
        }
    }
    builder.finish()
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
    use super::printed;

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
