//! The arguments of a call: where each one is, and where the closing parenthesis is.

use crate::scan;
use memchr::memchr;

/// Arguments that are stored.
const MAX_ARGS: usize = 8;
/// After this many decorations and comments without an end, each searched up to the end of the line, no more are
/// searched for.
const PATIENCE: u32 = 16;

/// The first eight arguments of a call, and the last one.
#[derive(Default)]
pub struct ArgumentList<'a> {
    list: [&'a [u8]; MAX_ARGS],
    len: usize,
    /// The last one, whatever its number. In a cut line it contains the cut mark.
    last: &'a [u8],
    /// The text ends within a string or a bracket.
    is_torn: bool,
}

impl<'a> ArgumentList<'a> {
    /// The arguments.
    pub fn list(&self) -> &[&'a [u8]] {
        &self.list[..self.len]
    }

    /// The last one.
    pub fn last(&self) -> &'a [u8] {
        self.last
    }

    /// Whether the text ends within a string or a bracket.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Replace the last one; remove it if the text is empty.
    pub fn replace_last(&mut self, text: &'a [u8]) {
        let kept = self.len.checked_sub(1).and_then(|at| self.list.get_mut(at));
        if let Some(kept) = kept.filter(|kept| std::ptr::eq(kept.as_ptr(), self.last.as_ptr())) {
            *kept = text;
            self.len -= usize::from(text.is_empty());
        }
        self.last = text;
    }

    /// Add an argument.
    pub fn push(&mut self, text: &'a [u8]) {
        if let Some(place) = self.list.get_mut(self.len) {
            *place = text;
            self.len += 1;
        }
        self.last = text;
    }
}

/// Bytes at which the scanner stops.
static STOPS: [bool; 256] = {
    let mut stops = [false; 256];
    let bytes = b"\"'()[]{},</";
    let mut at = 0;
    while at < bytes.len() {
        stops[bytes[at] as usize] = true;
        at += 1;
    }
    stops
};

/// Split the text after an opening parenthesis; returns the result after `) = `, or `None` if the line is cut.
///
/// Open brackets are bits of a stack, 1 for a parenthesis, with that of the call at the bottom. Old tracers print
/// brackets that do not match: a stray closing bracket is ignored, and a closing parenthesis closes the brackets inside
/// it.
pub fn split<'a>(text: &'a [u8], found: &mut ArgumentList<'a>) -> Option<&'a [u8]> {
    let (mut at, mut start, mut stack, mut patience) = (0, 0, 1u64, PATIENCE);
    loop {
        let Some(rest) = text.get(at..) else {
            found.is_torn = true;
            return None;
        };
        let Some(next) = rest.iter().position(|&byte| STOPS[byte as usize]) else {
            found.is_torn |= stack != 1;
            push_last(&text[start.min(text.len())..], found);
            return None;
        };
        at += next;
        match text[at] {
            b'"' => {
                at += 1 + scan::string_end(&text[at + 1..]);
                found.is_torn = at >= text.len();
            }
            b',' if stack == 1 => {
                found.push(&text[start..at]);
                start = at + 1 + usize::from(text.get(at + 1) == Some(&b' '));
            }
            b'(' => stack = push(stack, 1),
            b'[' | b'{' => stack = push(stack, 0),
            b']' | b'}' if stack & 1 == 0 => stack >>= 1,
            b')' => match stack >> stack.trailing_zeros() >> 1 {
                0 => {
                    if let Some(result) = result(&text[at + 1..]) {
                        push_last(&text[start.min(at)..at], found);
                        return Some(result);
                    }
                }
                outer => stack = outer,
            },
            b'<' if decorates(text, at) && patience > 0 => {
                match scan::decoration_len(&text[at..]) {
                    0 => patience -= 1,
                    len => at += len - 1,
                }
            }
            b'/' if text[at..].starts_with(b"/* ") && patience > 0 => {
                match comment_len(&text[at..]) {
                    0 => patience -= 1,
                    len => at += len - 1,
                }
            }
            b'\'' => at += literal(&text[at..]),
            _ => {}
        }
        at = (at + 1).min(text.len());
    }
}

/// An empty list has no argument.
fn push_last<'a>(text: &'a [u8], found: &mut ArgumentList<'a>) {
    if !text.is_empty() || found.len > 0 {
        found.push(text);
    }
}

/// More than 62 levels do not occur; deeper levels are not counted.
fn push(stack: u64, bit: u64) -> u64 {
    if stack >> 63 == 0 {
        stack << 1 | bit
    } else {
        stack
    }
}

/// The text after ` = `, if that comes next. A comparison (`WEXITSTATUS(s) == 3`) is not a result.
fn result(text: &[u8]) -> Option<&[u8]> {
    let blanks = text.iter().position(|&byte| byte != b' ')?;
    match &text[blanks..] {
        [b'=', b'=', ..] => None,
        [b'=', rest @ ..] => Some(scan::skip_blanks(rest)),
        _ => None,
    }
}

/// Whether the `<` here begins a decoration: it follows a number, `AT_FDCWD` or a comment without a blank.
fn decorates(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let follows = match before.last() {
        Some(byte) => {
            byte.is_ascii_digit() || before.ends_with(b"AT_FDCWD") || before.ends_with(b"*/")
        }
        None => false,
    };
    // `1<<3` is a shift.
    follows && text.get(at + 1) != Some(&b'<')
}

/// Length of `/* … */`; 0 if it does not end.
fn comment_len(text: &[u8]) -> usize {
    let mut at = 3;
    while let Some(star) = text.get(at..).and_then(|rest| memchr(b'*', rest)) {
        at += star + 1;
        if text.get(at) == Some(&b'/') {
            return at + 1;
        }
    }
    0
}

/// Bytes to skip after the `'` of `'c'` or `'\n'`; a lone one is an apostrophe.
fn literal(text: &[u8]) -> usize {
    match text {
        [_, b'\\', rest @ ..] => rest
            .iter()
            .take(5)
            .skip(1)
            .position(|&byte| byte == b'\'')
            .map_or(0, |end| end + 3),
        [_, _, b'\'', ..] => 2,
        _ => 0,
    }
}
