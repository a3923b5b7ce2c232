//! Waits ended by the end or the stop of a child, and vforks, ended by the exec or end of the child.
//!
//! ```text
//! parent    |------ wait4 = 12 ------|      parent   |-- vfork = 12 --|
//! child 12     |-- work --|exit             child 12  |-- execve --|-- work ...
//! ```

use super::stops::is_stop;
use super::wait_kinds;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::task_ends::{asked_to_end, asked_to_end_ns, ender_of};
use parsers::facts::WaitedChild;
use parsers::syscalls::Action;
use parsers::{NO_ID, NO_NS, Outcome};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;
use trace::store::grouped::Grouped;
use trace::store::heuristics::EXIT_TOLERANCE_NS;
use trace::store::index::{TaskId, TiSlice, TiVec};
use trace::store::row_map::RowMap;
use trace::store::task_relations::{descends, same_process};
use trace::store::tasks::Task;
use trace::store::trace::Trace;

/// The tasks of each process, and the children of each creator.
#[derive(Default)]
pub(super) struct Children {
    /// By number of the process id.
    tasks: TasksByEnd,
    /// By number of the process id of the creator.
    made: TasksByEnd,
    /// By the call that created them.
    vforked: RowMap<TaskId>,
    /// Tasks that their creators know by another id (pid namespace), by that id and the process of the creator.
    by_other_id: FxHashMap<(u32, i32, i32), Vec<TaskId>>,
    /// See [`Children::execs`] and [`Children::ends`].
    execs: OnceLock<Vec<Exec>>,
    ends: OnceLock<Vec<(i64, TaskId)>>,
}

/// The call with which a task began a program: it closes descriptors in between.
struct Exec {
    start_ns: i64,
    end_ns: i64,
    task: TaskId,
}

/// Maximum number of execs examined for one wait.
const EXECS: usize = 64;
/// Maximum number of process ends examined for one wait.
const ENDS: usize = 64;
/// Maximum number of tasks of a process examined for one wait.
const MAX_TASKS: usize = 4096;

/// Groups of tasks. Those of a group are in order of their ends.
#[derive(Default)]
struct TasksByEnd {
    tasks: Grouped<u32, TaskId>,
    /// When each of them ended, in the same order: the tasks themselves are far apart.
    ends_ns: Vec<i64>,
}

impl TasksByEnd {
    fn new(mut tasks: Grouped<u32, TaskId>, ends_ns: &TiSlice<TaskId, i64>) -> TasksByEnd {
        tasks.sort_by_key(|task| ends_ns[task]);
        let ends_ns = tasks.members().iter().map(|&task| ends_ns[task]).collect();
        TasksByEnd { tasks, ends_ns }
    }

    fn of(&self, group: u32) -> EndedTasks<'_> {
        (self.tasks.of(group), &self.ends_ns[self.tasks.range(group)])
    }
}

/// Tasks in order of their ends, and these.
type EndedTasks<'all> = (&'all [TaskId], &'all [i64]);

impl Children {
    pub(super) fn new(trace: &Trace) -> Children {
        let pids = trace.pids();
        let ends_ns: TiVec<TaskId, i64> = trace
            .tasks
            .raw
            .par_iter()
            .map(Task::end_ns)
            .collect::<Vec<_>>()
            .into();
        let (tasks, made) = rayon::join(
            || TasksByEnd::new(pids.tasks().clone(), &ends_ns),
            || {
                TasksByEnd::new(
                    Grouped::new(
                        pids.len(),
                        trace
                            .tasks
                            .iter()
                            .map(|task| pids.number_of(task.creator).filter(|_| !task.is_thread)),
                    ),
                    &ends_ns,
                )
            },
        );
        let awaited = |task: &Task| {
            has_call(trace, task) && (task.vfork || waits_for_exec(trace, task.created_by))
        };
        let vforked = trace
            .tasks
            .iter_enumerated()
            .filter(|(_, task)| awaited(task));
        let vforked = RowMap::new(
            trace.events.len(),
            vforked.map(|(number, task)| (task.created_by, number)),
        );
        let mut children = Children {
            tasks,
            made,
            vforked,
            ..Children::default()
        };
        for (number, task) in trace
            .tasks
            .iter_enumerated()
            .filter(|(_, task)| task.known_as != NO_ID && !task.is_thread)
        {
            if let Some(creator) = trace.tasks.get(task.creator) {
                let other_id = (creator.capture, creator.pid, task.known_as);
                children
                    .by_other_id
                    .entry(other_id)
                    .or_default()
                    .push(number);
            }
        }
        children
    }

