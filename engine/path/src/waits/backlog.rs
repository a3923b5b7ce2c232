//! Connects that were delayed because the backlog of the server was full.
//!
//! ```text
//! client   |------ connect(/run/x) ------|
//! server      |--- work ---|- accept -|            makes room in its queue
//! ```

use super::ordered::Ordered;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, ShapeFacts};
use crate::waits::wakers::poll_loops::producers;
use parsers::Outcome;
use trace::store::heuristics::MIN_BLOCKED_OPEN_NS;
use trace::store::trace::Trace;

/// The accepts of a trace, in order of their starts.
#[derive(Default)]
pub(super) struct Backlog(Ordered);

impl Backlog {
    pub(super) fn take(&mut self, _trace: &Trace, row: u32, known: ShapeFacts) {
        if known.deed == Effect::Accepts && known.outcome == Outcome::Ok {
            self.0.push(row);
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        self.0.order(trace);
    }

    /// The accept that made room for a connect.
    pub(super) fn server(
        &self,
        call: &Waiting<'_>,
        producers: &producers::Producers,
    ) -> Option<Edge> {
        if call.span.end_ns.saturating_sub(call.span.start_ns) < MIN_BLOCKED_OPEN_NS {
            return None;
        }
        let row = call.last_inside(&self.0, |accept| {
            producers.is_bound(call.trace, call.trace.events.task(accept), call.span.row)
        })?;
        Some(call.edge(row, WakeKind::Drain, Confidence::Inferred))
    }
}
