//! Only a time before each line: `docker logs -t`, `kubectl logs --timestamps`, `ts`, and builds on GitHub, GitLab and
//! Jenkins.
//!
//! ```text
//! 2026-01-02T03:04:05.123456789Z read(3, "x", 1) = 1
//! 2026-01-02T03:04:05.123456Z 00O read(3, "x", 1) = 1
//! [2026-01-02T03:04:05.123Z] read(3, "x", 1) = 1
//! Jan 02 03:04:05 read(3, "x", 1) = 1
//! 12.345678 read(3, "x", 1) = 1
//! ```

use super::{Envelope, Inner};
use crate::kernel_log::stamp;
use crate::scan;
use std::borrow::Cow;
use std::sync::Arc;

struct Timestamps;

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    super::detect_by_lines(head, Timestamps)
}

impl Envelope for Timestamps {
    fn name(&self) -> &'static str {
        "timestamps"
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let Some(front) = stamp::first(line) else {
            let (ns, digits, text) = elapsed(line)?;
            let stamp = Some(stamp::LogStamp {
                base: stamp::StampBase::Boot,
                ns,
                digits,
            });
            return Some(Inner {
                stamp,
                ..Inner::of(text)
            });
        };
        let text = without_stream(front.text).unwrap_or(front.text);
        Some(Inner {
            stamp: front.stamps[0],
            text: Cow::Borrowed(text),
            sender: b"",
        })
    }
}

/// `12.345678 `, of `ts -s %.s`: seconds since its start.
fn elapsed(line: &[u8]) -> Option<(i64, usize, &[u8])> {
    let (ns, digits, rest) = scan::seconds(line).filter(|&(_, digits, _)| digits > 0)?;
    rest.strip_prefix(b" ").map(|text| (ns, digits, text))
}

/// Whether the first lines have such seconds, which never fall. Those of strace -r are differences, and fall.
pub(super) fn are_elapsed(head: &[u8]) -> bool {
    const ENOUGH: usize = 64;
    const MIN_LINES: usize = 12;
    let lines = head.split(|&byte| byte == b'\n');
    let times: Vec<i64> = lines
        .map_while(|line| elapsed(line).map(|found| found.0))
        .take(ENOUGH)
        .collect();
    times.len() >= MIN_LINES && times.is_sorted() && times.first() < times.last()
}

/// The text after `00O ` or `01E+`: number and name of the stream on GitLab. The plus means that the line continues.
fn without_stream(text: &[u8]) -> Option<&[u8]> {
    let &[one, two, b'O' | b'E', b' ' | b'+', ref rest @ ..] = text else {
        return None;
    };
    (one.is_ascii_hexdigit() && two.is_ascii_hexdigit()).then_some(rest)
}
