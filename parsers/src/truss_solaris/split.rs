//! The columns before a line's body: prefix and times.

use crate::line::NO_ID;
use crate::quoting;
use crate::scan::{self, NS_PER_S};
use crate::truss_common::{ends_column, id, prefixes_inside, time_columns};

/// The resolution of the time columns.
pub(super) const STAMP_TICK_NS: i64 = 100_000;

/// A line, split into its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SolarisSplit<'a> {
    /// Process id, [`NO_ID`] if not printed.
    pub pid: i32,
    /// Number of the LWP (on AIX: id of the kernel thread), [`NO_ID`] if not printed.
    pub lwp: i32,
    /// Whether there is a prefix.
    pub prefixed: bool,
    /// The time columns; [`SolarisSplit::columns`] is their number.
    pub times_ns: [i64; 3],
    /// The number of time columns.
    pub columns: usize,
    /// Whether there are blanks before the body.
    pub indented: bool,
    /// The rest, without blanks at either end.
    pub body: &'a [u8],
}

/// Split a line that has up to `columns` time columns.
pub(super) fn split(line: &[u8], columns: usize) -> SolarisSplit<'_> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let text = scan::skip_blanks(quoting::unpointed(line).unwrap_or(line));
    match prefix(text) {
        Some((pid, lwp, rest)) => after_prefix(pid, lwp, true, rest, columns),
        None => after_prefix(NO_ID, NO_ID, false, line, columns),
    }
}

/// The same for a line whose prefix follows output of the program: the text from each prefix inside.
///
/// ```text
/// please wait... 4711:    execve("/bin/true", 0x08047B5C, 0x08047B64)  argc = 1
/// ```
pub(super) fn split_inside(line: &[u8], columns: usize) -> impl Iterator<Item = SolarisSplit<'_>> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'/' | b'@');
    prefixes_inside(line, b':', is_part).filter_map(move |inside| {
        let (pid, lwp, rest) = prefix(inside)?;
        Some(after_prefix(pid, lwp, true, rest, columns))
    })
}

fn after_prefix(pid: i32, lwp: i32, prefixed: bool, text: &[u8], max: usize) -> SolarisSplit<'_> {
    let (times_ns, columns, rest) = time_columns(text, max, stamp);
    let indented = rest
        .first()
        .is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    SolarisSplit {
        pid,
        lwp,
        prefixed,
        times_ns,
        columns,
        indented,
        body: scan::trim(rest),
    }
}

/// The process id, the time columns and the length of a prefix of the most common form. [`split`] reads it too, but slower.
#[inline]
pub(super) fn common_prefix(text: &[u8], columns: usize) -> Option<(i32, [i64; 3], usize)> {
    let (pid, digits) = scan::short_number(*text.first_chunk()?)?;
    let mut at = digits + 1;
    if text.get(digits) != Some(&b':') || !ends_column(text.get(at..)?) {
        return None;
    }
    let mut times_ns = [0; 3];
    for time_ns in times_ns.iter_mut().take(columns) {
        at += blanks(&text[at..]);
        let (seconds, digits) = scan::short_number(*text.get(at..)?.first_chunk()?)?;
        at += digits;
        let &[b'.', a, b, c, d, b' ' | b'\t'] = text.get(at..)?.first_chunk()? else {
            return None;
        };
        let fraction = [a, b, c, d].iter().try_fold(0, |value, byte| {
            byte.is_ascii_digit()
                .then(|| value * 10 + i64::from(byte - b'0'))
        })?;
        *time_ns = i64::from(seconds) * NS_PER_S + fraction * STAMP_TICK_NS;
        at += 5;
    }
    at += blanks(&text[at..]);
    // On AIX, a second id may follow.
    let begins_body = text
        .get(at)
        .is_some_and(|byte| !byte.is_ascii_digit() && !matches!(byte, b'\r' | b'\n'));
    begins_body.then_some((pid, times_ns, at))
}

fn blanks(text: &[u8]) -> usize {
    text.iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// `pid:`, `pid/lwp:`, `/lwp:`, each optionally with `@tid`, and a blank or tab after it; `pid: tid:` on AIX.
fn prefix(text: &[u8]) -> Option<(i32, i32, &[u8])> {
    let (pid, rest) = id(text).unwrap_or((NO_ID, text));
    let (lwp, rest) = match rest.strip_prefix(b"/") {
        Some(rest) => id(rest)?,
        None => (NO_ID, rest),
    };
    let rest = match rest.strip_prefix(b"@") {
        Some(rest) => id(rest)?.1,
        None => rest,
    };
    let rest = rest.strip_prefix(b":")?;
    if !ends_column(rest) || (pid == NO_ID && lwp == NO_ID) {
        return None;
    }
    let second = || {
        id(scan::skip_blanks(rest)).and_then(|(tid, rest)| Some((tid, rest.strip_prefix(b":")?)))
    };
    match second().filter(|&(_, rest)| lwp == NO_ID && ends_column(rest)) {
        Some((tid, rest)) => Some((pid, tid, rest)),
        None => Some((pid, lwp, rest)),
    }
}

/// Seconds with exactly four decimals, and a blank or nothing after them.
fn stamp(text: &[u8]) -> Option<(i64, &[u8])> {
    let (time_ns, digits, rest) = scan::seconds(text)?;
    (digits == 4 && ends_column(rest)).then_some((time_ns, rest))
}
