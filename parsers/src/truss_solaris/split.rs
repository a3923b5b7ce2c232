//! What stands in front of a line's body: prefix and time columns.

use crate::line::NO_ID;
use crate::scan;

/// A line cut into its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split<'a> {
    /// Process id, [`NO_ID`] if not printed.
    pub pid: i32,
    /// Number of the LWP (on AIX: id of the kernel thread), [`NO_ID`] if not printed.
    pub lwp: i32,
    /// Whether there is a prefix.
    pub prefixed: bool,
    /// The time columns, as many as [`Split::columns`] says.
    pub times_ns: [i64; 3],
    /// How many time columns there are.
    pub columns: usize,
    /// Whether blanks stand before the body.
    pub indented: bool,
    /// The rest, without blanks at either end.
    pub body: &'a [u8],
}

/// Cut a line that has at most `columns` time columns.
pub(super) fn split(line: &[u8], columns: usize) -> Split<'_> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let text = scan::skip_blanks(line);
    match prefix(text) {
        Some((pid, lwp, rest)) => behind(pid, lwp, true, rest, columns),
        None => behind(NO_ID, NO_ID, false, line, columns),
    }
}

/// The same for a line whose prefix stands behind output of the program: what begins at the first prefix inside.
///
/// ```text
/// please wait... 4711:    execve("/bin/true", 0x08047B5C, 0x08047B64)  argc = 1
/// ```
pub(super) fn split_inside(line: &[u8], columns: usize) -> impl Iterator<Item = Split<'_>> {
    // Long lines with many colons are not worth more than a few tries.
    memchr::memchr_iter(b':', line).take(16).filter_map(move |colon| {
        let front = line.get(..colon)?;
        let is_id = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'/' | b'@');
        let start = front.iter().rposition(|byte| !is_id(byte))? + 1;
        let (pid, lwp, rest) = prefix(line.get(start..)?)?;
        Some(behind(pid, lwp, true, rest, columns))
    })
}

fn behind(pid: i32, lwp: i32, prefixed: bool, text: &[u8], most: usize) -> Split<'_> {
    let (mut times_ns, mut columns, mut rest) = ([0; 3], 0, text);
    while columns < most.min(3) {
        let Some((time_ns, next)) = stamp(scan::skip_blanks(rest)) else { break };
        times_ns[columns] = time_ns;
        columns += 1;
        rest = next;
    }
    let indented = rest.first().is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    Split { pid, lwp, prefixed, times_ns, columns, indented, body: scan::trim(rest) }
}

/// `pid:`, `pid/lwp:`, `/lwp:`, each with `@tid` if wanted, and a blank or tab behind it; `pid: tid:` on AIX.
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
    if !ends(rest) || (pid == NO_ID && lwp == NO_ID) {
        return None;
    }
    let second = || id(scan::skip_blanks(rest)).and_then(|(tid, rest)| Some((tid, rest.strip_prefix(b":")?)));
    match second().filter(|&(_, rest)| lwp == NO_ID && ends(rest)) {
        Some((tid, rest)) => Some((pid, tid, rest)),
        None => Some((pid, lwp, rest)),
    }
}

/// Whether a column ends here.
fn ends(rest: &[u8]) -> bool {
    rest.first().is_none_or(|byte| matches!(byte, b' ' | b'\t'))
}

fn id(text: &[u8]) -> Option<(i32, &[u8])> {
    let (value, rest) = scan::number(text)?;
    Some((i32::try_from(value).ok()?, rest))
}

/// Seconds with exactly four decimals, and a blank or nothing behind them.
fn stamp(text: &[u8]) -> Option<(i64, &[u8])> {
    let (time_ns, digits, rest) = scan::seconds(text)?;
    (digits == 4 && ends(rest)).then_some((time_ns, rest))
}
