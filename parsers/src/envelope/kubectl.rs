//! Pod and container, as `kubectl logs --prefix` prints them: `[pod/web-5d/app] read(3, "x", 1) = 1`.

use super::{Envelope, Inner, after_blank};
use std::borrow::Cow;
use std::sync::Arc;

struct Kubectl;

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    super::detect_by_lines(head, Kubectl)
}

impl Envelope for Kubectl {
    fn name(&self) -> &'static str {
        "kubectl"
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let inside = line.strip_prefix(b"[pod/")?;
        let end = memchr::memchr(b']', inside)?;
        let (sender, rest) = (&inside[..end], &inside[end + 1..]);
        let is_name = sender
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(byte));
        is_name.then(|| Inner {
            sender,
            stamp: None,
            text: Cow::Borrowed(after_blank(rest)),
        })
    }
}
