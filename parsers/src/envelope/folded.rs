//! Lines that a terminal or a mail client folded at its width. The original lines cannot be restored reliably, so
//! folding is only detected: results and times of long calls are lost.
//!
//! ```text
//! 700 1700000000.000100 openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) =
//!  3 <0.000010>
//! ```

use crate::line::{CallPart, Line, LineKind};

/// No page is wider, in columns.
const MAX_WIDTH: usize = 260;
/// A word moved to the next line is shorter than this.
const MAX_WORD_BYTES: usize = 40;
const MIN_LINES: usize = 4;

/// Whether many lines are the rest of a call, or many calls of strace end within their line, and all of them at the width
/// of the widest lines. Output of a program on the same terminal cuts lines anywhere.
pub(super) fn is_folded(lines: &[Line], text: &[u8]) -> bool {
    let texts = || {
        text.split(|&byte| byte == b'\n')
            .map(<[u8]>::trim_ascii_end)
    };
    let width = texts().map(<[u8]>::len).max().unwrap_or(0);
    if width > MAX_WIDTH {
        return false;
    }
    // The rest of a call that output of a program interrupted begins with its parenthesis.
    let is_rest =
        |(line, text): (&Line, &[u8])| line.part == CallPart::Tail && !text.starts_with(b")");
    let rests = lines
        .iter()
        .zip(texts())
        .filter(|&part| is_rest(part))
        .count();
    if rests >= MIN_LINES && rests * 20 >= lines.len() {
        return true;
    }
    let is_cut =
        |kind: LineKind, text: &[u8]| kind == LineKind::CallStart && !text.ends_with(b"...>");
    let cut = lines
        .iter()
        .zip(texts())
        .filter(|(line, text)| is_cut(line.kind, text));
    let (mut all, mut wide) = (0, 0);
    for (_, text) in cut {
        all += 1;
        wide += usize::from(text.len() + MAX_WORD_BYTES.min(width / 2) > width);
    }
    all >= MIN_LINES && all * 20 >= lines.len() && wide * 10 >= all * 9
}
