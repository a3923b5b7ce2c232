//! What is asked of the replays of one window: the changes, and which of them apply together.

use crate::replay::changes::Change;
use crate::replay::graph::Graph;
use crate::replay::path::replayed;
use crate::replay::scenario::{Replayed, Replays, Scenario};
use kit::table_support::context::TableContext;
use kit::table_support::provenance::Provenance;
use path::critical_path::tracing::TracingCost;
use path::critical_path::trust::Trust;
use query::cache::QueryCache;
use query::selection::{Criteria, Selection};
use query::time_bounds::TimeBoundError;
use rustc_hash::FxHashSet;
use trace::parallel;
use trace::store::index::TaskId;

/// What changes.
#[derive(Clone, Debug)]
pub enum Changed {
    /// The events of a finding.
    Claims(Vec<Provenance>),
    /// The chosen events.
    Selected(Box<Criteria>),
}

/// The changes of a window.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The capture.
    pub capture: u32,
    /// What may change, by number.
    pub changes: Vec<Changed>,
    /// Programs whose serial children may run beside each other, by path or by the last part of it.
    pub parallel: Vec<String>,
}

/// What is left out of the time that tracing added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LeftOut {
    /// Nothing.
    #[default]
    Nothing,
    /// The minimum for each call.
    Least,
    /// The mean for each call, in percent of the estimate.
    Mean(i64),
}

impl LeftOut {
    fn cost(self, trust: &Trust) -> Option<TracingCost> {
        let least = || {
            let in_call_ns = trust.floor_in_call_ns;
            let both_ns = trust.overhead_floor_ns?;
            Some(TracingCost {
                in_call_ns,
                gap_ns: (both_ns - in_call_ns).max(0),
            })
        };
        match self {
            LeftOut::Nothing => None,
            LeftOut::Least => least(),
            LeftOut::Mean(percent) => Some(TracingCost {
                in_call_ns: trust.tracing.in_call_ns.saturating_mul(percent) / 100,
                gap_ns: trust.tracing.gap_ns.saturating_mul(percent) / 100,
            }),
        }
    }
}

/// What changes in one replay.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// Numbers of changes, and the share of them that remains, in millionths.
    pub shares: Vec<(usize, i64)>,
    /// What of the time that tracing added is left out.
    pub tracing: LeftOut,
    /// Whether serial children run beside each other.
    pub is_parallel: bool,
}

impl Question {
    /// A replay for each variant, on all cores; `None` if the capture has no window.
    ///
    /// # Errors
    /// If a selection names a moment that there is not.
    pub fn answers(
        &self,
        context: &TableContext<'_>,
        graph: &Graph,
        queries: &QueryCache,
        variants: &[Variant],
    ) -> Result<Vec<Option<Replayed>>, TimeBoundError> {
        let Some(window) = context
            .windows
            .iter()
            .find(|window| window.capture == self.capture)
        else {
            return Ok(variants.iter().map(|_| None).collect());
        };
        let change = |changed: &Changed| match changed {
            Changed::Claims(members) => {
                let sorted = members
                    .iter()
                    .map(|each| each.clone().sorted(context.trace));
                Ok(Change::of_claims(
                    context,
                    window,
                    &sorted.collect::<Vec<_>>(),
                ))
            }
            Changed::Selected(criteria) => {
                let chosen = Selection::new(context.trace, criteria, queries)?;
                Ok(Change::of_selection(context.trace, window, &chosen))
            }
        };
        let changes = self
            .changes
            .iter()
            .map(change)
            .collect::<Result<Vec<_>, TimeBoundError>>()?;
        let parallel_tasks = self.parallel_tasks(context);
        let replays = Replays {
            trace: context.trace,
            graph,
            window,
            changes: &changes,
            parallel: &parallel_tasks,
        };
        let trust = context.trust_of_capture(self.capture);
        Ok(parallel::map(variants, |variant| {
            let scenario = Scenario {
                shares: variant.shares.clone(),
                tracing: trust.and_then(|trust| variant.tracing.cost(trust)),
                is_parallel: variant.is_parallel,
            };
            replayed(&replays, &scenario)
        }))
    }

    fn parallel_tasks(&self, context: &TableContext<'_>) -> FxHashSet<TaskId> {
        let (trace, programs) = (context.trace, context.trace.program_index());
        let chosen = programs.matching(&trace.events.texts, &self.parallel);
        if self.parallel.is_empty() {
            return FxHashSet::default();
        }
        trace
            .tasks
            .keys()
            .filter(|task| {
                programs
                    .of(*task)
                    .iter()
                    .any(|program| chosen.contains(&program.path))
            })
            .collect()
    }
}
