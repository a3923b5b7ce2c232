//! Lines of a file that another tracer printed, or the same tracer with another prefix: two captures in one file.
//!
//! The reader of the file cannot use them. Without a name, they would count as output of the program.

use crate::format::{Head, Parsed};
use crate::format_list;
use crate::line::{CallPart, Line, LineKind};
use crate::scan;
use crate::syscalls;
use memchr::memmem;

/// Longer lines are not looked at: no sign of a tracer needs more.
const MAX_BYTES: usize = 4096;

impl Parsed {
    /// No lines yet, of a capture of this format. Lines of other formats will get the kind [`LineKind::OtherFormat`].
    pub fn of_capture(format: &'static str) -> Parsed {
        Parsed::with_other_formats(format, other_format)
    }
}

/// The format that a line certainly has, if the reader of the capture's own format could not use it.
fn other_format(own: &'static str, line: &Line, text: &[u8]) -> Option<&'static str> {
    let is_unread = line.kind == LineKind::Foreign;
    let may_be_other =
        (is_unread || is_misread(line, text)) && text.len() <= MAX_BYTES && may_be_call(text);
    let format = if may_be_other { format_of(text) } else { None };
    // A line that its reader takes for a part of a call is of another format, or of none.
    format.filter(|&name| name != own || is_unread && !is_torn(text))
}

/// Whether a line begins with the end of a stamp: the first line of a text that was not copied from its start.
fn is_torn(text: &[u8]) -> bool {
    const EPOCH_DIGITS: usize = 10;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits < EPOCH_DIGITS && text.get(digits) == Some(&b'.')
}

/// Whether a reader may have taken a line of another format for a damaged one, for an addition to the line before, or for
/// a call that did not end.
fn is_misread(line: &Line, text: &[u8]) -> bool {
    match line.kind {
        LineKind::Damaged => true,
        LineKind::Continuation => line.part != CallPart::Tail,
        LineKind::CallStart => has_foreign_end(text),
        _ => false,
    }
}

/// Solaris, AIX and FreeBSD print tabs and their own errors after a call; strace escapes tabs.
fn has_foreign_end(text: &[u8]) -> bool {
    let rest = || {
        memchr::memrchr(b')', text)
            .and_then(|at| text.get(at + 1..))
            .map_or(&b""[..], scan::skip_blanks)
    };
    memchr::memchr(b'\t', text).is_some() && rest().starts_with(b"= ")
        || memchr::memchr_iter(b'#', text).any(|at| {
            let before = &text[..at];
            [&b" Err"[..], b"\tErr", b" ERR", b"\tERR"]
                .iter()
                .any(|error| before.ends_with(error))
        })
}

/// Most output of programs has none of these.
fn may_be_call(text: &[u8]) -> bool {
    let has = |part: &[u8]| memmem::find(text, part).is_some();
    (memchr::memchr(b'(', text).is_some()
        && (has(b" = ") || has(b"\t= ") || has(b"RR#") || has(b"rr#")))
        || has(b" <unfinished ...>")
        || has(b" resumed>")
        || [&b" CALL "[..], b" RET "].iter().any(|record| has(record))
        || has_own_form(text)
}

/// The format of which a line certainly is. Without a sign of its own, the line must be a known system call.
fn format_of(text: &[u8]) -> Option<&'static str> {
    let format = format_list::recognise(Head {
        bytes: text,
        complete: true,
    })?;
    (format.name() != "kernel-log"
        && (has_known_call(text) || has_record(text) || has_own_form(text)))
    .then(|| format.name())
}

fn has_known_call(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'#' | b'.');
    memchr::memchr_iter(b'(', text).any(|at| {
        let before = &text[..at];
        let name =
            &before[before.len() - before.iter().rev().take_while(|byte| is_part(byte)).count()..];
        let plain = name.strip_prefix(b"SYS_").unwrap_or(name);
        syscalls::by_name(plain).is_some()
    })
}

/// `<... read resumed>` of strace, `812 ls  RET  read 35` of kdump.
fn has_record(text: &[u8]) -> bool {
    [&b" resumed>"[..], b" CALL ", b" RET "]
        .iter()
        .any(|record| memmem::find(text, record).is_some())
}

/// Whether only one tracer prints lines of this form.
fn has_own_form(text: &[u8]) -> bool {
    let mut formats = format_list::FORMATS.iter();
    formats.any(|format| format.is_own_line(text))
}
