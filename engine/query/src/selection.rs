//! Which events count: by process, program, syscall, time, and any condition on their columns.

use crate::cache::QueryCache;
use crate::filter::events::{EventFilter, Matched};
use crate::time_bounds::TimeBoundError;
use parsers::{NO_NS, Text};
use std::sync::Arc;
use trace::store::index::{TaskId, TiVec};
use trace::store::programs::ProgramIndex;
use trace::store::tasks;
use trace::store::trace::Trace;

/// The criteria of the user. Empty lists and `None` mean all; several conditions must all hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criteria {
    /// Number of a capture.
    pub capture: Option<u32>,
    /// Ids of processes; a thread's id names the thread.
    pub pids: Vec<i32>,
    /// Programs, by path or by the last part of it.
    pub programs: Vec<String>,
    /// From when on: seconds as the capture prints them, `+SECONDS` since its start, `HH:MM:SS`, `line:N`, or the first line
    /// that fits a regular expression, `/…/`.
    pub from: Option<String>,
    /// To when.
    pub to: Option<String>,
    /// The process whose lifetime is the window.
    pub root: Option<i32>,
    /// Names of syscalls.
    pub syscalls: Vec<String>,
    /// A condition on events.
    pub condition: Option<EventFilter>,
}

/// A choice made ready for one trace.
pub struct Selection<'trace> {
    trace: &'trace Trace,
    tasks: Option<TiVec<TaskId, bool>>,
    programs: Option<Vec<Text>>,
    syscalls: Option<Vec<Text>>,
    times: Option<Vec<(i64, i64)>>,
    matched: Option<Arc<Matched>>,
    /// The programs of each task over time.
    pub program_index: &'trace ProgramIndex,
}

impl<'trace> Selection<'trace> {
    /// Make a choice ready.
    ///
    /// # Errors
    /// [`TimeBoundError`] if `from` or `to` names no moment.
    pub fn new(
        trace: &'trace Trace,
        choice: &Criteria,
        cache: &QueryCache,
    ) -> Result<Selection<'trace>, TimeBoundError> {
        let tasks = (!choice.pids.is_empty() || choice.capture.is_some()).then(|| {
            let named = |id: i32| choice.pids.is_empty() || choice.pids.contains(&id);
            let chosen = |task: &tasks::Task| {
                choice.capture.is_none_or(|capture| task.capture == capture)
                    && (named(task.pid) || named(task.tid))
            };
            trace.tasks.iter().map(chosen).collect()
        });
        let timed = choice.from.is_some() || choice.to.is_some();
        let times = timed
            .then(|| cache.bounds(trace, &(choice.from.clone(), choice.to.clone())))
            .transpose()?;
        let texts = &trace.events.texts;
        let syscalls = (!choice.syscalls.is_empty()).then(|| {
            choice
                .syscalls
                .iter()
                .filter_map(|name| texts.find(name.as_bytes()))
                .collect()
        });
        let program_index = trace.program_index();
        let programs =
            (!choice.programs.is_empty()).then(|| program_index.matching(texts, &choice.programs));
        let matched = choice
            .condition
            .as_ref()
            .map(|condition| cache.matched(trace, condition));
        Ok(Selection {
            trace,
            tasks,
            programs,
            syscalls,
            times,
            matched,
            program_index,
        })
    }

    /// Whether everything counts.
    #[inline]
    pub fn is_all(&self) -> bool {
        self.tasks.is_none()
            && self.programs.is_none()
            && self.times.is_none()
            && self.syscalls.is_none()
            && self.matched.is_none()
    }

    /// Whether a task counts, regardless of program and time.
    pub fn has_task(&self, task: TaskId) -> bool {
        self.tasks.as_ref().is_none_or(|tasks| tasks[task])
    }

    /// Whether some time of a task counts: for tables with a row per task.
    pub fn touches_task(&self, task: TaskId) -> bool {
        let known = &self.trace.tasks[task];
        let overlaps = |times: &Vec<(i64, i64)>| {
            let (from_ns, to_ns) = times[known.capture as usize];
            known.birth_ns == NO_NS || (known.birth_ns <= to_ns && known.end_ns() >= from_ns)
        };
        self.has_task(task)
            && self.programs.as_ref().is_none_or(|programs| {
                self.program_index
                    .of(task)
                    .iter()
                    .any(|program| programs.contains(&program.path))
            })
            && self.times.as_ref().is_none_or(overlaps)
            && self
                .matched
                .as_ref()
                .is_none_or(|matched| matched.has_task(task))
    }

    /// Whether a row counts. A call counts if it ends in the chosen time.
    #[inline]
    pub fn has(&self, row: u32) -> bool {
        self.is_all() || self.chooses(row)
    }

    fn chooses(&self, row: u32) -> bool {
        let events = &self.trace.events;
        let task = events.task(row);
        self.has_task(task)
            && self.matched.as_ref().is_none_or(|matched| matched.has(row))
            && self
                .syscalls
                .as_ref()
                .is_none_or(|names| names.contains(&events.shape(row).syscall))
            && self.times.as_ref().is_none_or(|times| {
                let (from_ns, to_ns) = times[self.trace.tasks[task].capture as usize];
                let start_ns = events.start_ns(row);
                let end_ns = events.end_ns(row).unwrap_or(start_ns);
                end_ns >= from_ns && start_ns <= to_ns
            })
            && self.programs.as_ref().is_none_or(|programs| {
                let program = self.program_index.at(task, events.start_ns(row));
                program.is_some_and(|program| programs.contains(&program.path))
            })
    }

    /// The chosen time of a capture.
    pub fn times_of(&self, capture: u32) -> Option<(i64, i64)> {
        self.times.as_ref().map(|times| times[capture as usize])
    }
}
