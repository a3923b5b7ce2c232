//! What a replay changes: parts of the time of tasks, each with the share of it that remains.

use crate::replay::steps::{Awaited, EndedBy, Step};
use kit::table_support::context::TableContext;
use kit::table_support::provenance::Provenance;
use path::critical_path::attribution::Charge;
use path::critical_path::window::Window;
use path::partition::piece::{piece_of, program_of};
use path::partition::scope::ScopeFilter;
use query::selection::Selection;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use trace::store::event::NONE;
use trace::store::heuristics::{EXIT_TOLERANCE_NS, MAX_CALLS_SINCE_TIMER};
use trace::store::index::TaskId;
use trace::store::spans::Span;
use trace::store::trace::Trace;

/// The whole of something, in millionths.
pub const WHOLE_PPM: i64 = 1_000_000;

/// A call of a task, or the gap after it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Part {
    /// Place of the call among the rows of its task.
    pub at: u32,
    pub is_gap: bool,
    pub start_ns: i64,
    pub end_ns: i64,
}

/// Parts of the time of tasks that change together, by task and in order of time.
#[derive(Clone, Debug, Default)]
pub struct Change {
    pub(super) parts: FxHashMap<TaskId, Vec<Part>>,
    /// Whether somebody chose the calls by a condition.
    pub(super) is_chosen: bool,
}

impl Change {
    /// The events of a finding, as far as they lie in the window.
    pub fn of_claims(
        context: &TableContext<'_>,
        window: &Window,
        members: &[Provenance],
    ) -> Change {
        let trace = context.trace;
        let mut marked: FxHashMap<TaskId, Vec<(u32, bool)>> = FxHashMap::default();
        for member in members {
            member.by_task(trace, |task, events| {
                let places = 0..trace.rows_of(task).len();
                let marked = marked.entry(task).or_default();
                events.each(trace, task, places, |row, is_gap| {
                    marked.push((row, is_gap))
                });
            });
        }
        for filter in scopes(trace, members) {
            for task in trace.tasks.keys() {
                let found = in_scope(context, &filter, task);
                if !found.is_empty() {
                    marked.entry(task).or_default().extend(found);
                }
            }
        }
        with_same_timers(context, &mut marked);
        Change::new(trace, window, marked)
    }

    /// The chosen calls, as far as they lie in the window.
    pub fn of_selection(trace: &Trace, window: &Window, selection: &Selection<'_>) -> Change {
        let tasks: Vec<TaskId> = trace.tasks.keys().collect();
        let chosen = |&task: &TaskId| {
            let rows = trace.rows_of(task).iter().copied();
            let rows: Vec<(u32, bool)> = rows
                .filter(|&row| selection.has(row))
                .map(|row| (row, false))
                .collect();
            (task, rows)
        };
        let marked = tasks
            .par_iter()
            .filter(|&&task| selection.touches_task(task));
        Change {
            is_chosen: true,
            ..Change::new(trace, window, marked.map(chosen).collect())
        }
    }

    fn new(trace: &Trace, window: &Window, marked: FxHashMap<TaskId, Vec<(u32, bool)>>) -> Change {
        let parts = marked.into_par_iter().filter_map(|(task, mut marked)| {
            let capture = trace.tasks.get(task)?.capture;
            marked.sort_unstable();
            marked.dedup();
            let parts = parts(trace, window, task, &marked);
            (capture == window.capture && !parts.is_empty()).then_some((task, parts))
        });
        Change {
            parts: parts.collect(),
            is_chosen: false,
        }
    }

    /// Whether it has no part at all.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether a wait of it takes as long as what it waits for, so that it does not change by itself.
    ///
    /// A finding is about a wait unless it also changes what the wait waits for. For a condition, that would depend on what
    /// else it happens to choose, and removing more could take longer: there, only the wait for a lock can go alone.
    pub(super) fn follows(&self, wait: &Step) -> bool {
        match wait.ended_by {
            EndedBy::Task { awaited, .. } if self.is_chosen => awaited != Awaited::Lock,
            EndedBy::Task { task, at_ns, .. } => self.touches(task, wait.start_ns, at_ns),
            EndedBy::Answer(_) | EndedBy::Moment | EndedBy::Check(_) => false,
        }
    }

    /// Whether it has a part of a task in a time range.
    fn touches(&self, task: TaskId, from_ns: i64, to_ns: i64) -> bool {
        let parts = self.parts.get(&task).map_or(&[][..], Vec::as_slice);
        let next = parts.partition_point(|part| part.end_ns <= from_ns);
        parts.get(next).is_some_and(|part| part.start_ns < to_ns)
    }
}