    /// The execs of all tasks, in order of their starts. Few traces need them.
    fn execs(&self, trace: &Trace) -> &[Exec] {
        self.execs.get_or_init(|| {
            let mut execs = Vec::new();
            for (task, known) in trace.tasks.iter_enumerated() {
                let programs = known.programs.iter();
                execs.extend(programs.map(|program| Exec {
                    start_ns: exec_ns(trace, task, program.from_ns),
                    end_ns: program.from_ns,
                    task,
                }));
            }
            execs.sort_unstable_by_key(|exec| (exec.start_ns, exec.end_ns, exec.task));
            execs
        })
    }

    /// Times at which processes ended, in order, with their main tasks. Few traces need them.
    fn ends(&self, trace: &Trace) -> &[(i64, TaskId)] {
        self.ends.get_or_init(|| {
            let main = trace
                .tasks
                .iter_enumerated()
                .filter(|(_, task)| !task.is_thread && !task.superseded);
            let dated = main
                .map(|(number, task)| (task.death_ns, number))
                .filter(|&(death_ns, _)| death_ns != NO_NS);
            let mut ends: Vec<(i64, TaskId)> = dated.collect();
            ends.sort_unstable();
            ends
        })
    }

    /// The tasks of the process of a task.
    pub(super) fn tasks_of(&self, trace: &Trace, task: TaskId) -> &[TaskId] {
        trace
            .pids()
            .number_of(task)
            .map_or(&[], |pid| self.tasks.of(pid).0)
    }

    /// The child whose end completed a wait.
    pub(super) fn waited(&self, call: &Waiting<'_>) -> Option<Edge> {
        let events = &call.trace.events;
        let row = call.span.row;
        let returned = match events.facts.get::<WaitedChild>(row) {
            Some(&child) => Some(child),
            None if events.outcome(row) != Outcome::Ok
                || wait_kinds::found_no_child(events, row) =>
            {
                return None;
            }
            None => i32::try_from(events.ret(row)).ok().filter(|&pid| pid > 0),
        };
        match returned {
            Some(pid) => self
                .process_end(call, pid)
                .or_else(|| self.end_by_other_id(call, pid))
                .or_else(|| self.process_stop(call, pid)),
            // sysdig prints no result of a wait.
            None if events.action(row) == Action::WaitsForChildInfo || events.ret(row) == NO_NS => {
                self.last_child(call)
            }
            // WNOHANG, and no child had ended.
            None => None,
        }
    }

    /// The end of the process with this id during a wait.
    pub(super) fn process_end(&self, call: &Waiting<'_>, pid: i32) -> Option<Edge> {
        let capture = call.trace.tasks.get(call.task)?.capture;
        let tasks = self.tasks.of(call.trace.pids().number(capture, pid)?);
        let task = last_ended(call, tasks, call.exits_until_ns(), |task| !task.superseded)?;
        Some(edge(call, task, Confidence::Measured))
    }

    /// The stop of the process with this id during a wait (WUNTRACED).
    fn process_stop(&self, call: &Waiting<'_>, pid: i32) -> Option<Edge> {
        let trace = call.trace;
        let capture = trace.tasks.get(call.task)?.capture;
        let (tasks, _) = self.tasks.of(trace.pids().number(capture, pid)?);
        let main = tasks
            .iter()
            .copied()
            .find(|&task| trace.tasks[task].tid == pid)?;
        let (rows, start_ns) = (trace.rows_of(main), |row: u32| trace.events.start_ns(row));
        let until_ns = call.span.end_ns.saturating_add(call.tick_ns());
        let until = rows.partition_point(|&row| start_ns(row) <= until_ns);
        let mut inside = rows[..until]
            .iter()
            .rev()
            .copied()
            .take_while(|&row| start_ns(row) >= call.span.start_ns);
        let stop = inside.find(|&row| is_stop(trace, row))?;
        Some(Edge {
            task: main,
            at_ns: start_ns(stop).min(call.span.end_ns),
            how: WakeKind::Child,
            sure: Confidence::Measured,
        })
    }

