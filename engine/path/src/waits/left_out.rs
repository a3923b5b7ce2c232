//! Times without lines in the capture, although the tracer printed some: an excerpt quotes parts of a trace.
//!
//! ```text
//! 7:  1.0000 0.0004 read(3, "x", 1)  = 1
//! 7:  9.0000 0.0001 close(3)         = 0      the task's previous event was at 8.9999: lines from 1.0000 on are left out
//! ```
//!
//! A printed interval proves it: the tracer counts it from the task's previous event, which has no line. A mark such as
//! `[...]` between two lines of a task is the other evidence. Whether the task computed or waited then is unknown.
//!
//! Where the tracer printed no calls that wait for input (`-e trace=process`), a task that has a child and next learns of
//! its end most likely read what the child wrote:
//!
//! ```text
//! parent  |vfork|        not printed        |SIGCHLD|wait4 = child|
//! child      |------------- work ---------|exit
//! ```

use crate::waits::edge::WakeKind;
use parsers::NO_NS;
use parsers::syscalls::{Wait, action_of};
use rustc_hash::FxHashMap;
use trace::store::event::{EventKind, NONE};
use trace::store::heuristics::{EXIT_TOLERANCE_NS, INTERVAL_TOLERANCE_TICKS};
use trace::store::index::TaskId;
use trace::store::trace::{Capture, Trace};

/// Rows before an event that are searched for the previous one of its task: lines of an excerpt may be out of order.
const MAX_ROWS: usize = 64;
/// Maximum number of tasks that ended before a moment to choose from.
const MAX_CANDIDATES: usize = 256;
/// Ancestors of a task that are visited, in case the trace contains a cycle of creators.
const MAX_ANCESTORS: usize = 64;

/// A time range of a task in which lines are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// Start: the end of the task's event before it, or the start of the capture.
    pub from_ns: i64,
    /// End: the start of the next event.
    pub to_ns: i64,
    /// The event before it; [`NONE`] if there is none.
    pub row: u32,
}

/// The lifetime of a task, to find the tasks that lived while lines of another are left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Life {
    end_ns: i64,
    birth_ns: i64,
    task: TaskId,
}

/// All of them.
#[derive(Debug, Default)]
pub struct LeftOuts {
    /// By task, in order of time.
    of_task: FxHashMap<TaskId, Vec<LeftOut>>,
    /// The same, where a filter of the tracer left out the calls in which tasks wait for their children.
    filtered: FxHashMap<TaskId, Vec<LeftOut>>,
    /// The lives of the tasks of each capture with such a range, in the order of their ends.
    lives: FxHashMap<u32, Vec<Life>>,
}

impl LeftOuts {
    /// Finds them. Valid after the rows of tasks are in order.
    pub(crate) fn new(trace: &Trace) -> LeftOuts {
        let mut found = LeftOuts::default();
        let has_only_waits_for_children = waits_for_children_only(trace);
        for (number, capture) in (0u32..).zip(&trace.captures) {
            if has_only_waits_for_children && capture.has_wall_clock() {
                found.by_filter(trace, capture);
                if !found.filtered.is_empty() {
                    found.lives.insert(number, lives(trace, capture));
                }
            }
            if !capture.has_wall_clock()
                || (capture.unjoined.is_empty() && capture.elisions.is_empty())
            {
                continue;
            }
            found.by_intervals(trace, capture);
            found.by_marks(trace, capture);
            if capture
                .task_ids()
                .any(|task| found.of_task.contains_key(&task))
            {
                found.lives.insert(number, lives(trace, capture));
            }
        }
        for ranges in found
            .of_task
            .values_mut()
            .chain(found.filtered.values_mut())
        {
            ranges.sort_by_key(|range| (range.from_ns, range.to_ns));
            ranges.dedup_by(|next, last| next.from_ns < last.to_ns);
        }
        found
    }

    /// Whether no lines are left out as far as is known.
    pub fn is_empty(&self) -> bool {
        self.of_task.is_empty() && self.filtered.is_empty()
    }

    /// Those of a task, in order of time, without those that a filter of the tracer explains.
    pub fn of(&self, task: TaskId) -> &[LeftOut] {
        self.of_task.get(&task).map_or(&[], Vec::as_slice)
    }

    /// The number of ranges in a capture, and the sum of their time over all tasks.
    pub fn of_capture(&self, trace: &Trace, capture: u32) -> (usize, i64) {
        let is_of = |task: TaskId| {
            trace
                .tasks
                .get(task)
                .is_some_and(|task| task.capture == capture)
        };
        let ranges = self
            .of_task
            .iter()
            .filter(|&(&task, _)| is_of(task))
            .flat_map(|(_, ranges)| ranges);
        ranges.fold((0, 0), |(count, ns), range| {
            (
                count + 1,
                ns.saturating_add(range.to_ns.saturating_sub(range.from_ns)),
            )
        })
    }

