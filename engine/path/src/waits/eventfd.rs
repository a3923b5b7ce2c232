//! Reads of eventfds, ended by a write, and of signalfds, ended by a signal; writes to full eventfds, ended by a read.
//!
//! ```text
//! reader   |------ read(eventfd) ------|
//! other       |-- work --|- write -|
//! ```
//!
//! Tracers do not distinguish eventfds, so the waker is the last write (or read) by a relative of any of them: inferred.

use super::child::Children;
use super::ordered::Ordered;
use super::signal::Signals;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, ShapeFacts};
use parsers::Outcome;
use parsers::syscalls::{Action, action_of};
use rustc_hash::FxHashMap;
use trace::store::heuristics::MIN_BLOCKED_WRITE_NS;
use trace::store::index::{ShapeId, TiVec};
use trace::store::targets::{is_eventfd, is_signalfd};
use trace::store::task_relations::related;
use trace::store::trace::Trace;

/// Uses of eventfds, by capture.
#[derive(Default)]
pub(super) struct Counters {
    writes: FxHashMap<u32, Ordered>,
    /// Only if a write was long: the counter may have been full.
    reads: FxHashMap<u32, Ordered>,
}

impl Counters {
    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        if known.deed != Effect::Counts || known.outcome != Outcome::Ok {
            return;
        }
        if let Some(task) = trace.tasks.get(trace.events.task(row)) {
            self.writes.entry(task.capture).or_default().push(row);
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        let writes = || self.writes.values().flat_map(|rows| rows.rows());
        if writes().any(|&row| trace.events.dur_ns(row) >= MIN_BLOCKED_WRITE_NS) {
            self.reads = reads(trace);
        }
        let all = self.writes.values_mut().chain(self.reads.values_mut());
        all.for_each(|rows| rows.order(trace));
    }

    /// The read that made room for a write to this target.
    pub(super) fn reader(&self, call: &Waiting<'_>) -> Option<Edge> {
        let events = &call.trace.events;
        let lasted_ns = call.span.end_ns.saturating_sub(call.span.start_ns);
        if lasted_ns < MIN_BLOCKED_WRITE_NS
            || !is_eventfd(events.texts.bytes(events.target(call.span.row)))
        {
            return None;
        }
        let row = self.last_of_relative(call, &self.reads)?;
        Some(call.edge(row, WakeKind::Drain, Confidence::Inferred))
    }

    fn last_of_relative(&self, call: &Waiting<'_>, rows: &FxHashMap<u32, Ordered>) -> Option<u32> {
        let capture = call.trace.tasks.get(call.task)?.capture;
        call.last_inside(rows.get(&capture)?, |row| {
            related(call.trace, call.trace.events.task(row), call.task)
        })
    }

    /// The waker of a wait for data of this target.
    pub(super) fn writer(
        &self,
        call: &Waiting<'_>,
        target: &[u8],
        signals: &Signals,
        children: &Children,
    ) -> Option<Edge> {
        if is_signalfd(target) {
            return signals.arrived(call, children);
        }
        if !is_eventfd(target) {
            return None;
        }
        let row = self.last_of_relative(call, &self.writes)?;
        Some(call.edge(row, WakeKind::Stream, Confidence::Inferred))
    }
}

/// Successful reads of eventfds, by capture.
fn reads(trace: &Trace) -> FxHashMap<u32, Ordered> {
    let events = &trace.events;
    let is_asked = events.shapes().iter().map(|shape| {
        let is_read = action_of(shape.syscall) == Action::Reads && shape.outcome == Outcome::Ok;
        is_read && is_eventfd(events.texts.bytes(shape.target))
    });
    let is_asked: TiVec<ShapeId, bool> = is_asked.collect();
    let mut found: FxHashMap<u32, Ordered> = FxHashMap::default();
    for &(row, _) in events.calls_of_shapes(&is_asked).iter().flatten() {
        if let Some(task) = trace.tasks.get(events.task(row)) {
            found.entry(task.capture).or_default().push(row);
        }
    }
    found
}
