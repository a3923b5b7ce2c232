//! Marks of a quoted mail: `> `, `>`, `> > `. Lines without a mark are text of the mail.

use super::{Envelope, Inner, after_blank, plain_start};
use std::sync::Arc;

struct Quotes;

/// In a mail with text around the capture, only a few lines may have marks.
pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    let mut lines = head.split(|&byte| byte == b'\n');
    lines
        .any(|line| Quotes.open(line).is_some())
        .then(|| Arc::new(Quotes) as Arc<dyn Envelope>)
}

impl Envelope for Quotes {
    fn name(&self) -> &'static str {
        "quotes"
    }

    fn is_manual(&self) -> bool {
        true
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let mut rest = plain_start(line).strip_prefix(b">")?;
        loop {
            let inner = after_blank(rest);
            match inner.strip_prefix(b">") {
                Some(deeper) => rest = deeper,
                None => return Some(Inner::of(inner)),
            }
        }
    }
}
