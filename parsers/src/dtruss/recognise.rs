//! Recognises dtruss.

use super::call::{self, split};
use super::notes;
use crate::format::{Head, Recognition};
use crate::scan;
use crate::syscalls;
use crate::truss_common::CallText;

/// Lines looked at.
const MAX_LINES: usize = 2000;

/// Decide from the head: by a header or a lost event, else by results of two fields, which only dtruss prints.
pub(super) fn answer(head: Head<'_>) -> Recognition {
    if counts_calls(head) {
        return Recognition::Yes;
    }
    let (mut lines, mut signs, mut fits, mut others) = (0usize, 0usize, 0usize, 0usize);
    for line in head
        .lines()
        .map(scan::trim_end)
        .filter(|line| !line.is_empty())
        .take(MAX_LINES)
    {
        // With -s, most lines are the stacks after the calls.
        if notes::is_stack(line, scan::skip_blanks(line)) {
            continue;
        }
        lines += 1;
        let is_sign = notes::is_header(line) || notes::is_count_header(line);
        if is_sign || notes::is_loss(scan::skip_blanks(line)) {
            signs += 1;
            continue;
        }
        let split = split(line);
        match call::read(split.body) {
            CallText::Call(call) if call.end.is_marked || split.tid >= 0 => signs += 1,
            CallText::Call(_) => fits += 1,
            CallText::Cut(_) if is_other(line) => others += 1,
            _ => {}
        }
    }
    let answer = |share: usize| Recognition::Maybe((share * 100 / lines.max(1)).min(100) as u8);
    match lines {
        0 if !head.complete => Recognition::NeedMore,
        // The program under another tracer may print lines of this one.
        _ if signs > 0 && signs + fits >= others => Recognition::Yes,
        _ if signs + fits > 0 => answer(signs + fits),
        _ => Recognition::No,
    }
}

/// Rows of a table of counts that are enough.
const MIN_ROWS: usize = 4;

/// Whether a text has a table of counts by call and little else, as dtrace prints it at the end: in ascending order.
fn counts_calls(head: Head<'_>) -> bool {
    if !head.complete {
        return false;
    }
    let rows: Vec<(&[u8], i64)> = head.lines().filter_map(notes::counted).collect();
    let lines = head.lines().filter(|line| !scan::trim(line).is_empty());
    let known = rows
        .iter()
        .filter(|(name, _)| syscalls::by_name(name).is_some());
    rows.len() >= MIN_ROWS
        && rows.len() * 2 >= lines.count()
        && known.count() * 4 >= rows.len() * 3
        && rows.windows(2).all(|pair| pair[0].1 <= pair[1].1)
}

/// A call with a result of another form: that of another tracer.
fn is_other(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"= ").is_some()
        || line.ends_with(b"...>")
        || line.ends_with(b"...)")
}