    /// All of a task, in order of time.
    pub fn all_of(&self, task: TaskId) -> Vec<LeftOut> {
        let of_each = [&self.of_task, &self.filtered].map(|each| each.get(&task));
        let mut all: Vec<LeftOut> = of_each.into_iter().flatten().flatten().copied().collect();
        all.sort_by_key(|range| (range.from_ns, range.to_ns));
        all
    }

    /// The last one of a task that begins before a moment.
    pub(crate) fn before(&self, task: TaskId, at_ns: i64) -> Option<LeftOut> {
        let last = |ranges: &Vec<LeftOut>| {
            let count = ranges.partition_point(|range| range.from_ns < at_ns);
            ranges.get(count.checked_sub(1)?).copied()
        };
        let of_each = [&self.of_task, &self.filtered].map(|each| each.get(&task).and_then(last));
        of_each
            .into_iter()
            .flatten()
            .max_by_key(|range| range.from_ns)
    }

    /// The task that a task is presumed to wait for in a range: of its descendants, or of all tasks that exited, the one that
    /// lived longest in it, and ended before `at_ns`. Of other tasks, only one that lived for most of the range.
    pub fn awaited(
        &self,
        trace: &Trace,
        task: TaskId,
        range: LeftOut,
        at_ns: i64,
        is_root: bool,
    ) -> Option<(TaskId, WakeKind)> {
        let lives = self.lives.get(&trace.tasks.get(task)?.capture)?;
        let ended = lives.partition_point(|life| life.end_ns <= at_ns);
        let candidates = lives[..ended].iter().rev().take(MAX_CANDIDATES);
        let inside_ns = |life: &Life| life.end_ns.saturating_sub(life.birth_ns.max(range.from_ns));
        let inside: Vec<&Life> = candidates
            .filter(|life| life.task != task && inside_ns(life) > 0)
            .collect();
        let longest = |how: WakeKind, fits: &dyn Fn(&Life) -> bool| {
            inside
                .iter()
                .filter(|life| fits(life))
                .max_by_key(|life| inside_ns(life))
                .map(|life| (life.task, how))
        };
        longest(WakeKind::Child, &|life| descends(trace, life.task, task)).or_else(|| {
            let is_most = |life: &Life| {
                let known = &trace.tasks[life.task];
                inside_ns(life).saturating_mul(2) >= range.to_ns.saturating_sub(range.from_ns)
                    && known.ended.is_some()
                    && !known.is_thread
            };
            longest(WakeKind::Beside, &is_most).filter(|_| is_root)
        })
    }

    /// The lives of children of whose ends the task learns next.
    fn by_filter(&mut self, trace: &Trace, capture: &Capture) {
        let events = &trace.events;
        for task in capture.task_ids() {
            let known = &trace.tasks[task];
            if known.is_thread || known.creator == TaskId::NONE || known.death_ns == NO_NS {
                continue;
            }
            let rows = trace.rows_of(known.creator);
            let after = rows.partition_point(|&row| events.start_ns(row) < known.death_ns);
            let around = after
                .checked_sub(1)
                .map(|before| rows[before])
                .zip(rows.get(after));
            let Some((before, &next)) = around.filter(|&(_, &next)| learns_of_end(trace, next))
            else {
                continue;
            };
            let until_ns = known.death_ns.saturating_add(EXIT_TOLERANCE_NS);
            let from_ns = events
                .end_ns(before)
                .map(|end_ns| end_ns.max(known.birth_ns));
            if let Some(from_ns) = from_ns.filter(|&from_ns| from_ns < known.death_ns)
                && events.start_ns(next) <= until_ns
            {
                self.filtered
                    .entry(known.creator)
                    .or_default()
                    .push(LeftOut {
                        from_ns,
                        to_ns: known.death_ns,
                        row: before,
                    });
            }
        }
    }