    /// The end of the child that the waiter knows by this id, while its own lines have another one.
    fn end_by_other_id(&self, call: &Waiting<'_>, id: i32) -> Option<Edge> {
        let waiter = call.trace.tasks.get(call.task)?;
        let tasks = self.by_other_id.get(&(waiter.capture, waiter.pid, id))?;
        let ends_ns: Vec<i64> = tasks
            .iter()
            .map(|&task| call.trace.tasks[task].end_ns())
            .collect();
        let main = last_ended(call, (tasks, &ends_ns), call.exits_until_ns(), |task| {
            !task.superseded
        })?;
        let ender = ender_of(call.trace, self.process_of(call.trace, main), main);
        Some(edge(call, ender, Confidence::Inferred))
    }

    /// The wait does not name the child (waitid without its siginfo): take the last one that ended during the wait.
    pub(super) fn last_child(&self, call: &Waiting<'_>) -> Option<Edge> {
        let made = self.made.of(call.trace.pids().number_of(call.task)?);
        let strict_ns = call.span.end_ns.saturating_add(call.tick_ns());
        let ended = |until_ns: i64| last_ended(call, made, until_ns, |task| task.death_ns != NO_NS);
        let child = ended(strict_ns).or_else(|| ended(call.exits_until_ns()))?;
        let ender = ender_of(call.trace, self.process_of(call.trace, child), child);
        Some(edge(call, ender, Confidence::Inferred))
    }

    /// The descendant whose exec during this wait closed its inherited descriptors, so that the wait reached end of
    /// file.
    pub(super) fn execed(&self, call: &Waiting<'_>) -> Option<Edge> {
        // How long the system takes to load the new program does not matter: descriptors are closed before.
        let execs = self.execs(call.trace);
        let until_ns = call.returned_until_ns();
        let until = execs.partition_point(|exec| exec.start_ns < until_ns);
        let mut near = execs[..until].iter().rev().take(EXECS);
        let exec = near.find(|exec| {
            exec.end_ns > call.span.start_ns
                && exec.task != call.task
                && descends(call.trace, exec.task, call.task)
        })?;
        Some(Edge {
            task: exec.task,
            at_ns: exec.end_ns.min(call.span.end_ns),
            how: WakeKind::Stream,
            sure: Confidence::Inferred,
        })
    }

    /// The matching process of a task that ended together with this wait: all its descriptors were closed with it.
    pub(super) fn ended_with(
        &self,
        call: &Waiting<'_>,
        fits: impl Fn(TaskId) -> bool,
    ) -> Option<Edge> {
        self.ended_within(call, EXIT_TOLERANCE_NS, fits)
    }

    /// The same, up to `tolerance_ns` before the end of the wait: a tracer on a busy machine resumes a waiter late.
    pub(super) fn ended_within(
        &self,
        call: &Waiting<'_>,
        tolerance_ns: i64,
        fits: impl Fn(TaskId) -> bool,
    ) -> Option<Edge> {
        let ends = self.ends(call.trace);
        let until = ends.partition_point(|&(death_ns, _)| death_ns <= call.exits_until_ns());
        let from_ns = call
            .span
            .end_ns
            .saturating_sub(tolerance_ns)
            .max(call.span.start_ns);
        let near = ends[..until]
            .iter()
            .rev()
            .take_while(|&&(death_ns, _)| death_ns > from_ns)
            .take(ENDS);
        let mut fitting =
            near.filter(|&&(_, main)| !same_process(call.trace, main, call.task) && fits(main));
        let &(_, main) = fitting.next()?;
        let ender = ender_of(call.trace, self.process_of(call.trace, main), main);
        Some(Edge {
            how: WakeKind::Stream,
            ..edge(call, ender, Confidence::Inferred)
        })
    }

