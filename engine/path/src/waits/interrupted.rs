//! Calls that a signal interrupted: the signal, and the call with which the task resumed.
//!
//! ```text
//! task    |---- read ----|SIGCHLD, its handler|---- read ----|      one wait in two parts, ended by the second waker
//! task    |---- read ----|SIGTERM, its handler|--- unlink ---|      ended by the sender of the signal
//! task    |---- read ----|killed by SIGKILL                         the same: it never returned
//! ```
//!
//! A wait for a lock with a timeout may also consist of several parts, each up to the timeout:
//!
//! ```text
//! task    |-- futex --|ETIMEDOUT |-- futex --|ETIMEDOUT |- futex -|  ended by the wake during the last part
//! ```

use super::effects::ShapeEffects;
use super::wait_kinds::{never_returned, was_broken_off};
use super::waiting::Waiting;
use crate::waits::shape_facts::ShapeFacts;
use crate::waits::stops::is_stop;
use crate::waits::wait_kinds::{is_of_timer, is_return};
use parsers::line::Ended;
use parsers::syscalls::{Action, action_of};
use parsers::{NO_ID, NO_NS, Text};
use trace::store::event::EventKind;
use trace::store::events::EventTable;
use trace::store::heuristics::{EXIT_TOLERANCE_NS, MAX_BETWEEN_PARTS_NS, MAX_CALLS_BETWEEN_PARTS};
use trace::store::index::TaskId;
use trace::store::spans::Span;
use trace::store::trace::Trace;

/// Maximum number of rows after a call that are searched for its continuation: a handler may make calls.
const ROWS_BEHIND: usize = 64;
/// Maximum number of parts of one wait that are followed: an interval timer may interrupt it repeatedly.
const PARTS: usize = 256;

/// The signal that interrupted a call.
#[derive(Clone, Copy)]
pub(super) struct Breaker {
    /// Its name.
    pub name: Text,
    /// The process that sent it, or the child that it reports; [`NO_ID`] if that is not printed.
    pub from: i32,
}

/// The signal that interrupted a call, if one did: the next printed line of the task.
pub(super) fn breaker(call: &Waiting<'_>) -> Option<Breaker> {
    let events = &call.trace.events;
    let is_open = never_returned(events.outcome(call.span.row));
    if !is_open && !was_broken_off(events, call.span.row) {
        return None;
    }
    let next = call.rows_after().next();
    let killed_by = match call.trace.tasks.get(call.task)?.ended {
        Some(Ended::Killed(signal)) => Some(signal),
        _ => None,
    };
    match next.filter(|&next| events.kind(next) == EventKind::Signal) {
        // A signal during a call that resumes forever did not end it.
        Some(_) if is_open && killed_by.is_none() => None,
        Some(row) => Some(Breaker {
            name: events.shape(row).syscall,
            from: events.sender(row),
        }),
        None => {
            let is_last = next.is_none_or(|next| events.kind(next) == EventKind::Exit);
            killed_by
                .filter(|_| is_last)
                .map(|name| Breaker { name, from: NO_ID })
        }
    }
}

/// The last part of a wait that signals interrupted and the task resumed, by its index among the task's rows. None if
/// it was not resumed.
pub(super) fn last_part(call: &Waiting<'_>) -> Option<usize> {
    let mut parts =
        std::iter::successors(Some(call.at), |&at| next_part(call.trace, call.task, at));
    parts.by_ref().skip(1).take(PARTS).last()
}

/// The start of the wait that this call is a part of. It does not cross a stop, which is charged separately.
pub(super) fn began_ns(
    shapes: &ShapeEffects,
    trace: &Trace,
    task: TaskId,
    at: usize,
    start_ns: i64,
) -> i64 {
    let first = first_part(shapes, trace, task, at);
    if first == at {
        start_ns
    } else {
        trace
            .events
            .start_ns(trace.rows_of(task)[first])
            .min(start_ns)
    }
}

/// The first part of the wait that this call belongs to, as far as signals interrupted it.
fn first_part(shapes: &ShapeEffects, trace: &Trace, task: TaskId, at: usize) -> usize {
    let events = &trace.events;
    let rows = trace.rows_of(task);
    let before = |at: &usize| {
        let follows_signal =
            |row: u32| events.kind(row) != EventKind::Call || shapes.of(trace, row).upkeep;
        let reach = at
            .checked_sub(1)
            .filter(|&before| follows_signal(rows[before]))?;
        let from = reach.saturating_sub(ROWS_BEHIND);
        let call = (from..reach)
            .rev()
            .find(|&at| shapes.of(trace, rows[at]).interrupted)?;
        let stops = rows[call..*at].iter().any(|&row| is_stop(trace, row));
        (!stops && next_part(trace, task, call) == Some(*at)).then_some(call)
    };
    std::iter::successors(Some(at), before)
        .take(PARTS)
        .last()
        .unwrap_or(at)
}

/// The start of the wait for a lock that this call is the last part of, if the earlier parts only ran into their
/// timeouts.
pub(super) fn asked_first_ns(
    shapes: &ShapeEffects,
    trace: &Trace,
    task: TaskId,
    at: usize,
    start_ns: i64,
) -> i64 {
    began_first_ns(shapes, (trace, task), at, start_ns, |_, last| {
        shapes.timed_out(trace, trace.rows_of(task)[last])
    })
}

