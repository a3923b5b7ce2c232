//! Pauses of tasks: their own sleeps, sleeps of children that do nothing else, and waits that timed out.

use crate::tables::sleeps::{sleeping, sleeps_of, watches};
use crate::tables::timeouts::{is_expired, may_expire};
use kit::table_support::context::TableContext;
use kit::table_support::process_ends::ProcessEnds;
use kit::table_support::shape_index::ShapeIndex;
use parsers::syscalls::{Action, Wait};
use parsers::{NO_NS, Outcome};
use path::waits::wait_kinds::{wait_of_row, was_broken_off};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::event::{EventKind, NONE};
use trace::store::index::TaskId;
use trace::store::time_limits::min_duration_ns;

/// Number of rows after the fork of a child that are searched for the wait for it.
const ROWS_OF_PAUSE: usize = 64;

/// A pause of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    /// The call at which the task pauses: the sleep, or the fork of the sleeping child.
    pub at: u32,
    /// The call that takes the time.
    pub row: u32,
    /// The last call, if a signal interrupted the sleep and the task resumed it.
    pub last_row: u32,
    /// The child that sleeps; [`NONE`] if the task sleeps itself.
    pub sleeper: TaskId,
    /// Actual duration in nanoseconds.
    pub dur_ns: i64,
    /// Requested duration in nanoseconds.
    pub asked_ns: Option<i64>,
    /// Whether it is a wait that timed out.
    pub is_wait: bool,
}

