//! strace text.

use crate::format::{Answer, Format, Head, LineReader};

/// The format.
pub struct Strace;

impl Format for Strace {
    fn name(&self) -> &'static str {
        "strace"
    }

    fn recognise(&self, _head: Head<'_>) -> Answer {
        todo!()
    }

    fn reader(&self, _head: Head<'_>) -> Box<dyn LineReader> {
        todo!()
    }
}
