//! What stands before a call in the log of gVisor, and the duration at the end.
//!
//! ```text
//! In:   I0928 00:18:54.794008     365 strace.go:593] [   6:   7] npm init E close(0x3)
//! Out:  since new year 28 Sep 00:18:54.794008; pid 6, tid 7 of `npm init`; enters close, `0x3)`
//! ```

use crate::kernel_log::date::since_new_year;
use crate::line::{NO_ID, NO_NS};
use crate::scan;

/// Linux keeps 15 bytes of a name.
const MAX_COMM_BYTES: usize = 16;
/// The name of a source file with the number of a line is not longer.
const MAX_SOURCE_BYTES: usize = 60;
/// No duration has more characters.
const MAX_DURATION_BYTES: usize = 32;

/// A line, split.
pub(super) struct GvisorLine<'a> {
    /// Since the first of January of a leap year; [`NO_NS`] if the line has no time.
    pub stamp_ns: i64,
    /// The process, [`NO_ID`] where only the thread is printed.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// The name of the program.
    pub comm: &'a [u8],
    /// What it is.
    pub event: GvisorEvent<'a>,
}

/// The kind of a line.
#[derive(Clone, Copy)]
pub(super) enum GvisorEvent<'a> {
    /// A call begins: its name, and the text after the parenthesis.
    Enters(&'a [u8], &'a [u8]),
    /// The same for its return.
    Returns(&'a [u8], &'a [u8]),
    /// Another line of the log.
    Other,
}

/// Split a line; `None` if it is not one of this log.
pub(super) fn read(line: &[u8]) -> Option<GvisorLine<'_>> {
    let line = scan::trim_end(line);
    let (stamp_ns, rest) = match logged_at(line) {
        Some(found) => found,
        None => (NO_NS, line),
    };
    let after = match source(rest) {
        Some(after) => after,
        None if stamp_ns == NO_NS => rest,
        None => return None,
    };
    if let Some(call) = of_call(after) {
        return Some(GvisorLine { stamp_ns, ..call });
    }
    let is_logged = stamp_ns != NO_NS || after.len() < rest.len();
    is_logged.then_some(GvisorLine {
        stamp_ns,
        pid: NO_ID,
        tid: NO_ID,
        comm: b"",
        event: GvisorEvent::Other,
    })
}

/// Whether a text begins like a line of this log, wherever it was cut.
pub(super) fn begins(line: &[u8]) -> bool {
    logged_at(line).is_some()
}

/// `I0928 00:18:54.794008     365 `: level, day, time and process of the log. Returns the time and the rest.
fn logged_at(line: &[u8]) -> Option<(i64, &[u8])> {
    let (level, rest) = line.split_first()?;
    let (number, after) = scan::number(rest)?;
    let has_day = b"DIWEF".contains(level) && rest.len() - after.len() == 4;
    let (time_ns, digits, rest) = scan::time_of_day(after.strip_prefix(b" ")?)?;
    let (_, rest) = scan::number(scan::skip_blanks(rest))?;
    let stamp_ns = since_new_year(number / 100, number % 100, time_ns)?;
    (has_day && digits == 6).then_some((stamp_ns, rest.strip_prefix(b" ")?))
}

/// The text after `strace.go:593] `.
fn source(text: &[u8]) -> Option<&[u8]> {
    let at = memchr::memmem::find(text.get(..MAX_SOURCE_BYTES).unwrap_or(text), b".go:")?;
    if text[..at]
        .iter()
        .any(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
    {
        return None;
    }
    let (_, rest) = scan::number(text.get(at + 4..)?)?;
    rest.strip_prefix(b"] ")
}

/// `[   6:   7] npm init E close(…`, or with the thread only.
fn of_call(text: &[u8]) -> Option<GvisorLine<'_>> {
    let inside = scan::skip_blanks(text.strip_prefix(b"[")?);
    if let Some(inside) = inside.strip_prefix(b"pid ") {
        return of_nameless_call(inside);
    }
    let (first, rest) = scan::number(inside)?;
    let first = i32::try_from(first).ok()?;
    let (pid, tid, rest) = match rest.strip_prefix(b":") {
        Some(rest) => {
            let (tid, rest) = scan::number(scan::skip_blanks(rest))?;
            (first, i32::try_from(tid).ok()?, rest)
        }
        None => (NO_ID, first, rest),
    };
    let (comm, event) = event(rest.strip_prefix(b"] ")?)?;
    Some(GvisorLine {
        stamp_ns: NO_NS,
        pid,
        tid,
        comm,
        event,
    })
}