/// Add the waits of other threads that end with a timer which a wait of the finding ends with, too.
///
/// A runtime has several threads wait for its next timer, such as the poller and the monitor of Go. Only one of them is on the
/// critical path, and without the timer none waits.
fn with_same_timers(context: &TableContext<'_>, marked: &mut FxHashMap<TaskId, Vec<(u32, bool)>>) {
    let trace = context.trace;
    let mut threads: FxHashMap<(u32, i32), Vec<TaskId>> = FxHashMap::default();
    let process = |task: TaskId| (trace.tasks[task].capture, trace.tasks[task].pid);
    for task in marked.keys() {
        threads.entry(process(*task)).or_default();
    }
    for task in trace.tasks.keys() {
        if let Some(members) = threads.get_mut(&process(task)) {
            members.push(task);
        }
    }
    threads.retain(|_, members| members.len() > 1);
    let mut found: Vec<(TaskId, u32)> = Vec::new();
    for (&task, calls) in marked.iter() {
        let Some(members) = threads.get(&process(task)) else {
            continue;
        };
        let rows = calls.iter().filter(|(_, is_gap)| !is_gap);
        for end_ns in rows.filter_map(|&(row, _)| timer_end_ns(context, row)) {
            for &other in members.iter().filter(|&&other| other != task) {
                found.extend(end_with(context, other, end_ns).map(|row| (other, row)));
            }
        }
    }
    for (task, row) in found {
        marked.entry(task).or_default().push((row, false));
    }
}

/// When the time limit of a call ended it.
fn timer_end_ns(context: &TableContext<'_>, row: u32) -> Option<i64> {
    let trace = context.trace;
    let span = trace.printed_span(row);
    let is_timer =
        span.end_ns - span.start_ns >= EXIT_TOLERANCE_NS && context.wakers.timed_out(trace, row);
    is_timer.then_some(span.end_ns)
}

/// The calls of a task that their time limits ended at this moment. A poller waits once more for the last millisecond.
fn end_with<'a>(
    context: &'a TableContext<'_>,
    task: TaskId,
    end_ns: i64,
) -> impl Iterator<Item = u32> + 'a {
    let (trace, rows) = (context.trace, context.trace.rows_of(task));
    let until_ns = end_ns.saturating_add(EXIT_TOLERANCE_NS);
    let begun = rows.partition_point(|&row| trace.events.start_ns(row) < until_ns);
    let last = rows[..begun].iter().rev().take(MAX_CALLS_SINCE_TIMER);
    let is_near = move |row: u32| {
        timer_end_ns(context, row).is_some_and(|ns| (ns - end_ns).abs() <= EXIT_TOLERANCE_NS)
    };
    last.copied().filter(move |&row| is_near(row))
}

/// The conditions of a finding that is about pieces of the partition.
fn scopes(trace: &Trace, members: &[Provenance]) -> Vec<ScopeFilter> {
    members
        .iter()
        .filter_map(|member| match member {
            Provenance::Pieces(scope) => Some(ScopeFilter::new(trace, scope)),
            _ => None,
        })
        .collect()
}

/// The calls and gaps of a task on the critical path that meet a condition.
fn in_scope(context: &TableContext<'_>, filter: &ScopeFilter, task: TaskId) -> Vec<(u32, bool)> {
    let (trace, attribution) = (context.trace, context.attribution);
    let mut found = Vec::new();
    if !filter.may_have_task(trace, task) {
        return found;
    }
    let programs = trace.program_index();
    attribution.each(trace, task, |charge: &Charge| {
        if charge.row == NONE || charge.ns <= 0 {
            return;
        }
        let program = program_of(trace, programs, attribution, task, charge);
        let piece = piece_of(trace, task, program, charge);
        if filter.has(trace, &piece) || filter.has(trace, &piece.of_several_targets(trace)) {
            found.push((charge.row, charge.is_gap));
        }
    });
    found
}

/// The parts of a task with these rows, which are sorted, clipped to the window.
fn parts(trace: &Trace, window: &Window, task: TaskId, marked: &[(u32, bool)]) -> Vec<Part> {
    let mut found: Vec<Part> = Vec::new();
    let has = |row: u32, is_gap: bool| marked.binary_search(&(row, is_gap)).is_ok();
    let mut before: Option<(usize, Span)> = None;
    let mut take = |at: usize, is_gap: bool, start_ns: i64, end_ns: i64| {
        let (start_ns, end_ns) = (start_ns.max(window.start_ns), end_ns.min(window.end_ns));
        if start_ns < end_ns {
            found.push(Part {
                at: at as u32,
                is_gap,
                start_ns,
                end_ns,
            });
        }
    };
    let birth_ns = trace.tasks[task].birth_ns;
    for (at, span) in trace.spans_of(task, 0..usize::MAX, birth_ns) {
        if let Some((before_at, before)) = before.filter(|(_, before)| has(before.row, true)) {
            take(before_at, true, before.end_ns, span.start_ns);
        }
        if has(span.row, false) {
            take(at, false, span.start_ns, span.end_ns);
        }
        before = Some((at, span));
    }
    found
}
