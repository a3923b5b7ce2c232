//! Foreign lines: the last lines of a capture that are not of the tracer. The program printed them to the same terminal.
//!
//! ```text
//! openat("/etc/app.conf") ENOENT
//! app: cannot read its configuration        no call: what `write(2, …)` would say, if it had been traced
//! +++ exited with 3 +++
//! ```

use super::lines_at;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::table;
use kit::table_support::provenance::Provenance;
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
                text: Some(shortened(&text)),
                line: Some(i64::from(place.line)),
            };
            builder.add(row, Provenance::Rows(Vec::new()));
        }
    }
    builder.finish()
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
