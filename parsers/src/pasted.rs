//! What pages, mails and terminals do to lines of a tracer.
//!
//! In:   `> loading... close(3) = 0 (0x0)`
//! Out:  without the quote mark; and where the call begins behind the program's own output

use crate::format::{Facts, LineReader, Parsed};
use crate::line::Line;
use crate::syscalls;

/// The beginning of a capture of which each line is quoted, as in a mail, without the marks; `None` if it is not.
pub fn without_quotes(head: &[u8]) -> Option<Vec<u8>> {
    let mut lines = head.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).peekable();
    lines.peek()?;
    let is_quoted = |line: &[u8]| line.starts_with(b"> ") || line.trim_ascii_end() == b">";
    // The last line may be cut before its mark is whole.
    let strange = lines.filter(|line| !is_quoted(line)).count();
    let is_cut = head.split(|&byte| byte == b'\n').next_back().is_some_and(|line| b"> ".starts_with(line));
    (strange <= usize::from(is_cut)).then(|| {
        let plain = head.split(|&byte| byte == b'\n').map(|line| line.strip_prefix(b"> ").unwrap_or(line));
        plain.collect::<Vec<_>>().join(&b'\n')
    })
}

/// A reader of lines that are quoted.
pub fn quoted(inner: Box<dyn LineReader>) -> Box<dyn LineReader> {
    Box::new(Quoted(inner))
}

struct Quoted(Box<dyn LineReader>);

impl LineReader for Quoted {
    fn facts(&self) -> Facts {
        self.0.facts()
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        let plain = line.strip_prefix(b"> ").or_else(|| line.strip_prefix(b">").filter(|rest| rest.is_empty()));
        self.0.read(plain.unwrap_or(line), parsed)
    }
}

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
