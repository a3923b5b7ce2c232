//! Waits ended or interrupted by a signal: SIGCHLD of an ended child, or a signal that another task sent.
//!
//! ```text
//! waiter   |--- rt_sigsuspend ---|SIGCHLD   waiter   |--- nanosleep ----|SIGTERM
//! other        |-- work --|exit                      |-- kill --|
//! ```
//!
//! The line of a signal names its sender. Without such a line (`SIGKILL`) it is the last task that sent it to the
//! process.

use super::child::Children;
use super::interrupted::{self, Breaker};
use super::ordered::Ordered;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, ShapeFacts};
use crate::waits::wait_kinds::is_of_timer;
use parsers::syscalls::Wait;
use parsers::{NO_ID, Outcome, Text};
use rustc_hash::FxHashMap;
use trace::store::event::EventKind;
use trace::store::events::EventTable;
use trace::store::task_relations::{creators, related};
use trace::store::trace::Trace;

/// Maximum number of processes related to one that may lead their common group.
const SIBLINGS: usize = 256;

/// The senders of signals, and their recipients.
#[derive(Default)]
pub(super) struct Signals {
    /// Rows that sent one, by capture and recipient id: a process or thread, or a group if it is negative.
    sent: FxHashMap<(u32, i32), Ordered>,
    /// All of them, by capture.
    all: FxHashMap<u32, Ordered>,
}

impl Signals {
    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        let events = &trace.events;
        if known.deed != Effect::Signals || known.outcome != Outcome::Ok {
            return;
        }
        let to = sent_to(trace, row);
        let Some(task) = trace.tasks.get(events.task(row)) else {
            return;
        };
        self.all.entry(task.capture).or_default().push(row);
        if let Some(to) = to {
            self.sent.entry((task.capture, to)).or_default().push(row);
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        self.sent
            .values_mut()
            .chain(self.all.values_mut())
            .for_each(|rows| rows.order(trace));
    }

    /// The sender of the signal that ended a wait, if one did.
    pub(super) fn sender(
        &self,
        call: &Waiting<'_>,
        wait: Option<Wait>,
        children: &Children,
    ) -> Option<Edge> {
        // A sigwait receives its signal without being interrupted.
        let taken = || {
            (wait == Some(Wait::Signal)).then_some(Breaker {
                name: Text::NONE,
                from: NO_ID,
            })
        };
        let breaker = interrupted::breaker(call).or_else(taken)?;
        let name = call.trace.events.texts.bytes(breaker.name);
        if matches!(name, b"SIGCHLD" | b"SIGCLD" | b"") {
            let named = (breaker.from != NO_ID)
                .then(|| children.process_end(call, breaker.from))
                .flatten();
            let child = named.or_else(|| children.last_child(call));
            if child.is_some() || !name.is_empty() {
                return child;
            }
        }
        self.last_sent(call, &breaker, children)
    }

    /// Whether a timer of the task itself ended its wait.
    pub(super) fn is_timer(call: &Waiting<'_>) -> bool {
        let name =
            interrupted::breaker(call).map(|breaker| call.trace.events.texts.bytes(breaker.name));
        name.is_some_and(is_of_timer)
    }

    /// Whether a wait was ended by a signal with an origin outside the trace: no task, timer or child sent it.
    pub(super) fn came_from_outside(&self, call: &Waiting<'_>) -> bool {
        let events = &call.trace.events;
        let next = call
            .rows_after()
            .next()
            .filter(|&next| events.kind(next) == EventKind::Signal);
        let breaker = interrupted::breaker(call).map(|breaker| breaker.name);
        let Some(name) = breaker.or_else(|| next.map(|next| events.shape(next).syscall)) else {
            return false;
        };
        let name = events.texts.bytes(name);
        let may_be_own = matches!(name, b"SIGCHLD" | b"SIGCLD" | b"SIGPIPE") || is_of_timer(name);
        let capture = call.trace.tasks.get(call.task).map(|task| task.capture);
        let sent = capture.and_then(|capture| self.all.get(&capture));
        !may_be_own && sent.is_none_or(|rows| call.last_inside(rows, |_| true).is_none())
    }

    /// The origin of the last signal that arrived: a child that ended, or a sender.
    pub(super) fn arrived(&self, call: &Waiting<'_>, children: &Children) -> Option<Edge> {
        let any = Breaker {
            name: Text::NONE,
            from: NO_ID,
        };
        let sent = self.last_sent(call, &any, children);
        children
            .last_child(call)
            .into_iter()
            .chain(sent)
            .max_by_key(|edge| edge.at_ns)
    }

    fn last_sent(
        &self,
        call: &Waiting<'_>,
        breaker: &Breaker,
        children: &Children,
    ) -> Option<Edge> {
        let trace = call.trace;
        let task = trace.tasks.get(call.task)?;
        let fits = |row: u32| is_sent_like(trace, row, breaker);
        let by_id = |id: i32| call.last_begun_inside(self.sent.get(&(task.capture, id))?, fits);
        if let Some(row) = by_id(task.pid).or_else(|| by_id(task.tid)) {
            return Some(call.edge(row, WakeKind::Signal, Confidence::Measured));
        }
        // Sent to a process group. Only the line of the signal proves the recipient.
        let is_known = breaker.from != NO_ID;
        let all = self.all.get(&task.capture)?;
        let row = call.last_begun_inside(all, |row| {
            fits(row) && reaches(call, row, is_known, children)
        })?;
        Some(call.edge(
            row,
            WakeKind::Signal,
            if is_known {
                Confidence::Measured
            } else {
                Confidence::Inferred
            },
        ))
    }
}

/// Whether a call sent this signal, judged by names and ids.
fn is_sent_like(trace: &Trace, row: u32, breaker: &Breaker) -> bool {
    let events = &trace.events;
    let (sent, got) = (events.shape(row).op, breaker.name);
    let other = is_signal_name(events, sent) && is_signal_name(events, got) && sent != got;
    let sender = || trace.tasks.get(events.task(row)).map(|task| task.pid);
    !other && (breaker.from == NO_ID || sender() == Some(breaker.from))
}

fn is_signal_name(events: &EventTable, name: Text) -> bool {
    events.texts.bytes(name).starts_with(b"SIG")
}

/// Whether a signal to a process group, or to a process not named by its id, may have reached the waiter.
fn reaches(call: &Waiting<'_>, row: u32, is_known: bool, children: &Children) -> bool {
    let trace = call.trace;
    let Some(to) = sent_to(trace, row) else {
        return is_known;
    };
    // The leader of a group is usually the creator of the others, or the first of several that a shell created.
    let may_lead = || {
        let creator = trace
            .tasks
            .get(call.task)
            .map_or(call.task, |task| task.creator);
        let siblings = children
            .made_by(trace, creator)
            .iter()
            .take(SIBLINGS)
            .copied();
        creators(trace, call.task).chain(siblings).any(|task| {
            trace
                .tasks
                .get(task)
                .is_some_and(|task| task.pid.checked_neg() == Some(to))
        })
    };
    match to {
        1.. => false,
        _ if is_known => true,
        -1 => true,
        0 => related(trace, trace.events.task(row), call.task),
        _ => may_lead(),
    }
}

/// The recipient of a call: a process, thread or group. `7`, `-7`, or `pid:7` for a pidfd.
pub fn sent_to(trace: &Trace, row: u32) -> Option<i32> {
    let target = trace.events.texts.bytes(trace.events.target(row));
    let (to, _) = parsers::scan::signed(target.strip_prefix(b"pid:").unwrap_or(target))?;
    i32::try_from(to).ok()
}
