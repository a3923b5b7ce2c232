//! Numbers of lines: `cat -n`, `nl`, `grep -n`, with the name of the file or without.
//!
//! ```text
//!     12→read(3, "x", 1) = 1
//! 12:read(3, "x", 1) = 1
//! a.log:12:read(3, "x", 1) = 1
//! ```
//! Numbers that go up by one from line to line are those of lines, whatever follows them.

use super::{Envelope, Inner, behind_blank, filled_lines};
use crate::scan;
use std::borrow::Cow;
use std::sync::Arc;

/// So many lines in a row are enough to know that they are counted, and so few are not.
const ENOUGH: usize = 32;
const TOO_FEW: usize = 8;
const MAX_NAME_BYTES: usize = 256;

struct Numbers {
    /// They count the lines.
    are_counted: bool,
}

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    let are_counted = are_counted(head);
    if are_counted || do_rise(head) { super::most_of(head, Numbers { are_counted }) } else { None }
}

impl Envelope for Numbers {
    fn name(&self) -> &'static str {
        "numbers"
    }

    fn is_certain(&self) -> bool {
        self.are_counted
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        numbered(line).map(|(_, inner)| inner)
    }
}

/// Whether the first lines have the numbers 1, 2, 3 …, or from any other one on.
pub(super) fn are_counted(head: &[u8]) -> bool {
    let first: Vec<i64> = numbers(head).take(ENOUGH).collect();
    first.len() >= TOO_FEW && first.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// Whether numbers never fall from line to line, as of lines that were looked for.
fn do_rise(head: &[u8]) -> bool {
    let first: Vec<i64> = numbers(head).take(ENOUGH).collect();
    first.len() > 2 && first.windows(2).all(|pair| pair[1] > pair[0])
}

fn numbers(head: &[u8]) -> impl Iterator<Item = i64> {
    filled_lines(head).map_while(|line| numbered(line).map(|(number, _)| number))
}

/// The number of a line, and what is inside.
fn numbered(line: &[u8]) -> Option<(i64, Inner<'_>)> {
    if let Some((number, rest)) = scan::number(scan::skip_blanks(line)) {
        let text = match rest {
            [] => rest,
            [b'\t' | b':', text @ ..] => text,
            [b' ', text @ ..] => behind_blank(text),
            _ => return None,
        };
        return Some((number, Inner::of(text)));
    }
    let name = memchr::memchr(b':', line.get(..MAX_NAME_BYTES).unwrap_or(line)).filter(|&end| end > 0)?;
    let (number, rest) = scan::number(&line[name + 1..])?;
    let text = rest.strip_prefix(b":")?;
    Some((number, Inner { sender: &line[..name], stamp: None, text: Cow::Borrowed(text) }))
}
