//! The table that `truss -c` prints instead of events.
//!
//! In:   open                     .003      12       3
//! Out:  open, 12 calls, 3 failed, total 3000000 ns (CPU time)

use crate::format::Parsed;
use crate::line::{Extra, Line, LineKind, RunTime};
use crate::scan;
use crate::truss_common::{count, fields, summary_row};

/// A line of the table that cannot be anything else.
pub(super) fn is_sign(line: &[u8]) -> bool {
    let text = scan::trim(line);
    text.starts_with(b"sys totals:") || text.starts_with(b"usr time:") || is_header(text)
}

fn is_header(text: &[u8]) -> bool {
    let [first, second, third, ..] = fields(text);
    first == b"syscall" && second == b"seconds" && third == b"calls"
}

/// The name of the call in a row.
pub(super) fn row_name(line: &[u8]) -> Option<&[u8]> {
    let [first, second, third, ..] = fields(scan::trim(line));
    (seconds(second).is_some() && count(third).is_some()).then_some(first)
}

/// A line of a capture that is such a table.
pub(super) fn read(line: &[u8], parsed: &mut Parsed) -> Line {
    let text = scan::trim(line);
    let [first, second, third, fourth, fifth] = fields(text);
    if let Some(run_time) = run_time(text) {
        let mut line = Line::of(LineKind::SummaryTable);
        line.extra = parsed.keep(run_time);
        return line;
    }
    if is_sign(line) {
        return Line::of(LineKind::SummaryTable);
    }
    if !fifth.is_empty() {
        return Line::of(LineKind::Foreign);
    }
    if let (Some(total_ns), Some(calls)) = (seconds(second), count(third))
        && scan::name(first).is_some_and(|(_, rest)| rest.is_empty())
        && let Some(failed) = if fourth.is_empty() {
            Some(0)
        } else {
            count(fourth)
        }
    {
        return summary_row(first, calls, failed, total_ns, parsed);
    }
    let is_rule = text.ends_with(b"----");
    let is_total = [&b"total:"[..], b"elapsed:", b"Library:"]
        .iter()
        .any(|word| text.starts_with(word));
    let is_count = third.is_empty() && !first.ends_with(b":") && count(second).is_some();
    Line::of(if is_rule || is_total || is_count {
        LineKind::SummaryTable
    } else {
        LineKind::Foreign
    })
}

/// `sys totals:   9.956  125837  90955`, `usr time:   1.330`, `elapsed:   18.280`.
fn run_time(text: &[u8]) -> Option<Extra> {
    const TIMES: [(&[u8], RunTime); 3] = [
        (b"sys totals:", RunTime::System),
        (b"usr time:", RunTime::User),
        (b"elapsed:", RunTime::Wall),
    ];
    let (of, times) = TIMES
        .iter()
        .find_map(|&(name, of)| Some((of, text.strip_prefix(name)?)))?;
    let [first, ..] = fields(times);
    Some(Extra::RunTime(of, seconds(first)?))
}

/// Seconds; a zero before the point is not printed: `.003`.
fn seconds(field: &[u8]) -> Option<i64> {
    let (time_ns, rest) = match field.strip_prefix(b".") {
        Some(digits) => {
            let (value, rest) = scan::number(digits)?;
            let places = u32::try_from(digits.len() - rest.len())
                .ok()
                .filter(|&places| places <= 9)?;
            (value.checked_mul(10i64.pow(9 - places))?, rest)
        }
        None => scan::seconds(field)
            .filter(|found| found.1 > 0)
            .map(|(time_ns, _, rest)| (time_ns, rest))?,
    };
    rest.is_empty().then_some(time_ns)
}