    /// Events whose previous event has no line.
    fn by_intervals(&mut self, trace: &Trace, capture: &Capture) {
        let tolerance_ns = INTERVAL_TOLERANCE_TICKS * capture.facts.tick_ns;
        for &(row, start_ns) in &capture.unjoined {
            let task = trace.events.task(row);
            let Some(at) = trace.place_of(task, row) else {
                continue;
            };
            let before = trace.rows_of(task)[..at].iter().rev().take(MAX_ROWS);
            let ends = before.map(|&row| {
                (
                    trace
                        .events
                        .end_ns(row)
                        .unwrap_or(trace.events.start_ns(row)),
                    row,
                )
            });
            let last = ends
                .filter(|&(end_ns, _)| {
                    end_ns != NO_NS && end_ns <= start_ns.saturating_add(tolerance_ns)
                })
                .max();
            // Older versions print no interval with the first event of a task.
            if last.is_none() && trace.events.dur_ns(row) == 0 {
                continue;
            }
            let (from_ns, before) = last.unwrap_or((lived_from(trace, task, start_ns), NONE));
            if from_ns != NO_NS && start_ns.saturating_sub(from_ns) > tolerance_ns {
                self.of_task.entry(task).or_default().push(LeftOut {
                    from_ns,
                    to_ns: start_ns,
                    row: before,
                });
            }
        }
    }

    /// Gaps with a mark between the lines of the calls around them.
    fn by_marks(&mut self, trace: &Trace, capture: &Capture) {
        let events = &trace.events;
        let is_marked_before = |line: u32, before: Option<u32>| {
            let from = before.map_or(0, |row| events.line(row));
            let after = capture.elisions.partition_point(|&mark| mark <= from);
            capture.elisions.get(after).is_some_and(|&mark| mark < line)
        };
        let is_marked =
            |before: Option<u32>, next: u32| is_marked_before(events.line(next), before);
        if capture.elisions.is_empty() {
            return;
        }
        for task in capture.task_ids() {
            let (mut before, mut reached_ns) = (None::<u32>, NO_NS);
            for span in trace.spans(task) {
                let from_ns = if before.is_none() {
                    lived_from(trace, task, span.start_ns)
                } else {
                    reached_ns
                };
                if span.start_ns > from_ns && is_marked(before, span.row) {
                    let range = LeftOut {
                        from_ns,
                        to_ns: span.start_ns,
                        row: before.unwrap_or(NONE),
                    };
                    self.of_task.entry(task).or_default().push(range);
                }
                (before, reached_ns) = (Some(span.row), span.end_ns);
            }
            // Behind a mark, a task may have gone on although no line shows it.
            let ended = trace.tasks[task].death_ns != NO_NS;
            let goes_on = !ended && reached_ns < capture.last_ns;
            if let Some(row) = before.filter(|_| goes_on && is_marked_before(u32::MAX, before)) {
                let range = LeftOut {
                    from_ns: reached_ns,
                    to_ns: capture.last_ns,
                    row,
                };
                self.of_task.entry(task).or_default().push(range);
            }
        }
    }
}

/// Whether the only calls of a trace that wait do so for children: a filter of the tracer left out the others.
fn waits_for_children_only(trace: &Trace) -> bool {
    let mut waits = trace
        .events
        .shapes()
        .iter()
        .filter_map(|shape| action_of(shape.syscall).wait());
    trace.tasks.len() > 1 && waits.all(|wait| wait == Wait::Child)
}

/// Whether an event tells a task that a child has ended.
fn learns_of_end(trace: &Trace, row: u32) -> bool {
    let (events, shape) = (&trace.events, trace.events.shape(row));
    match events.kind(row) {
        EventKind::Signal => events.texts.bytes(shape.syscall) == b"SIGCHLD",
        EventKind::Call => events.action(row).wait() == Some(Wait::Child),
        _ => false,
    }
}

/// Since when a task may have lived before its first event: since its birth, or for an unknown one since the start of the
/// capture.
fn lived_from(trace: &Trace, task: TaskId, first_ns: i64) -> i64 {
    let known = &trace.tasks[task];
    let is_known = known.born || known.creator != TaskId::NONE || known.birth_ns < first_ns;
    let capture_ns = || {
        trace
            .captures
            .get(known.capture as usize)
            .map_or(first_ns, |capture| capture.first_ns)
    };
    if is_known {
        known.birth_ns.min(first_ns)
    } else {
        capture_ns()
    }
}

fn lives(trace: &Trace, capture: &Capture) -> Vec<Life> {
    let task = |number: TaskId| trace.tasks.get(number).map(|task| (number, task));
    let tasks = capture
        .task_ids()
        .filter_map(task)
        .filter(|(_, task)| task.birth_ns != NO_NS);
    let mut lives: Vec<Life> = tasks
        .map(|(task, known)| Life {
            end_ns: known.end_ns(),
            birth_ns: known.birth_ns,
            task,
        })
        .collect();
    lives.sort_unstable();
    lives
}

fn descends(trace: &Trace, mut task: TaskId, ancestor: TaskId) -> bool {
    for _ in 0..MAX_ANCESTORS {
        match trace.tasks.get(task) {
            Some(known) if known.creator == ancestor => return true,
            Some(known) => task = known.creator,
            None => return false,
        }
    }
    false
}
