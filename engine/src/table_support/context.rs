//! What a table is made of: a trace, what of it counts, and the path through it.

use crate::critical_path::attribution::Attribution;
use crate::critical_path::trust::Trust;
use crate::critical_path::window::Window;
use crate::logs::items::{Log, logs};
use crate::query::selection::Selection;
use crate::store::events::EventKind;
use crate::store::trace::Trace;
use crate::table_support::pruning::Threshold;
use crate::tables::Moved;
use crate::waits::wakers::Wakers;
use std::sync::OnceLock;

/// A trace with everything that tables ask about it.
pub struct TableContext<'context> {
    /// The trace.
    pub trace: &'context Trace,
    /// Which events count.
    pub selection: &'context Selection<'context>,
    /// One per capture, in their order.
    pub windows: &'context [Window],
    /// Who ended which wait.
    pub wakers: &'context Wakers,
    /// The path by event.
    pub attribution: &'context Attribution,
    /// See [`TableContext::logs`].
    pub logs: &'context OnceLock<Vec<Log>>,
    /// What tasks moved, as far as it is known already, by number. Two tables are made of it.
    pub(crate) moved: &'context [OnceLock<Moved>],
    /// The tasks that matter to who asks, by number; all without it. See [`crate::table_support::pruning`].
    pub matters: Option<&'context [bool]>,
    /// From where on rows matter to who asks; everything does without one.
    pub threshold: Option<&'context Threshold>,
}

impl<'context> TableContext<'context> {
    /// All that is asked about. How far captures can be trusted and the shapes of each task are worked out before, for
    /// tables are made on all cores, and who waits there until they are known could not help with it.
    pub(crate) fn new(
        trace: &'context Trace,
        selection: &'context Selection<'context>,
        windows: &'context [Window],
        wakers: &'context Wakers,
        attribution: &'context Attribution,
        (logs, moved): (&'context OnceLock<Vec<Log>>, &'context [OnceLock<Moved>]),
    ) -> TableContext<'context> {
        trace.trust(0);
        trace.shapes_of(0);
        TableContext { trace, selection, windows, wakers, attribution, logs, moved, matters: None, threshold: None }
    }
}

impl TableContext<'_> {
    /// The tasks that count and matter.
    pub fn tasks(&self) -> impl Iterator<Item = u32> + '_ {
        let tasks = 0..self.trace.tasks.len() as u32;
        tasks.filter(|&task| self.matters(task) && self.selection.touches_task(task))
    }

    /// The logs of the trace, by their stages and items. Two tables are made of them.
    pub fn logs(&self) -> &[Log] {
        self.logs.get_or_init(|| logs(self))
    }

    /// Whether a task matters to who asks.
    pub fn matters(&self, task: u32) -> bool {
        self.matters.is_none_or(|matters| matters.get(task as usize) == Some(&true))
    }

    /// The calls of a task that count, in order of their starts.
    pub fn calls_of(&self, task: u32) -> impl Iterator<Item = u32> + '_ {
        let is_call = |&row: &u32| self.trace.events.kind(row) == EventKind::Call && self.selection.has(row);
        self.trace.rows_of(task).iter().copied().filter(is_call)
    }

    /// Wall time on the path inside a call.
    pub fn exclusive_ns(&self, row: u32) -> i64 {
        self.attribution.in_call_ns(row)
    }

    /// Length of the window of a capture; 0 without one.
    pub fn wall_ns(&self, capture: u32) -> i64 {
        let of = |window: &&Window| window.capture == capture;
        self.windows.iter().find(of).map_or(0, Window::wall_ns)
    }

    /// How far the capture of a task can be trusted.
    pub fn trust_of(&self, task: u32) -> Option<&Trust> {
        self.trace.tasks.get(task as usize).and_then(|task| self.trace.trust(task.capture))
    }

    /// The program of a task during an event.
    pub fn program(&self, task: u32, row: u32) -> parsers::Text {
        let program = self.selection.program_index.at(task, self.trace.events.start_ns(row));
        let program = program.or_else(|| self.selection.program_index.of(task).first().copied());
        program.map_or(parsers::Text::NONE, |program| program.path)
    }
}
