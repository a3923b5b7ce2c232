//! Blanks or tabs at the start of all lines: a code block of a page. Between blocks there may be prose.

use super::{Envelope, Inner, filled_lines, plain_start};
use std::sync::Arc;

/// The number of bytes.
struct Indent(usize);

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    let lines = || filled_lines(head).map(plain_start);
    let indented = || lines().filter(|line| line.starts_with(b"  ") || line.starts_with(b"\t"));
    let are_most = indented().count() * 2 >= lines().count();
    let indent = common(lines()).or_else(|| common(indented()).filter(|_| are_most))?;
    Some(Arc::new(Indent(indent)))
}

/// The number of blanks at the start of all of these lines; `None` without any.
fn common<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> Option<usize> {
    let first = lines.next()?;
    let mut indent = first.len() - first.trim_ascii_start().len();
    for line in lines {
        indent = first
            .iter()
            .zip(line)
            .take(indent)
            .take_while(|(one, other)| one == other)
            .count();
        if indent == 0 {
            break;
        }
    }
    (indent > 0).then_some(indent)
}

/// Whether all lines begin with the same blanks, as in a code block.
pub(super) fn are_indented(head: &[u8]) -> bool {
    common(filled_lines(head).map(plain_start)).is_some()
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
        let blanks = line
            .iter()
            .take(self.0)
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        line.get(blanks..).map(Inner::of)
    }
}
