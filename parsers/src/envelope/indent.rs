//! Blanks or tabs at the start of all lines: a code block of a page. Between blocks there may be prose.
//!
//! Pages have wide blanks (U+3000) and blanks that do not break (U+00A0), too.

use super::{Envelope, Inner, filled_lines, plain_start};
use std::sync::Arc;

/// The number of bytes.
struct Indent(usize);

/// Blanks, tabs, and the blanks of pages.
const BLANKS: [&[u8]; 4] = [b" ", b"\t", "\u{a0}".as_bytes(), "\u{3000}".as_bytes()];

/// The number of bytes of the blanks at the start of a line.
fn blank_bytes(line: &[u8]) -> usize {
    let mut rest = line;
    while let Some(after) = BLANKS.iter().find_map(|blank| rest.strip_prefix(*blank)) {
        rest = after;
    }
    line.len() - rest.len()
}

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    let lines = || filled_lines(head).map(plain_start);
    let is_indented = |line: &&[u8]| blank_bytes(line) > 1 || line.starts_with(b"\t");
    let indented = || lines().filter(is_indented);
    let are_most = indented().count() * 2 >= lines().count();
    let indent = common(lines()).or_else(|| common(indented()).filter(|_| are_most))?;
    Some(Arc::new(Indent(indent)))
}

/// The number of blanks at the start of all of these lines; `None` without any.
fn common<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> Option<usize> {
    let first = lines.next()?;
    let mut indent = blank_bytes(first);
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
        let blanks = blank_bytes(&line[..self.0.min(line.len())]);
        line.get(blanks..).map(Inner::of)
    }
}
