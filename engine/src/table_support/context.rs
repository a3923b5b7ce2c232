//! What a table is made of: a trace, what of it counts, and the path through it.

use crate::critical_path::attribution::Attribution;
use crate::critical_path::time_index::TimeIndex;
use crate::critical_path::trust::Trust;
use crate::critical_path::window::Window;
use crate::logs::items::{Log, logs};
use crate::query::selection::Selection;
use crate::store::event::EventKind;
use crate::store::trace::Trace;
use crate::table_support::moved::Moved;
use crate::table_support::threshold::Threshold;
use crate::waits::wakers::Wakers;
use std::sync::OnceLock;

/// What several tables of one choice need, computed when the first of them needs it.
pub struct TableMemo {
    logs: OnceLock<Vec<Log>>,
    time_index: OnceLock<TimeIndex>,
    /// What each task moved.
    pub(crate) moved: Vec<OnceLock<Moved>>,
}

impl TableMemo {
    /// Nothing is computed yet.
    pub fn new(trace: &Trace) -> TableMemo {
        let moved = trace.tasks.iter().map(|_| OnceLock::new()).collect();
        TableMemo { logs: OnceLock::new(), time_index: OnceLock::new(), moved }
    }
}

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
    /// How far each capture can be trusted, by its number.
    pub trust: &'context [Option<Trust>],
    /// See [`TableContext::logs`] and [`TableContext::time_index`].
    pub memo: &'context TableMemo,
    /// The tasks that matter to who asks, by number; all without it. See [`crate::table_support::pruning`].
    pub matters: Option<&'context [bool]>,
    /// From where on rows matter to who asks; everything does without one.
    pub threshold: Option<&'context Threshold>,
}

impl TableContext<'_> {
    /// The tasks that count and matter.
    pub fn tasks(&self) -> impl Iterator<Item = u32> + '_ {
        let tasks = 0..self.trace.tasks.len() as u32;
        tasks.filter(|&task| self.matters(task) && self.selection.touches_task(task))
    }

    /// The logs of the trace, by their stages and items. Two tables are made of them.
    pub fn logs(&self) -> &[Log] {
        self.memo.logs.get_or_init(|| logs(self.trace, self.selection))
    }

    /// The time on the path by task, program and kind of call.
    pub fn time_index(&self) -> &TimeIndex {
        self.memo.time_index.get_or_init(|| TimeIndex::new(self.trace, self.attribution))
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

    /// How far a capture can be trusted.
    pub fn trust_of_capture(&self, capture: u32) -> Option<&Trust> {
        self.trust.get(capture as usize)?.as_ref()
    }

    /// How far the capture of a task can be trusted.
    pub fn trust_of(&self, task: u32) -> Option<&Trust> {
        self.trace.tasks.get(task as usize).and_then(|task| self.trust_of_capture(task.capture))
    }

    /// The program of a task during an event.
    pub fn program(&self, task: u32, row: u32) -> parsers::Text {
        let program = self.selection.program_index.at(task, self.trace.events.start_ns(row));
        let program = program.or_else(|| self.selection.program_index.of(task).first().copied());
        program.map_or(parsers::Text::NONE, |program| program.path)
    }
}
