//! JSON as bytes: the keys of an object of one line, their raw values, and the texts that strings stand for.
//!
//! ```text
//! In:   `"syscall": "read", "args": [3, "a\n"]}`
//! Out:  key syscall, value `"read"`, and the text after it
//! ```

use crate::scan;
use std::borrow::Cow;

/// The next key, its raw value, and the text after it.
pub(crate) fn field(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let text = scan::skip_blanks(text);
    let text = scan::skip_blanks(text.strip_prefix(b",").unwrap_or(text));
    let (key, rest) = string(text)?;
    let value = scan::skip_blanks(scan::skip_blanks(rest).strip_prefix(b":")?);
    let len = match value.first()? {
        b'"' => value.len() - string(value)?.1.len(),
        b'{' | b'[' => nested_len(value)?,
        _ => value.iter().position(|byte| matches!(byte, b',' | b'}'))?,
    };
    Some((inside(key), &value[..len], &value[len..]))
}

/// The next value of a list, without its brackets, and the text after it.
pub(crate) fn element(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = scan::skip_blanks(text);
    let text = scan::skip_blanks(text.strip_prefix(b",").unwrap_or(text));
    let len = match text.first()? {
        b'"' => text.len() - string(text)?.1.len(),
        b'{' | b'[' => nested_len(text)?,
        _ => memchr::memchr(b',', text).unwrap_or(text.len()),
    };
    let (value, rest) = text.split_at_checked(len)?;
    Some((scan::trim_end(value), rest))
}

/// A string with its quotes, and the text after it.
pub(crate) fn string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = scan::string_end(text.strip_prefix(b"\"")?) + 2;
    (end <= text.len()).then(|| text.split_at(end))
}

/// Length of an object or a list, with the strings in it.
fn nested_len(text: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0usize);
    loop {
        match text.get(at)? {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return Some(at + 1),
            b'}' | b']' => depth -= 1,
            b'"' => at += text.len() - at - string(&text[at..])?.1.len() - 1,
            _ => {}
        }
        at += 1;
    }
}

pub(crate) fn inside(value: &[u8]) -> &[u8] {
    value
        .strip_prefix(b"\"")
        .and_then(|value| value.strip_suffix(b"\""))
        .unwrap_or(value)
}

pub(crate) fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = escape(&rest[at + 1..], &mut out);
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// Append the character of an escape whose backslash is removed already; returns the text after it. A line end becomes
/// a blank, because a line must stay one line.
fn escape<'a>(text: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let Some((&letter, rest)) = text.split_first() else {
        out.push(b'\\');
        return text;
    };
    if letter == b'u'
        && let Some((unit, after)) = unit(rest)
    {
        let low = after
            .strip_prefix(b"\\u")
            .and_then(self::unit)
            .filter(|(low, _)| (0xDC00..0xE000).contains(low));
        let (code, after) = match low {
            Some((low, after)) if (0xD800..0xDC00).contains(&unit) => {
                (0x1_0000 + (unit - 0xD800) * 0x400 + (low - 0xDC00), after)
            }
            _ => (unit, after),
        };
        let letter = char::from_u32(code)
            .filter(|&letter| letter != '\n')
            .unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        return after;
    }
    out.push(match letter {
        b'n' => b' ',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        other => other,
    });
    rest
}

/// Four hexadecimal digits.
fn unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(4)?;
    let digits = std::str::from_utf8(digits)
        .ok()
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}
