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
                text: Some(shortened(if capture.format == "ltrace" {
                    printed(&text)
                } else {
                    &text
                })),
                line: Some(i64::from(place.line)),
            };
            builder.add(row, Provenance::Rows(Vec::new()));
        }
    }
    builder.finish()
}

/// The text that a function prints: `fprintf(0x7f20, "no %s\n", "key") = 7` prints `no %s`. Other lines are as they are.
fn printed(line: &str) -> &str {
    let is_first = |at: usize| line.get(..at).is_some_and(|front| !front.contains('"'));
    let start = line.find("(\"").or_else(|| line.find(", \""));
    let text = start.filter(|&at| is_first(at)).and_then(|at| {
        let rest = line.get(at..)?;
        rest.get(rest.find('"')? + 1..)
    });
    let Some(text) = text else {
        return line;
    };
    let text = text.get(..string_end(text.as_bytes())).unwrap_or(text);
    text.strip_suffix("\\n").unwrap_or(text)
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
            (r#"fprintf(0x7f20, "no %s\n", "key") = 7"#, "no %s"),
            (r#"puts("say \"no\"") = 9"#, r#"say \"no\""#),
            (r#"puts("cut"#, "cut"),
            ("hello", "hello"),
        ];
        for (line, text) in cases {
            assert_eq!(printed(line), text, "{line}");
        }
    }
}
