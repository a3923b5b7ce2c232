//! What the replays of a window have in common, and in what they differ.

use crate::replay::changes::Change;
use crate::replay::graph::Graph;
use path::critical_path::tracing::TracingCost;
use path::critical_path::window::Window;
use rustc_hash::FxHashSet;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// What a replay changes.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// Numbers of changes, and the share of them that remains, in millionths.
    pub shares: Vec<(usize, i64)>,
    /// What tracing adds to each call, to be left out; `None` keeps it.
    pub tracing: Option<TracingCost>,
    /// Whether serial children of the chosen tasks run beside each other.
    pub is_parallel: bool,
}

/// When the window ends in a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Length of the window.
    pub wall_ns: i64,
    /// Time on the replayed critical path by task; it sums to `wall_ns`.
    pub exclusive_ns: Vec<(TaskId, i64)>,
}

/// Everything that the replays of a window have in common.
pub struct Replays<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Its waits.
    pub graph: &'a Graph,
    /// The window.
    pub window: &'a Window,
    /// The changes that scenarios refer to.
    pub changes: &'a [Change],
    /// The tasks whose serial children may run beside each other.
    pub parallel: &'a FxHashSet<TaskId>,
}
