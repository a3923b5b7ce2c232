//! kernel-log text.

use crate::format::{Answer, Format, Head, LineReader};

/// The format.
pub struct KernelLog;

impl Format for KernelLog {
    fn name(&self) -> &'static str {
        "kernel-log"
    }

    fn recognise(&self, _head: Head<'_>) -> Answer {
        todo!()
    }

    fn reader(&self, _head: Head<'_>) -> Box<dyn LineReader> {
        todo!()
    }
}
