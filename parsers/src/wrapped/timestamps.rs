//! A time before each line, and nothing else: `docker logs -t`, `kubectl logs --timestamps`, `ts`, and builds on GitHub,
//! GitLab and Jenkins.
//!
//! ```text
//! 2026-01-02T03:04:05.123456789Z read(3, "x", 1) = 1
//! 2026-01-02T03:04:05.123456Z 00O read(3, "x", 1) = 1
//! [2026-01-02T03:04:05.123Z] read(3, "x", 1) = 1
//! Jan 02 03:04:05 read(3, "x", 1) = 1
//! ```

use super::{Inner, Wrapper};
use crate::kernel_log::stamp;
use std::borrow::Cow;
use std::sync::Arc;

struct Timestamps;

pub(super) fn around(head: &[u8]) -> Option<Arc<dyn Wrapper>> {
    super::most_of(head, Timestamps)
}

impl Wrapper for Timestamps {
    fn name(&self) -> &'static str {
        "timestamps"
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let front = stamp::first(line)?;
        let text = without_stream(front.text).unwrap_or(front.text);
        Some(Inner { stamp: front.stamps[0], text: Cow::Borrowed(text), sender: b"" })
    }
}

/// `00O `, `01E+`: the number and name of the stream on GitLab; the plus says that the line goes on.
fn without_stream(text: &[u8]) -> Option<&[u8]> {
    let &[one, two, b'O' | b'E', b' ' | b'+', ref rest @ ..] = text else { return None };
    (one.is_ascii_hexdigit() && two.is_ascii_hexdigit()).then_some(rest)
}
