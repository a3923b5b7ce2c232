//! Blanks after each line, as in text copied from terminals and tables.

use super::{Envelope, Inner, filled_lines, without_cr};
use crate::scan;
use std::sync::Arc;

struct Padding;

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    is_padded(head).then(|| Arc::new(Padding) as Arc<dyn Envelope>)
}

/// Whether nearly all of the first lines end with blanks.
pub(super) fn is_padded(head: &[u8]) -> bool {
    const MAX_LINES: usize = 64;
    let (mut all, mut padded) = (0, 0);
    for line in filled_lines(head).map(without_cr).take(MAX_LINES) {
        all += 1;
        padded += usize::from(line.ends_with(b" ") || line.ends_with(b" \t"));
    }
    padded > 2 && padded * 10 >= all * 9
}

impl Envelope for Padding {
    fn name(&self) -> &'static str {
        "padding"
    }

    fn is_manual(&self) -> bool {
        true
    }

    fn is_certain(&self) -> bool {
        true
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        Some(Inner::of(scan::trim_end(line)))
    }
}
