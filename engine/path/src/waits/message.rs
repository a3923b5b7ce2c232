//! Waits for messages and semaphores, ended by another task's call on the same object; and for doors.
//!
//! ```text
//! waiter   |------ msgrcv(3) ------|      client   |---------- door_call ----------|
//! other       |- work -|msgsnd(3)|        server   ----- door_return|- work -|door_return ...
//! ```
//!
//! A line of a semaphore does not always distinguish up from down, so the waker is inferred. So are doors: their two
//! sides have no name in common. A process that exits gives back what it took with SEM_UNDO: if none of the other calls
//! ended a wait for a semaphore, one that had used it and ended with the wait did.

use super::child::Children;
use super::ordered::Ordered;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, Object, ShapeFacts};
use crate::waits::times::end_ns;
use parsers::{Outcome, Text};
use rustc_hash::FxHashMap;
use trace::store::index::TaskId;
use trace::store::task_relations::same_process;
use trace::store::trace::Trace;

/// Maximum number of calls of other tasks examined for one wait.
const TRIES: usize = 64;

/// The calls on such objects, in order of their starts.
#[derive(Default)]
pub(super) struct Messages {
    /// By capture, kind and name.
    calls: FxHashMap<(u32, u8, Text), Ordered>,
}

impl Messages {
    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        let Effect::Handles(object) = known.deed else {
            return;
        };
        let works =
            known.outcome == Outcome::Ok || matches!(object, Object::Answers | Object::Calls);
        if let Some(key) = key(trace, row, object).filter(|_| works) {
            self.calls.entry(key).or_default().push(row);
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        self.calls.values_mut().for_each(|rows| rows.order(trace));
    }

    /// The waker of a wait for a message, for room for one, for a semaphore or a door.
    pub(super) fn other_side(
        &self,
        call: &Waiting<'_>,
        object: Object,
        children: &Children,
    ) -> Option<Edge> {
        let rows = |other: Object| {
            let key = key(call.trace, call.span.row, object)?;
            self.calls.get(&(key.0, other as u8, key.2))
        };
        let last = |rows: &Ordered, sure: Confidence| {
            Some(call.edge(
                call.last_inside(rows, |row| {
                    call.trace.events.start_ns(row) >= call.span.start_ns
                })?,
                WakeKind::Message,
                sure,
            ))
        };
        match object {
            Object::Takes => last(rows(Object::Gives)?, Confidence::Measured),
            Object::Gives => last(rows(Object::Takes)?, Confidence::Inferred),
            Object::Counts => {
                let rows = rows(Object::Counts)?;
                last(rows, Confidence::Inferred).or_else(|| undone(call, rows.rows(), children))
            }
            Object::Calls => answered(call, rows(Object::Answers)?.rows()),
            Object::Answers => called(call, rows(Object::Calls)?.rows()),
        }
    }
}

/// The process that gave back a semaphore when it ended.
fn undone(call: &Waiting<'_>, uses: &[u32], children: &Children) -> Option<Edge> {
    let trace = call.trace;
    let until = uses.partition_point(|&row| trace.events.start_ns(row) < call.span.end_ns);
    let used = |main: TaskId| {
        let recent = uses[..until].iter().rev().take(TRIES);
        recent
            .filter(|&&row| row != call.span.row)
            .any(|&row| same_process(trace, trace.events.task(row), main))
    };
    let ended = children.ended_with(call, used)?;
    Some(Edge {
        how: WakeKind::Message,
        ..ended
    })
}

/// The key of an object. Semaphores and queues have names; doors have none on the side of the server.
fn key(trace: &Trace, row: u32, object: Object) -> Option<(u32, u8, Text)> {
    let capture = trace.tasks.get(trace.events.task(row))?.capture;
    let is_door = matches!(object, Object::Calls | Object::Answers);
    let name = if is_door {
        Text::NONE
    } else {
        trace.events.target(row)
    };
    (is_door || name.is_some()).then_some((capture, object as u8, name))
}

/// The server thread that was released during the call and answered during it.
fn answered(call: &Waiting<'_>, answers: &[u32]) -> Option<Edge> {
    let trace = call.trace;
    let start_ns = |row: u32| trace.events.start_ns(row);
    let until = answers.partition_point(|&row| start_ns(row) <= call.span.end_ns);
    let inside = answers[..until]
        .iter()
        .rev()
        .copied()
        .take(TRIES)
        .take_while(|&row| start_ns(row) > call.span.start_ns);
    let row = inside
        .filter(|&row| !same_process(trace, trace.events.task(row), call.task))
        .find(|&row| {
            let task = trace.events.task(row);
            let before = answers[..until].iter().rev().copied().take(TRIES);
            let mut before = before.filter(|&other| {
                trace.events.task(other) == task && start_ns(other) < start_ns(row)
            });
            before
                .next()
                .is_some_and(|other| end_ns(trace, other) >= call.span.start_ns)
        })?;
    let at_ns = start_ns(row);
    Some(Edge {
        task: trace.events.task(row),
        at_ns,
        how: WakeKind::Message,
        sure: Confidence::Inferred,
    })
}

/// The client whose call released the server thread.
fn called(call: &Waiting<'_>, calls: &[u32]) -> Option<Edge> {
    let trace = call.trace;
    let start_ns = |row: u32| trace.events.start_ns(row);
    let until = calls.partition_point(|&row| start_ns(row) <= call.span.end_ns);
    let inside = calls[..until]
        .iter()
        .rev()
        .copied()
        .take(TRIES)
        .take_while(|&row| start_ns(row) > call.span.start_ns);
    let row = inside.filter(|&row| {
        end_ns(trace, row) >= call.span.end_ns || trace.events.dur_ns(row) == parsers::NO_NS
    });
    let mut row = row.filter(|&row| !same_process(trace, trace.events.task(row), call.task));
    let row = row.next()?;
    let at_ns = start_ns(row);
    Some(Edge {
        task: trace.events.task(row),
        at_ns,
        how: WakeKind::Message,
        sure: Confidence::Inferred,
    })
}
