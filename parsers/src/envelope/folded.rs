//! Lines that a terminal or a mail folded at its width. What was one line cannot be told for certain, so that they are only
//! known for it: results and times of long calls are lost.
//!
//! ```text
//! 700 1700000000.000100 openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) =
//!  3 <0.000010>
//! ```

use crate::line::{Line, LineKind};

/// No page is wider.
const MAX_WIDTH: usize = 260;
/// A word that did not fit is shorter than this.
const LONGEST_WORD: usize = 40;
const MIN_LINES: usize = 4;

/// Whether many calls of strace end within their line, as the lines of a text were read, and all where the widest lines do. A program that writes to the same
/// terminal cuts lines anywhere.
pub(super) fn is_folded(lines: &[Line], text: &[u8]) -> bool {
    let texts = || text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let width = texts().map(<[u8]>::len).max().unwrap_or(0);
    if width > MAX_WIDTH {
        return false;
    }
    let is_cut = |kind: LineKind, text: &[u8]| kind == LineKind::CallStart && !text.ends_with(b"...>");
    let cut = lines.iter().zip(texts()).filter(|(line, text)| is_cut(line.kind, text));
    let (mut all, mut wide) = (0, 0);
    for (_, text) in cut {
        all += 1;
        wide += usize::from(text.len() + LONGEST_WORD.min(width / 2) > width);
    }
    all >= MIN_LINES && all * 20 >= lines.len() && wide * 10 >= all * 9
}
