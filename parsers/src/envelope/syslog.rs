//! The prefix of syslog and the journal, in all forms of `journalctl -o`, RFC 3164 and RFC 5424, and on a console.
//!
//! ```text
//! Jan  2 03:04:05 host strace[12]: read(3, "x", 1) = 1
//! [  123.456789] strace[12]: read(3, "x", 1) = 1
//! <13>1 2026-01-02T03:04:05.123456Z host strace 12 - - read(3, "x", 1) = 1
//! ```
//! Each program is a sender. The process id is not part of the sender: it may differ from line to line.

use super::{Envelope, Inner, after_blank};
use crate::kernel_log::stamp;
use std::borrow::Cow;
use std::sync::Arc;

struct Syslog;

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    super::detect_by_lines(head, Syslog)
}

impl Envelope for Syslog {
    fn name(&self) -> &'static str {
        "syslog"
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let (text, is_structured) = stamp::skip_level(line);
        let front = stamp::first(text)?;
        let (sender, text) = if is_structured {
            structured(front.text)
        } else {
            tagged(front.text)
        }?;
        Some(Inner {
            sender,
            stamp: front.stamps[0],
            text: with_tabs(text),
        })
    }
}

/// `strace[12]: text`, with the name of the host before it or not.
fn tagged(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (first, rest) = word(text)?;
    if let Some(program) = program_of(first) {
        return Some((program, rest));
    }
    let (second, rest) = word(rest)?;
    program_of(second).map(|program| (program, rest))
}

/// `strace` of `strace[12]:` or `strace:`, `app` of `app[web.1]:`.
fn program_of(tag: &[u8]) -> Option<&[u8]> {
    let tag = tag.strip_suffix(b":")?;
    let name = match tag.strip_suffix(b"]") {
        Some(inside) => {
            let at = memchr::memrchr(b'[', inside)?;
            let is_process = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
            inside
                .get(..at)
                .filter(|_| inside[at + 1..].iter().all(is_process))?
        }
        None => tag,
    };
    let is_name = name
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-./@()\\".contains(byte));
    // A number is the process id of truss.
    (is_name && name.iter().any(u8::is_ascii_alphabetic)).then_some(name)
}

/// `host program process id [data] text`.
fn structured(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = word(text)?;
    let (program, rest) = word(rest)?;
    let (_, rest) = word(rest)?;
    let (_, rest) = word(rest)?;
    let message = match rest.strip_prefix(b"-") {
        Some(message) => message,
        None => rest.get(memchr::memmem::find(rest, b"] ")? + 1..)?,
    };
    let message = after_blank(message);
    Some((
        program,
        message.strip_prefix(b"\xef\xbb\xbf").unwrap_or(message),
    ))
}

/// The text up to the next blank, and the text after it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b' ', text).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (!word.is_empty()).then_some((word, after_blank(rest)))
}

/// rsyslog writes tabs as `#011`.
fn with_tabs(text: &[u8]) -> Cow<'_, [u8]> {
    const TAB: &[u8] = b"#011";
    if memchr::memmem::find(text, TAB).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, TAB) {
        out.extend_from_slice(&rest[..at]);
        out.push(b'\t');
        rest = &rest[at + TAB.len()..];
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}
