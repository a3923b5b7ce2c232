//! Job, step and time of a build, as `gh run view --log` prints them: `build→Run tests→2026-01-02T03:04:05.1234567Z
//! close(3) = 0`. Each step is a sender.

use super::{Envelope, Inner, plain_start};
use crate::kernel_log::stamp;
use std::borrow::Cow;
use std::sync::Arc;

const MAX_NAME_BYTES: usize = 256;

struct Steps;

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    super::detect_by_lines(head, Steps)
}

impl Envelope for Steps {
    fn name(&self) -> &'static str {
        "steps"
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let names = line.get(..MAX_NAME_BYTES).unwrap_or(line);
        let end = memchr::memchr_iter(b'\t', names).nth(1)?;
        let rest = &line[end + 1..];
        let front = stamp::first(plain_start(rest))?;
        Some(Inner {
            sender: &line[..end],
            stamp: front.stamps[0],
            text: Cow::Borrowed(front.text),
        })
    }
}
