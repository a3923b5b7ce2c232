//! Waits that a signal ends: of a child that ended, or sent by another task.
//!
//! ```text
//! waiter   |---- sigsuspend ----|SIGCHLD       |---- nanosleep ----|SIGTERM
//! other        |-- work --|exit                      |-- kill --|
//! ```

use super::child::Children;
use super::ordered::Ordered;
use super::shapes::{Deed, Known};
use super::waiting::Waiting;
use super::waits::Wait;
use super::{Edge, How, Sure};
use crate::events::EventKind;
use crate::trace::Trace;
use parsers::Outcome;
use rustc_hash::FxHashMap;

/// Who sent signals to whom.
#[derive(Default)]
pub(super) struct Signals {
    /// Rows that sent one, by capture and the id sent to.
    sent: FxHashMap<(u32, i32), Ordered>,
    /// All of them, by capture: some are sent to a group of processes.
    all: FxHashMap<u32, Ordered>,
}

impl Signals {
    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: Known) {
        let events = &trace.events;
        if known.deed != Deed::Signals || known.outcome != Outcome::Ok {
            return;
        }
        let to =
            parsers::scan::number(events.texts.bytes(events.target(row))).and_then(|(id, _)| i32::try_from(id).ok());
        let Some(task) = trace.tasks.get(events.task(row) as usize) else { return };
        self.all.entry(task.capture).or_default().push(row);
        if let Some(to) = to {
            self.sent.entry((task.capture, to)).or_default().push(row);
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        self.sent.values_mut().chain(self.all.values_mut()).for_each(|rows| rows.order(trace));
    }

    /// Who sent the signal that ended a wait, if one did.
    pub(super) fn sender(&self, call: &Waiting<'_>, wait: Wait, children: &Children) -> Option<Edge> {
        let events = &call.trace.events;
        let row = call.span.row;
        let broken_off =
            events.outcome(row) == Outcome::Interrupted || events.texts.bytes(events.shape(row).errno) == b"EINTR";
        if !broken_off && wait != Wait::Signal {
            return None;
        }
        // The signal is the next thing printed of the task; a sigwait takes it without one.
        let next = call.rows_behind().next().filter(|&next| events.kind(next) == EventKind::Signal);
        let name = next.map_or(&b""[..], |next| events.texts.bytes(events.shape(next).syscall));
        if matches!(name, b"SIGCHLD" | b"SIGCLD" | b"") {
            let child = children.last_child(call);
            if child.is_some() || !name.is_empty() {
                return child;
            }
        }
        self.last_sent(call)
    }

    /// Whether a signal ended a wait that nobody in the trace can have sent: neither a task nor a timer nor a child.
    pub(super) fn came_from_outside(&self, call: &Waiting<'_>) -> bool {
        let events = &call.trace.events;
        let Some(next) = call.rows_behind().next().filter(|&next| events.kind(next) == EventKind::Signal) else {
            return false;
        };
        let name = events.texts.bytes(events.shape(next).syscall);
        let may_be_own = matches!(name, b"SIGCHLD" | b"SIGCLD" | b"SIGALRM" | b"SIGVTALRM" | b"SIGPROF")
            || name.starts_with(b"SIGRT");
        let capture = call.trace.tasks.get(call.task as usize).map(|task| task.capture);
        let sent = capture.and_then(|capture| self.all.get(&capture));
        !may_be_own && sent.is_none_or(|rows| call.last_inside(rows, |_| true).is_none())
    }

    /// Whose signal arrived last: that of a child that ended, or one that was sent.
    pub(super) fn arrived(&self, call: &Waiting<'_>, children: &Children) -> Option<Edge> {
        children.last_child(call).into_iter().chain(self.last_sent(call)).max_by_key(|edge| edge.at_ns)
    }

    fn last_sent(&self, call: &Waiting<'_>) -> Option<Edge> {
        let task = call.trace.tasks.get(call.task as usize)?;
        let by_id = |id: i32| call.last_inside(self.sent.get(&(task.capture, id))?, |_| true);
        let row = by_id(task.pid).or_else(|| by_id(task.tid))?;
        Some(call.edge(row, How::Signal, Sure::Measured))
    }
}
