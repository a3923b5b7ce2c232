//! What web pages, mails and terminals add to single lines of a tracer. Called by the readers of formats.
//!
//! In:   `> loading... close(3) = 0 (0x0)`
//! Out:  the line without quote marks, from the call on, after output of the traced program

use crate::scan;
use crate::syscalls;

/// Marks by which people point at a line, before a blank.
const POINTERS: [&[u8]; 5] = [b"=>", b"-->", b"->", b"==>", b">>>"];

/// A name that a tracer prints as it is, in the form of one that prints strings in quotes.
pub(crate) fn in_quotes(name: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for &byte in name {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
    out
}

/// The line without a byte order mark, the mark of a quoted mail, and the mark of somebody who points at it.
pub(crate) fn unquoted(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let line = line.strip_prefix(b"> ").unwrap_or(line);
    unpointed(line).unwrap_or(line)
}

/// What follows the mark of somebody who points at a line, if it has one.
pub(crate) fn unpointed(line: &[u8]) -> Option<&[u8]> {
    let rest = POINTERS.iter().find_map(|mark| line.strip_prefix(*mark))?;
    let is_apart = rest
        .first()
        .is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    is_apart.then(|| scan::skip_blanks(rest))
}

/// A call that somebody quotes within a sentence, between marks of code: "it prints `execve("./x", …) = -1 ENOENT (…)`".
pub(crate) fn inline_code(line: &[u8]) -> Option<&[u8]> {
    let mut parts = line.split(|&byte| byte == b'`').skip(1).step_by(2);
    parts.find(|code| {
        let name = code.split(|&byte| byte == b'(').next().unwrap_or(code);
        name.len() < code.len() && syscalls::by_name(name).is_some()
    })
}

/// The rest of a line from the name of the first call on, if other text precedes it: output of the traced program
/// without a line end.
pub(crate) fn call_inside(line: &[u8]) -> Option<&[u8]> {
    let front = line.get(..memchr::memchr(b'(', line)?)?;
    let start = front
        .iter()
        .rposition(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))?
        + 1;
    let before = front.get(start.checked_sub(1)?)?;
    let name = front.get(start..)?;
    (matches!(before, b' ' | b'\t' | b'.' | b':') && syscalls::by_name(name).is_some())
        .then(|| line.get(start..))?
}
