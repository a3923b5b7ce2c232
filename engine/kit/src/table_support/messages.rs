//! The messages of a log, the next of them that nothing owns, and the parts between marks of left-out lines.

use crate::table_support::context::TableContext;
use logs::messages::endings::{Ending, ending, is_idle, is_spread};
use parsers::NO_NS;
use trace::store::event::EventKind;
use trace::store::trace::Capture;

/// Words of messages after which a program waits on purpose, so that their silences are not a rhythm of the log.
pub const WAITS: [&str; 7] = [
    "retry",
    "wait",
    "attempt",
    "timeout",
    "timed out",
    "trying",
    "failed",
];

/// The messages of a log that have a time and count, in the order of their times.
pub fn messages(context: &TableContext<'_>, capture: &Capture) -> Vec<u32> {
    let events = &context.trace.events;
    let mut rows: Vec<u32> = capture
        .rows
        .clone()
        .filter(|&row| events.kind(row) == EventKind::Log && events.start_ns(row) != NO_NS)
        .filter(|&row| context.selection.has(row))
        .collect();
    rows.sort_by_key(|&row| events.start_ns(row));
    rows
}

/// The first place from `from` on that has no owner. `next` leads from each owned place to a later one, and is shortened.
pub fn free(next: &mut [usize], from: usize) -> usize {
    let mut at = from;
    while next[at] != at {
        next[at] = next[next[at]];
        at = next[at];
    }
    next[from] = at;
    at
}

/// Whether lines are left out between two messages: `--` of grep, `[...]`. The time between them is no silence.
pub fn is_cut(context: &TableContext<'_>, capture: &Capture, before: u32, after: u32) -> bool {
    part(context, capture, before) != part(context, capture, after)
}

/// Whether nothing can have waited between two messages: lines are left out, the machine rested, the program waits for
/// requests, or spreads its work on purpose.
pub fn is_free(context: &TableContext<'_>, capture: &Capture, before: u32, after: u32) -> bool {
    let events = &context.trace.events;
    let text = |row: u32| events.texts.string(events.target(row));
    let is_intended = || is_idle(&text(before)) || is_spread(&text(before));
    is_cut(context, capture, before, after)
        || ending(&text(after)) == Some(Ending::Rest)
        || is_intended()
}

/// Number of the part of a log with this message; marks of left-out lines separate parts, and so does each line that was selected.
pub fn part(context: &TableContext<'_>, capture: &Capture, row: u32) -> usize {
    let line = context.trace.events.line(row);
    if capture.facts.is_selected {
        return usize::try_from(line).unwrap_or(usize::MAX);
    }
    capture.elisions.partition_point(|&mark| mark < line)
}
