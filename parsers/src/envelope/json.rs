//! One JSON object per line: docker's own log files, `journalctl -o json`, and the output of collectors.
//!
//! ```text
//! {"log":"read(3, \"x\", 1) = 1\n","stream":"stderr","time":"2026-01-02T03:04:05.123456789Z"}
//! ```
//! docker splits lines of more than 16 KiB: only the last part contains the line end.

use super::{Envelope, Inner};
use crate::json_text::{field, inside, unescaped};
use crate::kernel_log::{programs, stamp};
use crate::scan;
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

/// The text without the line end that docker adds. The backslash of that line end must not be escaped.
pub(super) fn without_line_end(text: &[u8]) -> &[u8] {
    let Some(rest) = text.strip_suffix(b"\\n") else {
        return text;
    };
    let backslashes = rest.iter().rev().take_while(|&&byte| byte == b'\\').count();
    if backslashes % 2 == 0 { rest } else { text }
}
