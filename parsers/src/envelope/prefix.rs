//! The same word before each line: `a.log:` of grep -H, `+` of a diff, `- ` of a list, the host of pdsh, pod and
//! container of stern (one after the other).

use super::{Envelope, Inner, filled_lines};
use std::sync::Arc;

/// The word with the blank, colon or mark after it.
struct Prefix(Vec<u8>);

const MAX_BYTES: usize = 80;
const MAX_LINES: usize = 200;

/// It must precede nine of ten of the first lines. A number does not count: it may be the tracer's own.
pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    let lines = || filled_lines(head).take(MAX_LINES);
    // The first line may be a title.
    let word = lines().nth(1).and_then(word)?;
    let (all, having) = (
        lines().count(),
        lines().filter(|line| line.starts_with(word)).count(),
    );
    (having > 2 && having * 10 >= all * 9)
        .then(|| Arc::new(Prefix(word.to_vec())) as Arc<dyn Envelope>)
}

fn word(line: &[u8]) -> Option<&[u8]> {
    let front = line.get(..MAX_BYTES).unwrap_or(line);
    let is_mark = |byte: &u8| b"+-*|>:]".contains(byte);
    let (mark, rest) = match front
        .iter()
        .position(|byte| matches!(byte, b' ' | b'\t' | b':' | b'|' | b'>' | b']'))
    {
        // A mark at the start of the line is a word of its own.
        _ if front.first().is_some_and(is_mark) => (1, front.get(1..)?),
        Some(end) if end > 0 && !front[0].is_ascii_digit() => (end + 1, front.get(end + 1..)?),
        _ => return None,
    };
    let blank = usize::from(mark > 0 && front[mark - 1] != b' ' && rest.first() == Some(&b' '));
    line.get(..mark + blank)
}

impl Envelope for Prefix {
    fn name(&self) -> &'static str {
        "prefix"
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        line.strip_prefix(self.0.as_slice()).map(Inner::of)
    }
}
