//! The tables of `perf trace -s` and `-S`, one for each thread.
//!
//! In:      clone3                 2      1     0.178     0.081     0.089     0.097      9.04%
//! Out:  clone3, 2 calls, 1 failed, total 178000 ns

use crate::format::Parsed;
use crate::line::{Extra, Line, LineKind};
use crate::scan;

/// The line before the tables.
pub(super) fn is_title(line: &[u8]) -> bool {
    scan::trim(line) == b"Summary of events:"
}

/// A line of a table.
pub(super) fn read(line: &[u8], parsed: &mut Parsed) -> Option<Line> {
    let text = scan::trim(line);
    if let Some(row) = row(text, parsed) {
        return Some(row);
    }
    let is_head = text.starts_with(b"syscall ") && text.ends_with(b"stddev")
        || text.starts_with(b"(msec)")
        || text.starts_with(b"--------");
    (is_head || is_title(line) || is_thread(text) || is_error(line))
        .then(|| Line::of(LineKind::SummaryTable))
}

/// ` t (28663), 98 events, 62.8%`
fn is_thread(text: &[u8]) -> bool {
    text.ends_with(b"%")
        && memchr::memmem::find(text, b" events, ").is_some()
        && text.contains(&b'(')
}

/// `ENOENT: 2` after tabs, of --errno-summary.
fn is_error(line: &[u8]) -> bool {
    let Some(text) = line.strip_prefix(b"\t\t").map(scan::trim) else {
        return false;
    };
    let Some((name, rest)) = scan::name(text) else {
        return false;
    };
    name.starts_with(b"E")
        && rest
            .strip_prefix(b": ")
            .and_then(scan::number)
            .is_some_and(|(_, rest)| rest.is_empty())
}

/// Versions before 5.9 have no column for failed calls.
fn row(text: &[u8], parsed: &mut Parsed) -> Option<Line> {
    let mut fields = text
        .split(|&byte| byte == b' ')
        .filter(|field| !field.is_empty());
    let name = fields
        .next()
        .filter(|name| scan::name(name).is_some_and(|(_, rest)| rest.is_empty()))?;
    let calls = count(fields.next()?)?;
    let third = fields.next()?;
    let (failed, total_ns) = match count(third) {
        Some(failed) => (failed, milliseconds(fields.next()?)?),
        None => (0, milliseconds(third)?),
    };
    if !text.ends_with(b"%") || fields.count() != 4 {
        return None;
    }
    let mut line = Line::of(LineKind::SummaryTable);
    line.name = parsed.texts.add(name);
    line.extra = parsed.keep(Extra::SummaryRow {
        calls,
        failed,
        total_ns,
    });
    Some(line)
}

fn count(field: &[u8]) -> Option<u64> {
    scan::number(field)
        .filter(|(_, rest)| rest.is_empty())
        .map(|(value, _)| value as u64)
}

fn milliseconds(field: &[u8]) -> Option<i64> {
    let (time_ns, digits, rest) = scan::seconds(field)?;
    (digits == 3 && rest.is_empty()).then_some(time_ns / 1000)
}
