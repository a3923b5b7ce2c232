//! What pages, mails and terminals do to single lines of a tracer, seen by its own reader.
//!
//! In:   `> loading... close(3) = 0 (0x0)`
//! Out:  without quote marks; and where the call begins behind the program's own output

use crate::syscalls;

/// Without a byte order mark and the marks of a quoted mail.
pub(crate) fn unquoted(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.strip_prefix(b"> ").unwrap_or(line)
}

/// The part of a line from the name of the first call on, if something else stands before it: a program that wrote no
/// line end to the same terminal.
pub(crate) fn call_inside(line: &[u8]) -> Option<&[u8]> {
    let front = line.get(..memchr::memchr(b'(', line)?)?;
    let start = front.iter().rposition(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))? + 1;
    let before = front.get(start.checked_sub(1)?)?;
    let name = front.get(start..)?;
    (matches!(before, b' ' | b'\t' | b'.' | b':') && syscalls::by_name(name).is_some()).then(|| line.get(start..))?
}
