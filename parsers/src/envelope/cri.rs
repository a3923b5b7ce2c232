//! Log files of containerd and CRI-O.
//!
//! ```text
//! 2026-01-02T03:04:05.123456789Z stderr P execve("/bin/x", ["x", "a long
//! 2026-01-02T03:04:05.123456790Z stderr F  one"], 0x7f) = 0          a line of more than 16 KiB is split
//! ```

use super::{Envelope, Inner};
use crate::kernel_log::{date, stamp};
use std::borrow::Cow;
use std::sync::Arc;

struct Cri;

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    super::detect_by_lines(head, Cri)
}

impl Envelope for Cri {
    fn name(&self) -> &'static str {
        "cri"
    }

    fn cuts(&self) -> bool {
        true
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let (ns, digits, rest) = date::iso(line)?;
        let rest = rest.strip_prefix(b" ")?;
        let sender = [&b"stderr"[..], b"stdout"]
            .into_iter()
            .find(|stream| rest.starts_with(stream))?;
        // More tags may follow after a colon; none are defined yet.
        let (tags, text) = match rest.get(sender.len()..)?.strip_prefix(b" ")? {
            [tag, rest @ ..] => (tag, rest),
            [] => return None,
        };
        let text = match text {
            [] => text,
            [b' ', text @ ..] => text,
            _ => return None,
        };
        let stamp = Some(stamp::LogStamp {
            base: stamp::StampBase::Epoch,
            ns,
            digits,
        });
        matches!(tags, b'F' | b'P').then_some(Inner {
            sender,
            stamp,
            text: Cow::Borrowed(text),
        })
    }
}
