//! When tasks were stopped: from the stopping signal to the next printed line of the task.
//!
//! ```text
//! task   |--call--|    stopped by SIGSTOP|~~~~~~~~~~|SIGCONT   |--call--|
//! ```

use parsers::NO_NS;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Whether an event is the stop of its task.
pub(crate) fn is_stop(trace: &Trace, row: u32) -> bool {
    let name = || trace.events.texts.bytes(trace.events.shape(row).syscall);
    trace.events.kind(row) == EventKind::Process && is_stop_name(name())
}

/// Whether a signal of this name stops its recipient.
pub fn is_stop_name(name: &[u8]) -> bool {
    matches!(name, b"SIGSTOP" | b"SIGTSTP" | b"SIGTTIN" | b"SIGTTOU")
}

/// Whether any task was ever stopped.
pub fn may_stop(trace: &Trace) -> bool {
    trace
        .events
        .shapes()
        .iter()
        .any(|shape| is_stop_name(trace.events.texts.bytes(shape.syscall)))
}

/// How long a task was stopped between its calls.
pub fn stopped_ns(trace: &Trace, task: TaskId) -> i64 {
    let (events, rows) = (&trace.events, trace.rows_of(task));
    let Some(end_ns) = trace.tasks.get(task).map(|task| task.end_ns()) else {
        return 0;
    };
    let stops = rows
        .iter()
        .enumerate()
        .filter(|&(_, &row)| is_stop(trace, row) && events.start_ns(row) != NO_NS);
    let until_ns = |at: usize| rows.get(at + 1).map_or(end_ns, |&row| events.start_ns(row));
    let stops: Vec<(i64, i64)> = stops
        .map(|(at, &row)| (events.start_ns(row), until_ns(at)))
        .collect();
    if stops.is_empty() {
        return 0;
    }
    let all_ns: i64 = stops
        .iter()
        .map(|(from_ns, to_ns)| (to_ns - from_ns).max(0))
        .sum();
    // Stops and calls are both in order of time, so each call overlaps few stops.
    let mut first = 0;
    let in_calls = trace.spans(task).map(|span| {
        first += stops[first..]
            .iter()
            .take_while(|&&(_, to_ns)| to_ns <= span.start_ns)
            .count();
        let met = stops[first..]
            .iter()
            .take_while(|&&(from_ns, _)| from_ns < span.end_ns);
        met.map(|&(from_ns, to_ns)| (to_ns.min(span.end_ns) - from_ns.max(span.start_ns)).max(0))
            .sum::<i64>()
    });
    all_ns - in_calls.sum::<i64>()
}
