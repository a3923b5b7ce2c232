//! truss-solaris text.

use crate::format::{Answer, Format, Head, LineReader};

/// The format.
pub struct TrussSolaris;

impl Format for TrussSolaris {
    fn name(&self) -> &'static str {
        "truss-solaris"
    }

    fn recognise(&self, _head: Head<'_>) -> Answer {
        todo!()
    }

    fn reader(&self, _head: Head<'_>) -> Box<dyn LineReader> {
        todo!()
    }
}
