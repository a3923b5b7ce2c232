//! The text of one line: ids, numbers, and the call with its two results.

use crate::line::NO_ID;
use crate::{quoting, scan};

/// Most numbers in front of a call.
pub(super) const MAX_NUMBERS: usize = 3;

/// A line cut into its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split<'a> {
    /// Process id, [`NO_ID`] if not printed.
    pub pid: i32,
    /// Thread id, [`NO_ID`] if not printed.
    pub tid: i32,
    /// Whether the thread id is hexadecimal, as on macOS.
    pub is_hex: bool,
    /// The numbers, as many as [`Split::count`] says.
    pub numbers: [i64; MAX_NUMBERS],
    /// How many numbers there are.
    pub count: usize,
    /// The numbers have colons: the line tells that a thread was seen first.
    pub has_colons: bool,
    /// The rest, without blanks at either end.
    pub body: &'a [u8],
}

/// Cut a line.
pub(super) fn split(line: &[u8]) -> Split<'_> {
    let text = scan::skip_blanks(quoting::unquoted(line));
    match id(text) {
        Some((pid, tid, is_hex, rest)) => behind((pid, tid, is_hex), rest),
        None => behind((NO_ID, NO_ID, false), text),
    }
}

/// The same for a line whose ids stand behind output of the program.
pub(super) fn split_inside(line: &[u8]) -> Option<Split<'_>> {
    // Long lines with many slashes are not worth more than a few tries.
    memchr::memchr_iter(b'/', line).take(16).find_map(|slash| {
        let front = line.get(..slash)?;
        let digits = front.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (pid, tid, is_hex, rest) = id(line.get(slash - digits..)?)?;
        Some(behind((pid, tid, is_hex), rest))
    })
}

fn behind((pid, tid, is_hex): (i32, i32, bool), text: &[u8]) -> Split<'_> {
    let mut split = Split { pid, tid, is_hex, numbers: [0; MAX_NUMBERS], count: 0, has_colons: false, body: text };
    while let Some((value, rest)) = scan::number(scan::skip_blanks(split.body)) {
        let (colon, rest) = match rest.strip_prefix(b":") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let Some(slot) = split.numbers.get_mut(split.count) else { break };
        if !matches!(rest.first(), Some(b' ' | b'\t')) {
            break;
        }
        *slot = value;
        split.count += 1;
        split.has_colons |= colon;
        split.body = rest;
    }
    Split { body: scan::trim(split.body), ..split }
}

/// `29738/0x5d6ef:`, ` 3911/1:`.
fn id(text: &[u8]) -> Option<(i32, i32, bool, &[u8])> {
    let (pid, rest) = scan::number(text)?;
    let rest = rest.strip_prefix(b"/")?;
    let is_hex = rest.starts_with(b"0x");
    let (tid, rest) = if is_hex { scan::value(rest)? } else { scan::number(rest)? };
    let rest = rest.strip_prefix(b":")?;
    let ends = rest.first().is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    // Thread ids of macOS have 64 bits, of which the lower ones count up.
    ends.then_some((i32::try_from(pid).ok()?, (tid & i64::from(i32::MAX)) as i32, is_hex, rest))
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Call<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// What stands between the outer parentheses.
    pub args: &'a [u8],
    /// The value that it returned.
    pub ret: i64,
    /// The number of the error, 0 if there was none.
    pub error: i64,
    /// The error has its mark, `Err#`.
    pub is_marked: bool,
}

/// What a text is, taken as a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Text<'a> {
    /// A call.
    Call(Call<'a>),
    /// The beginning of a call of this name.
    Cut(&'a [u8]),
    /// Something else.
    Other,
}

/// Read a text without blanks at its ends.
pub(super) fn read(text: &[u8]) -> Text<'_> {
    let Some((name, rest)) = scan::name(text) else { return Text::Other };
    let Some(inside) = rest.strip_prefix(b"(") else { return Text::Other };
    match returned(inside) {
        Some((args, ret, error, is_marked)) => Text::Call(Call { name, args, ret, error, is_marked }),
        None => Text::Cut(name),
    }
}

/// `…)   = value error`, looked for from the right, as strings hold anything.
fn returned(inside: &[u8]) -> Option<(&[u8], i64, i64, bool)> {
    let (front, error) = last_word(inside)?;
    let (number, is_marked) = match error.strip_prefix(b"Err#") {
        Some(number) => (number, true),
        None => (error, false),
    };
    let (error, rest) = scan::signed(number)?;
    let (front, ret) = last_word(front)?;
    let (ret, after) = scan::value(ret)?;
    let args = scan::trim_end(front).strip_suffix(b"=")?;
    let trimmed = scan::trim_end(args);
    let is_whole = rest.is_empty() && after.is_empty() && trimmed.len() < args.len();
    let args = trimmed.strip_suffix(b")").filter(|args| is_whole && strings_end(args))?;
    Some((args, ret, error, is_marked))
}

/// A line that is cut within a string may look whole.
fn strings_end(mut args: &[u8]) -> bool {
    while let Some(at) = memchr::memchr(b'"', args) {
        let inner = args.get(at + 1..).unwrap_or(b"");
        let Some(rest) = inner.get(scan::string_end(inner) + 1..) else { return false };
        args = rest;
    }
    true
}

fn last_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = scan::trim_end(text);
    let at = text.iter().rposition(|byte| matches!(byte, b' ' | b'\t'))?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The texts between the commas, and how many there are.
pub(super) fn arguments(args: &[u8]) -> ([&[u8]; scan::MAX_ARGS], usize) {
    scan::arguments(args, (b"[", b"]"), |text, _| scan::string_end(text) + 1)
}
