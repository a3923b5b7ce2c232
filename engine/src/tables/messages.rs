//! The messages of a log, and the next of them that nothing owns.

use crate::store::event::EventKind;
use crate::store::trace::Capture;
use crate::table_support::context::TableContext;
use parsers::NO_NS;

/// The messages of a log that have a time and count, in the order of their times.
pub(super) fn messages(context: &TableContext<'_>, capture: &Capture) -> Vec<u32> {
    let events = &context.trace.events;
    let is_dated = |&row: &u32| events.kind(row) == EventKind::Log && events.start_ns(row) != NO_NS;
    let mut rows: Vec<u32> = capture
        .rows
        .clone()
        .filter(is_dated)
        .filter(|&row| context.selection.has(row))
        .collect();
    rows.sort_by_key(|&row| events.start_ns(row));
    rows
}

/// The first place from `from` on that has no owner. `next` leads from each owned place to a later one, and is shortened.
pub(super) fn free(next: &mut [usize], from: usize) -> usize {
    let mut at = from;
    while next[at] != at {
        next[at] = next[next[at]];
        at = next[at];
    }
    next[from] = at;
    at
}
