//! Marks before the lines of a quotation or a comment: `> `, `> > `, `# `, `| `, `// `. Lines without one are other text.

use super::{Envelope, Inner, after_blank, plain_start};
use std::sync::Arc;

/// A line is taken with any of them, but those of a capture have the same one.
const MARKS: [&[u8]; 4] = [b">", b"#", b"|", b"//"];

struct Quotes {
    mark: &'static [u8],
}

/// The mark of most lines. In a mail with text around the capture, only a few lines may have one.
pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    let marked = |mark: &'static [u8]| {
        let quotes = Quotes { mark };
        let lines = head.split(|&byte| byte == b'\n');
        (
            lines.filter(|line| quotes.open(line).is_some()).count(),
            quotes,
        )
    };
    MARKS
        .into_iter()
        .rev()
        .map(marked)
        .filter(|(lines, _)| *lines > 0)
        .max_by_key(|(lines, _)| *lines)
        .map(|(_, quotes)| Arc::new(quotes) as Arc<dyn Envelope>)
}

impl Envelope for Quotes {
    fn name(&self) -> &'static str {
        "quotes"
    }

    fn is_manual(&self) -> bool {
        true
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let mut rest = plain_start(line).strip_prefix(self.mark)?;
        loop {
            let inner = after_blank(rest);
            match inner.strip_prefix(self.mark) {
                Some(deeper) => rest = deeper,
                None => return Some(Inner::of(inner)),
            }
        }
    }
}