/// `[pid 3850] E close(…`: the strace of u-root prints calls in this form, without the name of the program.
fn of_nameless_call(inside: &[u8]) -> Option<GvisorLine<'_>> {
    let (tid, rest) = scan::number(inside)?;
    let call = rest.strip_prefix(b"]")?;
    let (comm, event) = event(call)?;
    Some(GvisorLine {
        stamp_ns: NO_NS,
        pid: NO_ID,
        tid: i32::try_from(tid).ok()?,
        comm,
        event,
    })
    .filter(|line| line.comm.is_empty())
}

/// The name of the program, which may contain blanks, and the call.
fn event(text: &[u8]) -> Option<(&[u8], GvisorEvent<'_>)> {
    let near = text.get(..MAX_COMM_BYTES + 3).unwrap_or(text);
    memchr::memchr2_iter(b'E', b'X', near).find_map(|at| {
        let comm = text.get(..at)?.strip_suffix(b" ")?;
        let (name, rest) = scan::name(text.get(at + 1..)?.strip_prefix(b" ")?)?;
        let rest = rest.strip_prefix(b"(")?;
        let event = if text[at] == b'E' {
            GvisorEvent::Enters(name, rest)
        } else {
            GvisorEvent::Returns(name, rest)
        };
        Some((comm, event))
    })
}

/// ` (11.709µs)` at the end: the text before it, and the duration.
pub(super) fn duration(text: &[u8]) -> Option<(&[u8], i64)> {
    let inside = text.strip_suffix(b")")?;
    let near = inside.len().saturating_sub(MAX_DURATION_BYTES);
    let open = near + memchr::memrchr(b'(', inside.get(near..)?)?;
    Some((
        scan::trim_end(&text[..open]),
        parts_ns(inside.get(open + 1..)?)?,
    ))
}

/// `1h2m3.5s`, `1.350898ms`, `11.709µs`, `667ns`: as Go prints durations. A text that was converted twice has `Âµs`.
fn parts_ns(mut text: &[u8]) -> Option<i64> {
    // The shorter names are behind those that begin with them.
    const UNITS: [(&[u8], i64); 8] = [
        (b"h", 3_600_000_000_000),
        (b"ms", 1_000_000),
        (b"m", 60_000_000_000),
        ("µs".as_bytes(), 1_000),
        ("Âµs".as_bytes(), 1_000),
        (b"us", 1_000),
        (b"ns", 1),
        (b"s", 1_000_000_000),
    ];
    let mut total_ns = 0i64;
    while !text.is_empty() {
        // A number of seconds in units of nanoseconds, to be scaled.
        let (value, _, rest) = scan::seconds(text)?;
        let (unit, unit_ns) = UNITS.iter().find(|(unit, _)| rest.starts_with(unit))?;
        let scaled = i128::from(value) * i128::from(*unit_ns) / 1_000_000_000;
        total_ns = total_ns.checked_add(i64::try_from(scaled).ok()?)?;
        text = rest.get(unit.len()..)?;
    }
    Some(total_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_of_go() {
        let cases: [(&str, i64); 7] = [
            ("0 (0x0) (11.709µs)", 11_709),
            ("0x0 (58.552Âµs)", 58_552),
            ("0x0 (667ns)", 667),
            ("0x0 (1.350898ms)", 1_350_898),
            ("0x0 (5.000123s)", 5_000_123_000),
            ("0x0 (1m2.5s)", 62_500_000_000),
            (
                "0x0 errno=2 (no such file or directory) (1h0m0s)",
                3_600_000_000_000,
            ),
        ];
        for (text, ns) in cases {
            assert_eq!(
                duration(text.as_bytes()).map(|found| found.1),
                Some(ns),
                "{text}"
            );
        }
        for text in [
            "0x0 (no such file or directory)",
            "0x0",
            "0x0 ()",
            "0x0 (99999999999h)",
        ] {
            assert!(
                duration(text.as_bytes()).is_none_or(|found| found.1 == 0),
                "{text}"
            );
        }
    }

    #[test]
    fn names_of_programs_may_contain_blanks_and_letters_of_events() {
        let comm = |line: &str| {
            read(line.as_bytes()).map(|found| String::from_utf8_lossy(found.comm).into_owned())
        };
        assert_eq!(
            comm("[   6:   7] npm init E close(0x3)").as_deref(),
            Some("npm init")
        );
        assert_eq!(
            comm("strace.go:1] [   6] X E X gettid()").as_deref(),
            Some("X E")
        );
        assert_eq!(comm("[   6:   7] npm close(0x3)"), None);
        assert_eq!(comm("[pid 3850] E geteuid()").as_deref(), Some(""));
        assert_eq!(comm("[pid 3850] sh E geteuid()"), None);
    }
}
