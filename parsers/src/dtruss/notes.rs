//! Lines other than calls: headers, messages of dtrace, stacks, the table of counts.

use crate::format::Parsed;
use crate::line::{Extra, Line, LineKind, NO_NS};
use crate::truss_common::summary_row;
use crate::{prompt, quoting, scan, stack, syscalls};
use memchr::memmem;

/// The header: it begins a run.
pub(super) fn is_header(line: &[u8]) -> bool {
    let text = scan::trim(quoting::unquoted(line));
    let starts: [&[u8]; 5] = [b"PID/", b"RELATIVE", b"ELAPSD", b"CPU", b"SYSCALL(args)"];
    let Some(at) = memmem::find(text, b"SYSCALL(args)") else {
        return false;
    };
    let tail = text.get(at + 13..).unwrap_or(b"");
    starts.iter().any(|start| text.starts_with(start)) && scan::skip_blanks(tail) == b"= return"
}

/// A message about a lost event.
pub(super) fn is_loss(line: &[u8]) -> bool {
    let Some(text) = line.strip_prefix(b"dtrace: ") else {
        return false;
    };
    text.starts_with(b"error on enabled probe") || lost(text).is_some()
}

/// `120 drops on CPU 3`, `1841 dynamic variable drops with non-empty dirty list`: the number of drops.
fn lost(text: &[u8]) -> Option<i64> {
    let (count, rest) = scan::number(text)?;
    let is_drop = rest.starts_with(b" ") && memmem::find(rest, b"drop").is_some();
    is_drop.then_some(count)
}

/// The line, if it is one of these.
pub(super) fn read(line: &[u8], parsed: &mut Parsed) -> Option<Line> {
    let text = scan::trim(quoting::unquoted(line));
    if is_header(line) {
        let mut line = Line::of(LineKind::Notice);
        line.extra = parsed.keep(Extra::Restarted { base_ns: NO_NS });
        return Some(line);
    }
    if let Some(message) = text.strip_prefix(b"dtrace: ") {
        return Some(self::message(message, parsed));
    }
    if is_stack(line, text) {
        let frame = stack::of_dtrace(text).map(|frame| frame.line(parsed));
        return Some(frame.unwrap_or_else(|| Line::of(LineKind::Continuation)));
    }
    prompt::read(line, parsed).or_else(|| count(line, text, parsed))
}

/// A lost event, with its call as name and the number of lost events as value.
fn message(text: &[u8], parsed: &mut Parsed) -> Line {
    let mut line = Line::of(LineKind::Dropped);
    if text.starts_with(b"error on enabled probe") {
        line.ret = 1;
        line.op = parsed.texts.add(b"unreadable-argument");
        let probe = memmem::find(text, b"syscall::").and_then(|at| text.get(at + 9..));
        line.name = parsed
            .texts
            .add(probe.and_then(scan::name).map_or(b"", |(name, _)| name));
    } else if let Some(count) = lost(text) {
        line.ret = count;
        // `12 dynamic variable drops`, `3 aggregation drops`: no space, however fast the buffers are read.
        let is_variable = [&b"variable"[..], b"aggregation"]
            .iter()
            .any(|word| memmem::find(text, word).is_some());
        line.op = parsed.texts.add(if is_variable {
            &b"no-variable-space"[..]
        } else {
            b"full-buffers"
        });
    } else {
        line.kind = LineKind::Notice;
    }
    line
}

/// `              libsystem_kernel.dylib`+"`"+`__open+0xa`, `              0x10f3a2b40`.
pub(super) fn is_stack(line: &[u8], text: &[u8]) -> bool {
    let indent = line.len() - scan::skip_blanks(line).len();
    let is_address =
        || text.starts_with(b"0x") && scan::value(text).is_some_and(|(_, rest)| rest.is_empty());
    let has_symbol =
        || memchr::memchr(b'`', text).is_some_and(|at| at > 0 && !text[..at].contains(&b' '));
    indent >= 8 && (has_symbol() || is_address())
}

/// The header of the table of counts, with its blanks or with folded ones.
pub(super) fn is_count_header(line: &[u8]) -> bool {
    let rest = scan::trim(quoting::unquoted(line))
        .strip_prefix(b"CALL")
        .filter(|rest| rest.starts_with(b" "));
    rest.map(scan::skip_blanks) == Some(b"COUNT")
}

/// The name and the number of an indented row of a table of counts.
pub(super) fn counted(line: &[u8]) -> Option<(&[u8], i64)> {
    count_row(scan::trim(line)).filter(|_| line.starts_with(b" "))
}

/// A name, blanks, and a number.
fn count_row(text: &[u8]) -> Option<(&[u8], i64)> {
    let (name, rest) = scan::name(text)?;
    let number = scan::skip_blanks(rest);
    let (calls, end) = scan::number(number)?;
    (number.len() < rest.len() && end.is_empty()).then_some((name, calls))
}

/// A row of the table of counts, or its header. It counts entries, so it includes calls that never return.
fn count(line: &[u8], text: &[u8], parsed: &mut Parsed) -> Option<Line> {
    if is_count_header(text) {
        return Some(Line::of(LineKind::SummaryTable));
    }
    let (name, calls) = count_row(text)?;
    // The name fills 32 columns and the number 16. A shorter row must have the name of a known call.
    let is_row = scan::trim_end(line).len() >= 48 || syscalls::by_name(name).is_some();
    is_row.then(|| summary_row(name, calls as u64, 0, NO_NS, parsed))
}
