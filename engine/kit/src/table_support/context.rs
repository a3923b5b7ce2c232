//! Everything that a table is built from: a trace, the selected events and the critical path.

use crate::table_support::found_loops::LoopMemo;
use crate::table_support::moved::Moved;
use crate::table_support::threshold::Threshold;
use logs::messages::items::{Log, logs};
use parsers::Text;
use path::critical_path::attribution::Attribution;
use path::critical_path::time_index::TimeIndex;
use path::critical_path::tracing::{TracedTime, TracingCost};
use path::critical_path::trust::Trust;
use path::critical_path::window::Window;
use path::waits::wakers::Wakers;
use query::selection::Selection;
use std::sync::OnceLock;
use trace::store::event::NONE;
use trace::store::grouped::Grouped;
use trace::store::index::TaskId;
use trace::store::programs::script_of;
use trace::store::trace::{Capture, Trace};

/// Data that several tables of one selection share, computed on first use.
pub struct TableMemo {
    logs: OnceLock<Vec<Log>>,
    time_index: OnceLock<TimeIndex>,
    /// The costliest targets that processes read from the start more than once, with their time on the critical path.
    pub(crate) begun_again: OnceLock<Vec<(Text, i64)>>,
    processes: OnceLock<Grouped<u32, TaskId>>,
    /// Loops of long tasks.
    pub loops: LoopMemo,
    /// Data transferred by each task.
    pub(crate) moved: Vec<OnceLock<Box<Moved>>>,
}

impl TableMemo {
    /// Starts with nothing computed.
    pub fn new(trace: &Trace) -> TableMemo {
        let moved = trace.tasks.iter().map(|_| OnceLock::new()).collect();
        TableMemo {
            logs: OnceLock::new(),
            time_index: OnceLock::new(),
            begun_again: OnceLock::new(),
            processes: OnceLock::new(),
            loops: LoopMemo::default(),
            moved,
        }
    }
}

/// A trace with everything that tables need to know about it.
pub struct TableContext<'context> {
    /// The trace.
    pub trace: &'context Trace,
    /// The events that count.
    pub selection: &'context Selection<'context>,
    /// One per capture, in capture order.
    pub windows: &'context [Window],
    /// The wake-up that ended each wait.
    pub wakers: &'context Wakers,
    /// The critical path by event.
    pub attribution: &'context Attribution,
    /// Data quality of each capture, by its number.
    pub trust: &'context [Option<Trust>],
    /// See [`TableContext::logs`] and [`TableContext::time_index`].
    pub memo: &'context TableMemo,
    /// The tasks that can reach the threshold, by number; `None` means all. See [`crate::table_support::pruning`].
    pub matters: Option<&'context [bool]>,
    /// Minimum time on the critical path of the rows that the caller wants; `None` means all rows.
    pub threshold: Option<&'context Threshold>,
}

impl TableContext<'_> {
    /// The tasks that count and can reach the threshold.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> + '_ {
        let tasks = self.trace.tasks.keys();
        tasks.filter(|&task| self.matters(task) && self.selection.touches_task(task))
    }

    /// The logs of the trace, by their stages and items. Two tables share them.
    pub fn logs(&self) -> &[Log] {
        self.memo
            .logs
            .get_or_init(|| logs(self.trace, self.selection))
    }

    /// Time on the critical path by task, program and kind of call.
    pub fn time_index(&self) -> &TimeIndex {
        self.memo
            .time_index
            .get_or_init(|| TimeIndex::new(self.trace, self.attribution))
    }

    /// The selected tasks by process, in the order of the first task of each.
    pub fn selected_processes(&self) -> &Grouped<u32, TaskId> {
        self.memo.processes.get_or_init(|| {
            let mains = self.trace.main_tasks();
            let (mut of_mains, mut count) = (vec![NONE; mains.len()], 0);
            let of_tasks = mains.iter_enumerated().map(|(task, &main)| {
                let of_main = of_mains
                    .get_mut(main.index())
                    .filter(|_| self.selection.touches_task(task))?;
                if *of_main == NONE {
                    (*of_main, count) = (count, count + 1);
                }
                Some(*of_main)
            });
            let of_tasks: Vec<Option<u32>> = of_tasks.collect();
            Grouped::new(count as usize, of_tasks.into_iter())
        })
    }

    /// Whether the task can reach the threshold.
    pub fn matters(&self, task: TaskId) -> bool {
        self.matters
            .is_none_or(|matters| matters.get(task.index()) == Some(&true))
    }

    /// The selected calls of a task, ordered by start.
    pub fn calls_of(&self, task: TaskId) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.call_places(task).map(|(_, row)| row)
    }

    /// The same with their indexes among all rows of the task.
    pub fn call_places(&self, task: TaskId) -> impl DoubleEndedIterator<Item = (usize, u32)> + '_ {
        let is_call = self.trace.are_calls(task);
        let rows = self.trace.rows_of(task).iter().copied().enumerate();
        rows.filter(move |&(at, row)| is_call(at) && self.selection.has(row))
    }

    /// The capture of a task.
    pub fn capture_of(&self, task: TaskId) -> Option<&Capture> {
        let number = self.trace.tasks.get(task)?.capture;
        self.trace.captures.get(number as usize)
    }

    /// Time on the critical path inside a call, in nanoseconds.
    pub fn exclusive_ns(&self, row: u32) -> i64 {
        self.attribution.in_call_ns(row)
    }

    /// Length of the window of a capture; 0 without a window.
    pub fn wall_ns(&self, capture: u32) -> i64 {
        self.windows
            .iter()
            .find(|window| window.capture == capture)
            .map_or(0, Window::wall_ns)
    }

    /// Data quality of a capture.
    pub fn trust_of_capture(&self, capture: u32) -> Option<&Trust> {
        self.trust.get(capture as usize)?.as_ref()
    }

    /// Data quality of the capture of a task.
    pub fn trust_of(&self, task: TaskId) -> Option<&Trust> {
        self.trace
            .tasks
            .get(task)
            .and_then(|task| self.trust_of_capture(task.capture))
    }

    /// What tracing adds to a call of a task on average.
    pub fn tracing_cost(&self, task: TaskId) -> TracingCost {
        self.trust_of(task)
            .map_or_else(TracingCost::default, |trust| trust.tracing)
    }

    /// The path of a task, to estimate what tracing added to it. What is unlike most is a part of a call, or of no call.
    pub fn traced(&self, task: TaskId) -> TracedTime {
        let (mut traced, cost) = (TracedTime::default(), self.tracing_cost(task));
        let places = self.attribution.places(self.trace, task);
        self.attribution
            .each_packed(self.trace, task, places, |_, charge| {
                traced.add(charge.is_gap, charge.ns, cost)
            });
        traced
    }

    /// The script that the task interprets during an event.
    pub fn script(&self, task: TaskId, row: u32) -> Option<String> {
        let program = self
            .selection
            .program_index
            .at(task, self.trace.events.start_ns(row))?;
        script_of(&self.trace.events.texts, program)
    }

    /// The program that the task runs during an event.
    pub fn program(&self, task: TaskId, row: u32) -> Text {
        let program = self
            .selection
            .program_index
            .at(task, self.trace.events.start_ns(row));
        let program = program.or_else(|| self.selection.program_index.of(task).first().copied());
        program.map_or(Text::NONE, |program| program.path)
    }
}
