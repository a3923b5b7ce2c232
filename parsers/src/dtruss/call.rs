//! The text of one line: ids, numbers, and the call with its two results.

use crate::line::NO_ID;
use crate::truss_common::{CallText, ends_column, prefixes_inside, read_call};
use crate::{quoting, scan};

/// Maximum number of columns before a call.
pub(super) const MAX_NUMBERS: usize = 3;

/// A line, split into its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DtrussSplit<'a> {
    /// Process id, [`NO_ID`] if not printed.
    pub pid: i32,
    /// Thread id, [`NO_ID`] if not printed.
    pub tid: i32,
    /// Whether the thread id is hexadecimal, as on macOS.
    pub is_hex: bool,
    /// The numbers; [`DtrussSplit::count`] is how many.
    pub numbers: [i64; MAX_NUMBERS],
    /// How many numbers there are.
    pub count: usize,
    /// The numbers have colons: the first line of a thread.
    pub has_colons: bool,
    /// The rest, without blanks at either end.
    pub body: &'a [u8],
}

/// Split a line.
pub(super) fn split(line: &[u8]) -> DtrussSplit<'_> {
    let text = scan::skip_blanks(quoting::unquoted(line));
    match id(text) {
        Some((pid, tid, is_hex, rest)) => after_id((pid, tid, is_hex), rest),
        None => after_id((NO_ID, NO_ID, false), text),
    }
}

/// The same for a line whose ids follow output of the program.
pub(super) fn split_inside(line: &[u8]) -> Option<DtrussSplit<'_>> {
    prefixes_inside(line, b'/', u8::is_ascii_digit).find_map(|inside| {
        let (pid, tid, is_hex, rest) = id(inside)?;
        Some(after_id((pid, tid, is_hex), rest))
    })
}

fn after_id((pid, tid, is_hex): (i32, i32, bool), text: &[u8]) -> DtrussSplit<'_> {
    let mut split = DtrussSplit {
        pid,
        tid,
        is_hex,
        numbers: [0; MAX_NUMBERS],
        count: 0,
        has_colons: false,
        body: text,
    };
    while let Some((value, rest)) = scan::number(scan::skip_blanks(split.body)) {
        let (colon, rest) = match rest.strip_prefix(b":") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let Some(slot) = split.numbers.get_mut(split.count) else {
            break;
        };
        if !matches!(rest.first(), Some(b' ' | b'\t')) {
            break;
        }
        *slot = value;
        split.count += 1;
        split.has_colons |= colon;
        split.body = rest;
    }
    DtrussSplit {
        body: scan::trim(split.body),
        ..split
    }
}

/// `29738/0x5d6ef:`, ` 3911/1:`.
fn id(text: &[u8]) -> Option<(i32, i32, bool, &[u8])> {
    let (pid, rest) = scan::number(text)?;
    let rest = rest.strip_prefix(b"/")?;
    let is_hex = rest.starts_with(b"0x");
    let (tid, rest) = if is_hex {
        scan::value(rest)?
    } else {
        scan::number(rest)?
    };
    let rest = rest.strip_prefix(b":")?;
    // Thread ids of macOS have 64 bits. The lower ones count up, so they suffice.
    ends_column(rest).then_some((
        i32::try_from(pid).ok()?,
        (tid & i64::from(i32::MAX)) as i32,
        is_hex,
        rest,
    ))
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DtrussEnd {
    /// The value that it returned.
    pub ret: i64,
    /// The number of the error, 0 if there was none.
    pub error: i64,
    /// Whether the error has its mark, `Err#`.
    pub is_marked: bool,
}

/// Read a text without blanks at its ends.
pub(super) fn read(text: &[u8]) -> CallText<'_, DtrussEnd> {
    read_call(text, scan::name, returned)
}

/// `…)   = value error`, searched for from the right because strings contain any text.
fn returned(inside: &[u8]) -> Option<(&[u8], DtrussEnd)> {
    let (before, error) = last_word(inside)?;
    let (number, is_marked) = match error.strip_prefix(b"Err#") {
        Some(number) => (number, true),
        None => (error, false),
    };
    let (error, rest) = scan::signed(number)?;
    let (before, ret) = last_word(before)?;
    let (ret, after) = scan::value(ret)?;
    let args = scan::trim_end(before).strip_suffix(b"=")?;
    let trimmed = scan::trim_end(args);
    let is_whole = rest.is_empty() && after.is_empty() && trimmed.len() < args.len();
    let args = trimmed
        .strip_suffix(b")")
        .filter(|args| is_whole && strings_end(args))?;
    Some((
        args,
        DtrussEnd {
            ret,
            error,
            is_marked,
        },
    ))
}

/// Whether all strings end: a line that is cut inside a string may look whole.
fn strings_end(mut args: &[u8]) -> bool {
    while let Some(at) = memchr::memchr(b'"', args) {
        let inner = args.get(at + 1..).unwrap_or(b"");
        let Some(rest) = inner.get(scan::string_end(inner) + 1..) else {
            return false;
        };
        args = rest;
    }
    true
}

fn last_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = scan::trim_end(text);
    let at = text.iter().rposition(|byte| matches!(byte, b' ' | b'\t'))?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The texts between the commas, and their number.
pub(super) fn arguments(args: &[u8]) -> ([&[u8]; scan::MAX_ARGS], usize) {
    scan::arguments(args, (b"[", b"]"), |text, _| scan::string_end(text) + 1)
}