/// The pauses of each task that has any, sorted; ordered by task.
pub(crate) fn pauses(context: &TableContext<'_>) -> Vec<(TaskId, Vec<Pause>)> {
    let sleeps = sleeping(context);
    // Runtimes sleep in a wait for an address whose time runs out.
    let polls = ShapeIndex::new(context, |action, shape| {
        let wait = action
            .wait()
            .filter(|wait| matches!(wait, Wait::Poll | Wait::Lock))?;
        may_expire(context, wait, shape).then_some(wait)
    });
    let ends = ProcessEnds::new(context);
    let tasks: Vec<TaskId> = context.tasks().collect();
    let own: Vec<(TaskId, Vec<Pause>)> = tasks
        .par_iter()
        .map(|&task| {
            // A watchdog looks at what other threads do, and waits for nothing.
            let is_watchdog = watches(context, &sleeps, task);
            let slept = sleeps_of(context, &sleeps, task)
                .filter(|_| !is_watchdog)
                .map(|row| pause(context, row, false));
            let waited = polls
                .calls(context, task)
                .filter(|&(row, wait)| is_expired(context, task, row, wait));
            let slept = joined(context, task, slept).into_iter();
            let all = slept.chain(waited.map(|(row, _)| pause(context, row, true)));
            (
                task,
                all.filter(|pause| !ends.cut(context, task, pause.last_row))
                    .collect::<Vec<_>>(),
            )
        })
        .filter(|(_, pauses)| !pauses.is_empty())
        .collect();
    let mut all: FxHashMap<TaskId, Vec<Pause>> = FxHashMap::default();
    for (task, pauses) in own {
        if let Some((creator, pause)) = of_creator(context, task, &pauses) {
            all.entry(creator).or_default().push(pause);
        }
        all.entry(task).or_default().extend(pauses);
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.par_iter_mut()
        .for_each(|(_, pauses)| pauses.sort_unstable_by_key(|pause| pause.at));
    all.sort_unstable_by_key(|&(task, _)| task);
    all
}

/// The children that are nothing but pauses of their creators: they sleep for most of their lives, and change nothing.
///
/// ```text
/// sh      |fork|~~~~ wait4 ~~~~|date|fork|~~~~ wait4 ~~~~|
/// sleep        |-- sleep 1 s --|         |-- sleep 1 s --|
/// ```
pub(crate) fn only_pauses(context: &TableContext<'_>) -> FxHashSet<TaskId> {
    let events = &context.trace.events;
    let changes = ShapeIndex::new(context, |action, shape| {
        (shape.outcome == Outcome::Ok && changes(action)).then_some(())
    });
    let sleepers = pauses(context)
        .into_iter()
        .flat_map(|(_, pauses)| pauses)
        .map(|pause| pause.sleeper);
    let is_quiet = |&child: &TaskId| {
        let ran = context.trace.tasks[child]
            .programs
            .last()
            .map_or(NO_NS, |program| program.from_ns);
        changes
            .calls(context, child)
            .all(|(row, ())| events.start_ns(row) < ran)
    };
    sleepers
        .filter(|&child| child != TaskId::NONE)
        .filter(is_quiet)
        .collect()
}

/// Whether others can see what a call did.
fn changes(action: Action) -> bool {
    let writes = matches!(
        action,
        Action::Writes | Action::Sends | Action::SendsMany | Action::Connects
    );
    let makes = matches!(
        action,
        Action::Creates | Action::Makes | Action::MakesNode | Action::Links | Action::Renames
    );
    let removes = matches!(
        action,
        Action::Removes | Action::RemovesDirectory | Action::Resizes
    );
    let starts = matches!(
        action,
        Action::Forks | Action::Vforks | Action::Spawns | Action::Signals
    );
    writes || makes || removes || starts || action == Action::ChangesAttributes
}

impl Pause {
    /// Whether this is not a pause for the probing task: the task does not block on the sleeping child, or the probe is
    /// itself a wait for children that may return this child.
    pub(super) fn is_work_beside(&self, context: &TableContext<'_>, probe: u32) -> bool {
        let events = &context.trace.events;
        let Some(child) = context.trace.tasks.get(self.sleeper) else {
            return false;
        };
        let named = events.texts.bytes(events.target(probe));
        let covers_child = named.is_empty() || named == child.pid.to_string().as_bytes();
        (wait_of_row(events, probe) == Some(Wait::Child) && covers_child)
            || !self.is_waited_for(context, events.task(probe))
    }

    /// Whether the task stands still meanwhile: it sleeps itself, or waits for the sleeping child.
    pub(super) fn holds(&self, context: &TableContext<'_>, task: TaskId) -> bool {
        self.sleeper == TaskId::NONE || self.is_waited_for(context, task)
    }

    fn is_waited_for(&self, context: &TableContext<'_>, task: TaskId) -> bool {
        let events = &context.trace.events;
        let later = context
            .trace
            .rows_from(task, self.at)
            .iter()
            .take(ROWS_OF_PAUSE);
        let mut waits = later.filter(|&&row| wait_of_row(events, row) == Some(Wait::Child));
        waits.any(|&row| events.dur_ns(row).saturating_mul(2) >= self.dur_ns)
    }

    /// The calls of the pause; all calls of the child if a child sleeps.
    pub(crate) fn rows(&self, context: &TableContext<'_>) -> Vec<u32> {
        if self.sleeper != TaskId::NONE {
            return context.calls_of(self.sleeper).collect();
        }
        let rows = context
            .trace
            .rows_from(context.trace.events.task(self.row), self.row)
            .iter()
            .copied();
        let mut rows: Vec<u32> = rows.take_while(|&row| row != self.last_row).collect();
        rows.retain(|&row| context.trace.events.kind(row) == EventKind::Call);
        rows.push(self.last_row);
        rows
    }
}

fn pause(context: &TableContext<'_>, row: u32, is_wait: bool) -> Pause {
    let events = &context.trace.events;
    let dur_ns = events.dur_ns(row);
    let dur_ns = if dur_ns == NO_NS {
        min_duration_ns(events, row)
    } else {
        dur_ns
    };
    Pause {
        at: row,
        row,
        last_row: row,
        sleeper: TaskId::NONE,
        dur_ns,
        asked_ns: events.requested_ns(row),
        is_wait,
    }
}

/// Joins sleeps that follow one another at once: the rest of an interrupted one, or a second sleep without any call
/// before it, as where a program sleeps for the seconds and then for the fraction.
///
/// ```text
/// sleep 5 s, interrupted | SIGCHLD | handler | sleep for the rest        one pause
/// sleep 1 s | sleep 0 s                                                  one pause
/// ```
fn joined(
    context: &TableContext<'_>,
    task: TaskId,
    pauses: impl Iterator<Item = Pause>,
) -> Vec<Pause> {
    let events = &context.trace.events;
    let mut found: Vec<Pause> = Vec::new();
    for pause in pauses {
        let last = found.last_mut().filter(|last| {
            let later = context.trace.rows_from(task, last.last_row).iter().skip(1);
            let is_interrupted = was_broken_off(events, last.last_row);
            let mut calls = later.filter(|&&row| {
                events.kind(row) == EventKind::Call
                    && !(is_interrupted && events.action(row).keeps_signals())
            });
            calls.next() == Some(&pause.row)
        });
        let Some(last) = last else {
            found.push(pause);
            continue;
        };
        if !was_broken_off(events, last.last_row) {
            last.asked_ns = last
                .asked_ns
                .zip(pause.asked_ns)
                .map(|(one, other)| one.saturating_add(other));
        }
        (last.last_row, last.dur_ns) = (pause.row, last.dur_ns.saturating_add(pause.dur_ns));
    }
    found
}

/// The pause that a child means for its creator, if it sleeps for at least half of its lifetime.
fn of_creator(
    context: &TableContext<'_>,
    task: TaskId,
    pauses: &[Pause],
) -> Option<(TaskId, Pause)> {
    let child = context.trace.tasks.get(task)?;
    let known = child.creator != TaskId::NONE
        && child.created_by != NONE
        && !child.is_thread
        && !child.programs.is_empty();
    let longest = pauses
        .iter()
        .filter(|pause| !pause.is_wait)
        .max_by_key(|pause| pause.dur_ns)?;
    let life_ns = child.end_ns().saturating_sub(child.birth_ns);
    let pause = Pause {
        at: child.created_by,
        sleeper: task,
        ..*longest
    };
    (known && longest.dur_ns.saturating_mul(2) >= life_ns).then_some((child.creator, pause))
}
