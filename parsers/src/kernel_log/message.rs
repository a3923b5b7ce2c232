//! The text after the stamps: the sender and the message.

use super::stamp::{LogPrefix, MessageForm, skip_colour};
use crate::scan;

/// Longest name of a subsystem. A longer text is a sentence with a colon.
const MAX_NAME_BYTES: usize = 40;

/// The subsystem or program, empty if none is named, and the message.
pub(super) fn read<'a>(prefix: &LogPrefix<'a>) -> (&'a [u8], &'a [u8]) {
    match prefix.form {
        MessageForm::Plain => plain(prefix.text),
        MessageForm::Syslog => {
            without_host(prefix.text, is_tag).unwrap_or_else(|| plain(prefix.text))
        }
        MessageForm::Unsure => {
            without_host(prefix.text, is_sure_tag).unwrap_or_else(|| plain(prefix.text))
        }
        MessageForm::Structured => structured(prefix.text).unwrap_or_else(|| plain(prefix.text)),
    }
}

/// `md: stopping all md devices.` is from `md`.
pub(super) fn plain(text: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr_iter(b':', text.get(..MAX_NAME_BYTES).unwrap_or(text))
        .find(|&at| matches!(text.get(at + 1), None | Some(b' ' | b'\t')));
    // `[413]: Unmounting` contains a process id, but no name.
    let name = end
        .and_then(|end| text.get(..end))
        .filter(|name| !name.starts_with(b"["))
        .unwrap_or(b"");
    (without_pid(name), text)
}

/// `host sshd[812]: text` is from `sshd`; the message keeps the tag.
fn without_host(text: &[u8], is_tag: fn(&[u8]) -> bool) -> Option<(&[u8], &[u8])> {
    let (_, message) = word(text)?;
    let (tag, rest) = word(message).unwrap_or((message, b""));
    if is_tag(tag) {
        // The kernel's messages contain the subsystem themselves.
        if tag == b"kernel:" || tag.starts_with(b"kernel[") {
            return Some(plain(rest));
        }
        return Some((without_pid(tag.strip_suffix(b":").unwrap_or(tag)), message));
    }
    let is_repeat =
        message.starts_with(b"last message repeated") || message.starts_with(b"--- last message");
    (is_repeat && !rest.is_empty()).then_some((b"", message))
}

/// How often a logger suppressed a repeated message: `last message repeated 20 times`, or after a tag `message repeated
/// 20 times: [ text]`.
pub(super) fn repeats(message: &[u8]) -> Option<i64> {
    let message = message.strip_prefix(b"--- ").unwrap_or(message);
    let rest = message.strip_prefix(b"last message repeated ").or_else(|| {
        let tag = memchr::memchr(b' ', message).filter(|&at| is_tag(&message[..at]))?;
        message.get(tag + 1..)?.strip_prefix(b"message repeated ")
    });
    let (times, rest) = scan::number(rest?)?;
    rest.starts_with(b" time").then_some(times)
}

fn is_tag(tag: &[u8]) -> bool {
    tag.len() > 1 && tag.ends_with(b":")
}

fn is_sure_tag(tag: &[u8]) -> bool {
    tag.ends_with(b"]:") || tag == b"kernel:"
}

fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = scan::skip_blanks(text);
    let end = text.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
    Some((text.get(..end)?, scan::skip_blanks(text.get(end..)?)))
}

/// `sshd[812]` as `sshd`, `sshd(pam_unix)[812]` as `sshd(pam_unix)`.
fn without_pid(tag: &[u8]) -> &[u8] {
    match memchr::memrchr(b'[', tag) {
        Some(at) if at > 0 && tag.ends_with(b"]") => tag.get(..at).unwrap_or(tag),
        _ => tag,
    }
}

/// `host app procid msgid [data] message`.
fn structured(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = word(text)?;
    let (app, rest) = word(rest)?;
    let (_, rest) = word(rest)?;
    let (_, rest) = word(rest)?;
    let message = match rest.strip_prefix(b"-") {
        Some(message) => message,
        None => rest.get(memchr::memmem::find(rest, b"] ").map_or(rest.len(), |at| at + 1)..)?,
    };
    Some((app, scan::skip_blanks(message)))
}

/// Append a message without its escape sequences, up to `max` bytes.
pub(super) fn without_colour(mut text: &[u8], max: usize, out: &mut Vec<u8>) {
    while out.len() < max {
        text = skip_colour(text);
        let Some((&byte, rest)) = text.split_first() else {
            break;
        };
        out.push(byte);
        text = rest;
    }
}
