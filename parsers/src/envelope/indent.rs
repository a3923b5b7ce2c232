//! Blanks or tabs at the start of all lines: a code block of a page.

use super::{Envelope, Inner, plain_start};
use std::sync::Arc;

/// The number of bytes.
struct Indent(usize);

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    let mut lines = head.split(|&byte| byte == b'\n').map(plain_start).filter(|line| !line.trim_ascii().is_empty());
    let first = lines.next()?;
    let mut indent = first.len() - first.trim_ascii_start().len();
    for line in lines {
        if indent == 0 {
            return None;
        }
        indent = first.iter().zip(line).take(indent).take_while(|(one, other)| one == other).count();
    }
    (indent > 0).then(|| Arc::new(Indent(indent)) as Arc<dyn Envelope>)
}

/// Whether all lines begin with the same blanks, as in a code block.
pub(super) fn are_indented(head: &[u8]) -> bool {
    detect(head).is_some()
}

impl Envelope for Indent {
    fn name(&self) -> &'static str {
        "indent"
    }

    fn is_manual(&self) -> bool {
        true
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let line = plain_start(line);
        let blanks = line.iter().take(self.0).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        line.get(blanks..).map(Inner::of)
    }
}
