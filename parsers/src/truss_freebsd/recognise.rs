//! Recognises truss of FreeBSD.

use super::call::{self, FreebsdEnd};
use super::split::split;
use super::{notes, table};
use crate::format::{Head, Recognition};
use crate::scan;
use crate::truss_common::{CallText, TrussCall};

/// Lines looked at.
const MAX_LINES: usize = 2000;

/// What a line shows about the format.
enum FreebsdSign {
    /// Only this truss prints it.
    Yes,
    /// A call as another tracer prints it.
    Other,
    /// Nothing.
    Nothing,
}

/// Decide from the head.
pub(super) fn answer(head: Head<'_>) -> Recognition {
    let (mut lines, mut signs, mut others) = (0usize, 0usize, 0usize);
    let (mut has_header, mut has_row) = (false, false);
    for line in head
        .lines()
        .map(scan::trim_end)
        .filter(|line| !line.is_empty())
        .take(MAX_LINES)
    {
        lines += 1;
        has_header |= table::is_header(line);
        has_row |= table::is_row(line);
        match sign_of(line) {
            FreebsdSign::Yes => signs += 1,
            FreebsdSign::Other => others += 1,
            FreebsdSign::Nothing => {}
        }
    }
    match lines {
        0 if !head.complete => Recognition::NeedMore,
        // The program under another tracer may print lines of this one.
        _ if signs > 0 && signs >= others || has_header && has_row && others == 0 => {
            Recognition::Yes
        }
        _ if signs > 0 => Recognition::Maybe((signs * 100 / lines).min(100) as u8),
        _ => Recognition::No,
    }
}

fn sign_of(line: &[u8]) -> FreebsdSign {
    let split = split(line, 2);
    match call::read(split.body) {
        CallText::Call(TrussCall {
            end: FreebsdEnd::Value(_) | FreebsdEnd::Error(_),
            args,
            ..
        }) if !has_blank_comma(args) => FreebsdSign::Yes,
        CallText::Call(TrussCall {
            end: FreebsdEnd::Nothing,
            ..
        }) => FreebsdSign::Nothing,
        CallText::Call(_) | CallText::Cut(_) => FreebsdSign::Other,
        CallText::Other if notes::read(split.body).is_some_and(|note| note.is_sign()) => {
            FreebsdSign::Yes
        }
        CallText::Other
            if split.body.ends_with(b"<unfinished ...>") || split.body.starts_with(b"+++ ") =>
        {
            FreebsdSign::Other
        }
        CallText::Other => FreebsdSign::Nothing,
    }
}

/// `"x", 3`: other tracers print a blank after a comma between arguments.
fn has_blank_comma(args: &[u8]) -> bool {
    let (found, count) = call::arguments(args);
    let end = found.get(1).filter(|_| count > 1).map_or(0, |second| {
        second.as_ptr() as usize - args.as_ptr() as usize
    });
    end > 0 && args.get(end - 1) == Some(&b' ')
}
