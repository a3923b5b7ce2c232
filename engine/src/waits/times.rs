//! The ends of calls, and the timestamp resolution of a capture.

use crate::store::trace::Trace;

/// The timestamp resolution of a task's capture.
pub(crate) fn tick_ns(trace: &Trace, task: u32) -> i64 {
    let capture = trace.tasks.get(task as usize).map(|task| task.capture as usize);
    capture.and_then(|number| trace.captures.get(number)).map_or(1, |capture| capture.facts.tick_ns.max(1))
}

pub(crate) fn end_ns(trace: &Trace, row: u32) -> i64 {
    trace.events.end_ns(row).unwrap_or_else(|| trace.events.start_ns(row))
}
