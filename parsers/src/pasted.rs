//! What pages, mails and terminals do to lines of a tracer.
//!
//! In:   `> loading... close(3) = 0 (0x0)`
//! Out:  without quote marks and common indent; and where the call begins behind the program's own output

use crate::format::{self, Facts, LineReader, Parsed};
use crate::line::{Kind, Line};
use crate::syscalls;

/// What stands before each line of a capture that went through a mail or a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wrapping {
    /// Marks of a mail: `> `, `>`, `> > `. Lines without one are not of the capture.
    is_quoted: bool,
    /// Blanks or tabs that all lines have in common.
    indent: usize,
}

/// What may be around the lines of a capture that begins so. Whether it is, shows in which lines can be read without it: the
/// output of a program may be quoted, and some formats begin their lines with blanks.
pub fn wrappings(head: &[u8]) -> Vec<Wrapping> {
    let lines = || head.split(|&byte| byte == b'\n').map(plain_start).filter(|line| !line.trim_ascii().is_empty());
    let quoted = || lines().filter_map(without_marks);
    let wrapping = |is_quoted: bool, indent: usize| Wrapping { is_quoted, indent };
    let mut found = Vec::new();
    if quoted().next().is_some() {
        found.push(wrapping(true, 0));
        found.extend(Some(common_indent(quoted())).filter(|&indent| indent > 0).map(|indent| wrapping(true, indent)));
    }
    found.extend(Some(common_indent(lines())).filter(|&indent| indent > 0).map(|indent| wrapping(false, indent)));
    found
}

/// How many blanks or tabs all lines begin with, the same ones.
fn common_indent<'a>(lines: impl Iterator<Item = &'a [u8]>) -> usize {
    let mut lines = lines.filter(|line| !line.trim_ascii().is_empty());
    let Some(first) = lines.next() else { return 0 };
    let mut indent = first.len() - first.trim_ascii_start().len();
    for line in lines {
        if indent == 0 {
            break;
        }
        indent = first.iter().zip(line).take(indent).take_while(|(one, other)| one == other).count();
    }
    indent
}

/// A line without the byte order mark that the first one may have.
fn plain_start(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// A line without its quote marks, if it has one.
fn without_marks(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line.strip_prefix(b">")?;
    loop {
        let inner = rest.strip_prefix(b" ").unwrap_or(rest);
        match inner.strip_prefix(b">") {
            Some(deeper) => rest = deeper,
            None => return Some(inner),
        }
    }
}

impl Wrapping {
    /// A line without what is around it; `None` if it is not of the capture.
    fn unwrapped<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let line = plain_start(line);
        let line = if self.is_quoted { without_marks(line)? } else { line };
        let blanks = line.iter().take(self.indent).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        line.get(blanks..)
    }

    /// The beginning of a capture without it.
    pub fn without(&self, head: &[u8]) -> Vec<u8> {
        let lines = head.split(|&byte| byte == b'\n').filter_map(|line| self.unwrapped(line));
        lines.collect::<Vec<_>>().join(&b'\n')
    }

    /// A reader of lines that are wrapped so.
    pub fn reader(self, inner: Box<dyn LineReader>) -> Box<dyn LineReader> {
        Box::new(Wrapped { wrapping: self, inner })
    }
}

struct Wrapped {
    wrapping: Wrapping,
    inner: Box<dyn LineReader>,
}

impl LineReader for Wrapped {
    fn facts(&self) -> Facts {
        self.inner.facts()
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        match self.wrapping.unwrapped(line) {
            Some(plain) => self.inner.read(plain, parsed),
            None => format::blank(line).unwrap_or_else(|| Line::of(Kind::Foreign)),
        }
    }
}

/// How many lines of a text a reader can use.
pub fn readable_lines(reader: &dyn LineReader, text: &[u8]) -> usize {
    let mut parsed = Parsed::default();
    parsed.read(reader, text);
    let is_used = |line: &&Line| {
        !matches!(line.kind, Kind::Foreign | Kind::Blank | Kind::Continuation) && line.kind.remedy().is_none()
    };
    parsed.lines.iter().filter(is_used).count()
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
