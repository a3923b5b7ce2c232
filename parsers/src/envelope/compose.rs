//! The name of a container, padded, and a bar: `web-1  | read(3, "x", 1) = 1`. Also swarm services, foreman and honcho.

use super::{Envelope, Inner, after_blank};
use crate::scan;
use std::borrow::Cow;
use std::sync::Arc;

const MAX_NAME_BYTES: usize = 128;

struct Compose;

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    super::detect_by_lines(head, Compose)
}

impl Envelope for Compose {
    fn name(&self) -> &'static str {
        "compose"
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let bar = memchr::memchr(b'|', line.get(..MAX_NAME_BYTES).unwrap_or(line))?;
        let sender = scan::trim_end(&line[..bar]);
        let is_name = sender
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-@".contains(byte));
        let fits = is_name && !sender.is_empty() && sender.len() < bar;
        let text = Cow::Borrowed(after_blank(line.get(bar + 1..)?));
        fits.then_some(Inner {
            sender,
            stamp: None,
            text,
        })
    }
}
