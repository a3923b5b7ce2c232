//! What stands before an event of sysdig: number, time, processor, program and thread.
//!
//! ```text
//! In:   955716 06:13:20.225363385 0 perl -w (10200) < clone res=10202(perl) flags=0
//! Out:  at 06:13:20.225363385, thread 10200 of `perl -w`, exit of clone, `res=10202(perl) flags=0`
//! ```

use crate::line::NO_ID;
use crate::scan;

/// The name of a container and of a program, and the ids, are not longer.
const MAX_HEAD_BYTES: usize = 160;
/// Digits of the time after the point.
const DIGITS: usize = 9;
/// From this on (late 1985), seconds count from 1970.
const MIN_EPOCH_NS: i64 = 500_000_000_000_000_000;

/// A line, split.
pub(super) struct SysdigLine<'a> {
    /// When it happened: since midnight, or since 1970.
    pub stamp_ns: i64,
    /// Whether the time counts from 1970.
    pub has_date: bool,
    /// The process, [`NO_ID`] if only the thread is printed.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// The name of the program, empty if sysdig does not know it.
    pub comm: &'a [u8],
    /// Whether the call is left, not entered.
    pub is_exit: bool,
    /// The name of the call or of another event.
    pub name: &'a [u8],
    /// Its fields.
    pub fields: &'a [u8],
}

/// Split a line; `None` if it does not have this form.
pub(super) fn read(line: &[u8]) -> Option<SysdigLine<'_>> {
    let (stamp_ns, has_date, rest) = begin(scan::trim_end(line))?;
    let near = rest.get(..MAX_HEAD_BYTES).unwrap_or(rest);
    // Names may contain parentheses, so the one before the direction counts.
    let (end, is_exit) =
        memchr::memchr_iter(b')', near).find_map(|at| match rest.get(at + 1..at + 4)? {
            b" > " => Some((at, false)),
            b" < " => Some((at, true)),
            _ => None,
        })?;
    let open = memchr::memrchr(b'(', &rest[..end])?;
    let (pid, tid) = ids(&rest[open + 1..end])?;
    let comm = without_container(scan::trim(&rest[..open]));
    let (name, fields) = scan::name(rest.get(end + 4..)?)?;
    (fields.is_empty() || fields.starts_with(b" ")).then_some(SysdigLine {
        stamp_ns,
        has_date,
        pid,
        tid,
        comm: if comm == b"<NA>" { b"" } else { comm },
        is_exit,
        name,
        fields: scan::trim(fields),
    })
}

/// `web (700d4958f3cd) sh` (`-pc`) is `sh`.
fn without_container(comm: &[u8]) -> &[u8] {
    let at = memchr::memmem::rfind(comm, b") ").map(|at| at + 2);
    at.and_then(|at| comm.get(at..)).unwrap_or(comm)
}

/// Whether a text begins like a line, wherever it was cut.
pub(super) fn begins(line: &[u8]) -> bool {
    begin(line).is_some()
}

/// Number, time and processor: the time, whether it has a date, and the text after them.
fn begin(line: &[u8]) -> Option<(i64, bool, &[u8])> {
    let (_, rest) = scan::number(line)?;
    let rest = rest.strip_prefix(b" ")?;
    let (stamp_ns, digits, after) = scan::time_of_day(rest).or_else(|| scan::seconds(rest))?;
    let has_date = stamp_ns >= MIN_EPOCH_NS;
    let is_clock = has_date || rest.get(2) == Some(&b':');
    let (_, rest) = scan::number(after.strip_prefix(b" ")?)?;
    (digits == DIGITS && is_clock).then_some((stamp_ns, has_date, rest.strip_prefix(b" ")?))
}

/// `7513`; `1410.1412`, process and thread; `12166:529`, thread and its number in a container.
fn ids(text: &[u8]) -> Option<(i32, i32)> {
    let (first, rest) = scan::number(text)?;
    let first = i32::try_from(first).ok()?;
    if let Some((tid, b"")) = rest.strip_prefix(b".").and_then(scan::number) {
        return Some((first, i32::try_from(tid).ok()?));
    }
    let is_over = rest.is_empty()
        || matches!(
            rest.strip_prefix(b":").and_then(scan::number),
            Some((_, b""))
        );
    is_over.then_some((NO_ID, first))
}
