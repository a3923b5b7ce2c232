//! The window: the stretch of wall time that is divided, and the task in which the walk back starts.
//!
//! ```text
//! started by the tracer   first |--------------- its life ---------------| last   the walk starts at its end
//! attached                 |~~ all wait ~~|------------------------------| the task that completed the last event, and
//!                                                                          does more than keep a rhythm
//!                             left out     window
//!           of a server that only hands connections to children: the child that ended last
//! ```

use crate::waits::{task_ends, wait_kinds};
use parsers::syscalls::{self, Action, Class, Syscall, Wait};
use parsers::{Clock, NO_NS, Outcome, Text};
use rustc_hash::FxHashSet;
use trace::store::classes::class_of;
use trace::store::event::EventKind;
use trace::store::events::EventTable;
use trace::store::heuristics::{
    LAST_RHYTHM_CALLS, MIN_LAST_TIMEOUTS, MIN_LAST_TIMEOUTS_OF_SERVERS,
};
use trace::store::index::TaskId;
use trace::store::tasks::Task;
use trace::store::time_limits::reached_limit;
use trace::store::trace::{Capture, Trace};

/// Why a capture has no window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Its lines carry no stamps.
    NoClock,
    /// Its stamps count the CPU time of each thread.
    PerThreadClock,
    /// Its stamps are whole seconds, and all calls fall into a few of them.
    CoarseClock,
    /// It has no event.
    Empty,
    /// It has no process with the requested id.
    NoProcess,
}

impl Reason {
    /// The name in tables. Renderers choose the wording.
    pub fn name(self) -> &'static str {
        match self {
            Reason::NoClock => "no_clock",
            Reason::PerThreadClock => "per_thread_clock",
            Reason::CoarseClock => "coarse_clock",
            Reason::Empty => "empty",
            Reason::NoProcess => "no_process",
        }
    }
}

/// What the user requested instead of the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WindowChoice {
    /// The window is the life of this process.
    pub pid: Option<i32>,
    /// The same, and stronger than `pid`.
    pub root: Option<i32>,
    /// Not before this moment.
    pub from_ns: Option<i64>,
    /// Not after this moment.
    pub to_ns: Option<i64>,
}

/// A stretch of the wall time of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The capture.
    pub capture: u32,
    /// From when; [`NO_NS`] without a window.
    pub start_ns: i64,
    /// To when; [`NO_NS`] without a window.
    pub end_ns: i64,
    /// The task at whose end the walk starts.
    pub root: Option<TaskId>,
    /// Time at the start of the capture during which every task only waited. It is not part of the window.
    pub left_out_ns: i64,
    /// The reason for a missing window.
    pub reason: Option<Reason>,
}

impl Window {
    fn none(capture: u32, reason: Reason) -> Window {
        Window {
            capture,
            start_ns: NO_NS,
            end_ns: NO_NS,
            root: None,
            left_out_ns: 0,
            reason: Some(reason),
        }
    }

    /// Its length; 0 without a window.
    pub fn wall_ns(&self) -> i64 {
        if self.root.is_none() {
            0
        } else {
            self.end_ns.saturating_sub(self.start_ns).max(0)
        }
    }
}

/// Number of candidates for the task in which the walk starts: those that completed an event last.
const TASKS_AT_THE_END: usize = 64;
/// Events of a task to check for the one completed last. They are in the order of their starts.
const ROWS_AT_THE_END: usize = 4;

/// The window of each capture.
pub fn windows(trace: &Trace, choice: &WindowChoice) -> Vec<Window> {
    (0..)
        .zip(&trace.captures)
        .map(|(number, capture)| window(trace, number, capture, choice))
        .collect()
}

/// The window of a capture; `None` if there is no such capture.
pub fn window_of(trace: &Trace, number: u32, choice: &WindowChoice) -> Option<Window> {
    trace
        .captures
        .get(number as usize)
        .map(|capture| window(trace, number, capture, choice))
}

fn window(trace: &Trace, number: u32, capture: &Capture, choice: &WindowChoice) -> Window {
    if let Some(reason) = no_window(capture) {
        return Window::none(number, reason);
    }
    let chosen = choice.root.or(choice.pid);
    let found = match chosen {
        Some(pid) => process_life(trace, number, capture, pid),
        None => started_life(trace, capture).or_else(|| whole(trace, number, capture, choice)),
    };
    let Some(found) = found else {
        return Window::none(
            number,
            if chosen.is_some() {
                Reason::NoProcess
            } else {
                Reason::Empty
            },
        );
    };
    clipped(
        Window {
            capture: number,
            ..found
        },
        choice,
    )
}

