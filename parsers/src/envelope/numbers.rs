//! Line numbers: `cat -n`, `nl`, `grep -n`, with or without the name of the file.
//!
//! ```text
//!     12→read(3, "x", 1) = 1
//! 12:read(3, "x", 1) = 1
//! a.log:12:read(3, "x", 1) = 1
//! 12. read(3, "x", 1) = 1
//!  12| read(3, "x", 1) = 1
//! ```
//! Numbers that increase by one from line to line are line numbers, whatever follows them.

use super::{Envelope, Inner, after_blank, filled_lines};
use crate::scan;
use std::borrow::Cow;
use std::sync::Arc;

/// This number of lines in sequence is enough to prove that they are numbered. Fewer than the minimum are not.
const ENOUGH: usize = 32;
const MIN_LINES: usize = 8;
const MAX_NAME_BYTES: usize = 256;

struct Numbers {
    /// The numbers increase by one.
    are_numbered: bool,
}

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    let are_numbered = are_numbered(head);
    if are_numbered || do_rise(head) {
        super::detect_by_lines(head, Numbers { are_numbered })
    } else {
        None
    }
}

impl Envelope for Numbers {
    fn name(&self) -> &'static str {
        "numbers"
    }

    fn is_certain(&self) -> bool {
        self.are_numbered
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        numbered(line).map(|(_, inner)| inner)
    }
}

/// Whether the first lines have the numbers 1, 2, 3 …, or a sequence that begins at another number.
pub(super) fn are_numbered(head: &[u8]) -> bool {
    let first: Vec<i64> = numbers(head).take(ENOUGH).collect();
    first.len() >= MIN_LINES
        && first
            .windows(2)
            .all(|pair| pair[0].checked_add(1) == Some(pair[1]))
}

/// Whether numbers never fall, as for lines that grep selected.
fn do_rise(head: &[u8]) -> bool {
    let first: Vec<i64> = numbers(head).take(ENOUGH).collect();
    first.len() > 2 && first.windows(2).all(|pair| pair[1] > pair[0])
}

fn numbers(head: &[u8]) -> impl Iterator<Item = i64> {
    filled_lines(head).map_while(|line| numbered(line).map(|(number, _)| number))
}

/// The number of a line, and the line inside.
fn numbered(line: &[u8]) -> Option<(i64, Inner<'_>)> {
    if let Some((number, rest)) = scan::number(scan::skip_blanks(line)) {
        let text = match rest {
            [] => rest,
            [b'\t' | b':', text @ ..] => text,
            [b' ', text @ ..] | [b'.' | b')', b' ', text @ ..] | [b'|', text @ ..] => {
                after_blank(text)
            }
            _ => return None,
        };
        return Some((number, Inner::of(text)));
    }
    let name =
        memchr::memchr(b':', line.get(..MAX_NAME_BYTES).unwrap_or(line)).filter(|&end| end > 0)?;
    let (number, rest) = scan::number(&line[name + 1..])?;
    let text = rest.strip_prefix(b":")?;
    Some((
        number,
        Inner {
            sender: &line[..name],
            stamp: None,
            text: Cow::Borrowed(text),
        },
    ))
}
