//! The table that `truss -c` prints instead of events. Its seconds are wall time, although the manual describes them
//! differently.
//!
//! In:   open                    0.000101200      12       3
//! Out:  open, 12 calls, 3 failed, total 101200 ns

use crate::format::Parsed;
use crate::line::{Line, LineKind};
use crate::scan;
use crate::truss_common::{count, fields, summary_row};

/// The header of the table.
pub(super) fn is_header(line: &[u8]) -> bool {
    let [first, second, third, fourth, fifth] = fields(line);
    first == b"syscall"
        && second == b"seconds"
        && third == b"calls"
        && fourth == b"errors"
        && fifth.is_empty()
}

/// A row or the total. Nine decimals distinguish this table from those of other systems.
pub(super) fn is_row(line: &[u8]) -> bool {
    let [first, second, third, fourth, fifth] = fields(line);
    let total = seconds(first).is_some()
        && count(second).is_some()
        && count(third).is_some()
        && fourth.is_empty();
    let row = seconds(second).is_some()
        && count(third).is_some()
        && count(fourth).is_some()
        && fifth.is_empty();
    total || row && !first.first().is_some_and(u8::is_ascii_digit)
}

/// A line of a capture that is such a table.
pub(super) fn read(line: &[u8], parsed: &mut Parsed) -> Line {
    let [first, second, third, fourth, _] = fields(line);
    let is_rule = first.starts_with(b"---")
        && line
            .iter()
            .all(|byte| matches!(byte, b'-' | b' ' | b'\t' | b'\r'));
    if is_header(line) || is_rule {
        return Line::of(LineKind::SummaryTable);
    }
    if !is_row(line) {
        return Line::of(if line.starts_with(b"truss: ") {
            LineKind::Notice
        } else {
            LineKind::Foreign
        });
    }
    match (seconds(second), count(third), count(fourth)) {
        (Some(total_ns), Some(calls), Some(failed)) => {
            summary_row(first, calls, failed, total_ns, parsed)
        }
        // The total.
        _ => Line::of(LineKind::SummaryTable),
    }
}

fn seconds(field: &[u8]) -> Option<i64> {
    let (ns, places, rest) = scan::seconds(field)?;
    (places == 9 && rest.is_empty()).then_some(ns)
}