fn no_window(capture: &Capture) -> Option<Reason> {
    match capture.facts.clock {
        _ if capture.rows.is_empty() => Some(Reason::Empty),
        Clock::PerThread => Some(Reason::PerThreadClock),
        _ if capture.is_too_coarse => Some(Reason::CoarseClock),
        _ if !capture.has_wall_clock() => Some(Reason::NoClock),
        _ => None,
    }
}

fn clipped(window: Window, choice: &WindowChoice) -> Window {
    let start_ns = choice
        .from_ns
        .map_or(window.start_ns, |from_ns| from_ns.max(window.start_ns));
    let end_ns = choice
        .to_ns
        .map_or(window.end_ns, |to_ns| to_ns.min(window.end_ns));
    Window {
        start_ns,
        end_ns: end_ns.max(start_ns),
        ..window
    }
}

fn life(task: TaskId, start_ns: i64, end_ns: i64) -> Window {
    Window {
        capture: 0,
        start_ns,
        end_ns,
        root: Some(task),
        left_out_ns: 0,
        reason: None,
    }
}

/// The life of the process with this id: of the first one, where the id was given out again.
fn process_life(trace: &Trace, number: u32, capture: &Capture, pid: i32) -> Option<Window> {
    let first = tasks_of(trace, capture)
        .map(|(_, task)| task)
        .filter(|task| task.pid == pid && task.birth_ns != NO_NS)
        .min_by_key(|task| task.birth_ns)?;
    let main = tasks_of(trace, capture)
        .find(|(_, task)| std::ptr::eq(*task, first))?
        .0;
    let ender = task_ends::ender(trace, main);
    let end_ns = trace.tasks.get(ender)?.end_ns();
    Some(Window {
        capture: number,
        ..life(ender, first.birth_ns, end_ns)
    })
}

fn tasks_of<'trace>(
    trace: &'trace Trace,
    capture: &Capture,
) -> impl Iterator<Item = (TaskId, &'trace Task)> {
    capture
        .task_ids()
        .filter_map(|number| trace.tasks.get(number).map(|task| (number, task)))
}

/// The life of the first task if the tracer started it and saw its end.
fn started_life(trace: &Trace, capture: &Capture) -> Option<Window> {
    let dated = tasks_of(trace, capture).filter(|(_, task)| task.birth_ns != NO_NS);
    let (first, task) = dated.min_by_key(|(_, task)| task.birth_ns)?;
    let begins = *trace.rows_of(first).first()?;
    let starts = trace.events.kind(begins) == EventKind::Call
        && trace.events.action(begins) == Action::Execs;
    if !starts || task.creator != TaskId::NONE || task.death_ns == NO_NS {
        return None;
    }
    let ender = task_ends::ender(trace, first);
    Some(life(ender, task.birth_ns, trace.tasks.get(ender)?.end_ns()))
}

/// From the first event to the last completed one, or to the requested moment, without the idle time at the start.
fn whole(trace: &Trace, number: u32, capture: &Capture, choice: &WindowChoice) -> Option<Window> {
    let completed = last_completed(trace, capture, choice.to_ns);
    let (root, end_ns) = match end_of_tracing(capture, choice) {
        Some(end_ns) => (living_root(trace, capture, completed)?, end_ns),
        None => completed?,
    };
    let served = if choice.to_ns.is_none() {
        last_served(trace, capture, root)
    } else {
        None
    };
    let (root, end_ns) = served.unwrap_or((root, end_ns));
    let is_alone = capture.task_ids().count() == 1;
    let busy_ns = tasks_of(trace, capture)
        .filter_map(|(number, _)| busy_from(trace, number, is_alone))
        .min();
    let first_ns = capture.first_ns;
    let left_out_ns = match (busy_ns, choice.from_ns) {
        (Some(busy_ns), None) if busy_ns < end_ns => (busy_ns - first_ns).max(0),
        _ => 0,
    };
    Some(Window {
        capture: number,
        left_out_ns,
        ..life(root, first_ns + left_out_ns, end_ns)
    })
}

/// When the tracer let go of the tasks that still lived, if that is known and no other end is requested.
fn end_of_tracing(capture: &Capture, choice: &WindowChoice) -> Option<i64> {
    let ended_ns = capture.ended_ns().filter(|_| choice.to_ns.is_none())?;
    // If no task lived then, the capture ends with the last of them.
    (ended_ns <= capture.last_ns).then_some(capture.last_ns)
}

