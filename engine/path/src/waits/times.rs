//! The ends of calls, and the timestamp resolution of a capture.

use trace::store::index::TaskId;
use trace::store::resolution::placed_tick_ns;
use trace::store::trace::Trace;

/// The timestamp resolution of a task's capture.
pub(crate) fn tick_ns(trace: &Trace, task: TaskId) -> i64 {
    let capture = trace.tasks.get(task).map(|task| task.capture as usize);
    capture
        .and_then(|number| trace.captures.get(number))
        .map_or(1, |capture| {
            placed_tick_ns(&capture.facts, capture.is_order_inferred)
        })
}

pub(crate) fn end_ns(trace: &Trace, row: u32) -> i64 {
    trace
        .events
        .end_ns(row)
        .unwrap_or_else(|| trace.events.start_ns(row))
}
