//! Poll loops in a replay: the check that succeeds moves with what it waits for.
//!
//! ```text
//! poller     |check|  sleep  |check|  sleep  |check|  sleep  |check: it is there|
//! producer        |------------ work ------------|make|
//! replayed   |check|  sleep  |check|  sleep  |check: it is there|                   if half of the work is removed
//! ```
//!
//! The time from the event to the check that notices it is kept, unless the pauses of the capture end sooner. It depends on when
//! the loop began, so less work could make it longer by up to one interval.

use crate::replay::steps::{EndedBy, Step, Turns, step};
use parsers::NO_NS;
use path::waits::wakers::Wakers;
use trace::store::event::NONE;
use trace::store::index::TaskId;
use trace::store::spans::Span;
use trace::store::trace::Trace;

/// The step that a successful check is, and its lane, if the check ended a poll loop. If children check, it is the call with which
/// the poller created the last one.
pub(super) fn turns(
    trace: &Trace,
    wakers: &Wakers,
    (task, at, span): (TaskId, usize, Span),
    waiter: Option<TaskId>,
) -> Option<(TaskId, Step)> {
    let poll = wakers.poll(trace, task, at, span, waiter)?;
    let leads_on = poll.edge.task != task && poll.edge.at_ns > poll.began_ns;
    if !leads_on || poll.edge.task.index() >= trace.tasks.len() {
        return None;
    }
    let turns = Turns {
        producer: poll.edge.task,
        at_ns: poll.edge.at_ns.min(span.end_ns),
        began_ns: poll.began_ns,
    };
    if poll.first_task == task {
        return Some((task, step(at, span, EndedBy::Check(turns))));
    }
    let (creator, row) = (trace.tasks[task].creator, trace.tasks[task].created_by);
    if row == NONE || row >= trace.events.len() || creator == poll.edge.task {
        return None;
    }
    let created_at = trace.place_of(creator, row)?;
    let span = trace.printed_span(row);
    let is_later = span.start_ns != NO_NS && span.start_ns >= poll.began_ns;
    is_later.then(|| (creator, step(created_at, span, EndedBy::Check(turns))))
}