/// ```text
/// main     |---- futex (joins the worker) ----     no call ends while the tracer is attached
/// worker   |---- read ------------------------
/// ```
///
/// The task in which the walk starts where the tracer let go of living tasks: the one that completed the last event, or else a
/// living one that did; if no call ended, a main thread, or else the first other task.
fn living_root(
    trace: &Trace,
    capture: &Capture,
    completed: Option<(TaskId, i64)>,
) -> Option<TaskId> {
    let is_living = |task: TaskId| trace.tasks.get(task).is_some_and(lives);
    let last = completed
        .map(|(root, _)| root)
        .filter(|&root| is_living(root));
    let other = || completed.and_then(|_| last_that(trace, capture, is_living));
    let first = || {
        let living =
            tasks_of(trace, capture).filter(|(_, task)| task.birth_ns != NO_NS && lives(task));
        living.min_by_key(|(number, task)| (task.is_thread, *number))
    };
    last.or_else(other)
        .or_else(|| first().map(|(task, _)| task))
}

fn lives(task: &Task) -> bool {
    task.death_ns == NO_NS && task.ended.is_none() && !task.superseded
}

/// The task that completed the last event, and when. At a requested moment, it is the task that completes one then; else
/// the task with a call in progress that works; else the task that completes the next one.
fn last_completed(trace: &Trace, capture: &Capture, to_ns: Option<i64>) -> Option<(TaskId, i64)> {
    let events = &trace.events;
    let ends = || {
        let rows = capture
            .rows
            .clone()
            .filter(|row| events.start_ns(*row) != NO_NS && events.outcome(*row) != Outcome::Open);
        rows.map(|row| (events.end_ns(row).unwrap_or(events.start_ns(row)), row))
    };
    let next = to_ns.and_then(|to_ns| {
        let behind = ends().filter(|&(end_ns, _)| end_ns >= to_ns);
        let works = |row: u32| events.start_ns(row) < to_ns && !wait_kinds::may_idle(events, row);
        behind.min_by_key(|&(end_ns, row)| (end_ns > to_ns, !works(row), end_ns, row))
    });
    let (end_ns, row) = next.or_else(|| ends().max())?;
    let root = match events.task(row) {
        last if next.is_none() && keeps_a_rhythm(trace, last, MIN_LAST_TIMEOUTS_OF_SERVERS) => {
            let serving = last_that(trace, capture, |task| answers(trace, task));
            let is_rhythm = keeps_a_rhythm(trace, last, MIN_LAST_TIMEOUTS);
            serving
                .or_else(|| {
                    last_that(trace, capture, |task| {
                        !keeps_a_rhythm(trace, task, MIN_LAST_TIMEOUTS)
                    })
                    .filter(|_| is_rhythm)
                })
                .unwrap_or(last)
        }
        last => last,
    };
    Some((root, to_ns.map_or(end_ns, |to_ns| end_ns.min(to_ns))))
}

/// ```text
/// parent   |- accept -|fork|close|~~~~~ waits for connections ~~~~~|SIGCHLD|
/// child                    |-- serves the connection --|exit
/// ```
///
/// The child that ended last of a parent that only hands connections over: the client waited for the child.
fn last_served(trace: &Trace, capture: &Capture, parent: TaskId) -> Option<(TaskId, i64)> {
    let events = &trace.events;
    let calls = || {
        trace
            .rows_of(parent)
            .iter()
            .copied()
            .filter(|&row| events.kind(row) == EventKind::Call)
    };
    let accepted: FxHashSet<Text> = calls()
        .filter(|row| events.action(*row) == Action::Accepts && events.outcome(*row) == Outcome::Ok)
        .map(|row| events.target(row))
        .collect();
    let serves =
        |row: u32| accepted.contains(&events.target(row)) && events.action(row).returns_bytes();
    if accepted.is_empty() || calls().any(serves) {
        return None;
    }
    let children =
        tasks_of(trace, capture).filter(|(_, task)| task.creator == parent && !task.is_thread);
    let ended = children.filter(|(_, task)| task.death_ns != NO_NS);
    let (main, _) = ended.max_by_key(|(_, task)| task.death_ns)?;
    let ender = task_ends::ender(trace, main);
    Some((ender, trace.tasks.get(ender)?.end_ns()))
}

