//! Escape sequences of a terminal anywhere in a line: `ESC[32mopen(…) = 3ESC[0m`, `ESC[K`, titles of windows.

use super::{Envelope, Inner};
use std::borrow::Cow;
use std::sync::Arc;

const ESC: u8 = 0x1b;

struct Colours;

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    memchr::memchr(ESC, head).map(|_| Arc::new(Colours) as Arc<dyn Envelope>)
}

impl Envelope for Colours {
    fn name(&self) -> &'static str {
        "colours"
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let text = if memchr::memchr(ESC, line).is_some() {
            Cow::Owned(plain(line))
        } else {
            Cow::Borrowed(line)
        };
        Some(Inner {
            text,
            ..Inner::of(b"")
        })
    }
}

fn plain(mut text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    while let Some(at) = memchr::memchr(ESC, text) {
        out.extend_from_slice(&text[..at]);
        text = after_sequence(&text[at + 1..]);
    }
    out.extend_from_slice(text);
    out
}

/// The text after an escape sequence, whose escape character is removed already. A sequence without an end stays as
/// text.
fn after_sequence(text: &[u8]) -> &[u8] {
    let end_of = |rest: &[u8]| rest.iter().position(|byte| !(0x20..=0x3f).contains(byte));
    let rest = match text.split_first() {
        // Parameters, then the letter of the command.
        Some((b'[', rest)) => end_of(rest)
            .filter(|&end| (0x40..=0x7e).contains(&rest[end]))
            .and_then(|end| rest.get(end + 1..)),
        // A title ends with a bell, or with the next escape character and a backslash.
        Some((b']', rest)) => rest
            .iter()
            .position(|&byte| byte == 7 || byte == ESC)
            .and_then(|end| {
                rest.get(end..).map(|rest| {
                    rest.strip_prefix(b"\x1b\\")
                        .or_else(|| rest.strip_prefix(b"\x07"))
                        .unwrap_or(rest)
                })
            }),
        Some((b'(' | b')', rest)) => rest.get(1..),
        Some((b'=' | b'>' | b'7' | b'8' | b'\\', rest)) => Some(rest),
        _ => None,
    };
    rest.unwrap_or(text)
}
