//! Pauses by turns: threads that pause one after the other, because each waits until another one has paused.
//!
//! ```text
//! 501  |-- sleep 0.3 s --|wakes 502
//! 502  |---- futex 0.3 s ----|-- sleep 0.3 s --|wakes 503
//! 503  |-------------- futex 0.6 s ----------------|-- sleep 0.3 s --|
//! ```
//! Whoever pauses mostly holds what the others wait for: a lock, or the monitor of an object. Threads that hand work on with
//! a semaphore look alike.

use crate::table_support::context::TableContext;
use parsers::NO_NS;
use parsers::syscalls::{Action, Wait};
use path::waits::edge::WakeKind;
use path::waits::wait_kinds::{timed_out, wait_of_row};
use trace::store::event::EventKind;
use trace::store::heuristics::MIN_INPUT_WAIT_NS;
use trace::store::index::TaskId;
use trace::store::task_relations::same_process;

/// Maximum number of calls between a pause and the call that wakes a thread, and between its wait and its own pause.
const MAX_CALLS: usize = 8;

/// A wait that lasts, with its time.
#[derive(Clone, Copy)]
struct LongCall {
    row: u32,
    start_ns: i64,
    end_ns: i64,
}

/// The number of pauses of a task that began when another thread, which had just paused, woke it; `None` if none did.
pub fn turns(context: &TableContext<'_>, task: TaskId, pauses: &[u32]) -> Option<i64> {
    let is_turn = |&&row: &&u32| follows_pause(context, task, row).is_some();
    let turns = pauses.iter().filter(is_turn).count() as i64;
    (turns > 0).then_some(turns)
}

fn follows_pause(context: &TableContext<'_>, task: TaskId, pause: u32) -> Option<()> {
    let trace = context.trace;
    let at = trace.place_of(task, pause)?;
    let wait = last_long(context, task, at)?;
    if context.wakers.wait(trace, wait.row) != Some(Wait::Lock)
        || timed_out(&trace.events, wait.row)
    {
        return None;
    }
    let place = trace.place_of(task, wait.row)?;
    let edge = context
        .wakers
        .waker(trace, task, place, trace.printed_span(wait.row))?;
    // The end of a thread, which another one joins, releases nothing.
    let is_post = edge.how == WakeKind::Futex && edge.task != task;
    if !is_post || !same_process(trace, edge.task, task) || !releases(context, task, at, wait.row) {
        return None;
    }
    let rows = trace.rows_of(edge.task);
    let after = rows.partition_point(|&row| trace.events.start_ns(row) <= edge.at_ns);
    let other = last_long(context, edge.task, after)?;
    // It waited for most of the other one's pause, and that one does not pause again in the meantime.
    let waited_ns = other.end_ns - other.start_ns.max(wait.start_ns);
    let pauses_again = rows[after..]
        .iter()
        .take(MAX_CALLS)
        .filter_map(|&row| long(context, row))
        .any(|next| {
            is_pause(context, next.row)
                && trace
                    .events
                    .end_ns(pause)
                    .is_some_and(|end_ns| next.start_ns < end_ns)
        });
    let is_turn = is_pause(context, other.row)
        && 2 * waited_ns >= other.end_ns - other.start_ns
        && !pauses_again;
    is_turn.then_some(())
}

/// Whether a task wakes another one after its pause, or posts where it had waited: it held what others wait for.
fn releases(context: &TableContext<'_>, task: TaskId, pause: usize, wait: u32) -> bool {
    let events = &context.trace.events;
    let after = context.trace.rows_of(task).iter().skip(pause + 1);
    after.take(MAX_CALLS).any(|&row| {
        let op = events.texts.bytes(events.shape(row).op);
        let is_wake = events.action(row) == Action::UsesFutex && op.starts_with(b"FUTEX_WAKE");
        is_wake && (events.ret(row) > 0 || events.target(row) == events.target(wait))
    })
}

/// The last wait that lasts before a place of a task's rows, if few calls are in between.
fn last_long(context: &TableContext<'_>, task: TaskId, place: usize) -> Option<LongCall> {
    let rows = context.trace.rows_of(task).get(..place)?;
    let mut before = rows.iter().rev().take(MAX_CALLS);
    before.find_map(|&row| long(context, row))
}

fn long(context: &TableContext<'_>, row: u32) -> Option<LongCall> {
    let events = &context.trace.events;
    let lasts = events.kind(row) == EventKind::Call
        && wait_of_row(events, row).is_some()
        && events.dur_ns(row) != NO_NS
        && events.dur_ns(row) >= MIN_INPUT_WAIT_NS;
    let end_ns = events.end_ns(row).filter(|_| lasts)?;
    Some(LongCall {
        row,
        start_ns: events.start_ns(row),
        end_ns,
    })
}

/// Whether a call waited for nothing but time in the end: a sleep, or a wait that reached its limit.
fn is_pause(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    match wait_of_row(events, row) {
        Some(Wait::Sleep) => true,
        Some(Wait::Lock | Wait::Poll) => timed_out(events, row) || events.only_sleeps(row),
        _ => false,
    }
}