/// ```text
/// ticker   |- 50 ms -|- 50 ms -|- 50 ms -|- 50 ms -|-     completes the last event of nearly every capture that was cut
/// worker   |------- read -------|- write -|--------
/// ```
///
/// The matching task that completed an event last. The waits of tasks that only keep a rhythm explain nothing.
fn last_that(trace: &Trace, capture: &Capture, fits: impl Fn(TaskId) -> bool) -> Option<TaskId> {
    let events = &trace.events;
    let last = |task: TaskId| {
        let rows = trace.rows_of(task).iter().rev().copied();
        let ended = rows
            .filter(|&row| events.start_ns(row) != NO_NS && events.outcome(row) != Outcome::Open);
        ended
            .take(ROWS_AT_THE_END)
            .map(|row| events.end_ns(row).unwrap_or(events.start_ns(row)))
            .max()
    };
    let mut tasks: Vec<_> = tasks_of(trace, capture)
        .filter_map(|(task, _)| Some((last(task)?, task)))
        .collect();
    tasks.sort_unstable_by_key(|&end| std::cmp::Reverse(end));
    tasks
        .into_iter()
        .map(|(_, task)| task)
        .take(TASKS_AT_THE_END)
        .find(|&task| fits(task))
}

/// Whether a task received from a socket and then sent to it: it answers requests.
fn answers(trace: &Trace, task: TaskId) -> bool {
    let events = &trace.events;
    let calls = trace
        .rows_of(task)
        .iter()
        .rev()
        .copied()
        .filter(|&row| events.outcome(row) == Outcome::Ok);
    let mut answered: FxHashSet<Text> = FxHashSet::default();
    calls
        .take(LAST_RHYTHM_CALLS)
        .any(|row| match events.action(row) {
            Action::Sends | Action::SendsMany | Action::Writes => {
                answered.insert(events.target(row));
                false
            }
            Action::Reads | Action::Receives | Action::ReceivesMany => {
                let target = events.target(row);
                target.is_some() && class(events, row) != Class::Disk && answered.contains(&target)
            }
            _ => false,
        })
}

/// Whether the last calls of a task are waits that came to their limits, and nothing that moves data. A supervisor looks
/// at the files in which its workers show that they are alive.
fn keeps_a_rhythm(trace: &Trace, task: TaskId, min_beats: usize) -> bool {
    let events = &trace.events;
    let calls = trace
        .rows_of(task)
        .iter()
        .rev()
        .copied()
        .filter(|&row| events.kind(row) == EventKind::Call);
    let mut beats = 0;
    for row in calls
        .filter(|&row| events.outcome(row) != Outcome::Open)
        .take(LAST_RHYTHM_CALLS)
    {
        let wait = wait_kinds::wait_of_row(events, row);
        let moves = events.action(row).returns_bytes();
        let class = class(events, row);
        let lasts = events.dur_ns(row) > 0;
        match wait {
            // It began before the capture, and the call that it continues is not printed.
            _ if events.action(row) == Action::Restarts => {}
            Some(Wait::Sleep) if lasts => beats += 1,
            Some(_) if wait_kinds::timed_out(events, row) => beats += usize::from(lasts),
            // It may wake others, and find that it need not wait.
            None if matches!(events.action(row), Action::Stats | Action::Accesses) => {}
            None if is_trivial(events, row) => {}
            Some(Wait::Lock) | None
                if matches!(class, Class::Lock | Class::Sleep | Class::Other) && !moves => {}
            _ => return false,
        }
    }
    beats >= min_beats
}

fn is_trivial(events: &EventTable, row: u32) -> bool {
    syscalls::by_text(events.shape(row).syscall).is_some_and(Syscall::is_trivial)
}

fn class(events: &EventTable, row: u32) -> Class {
    class_of(
        events.shape(row).syscall,
        events.texts.bytes(events.target(row)),
    )
}

/// Whether a call waits for the lock of a file: work cannot go on, so the task is not idle.
fn locks(trace: &Trace, row: u32) -> bool {
    matches!(
        trace.events.action(row),
        Action::LocksFile | Action::LocksRange | Action::ControlsFile
    )
}

/// When a task first does something else than wait. `None` if it never does. A wait that came to its limit right before that
/// is part of what the task does: its timeout, or its sleep. Of other tasks, it may be the rhythm of a helper.
fn busy_from(trace: &Trace, task: TaskId, is_alone: bool) -> Option<i64> {
    let mut idle_until_ns = trace
        .tasks
        .get(task)
        .filter(|task| task.birth_ns != NO_NS)?
        .birth_ns;
    let (mut rows, mut limited_ns) = (0, None);
    for span in trace.spans(task) {
        rows += 1;
        if span.start_ns > idle_until_ns
            || !wait_kinds::may_idle(&trace.events, span.row)
            || locks(trace, span.row)
        {
            return Some(limited_ns.unwrap_or(idle_until_ns));
        }
        limited_ns = (is_alone && reached_limit(&trace.events, span.row)).then_some(span.start_ns);
        idle_until_ns = span.end_ns;
    }
    let outlives = trace.rows_of(task).len() > rows || trace.tasks[task].death_ns != NO_NS;
    outlives.then_some(idle_until_ns)
}