    /// The thread that ended the process of a task, and with it this call.
    pub(super) fn process_ender(&self, call: &Waiting<'_>) -> Option<Edge> {
        let process = self.process_of(call.trace, call.task);
        let ender = ender_of(call.trace, process, call.task);
        let end_ns = asked_to_end_ns(call.trace, ender)?;
        let in_time = end_ns > call.span.start_ns && ender != call.task;
        let at_ns = end_ns.min(call.span.end_ns);
        in_time.then_some(Edge {
            task: ender,
            at_ns,
            how: WakeKind::Exit,
            sure: Confidence::Measured,
        })
    }

    /// The children of a task's process, in order of their ends.
    pub(super) fn made_by(&self, trace: &Trace, task: TaskId) -> &[TaskId] {
        trace
            .pids()
            .number_of(task)
            .map_or(&[], |pid| self.made.of(pid).0)
    }

    /// The calls in which creators wait for the task that they created.
    pub(super) fn vforks(&self) -> impl Iterator<Item = u32> {
        self.vforked.rows()
    }

    fn process_of(&self, trace: &Trace, task: TaskId) -> &[TaskId] {
        let tasks = self.tasks_of(trace, task);
        &tasks[..tasks.len().min(MAX_TASKS)]
    }

    /// The child that the creator waits for inside the call that created it.
    pub(super) fn vfork(&self, call: &Waiting<'_>) -> Option<Edge> {
        let child = self.vforked.get(call.span.row)?;
        let task = call.trace.tasks.get(child)?;
        let ran_ns = task
            .programs
            .iter()
            .map(|program| program.from_ns)
            .find(|&from_ns| from_ns > call.span.start_ns);
        let at_ns = ran_ns
            .or((task.death_ns != NO_NS).then_some(task.death_ns))
            .filter(|&at_ns| call.spans_exit(at_ns))?;
        Some(Edge {
            task: child,
            at_ns: at_ns.min(call.span.end_ns),
            how: WakeKind::Vfork,
            sure: Confidence::Measured,
        })
    }
}

fn has_call(trace: &Trace, task: &Task) -> bool {
    task.created_by < trace.events.len()
}

fn edge(call: &Waiting<'_>, task: TaskId, sure: Confidence) -> Edge {
    let known = &call.trace.tasks[task];
    // Without a line for its end (truss prints none for a fatal signal), its last event is the best estimate.
    let sure = if known.death_ns == NO_NS {
        Confidence::Inferred
    } else {
        sure
    };
    Edge {
        task,
        at_ns: known.end_ns().min(call.span.end_ns),
        how: WakeKind::Child,
        sure,
    }
}

/// The last task that ended during a wait: of tasks that ended together, the one that called exit_group.
///
/// `tasks` are in order of their ends.
fn last_ended(
    call: &Waiting<'_>,
    (tasks, ends_ns): EndedTasks<'_>,
    until_ns: i64,
    fits: impl Fn(&Task) -> bool,
) -> Option<TaskId> {
    let task = |number: TaskId| &call.trace.tasks[number];
    let behind = ends_ns.partition_point(|&end_ns| end_ns <= until_ns);
    let ended = tasks[..behind].iter().zip(&ends_ns[..behind]).rev();
    let inside = ended
        .take_while(|&(_, &end_ns)| call.spans_exit(end_ns))
        .map(|(&number, _)| number);
    let mut fitting = inside.filter(|&number| number != call.task && fits(task(number)));
    let last = fitting.next()?;
    let mut together = std::iter::once(last).chain(
        fitting
            .take_while(|&other| same_process(call.trace, other, last))
            .take(1024),
    );
    together
        .find(|&number| asked_to_end(call.trace, number))
        .or(Some(last))
}

/// The start of the exec that ended at this moment.
fn exec_ns(trace: &Trace, task: TaskId, from_ns: i64) -> i64 {
    let rows = trace.rows_of(task);
    let until = rows.partition_point(|&row| trace.events.start_ns(row) < from_ns);
    until
        .checked_sub(1)
        .map_or(from_ns, |at| trace.events.start_ns(rows[at]))
}

fn waits_for_exec(trace: &Trace, row: u32) -> bool {
    matches!(trace.events.action(row), Action::Vforks | Action::Spawns)
}
