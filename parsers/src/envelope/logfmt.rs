//! Keys with values, as logrus and others print them: `time="2026-01-02T03:04:05Z" level=info msg="read(3, \"x\", 1) =
//! 1"`.

use super::{Envelope, Inner, json};
use crate::json_text::{self, inside, unescaped};
use crate::kernel_log::{programs, stamp};
use crate::scan;
use std::sync::Arc;

struct Logfmt;

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    super::detect_by_lines(head, Logfmt)
}

impl Envelope for Logfmt {
    fn name(&self) -> &'static str {
        "logfmt"
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let (mut text, mut time) = (None, None);
        let mut rest = line;
        while let Some((key, value, after)) = pair(rest) {
            match key {
                b"msg" | b"message" => text = text.or(Some(value)),
                b"time" | b"ts" | b"t" | b"timestamp" => {
                    time = time.or_else(|| programs::moment(inside(value)))
                }
                _ => {}
            }
            rest = after;
        }
        let text = unescaped(json::without_line_end(inside(text?)));
        let stamp = time.map(|(ns, digits, _)| stamp::LogStamp {
            base: stamp::StampBase::Epoch,
            ns,
            digits,
        });
        Some(Inner {
            sender: b"",
            stamp,
            text,
        })
    }
}

/// The next key, its raw value, and the text after it; `None` at any other text.
fn pair(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let text = scan::skip_blanks(text);
    let end = text
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || b"_.-@".contains(byte)))?;
    let (key, rest) = text.split_at(end);
    let value = rest.strip_prefix(b"=").filter(|_| !key.is_empty())?;
    let len = match json_text::string(value) {
        Some((quoted, _)) => quoted.len(),
        None => value
            .iter()
            .position(|&byte| byte == b' ')
            .unwrap_or(value.len()),
    };
    let (value, rest) = value.split_at(len);
    Some((key, value, rest))
}
