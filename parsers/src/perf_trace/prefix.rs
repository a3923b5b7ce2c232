//! The columns before a line's body: time, duration, thread.

use crate::line::{NO_ID, NO_NS};
use crate::scan;

/// The kernel stores 15 bytes of a name; those of its own threads are longer.
const MAX_COMM_BYTES: usize = 64;

/// A line, split into its columns.
pub(super) struct PerfPrefix<'a> {
    /// Entry of the call; [`NO_NS`] for `?`.
    pub start_ns: i64,
    /// Duration, [`NO_NS`] while unknown.
    pub dur_ns: i64,
    /// Name of the program, empty if not printed.
    pub comm: &'a [u8],
    /// Thread id, [`NO_ID`] if not printed.
    pub tid: i32,
    /// The text after the time columns.
    pub rest: &'a [u8],
    /// The rest after the thread.
    pub body: PerfBody<'a>,
}

/// The kind of a line.
#[derive(Clone, Copy)]
pub(super) enum PerfBody<'a> {
    /// A call: its name, and the text after the parenthesis.
    Call(&'a [u8], &'a [u8]),
    /// The end of a call that was interrupted.
    Continued(&'a [u8], &'a [u8]),
    /// A page fault, a tracepoint.
    Other(&'a [u8]),
}

/// Split a line; `None` if it does not have this form.
pub(super) fn read(line: &[u8]) -> Option<PerfPrefix<'_>> {
    let (start_ns, rest) = time(scan::skip_blanks(line))?;
    let rest = rest.strip_prefix(b" ")?;
    let inside = rest.strip_prefix(b"(");
    // Only tracepoints have no column for the duration.
    let (dur_ns, rest) = inside.map_or(Some((NO_NS, rest)), duration)?;
    let (comm, tid, body) = thread(rest)?;
    (inside.is_some() || matches!(body, PerfBody::Other(_))).then_some(PerfPrefix {
        start_ns,
        dur_ns,
        comm,
        tid,
        rest,
        body,
    })
}

/// Whether a text begins like a line, wherever it was cut.
pub(super) fn begins(line: &[u8]) -> bool {
    let text = scan::skip_blanks(line);
    let indented = text.len() < line.len() || text.len() > 10;
    indented
        && time(text)
            .is_some_and(|(_, rest)| rest.is_empty() || rest == b" " || rest.starts_with(b" ("))
}

/// `6.620` milliseconds, or `?`.
fn time(text: &[u8]) -> Option<(i64, &[u8])> {
    match text.strip_prefix(b"?") {
        Some(rest) => Some((NO_NS, rest)),
        None => milliseconds(text),
    }
}

fn milliseconds(text: &[u8]) -> Option<(i64, &[u8])> {
    let (whole, rest) = scan::number(text)?;
    let (fraction, after) = scan::number(rest.strip_prefix(b".")?)?;
    let is_exact = rest.len() - after.len() == 4;
    let ns = whole
        .checked_mul(1_000_000)?
        .checked_add(fraction.checked_mul(1_000)?)?;
    is_exact.then_some((ns, after))
}

/// ` 3.073 ms): ` or blanks, after the opening parenthesis.
fn duration(inside: &[u8]) -> Option<(i64, &[u8])> {
    let text = scan::skip_blanks(inside);
    if let Some(rest) = text.strip_prefix(b"): ") {
        return Some((NO_NS, rest));
    }
    let (dur_ns, rest) = milliseconds(text)?;
    Some((dur_ns, rest.strip_prefix(b" ms): ")?))
}

/// `sh/28645 `, `28645 ` or nothing. A name may contain blanks and slashes, so the text after it decides.
fn thread(text: &[u8]) -> Option<(&[u8], i32, PerfBody<'_>)> {
    let near = text.get(..MAX_COMM_BYTES).unwrap_or(text);
    let named = memchr::memchr_iter(b'/', near).find_map(|slash| {
        let (tid, body) = id(text.get(slash + 1..)?)?;
        Some((text.get(..slash)?, tid, body))
    });
    if named.is_some() {
        return named;
    }
    match id(text) {
        Some((tid, body)) => Some((b"", tid, body)),
        None => Some((b"", NO_ID, body(text)?)),
    }
}

fn id(text: &[u8]) -> Option<(i32, PerfBody<'_>)> {
    let (tid, rest) = scan::number(text)?;
    Some((i32::try_from(tid).ok()?, body(rest.strip_prefix(b" ")?)?))
}

fn body(text: &[u8]) -> Option<PerfBody<'_>> {
    if let Some(rest) = text
        .strip_prefix(b" ... [continued]: ")
        .or_else(|| text.strip_prefix(b"... [continued]: "))
    {
        let (name, rest) = scan::name(rest)?;
        return Some(PerfBody::Continued(name, rest.strip_prefix(b"(")?));
    }
    let (name, rest) = scan::name(text)?;
    if let Some(rest) = rest.strip_prefix(b"(") {
        return Some(PerfBody::Call(name, rest));
    }
    if matches!(name, b"minfault" | b"majfault") {
        return rest.starts_with(b" [").then_some(PerfBody::Other(name));
    }
    // `sched:sched_switch(…)`, and `sched:sched_switch:…` from old versions.
    let (event, after) = scan::name(rest.strip_prefix(b":")?)?;
    let whole = text.get(..name.len() + 1 + event.len())?;
    after
        .first()
        .is_some_and(|byte| matches!(byte, b'(' | b':'))
        .then_some(PerfBody::Other(whole))
}
