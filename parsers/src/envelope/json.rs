//! One JSON object per line: docker's own log files, `journalctl -o json`, and the output of collectors.
//!
//! ```text
//! {"log":"read(3, \"x\", 1) = 1\n","stream":"stderr","time":"2026-01-02T03:04:05.123456789Z"}
//! ```
//! docker splits lines of more than 16 KiB: only the last part contains the line end.

use super::{Envelope, Inner};
use crate::kernel_log::{programs, stamp};
use crate::scan;
use std::borrow::Cow;
use std::sync::Arc;

/// For each list, the first key that an object has is used.
const MESSAGES: [&[u8]; 6] = [
    b"log",
    b"message",
    b"msg",
    b"MESSAGE",
    b"textPayload",
    b"line",
];
const TIMES: [&[u8]; 5] = [
    b"time",
    b"timestamp",
    b"@timestamp",
    b"ts",
    b"__REALTIME_TIMESTAMP",
];
const SENDERS: [&[u8]; 3] = [b"container_name", b"SYSLOG_IDENTIFIER", b"stream"];

struct Json;

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    super::detect_by_lines(head, Json)
}

impl Envelope for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn cuts(&self) -> bool {
        true
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let (mut text, mut time, mut sender) = (
            FirstKey::new(&MESSAGES),
            FirstKey::new(&TIMES),
            FirstKey::new(&SENDERS),
        );
        let mut rest = scan::skip_blanks(line).strip_prefix(b"{")?;
        while let Some((key, value, after)) = field(rest) {
            [&mut text, &mut time, &mut sender]
                .into_iter()
                .for_each(|best| best.consider(key, value));
            rest = after;
        }
        let text = text.value.filter(|value| value.starts_with(b"\""))?;
        let time = time.value.and_then(|value| programs::moment(inside(value)));
        Some(Inner {
            sender: sender.value.map_or(b"", inside),
            stamp: time.map(|(ns, digits, _)| stamp::LogStamp {
                base: stamp::StampBase::Epoch,
                ns,
                digits,
            }),
            text: unescaped(without_line_end(inside(text))),
        })
    }
}

/// The value of the first key of a list that an object has.
struct FirstKey<'a> {
    keys: &'static [&'static [u8]],
    value: Option<&'a [u8]>,
}

impl<'a> FirstKey<'a> {
    fn new(keys: &'static [&'static [u8]]) -> FirstKey<'a> {
        FirstKey { keys, value: None }
    }

    fn consider(&mut self, key: &[u8], value: &'a [u8]) {
        if let Some(at) = self.keys.iter().position(|known| *known == key) {
            // Only keys before this one can replace it.
            (self.keys, self.value) = (&self.keys[..at], Some(value));
        }
    }
}

/// The next key, its raw value, and the text after it.
fn field(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
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

/// A string with its quotes, and the text after it.
pub(super) fn string(text: &[u8]) -> Option<(&[u8], &[u8])> {
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

pub(super) fn inside(value: &[u8]) -> &[u8] {
    value
        .strip_prefix(b"\"")
        .and_then(|value| value.strip_suffix(b"\""))
        .unwrap_or(value)
}

/// The text without the line end that docker adds. The backslash of that line end must not be escaped.
pub(super) fn without_line_end(text: &[u8]) -> &[u8] {
    let Some(rest) = text.strip_suffix(b"\\n") else {
        return text;
    };
    let backslashes = rest.iter().rev().take_while(|&&byte| byte == b'\\').count();
    if backslashes % 2 == 0 { rest } else { text }
}

pub(super) fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
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
