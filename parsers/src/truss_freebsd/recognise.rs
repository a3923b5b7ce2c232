//! Is this text of FreeBSD's truss?

use super::call::{self, Call, End, Text};
use super::split::split;
use super::{notes, table};
use crate::format::{Answer, Head};
use crate::scan;

/// Lines looked at.
const MOST_LINES: usize = 2000;

/// What one line says about the question.
enum Says {
    /// Only this truss writes so.
    Yes,
    /// A call as another tracer writes it.
    Other,
    /// Nothing.
    Nothing,
}

/// Decide from the head.
pub(super) fn answer(head: Head<'_>) -> Answer {
    let (mut lines, mut signs, mut others) = (0usize, 0usize, 0usize);
    let (mut has_header, mut has_row) = (false, false);
    for line in head.lines().map(scan::trim_end).filter(|line| !line.is_empty()).take(MOST_LINES) {
        lines += 1;
        has_header |= table::is_header(line);
        has_row |= table::is_row(line);
        match says(line) {
            Says::Yes => signs += 1,
            Says::Other => others += 1,
            Says::Nothing => {}
        }
    }
    match lines {
        0 if !head.complete => Answer::NeedMore,
        // The program under another tracer may print lines of this one.
        _ if signs > 0 && signs >= others || has_header && has_row && others == 0 => Answer::Yes,
        _ if signs > 0 => Answer::Maybe((signs * 100 / lines).min(100) as u8),
        _ => Answer::No,
    }
}

fn says(line: &[u8]) -> Says {
    let split = split(line, 2);
    match call::read(split.body) {
        Text::Call(Call { end: End::Value(_) | End::Error(_), args, .. }) if !has_blank_comma(args) => Says::Yes,
        Text::Call(Call { end: End::Nothing, .. }) => Says::Nothing,
        Text::Call(_) | Text::Cut(_) => Says::Other,
        Text::Other if notes::read(split.body).is_some_and(|note| note.is_sign()) => Says::Yes,
        Text::Other if split.body.ends_with(b"<unfinished ...>") || split.body.starts_with(b"+++ ") => Says::Other,
        Text::Other => Says::Nothing,
    }
}

/// `"x", 3`: other tracers put a blank behind a comma between arguments.
fn has_blank_comma(args: &[u8]) -> bool {
    let (found, count) = call::arguments(args);
    let end = found.get(1).filter(|_| count > 1).map_or(0, |second| second.as_ptr() as usize - args.as_ptr() as usize);
    end > 0 && args.get(end - 1) == Some(&b' ')
}
