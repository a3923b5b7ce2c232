//! Reads of eventfds, ended by a write, and of signalfds, ended by a signal.
//!
//! ```text
//! reader   |------ read(eventfd) ------|
//! other       |-- work --|- write -|
//! ```
//!
//! Tracers do not distinguish eventfds, so the waker is the last write by a relative to any of them: inferred.

use super::child::Children;
use super::ordered::Ordered;
use super::signal::Signals;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, ShapeFacts};
use parsers::Outcome;
use rustc_hash::FxHashMap;
use trace::store::targets::{is_eventfd, is_signalfd};
use trace::store::task_relations::related;
use trace::store::trace::Trace;

/// Writes to eventfds, by capture.
#[derive(Default)]
pub(super) struct Counters(FxHashMap<u32, Ordered>);

impl Counters {
    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        if known.deed != Effect::Counts || known.outcome != Outcome::Ok {
            return;
        }
        if let Some(task) = trace.tasks.get(trace.events.task(row)) {
            self.0.entry(task.capture).or_default().push(row);
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        self.0.values_mut().for_each(|rows| rows.order(trace));
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
        let capture = call.trace.tasks.get(call.task)?.capture;
        let row = call.last_inside(self.0.get(&capture)?, |row| {
            related(call.trace, call.trace.events.task(row), call.task)
        })?;
        Some(call.edge(row, WakeKind::Stream, Confidence::Inferred))
    }
}