/// The start of the wait for one of several events that this call is the last part of, if a timer of the task's own interrupted
/// the earlier part, and the task only waited again.
///
/// ```text
/// task     |-- epoll_wait --|SIGALRM, its handler|epoll_wait, at once|-- epoll_wait --|   ended by the writer at the end
/// ```
pub(super) fn polled_first_ns(
    shapes: &ShapeEffects,
    trace: &Trace,
    task: TaskId,
    at: usize,
    start_ns: i64,
) -> i64 {
    let (events, rows) = (&trace.events, trace.rows_of(task));
    let is_quick = |first: usize, last: usize| {
        let end_ns = |at: usize| events.end_ns(rows[at]).unwrap_or(NO_NS);
        end_ns(last).saturating_sub(end_ns(first)) <= EXIT_TOLERANCE_NS
    };
    began_first_ns(shapes, (trace, task), at, start_ns, |first, last| {
        alarm_follows(trace, task, first) && is_quick(first, last)
    })
}

/// Whether a signal of a timer interrupted a call.
fn alarm_follows(trace: &Trace, task: TaskId, at: usize) -> bool {
    let (events, rows) = (&trace.events, trace.rows_of(task));
    let next = rows
        .get(at + 1)
        .filter(|&&next| events.kind(next) == EventKind::Signal);
    was_broken_off(events, rows[at])
        && next.is_some_and(|&next| is_of_timer(events.texts.bytes(events.shape(next).syscall)))
}

/// The start of the first part of a wait. `ran_out` is whether only time ended the part from a first to a last index.
fn began_first_ns(
    shapes: &ShapeEffects,
    (trace, task): (&Trace, TaskId),
    at: usize,
    start_ns: i64,
    ran_out: impl Fn(usize, usize) -> bool,
) -> i64 {
    let (events, rows) = (&trace.events, trace.rows_of(task));
    let before = |&at: &usize| {
        let (now, from) = (rows[at], at.saturating_sub(MAX_CALLS_BETWEEN_PARTS + 1));
        let is_same = |&(_, first): &(usize, usize)| {
            let (old, new) = (events.shape(rows[first]), events.shape(now));
            old.syscall == new.syscall && events.target(rows[first]) == events.target(now)
        };
        let (last, first) = (from..at)
            .rev()
            .map(|at| (at, first_part(shapes, trace, task, at)))
            .find(is_same)?;
        let between_ns = events
            .start_ns(now)
            .saturating_sub(events.end_ns(rows[last])?);
        (ran_out(first, last) && between_ns <= MAX_BETWEEN_PARTS_NS).then_some(first)
    };
    // A signal may have interrupted the last part, too.
    let last = first_part(shapes, trace, task, at);
    let first = std::iter::successors(Some(last), before)
        .take(PARTS)
        .last()
        .filter(|&first| first != at);
    first.map_or(start_ns, |first| events.start_ns(rows[first]).min(start_ns))
}

/// Where a task resumes an interrupted call: only the signal and its handler lie in between.
fn next_part(trace: &Trace, task: TaskId, at: usize) -> Option<usize> {
    let events = &trace.events;
    let rows = trace.rows_of(task);
    let broken = *rows.get(at)?;
    if !was_broken_off(events, broken) {
        return None;
    }
    // Another thread may have handled the signal; then this one has no handler.
    let has_signal = events.kind(*rows.get(at + 1)?) == EventKind::Signal;
    let (mut is_elsewhere, mut has_returned) = (false, !has_signal);
    for (place, &row) in rows.iter().enumerate().skip(at + 1).take(ROWS_BEHIND) {
        if events.kind(row) == EventKind::Exit {
            return None;
        }
        if events.kind(row) != EventKind::Call {
            continue;
        }
        if is_return(events, row) {
            (is_elsewhere, has_returned) = (false, true);
        } else if !is_elsewhere && is_same_call(events, broken, row) {
            return Some(place);
        } else if !events.action(row).keeps_signals() {
            if has_returned {
                return None;
            }
            is_elsewhere = true;
        }
    }
    None
}

/// Whether a call is an earlier one, made again by the task or by the kernel.
fn is_same_call(events: &EventTable, broken: u32, row: u32) -> bool {
    let (old, new) = (events.shape(broken), events.shape(row));
    let restarted = action_of(new.syscall) == Action::Restarts;
    let same = old.syscall == new.syscall && events.target(broken) == events.target(row);
    same || (restarted && (!new.op.is_some() || new.op == old.syscall))
}

impl Waiting<'_> {
    /// The same wait after an earlier interruption, by the call that names its object.
    pub(super) fn by_origin(self, known: ShapeFacts) -> Self {
        if !known.restarts {
            return self;
        }
        Waiting {
            span: Span {
                row: origin(&self),
                ..self.span
            },
            ..self
        }
    }
}

/// The original call of a restarted one, which names its object.
pub(super) fn origin(call: &Waiting<'_>) -> u32 {
    let events = &call.trace.events;
    let row = call.span.row;
    let earlier = call.trace.rows_of(call.task).get(..call.at).unwrap_or(&[]);
    let mut earlier = earlier
        .iter()
        .rev()
        .copied()
        .take(ROWS_BEHIND)
        .filter(|&row| was_broken_off(events, row));
    let named = earlier.find(|&row| events.action(row) != Action::Restarts);
    named
        .filter(|&named| is_same_call(events, named, row))
        .unwrap_or(row)
}
