//! The graph of a replay: for each task, the waits that something else ended, and what did.

use crate::replay::polls;
use crate::replay::steps::{Awaited, EndedBy, Step, step};
use parsers::syscalls::{Action, Class, Wait};
use parsers::{NO_NS, Outcome};
use path::waits::edge::{Edge, Ender, WakeKind};
use path::waits::left_out::LeftOut;
use path::waits::wait_kinds::wait_of_row;
use path::waits::wakers::Wakers;
use rayon::prelude::*;
use trace::store::event::NONE;
use trace::store::events::EventTable;
use trace::store::heuristics::{MAX_CALLS_SINCE_REQUEST, MAX_INSTANT_CALL_NS, MIN_PAUSE_SHARE};
use trace::store::index::{TaskId, TiVec};
use trace::store::spans::Span;
use trace::store::tasks::Task;
use trace::store::trace::Trace;

/// A task.
#[derive(Debug)]
pub(super) struct Lane {
    /// The task that created it; [`NONE`] if that is not known.
    pub creator: TaskId,
    /// When it begins.
    pub birth_ns: i64,
    /// When the call that created it returned, or its birth if that is not later.
    pub created_ns: i64,
    /// Whether it does hardly anything but sleep.
    pub is_pause: bool,
    /// In order of time, not overlapping.
    pub steps: Vec<Step>,
}

/// The waits of all tasks.
#[derive(Debug)]
pub struct Graph {
    pub(super) lanes: TiVec<TaskId, Lane>,
}

impl Graph {
    /// Finds what ended each wait, on all cores.
    pub fn new(trace: &Trace, wakers: &Wakers) -> Graph {
        trace.shapes_of(TaskId::new(0));
        let tasks: Vec<TaskId> = trace.tasks.keys().collect();
        let (lanes, turns): (Vec<Lane>, Vec<Vec<(TaskId, Step)>>) = tasks
            .into_par_iter()
            .map(|task| lane(trace, wakers, task))
            .unzip();
        let mut lanes = TiVec::from(lanes);
        // Where children check, the loop is their creator's.
        for (task, step) in turns.into_iter().flatten() {
            if let Some(lane) = lanes.get_mut(task) {
                add(&mut lane.steps, step);
            }
        }
        Graph { lanes }
    }

    /// Number of waits that something else ended.
    pub fn waits(&self) -> usize {
        self.lanes.iter().map(|lane| lane.steps.len()).sum()
    }
}

/// Insert a step, unless the lane has one of the same call already.
fn add(steps: &mut Vec<Step>, step: Step) {
    let key = |step: &Step| (step.at, step.is_gap);
    let place = steps.partition_point(|known| key(known) < key(&step));
    if steps
        .get(place)
        .is_none_or(|known| key(known) != key(&step))
    {
        steps.insert(place, step);
    }
}

/// The waits for children whose calls are not in the capture.
fn left_out(trace: &Trace, wakers: &Wakers, task: TaskId) -> Vec<Step> {
    let ranges = wakers.left_out();
    if ranges.is_empty() {
        return Vec::new();
    }
    let wait = |range: LeftOut| {
        let place = (range.row != NONE).then(|| trace.place_of(task, range.row))??;
        let (child, _) = ranges.awaited(trace, task, range, range.to_ns, false)?;
        Some(Step {
            at: place as u32,
            is_gap: true,
            start_ns: range.from_ns,
            end_ns: range.to_ns,
            ended_by: EndedBy::Task {
                task: child,
                at_ns: trace.tasks[child].end_ns(),
                awaited: Awaited::Work,
            },
        })
    };
    ranges.all_of(task).into_iter().filter_map(wait).collect()
}

/// The lane of a task, and the ends of poll loops that belong to other lanes.
fn lane(trace: &Trace, wakers: &Wakers, number: TaskId) -> (Lane, Vec<(TaskId, Step)>) {
    let task = &trace.tasks[number];
    let is_known =
        !task.adopted && task.creator != number && task.creator.index() < trace.tasks.len();
    let waiter = (is_known && !task.is_thread).then_some(task.creator);
    let mut steps = Vec::new();
    let mut of_others = Vec::new();
    let mut paused_ns = 0i64;
    let checks = wakers.may_poll(number, waiter);
    for (at, span) in wakers.outline().looked_at_with(trace, number, checks) {
        if let Some(turns) = polls::turns(trace, wakers, (number, at, span), waiter) {
            match turns {
                (owner, step) if owner == number => {
                    steps.retain(|pause| !is_pause_for(pause, &step));
                    steps.push(step);
                }
                other => of_others.push(other),
            }
            continue;
        }
        if let Some(ended_by) = ended_by(trace, wakers, (number, at, span)) {
            let span = whole_wait(trace, wakers, (number, at, span), ended_by);
            while steps
                .pop_if(|part| part.start_ns >= span.start_ns)
                .is_some()
            {}
            steps.push(step(at, span, ended_by));
        }
    }
    for step in left_out(trace, wakers, number) {
        add(&mut steps, step);
    }
    if waiter.is_some() && steps.len() <= MAX_STEPS_OF_PAUSE {
        paused_ns = sleeps_ns(trace, wakers, number);
    }
    let life_ns = task.end_ns().saturating_sub(task.birth_ns);
    let lane = Lane {
        creator: if is_known { task.creator } else { TaskId::NONE },
        birth_ns: task.birth_ns,
        created_ns: created_ns(trace, task),
        is_pause: paused_ns > 0 && paused_ns as f64 >= MIN_PAUSE_SHARE * life_ns as f64,
        steps,
    };
    (lane, of_others)
}

/// Whether a step is a pause of a poll loop. It takes its time, whatever its producer does.
fn is_pause_for(pause: &Step, check: &Step) -> bool {
    match (pause.ended_by, check.ended_by) {
        (EndedBy::Task { task, awaited, .. }, EndedBy::Check(turns)) => {
            awaited != Awaited::Child && task == turns.producer && pause.start_ns >= turns.began_ns
        }
        _ => false,
    }
}

/// The moment of the creator from which a task starts: its first line may come later, while the creator goes on.
fn created_ns(trace: &Trace, task: &Task) -> i64 {
    let row = task.created_by;
    let returned_ns = (row < trace.events.len())
        .then(|| trace.events.end_ns(row))
        .flatten();
    returned_ns.map_or(task.birth_ns, |ns| ns.min(task.birth_ns))
}

/// Waits of a process that only sleeps: it loads its program and exits.
const MAX_STEPS_OF_PAUSE: usize = 64;

fn sleeps_ns(trace: &Trace, wakers: &Wakers, task: TaskId) -> i64 {
    let sleeps = trace
        .spans(task)
        .filter(|span| wakers.class(trace, span.row) == Class::Sleep);
    sleeps.map(|span| span.end_ns - span.start_ns).sum()
}

/// A call, with the earlier parts of its wait that the task's own timers interrupted: what the wait is for would have ended
/// them, too.
fn whole_wait(
    trace: &Trace,
    wakers: &Wakers,
    (task, at, span): (TaskId, usize, Span),
    ended_by: EndedBy,
) -> Span {
    match ended_by {
        EndedBy::Task {
            awaited: Awaited::Work | Awaited::Lock,
            ..
        } => {
            let polled_ns = wakers.polled_first_ns(trace, task, at, span.start_ns);
            let asked_ns = wakers.asked_first_ns(trace, task, at, span.start_ns);
            Span {
                start_ns: polled_ns.min(asked_ns),
                ..span
            }
        }
        _ => span,
    }
}

/// What ended a call of a task; `None` if it takes its time by itself.
fn ended_by(
    trace: &Trace,
    wakers: &Wakers,
    (task, at, span): (TaskId, usize, Span),
) -> Option<EndedBy> {
    let is_other = |edge: &Edge| edge.task != task && edge.task.index() < trace.tasks.len();
    if let Some(edge) = wakers.waker(trace, task, at, span).filter(is_other) {
        let waits_for_child = wakers.wait(trace, span.row) == Some(Wait::Child);
        let awaited = match edge.how {
            WakeKind::Child | WakeKind::Signal if waits_for_child => Awaited::Child,
            WakeKind::Lock => Awaited::Lock,
            _ => Awaited::Work,
        };
        return Some(EndedBy::Task {
            task: edge.task,
            at_ns: woken_at(trace, &edge, span),
            awaited,
        });
    }
    if !wakers.needs_waker(trace, span.row) {
        return None;
    }
    let asked_ns = last_request(trace, task, at, span);
    match wakers.ended_by(trace, task, at, span) {
        Ender::Timer | Ender::Outside | Ender::Itself => None,
        // It had come at an unknown moment before.
        Ender::Client if is_at_once(span) && asked_ns.is_none() => None,
        Ender::Client => Some(asked_ns.map_or(EndedBy::Moment, EndedBy::Answer)),
        Ender::Unknown => asked_ns.map(EndedBy::Answer),
    }
}

/// Whether a call found what it needed.
fn is_at_once(span: Span) -> bool {
    span.end_ns - span.start_ns < MAX_INSTANT_CALL_NS
}

/// When the other task did what ended a call. If it is in a call of its own then, that may be a wait, whose time is not work
/// that this call waited for. So a write did it when it began, because it goes on until this call has made room. What ended
/// a call at once had been done before.
fn woken_at(trace: &Trace, edge: &Edge, span: Span) -> i64 {
    let events = &trace.events;
    let at_ns = edge.at_ns.min(span.end_ns);
    let rows = trace.rows_of(edge.task);
    let begun = rows.partition_point(|&row| events.start_ns(row) <= at_ns);
    let last = begun.checked_sub(1).and_then(|place| rows.get(place));
    let writes = |row: u32| {
        matches!(
            events.action(row),
            Action::Writes | Action::Sends | Action::SendsMany | Action::Splices
        )
    };
    let goes_on = |&&row: &&u32| {
        let lasts = events.end_ns(row).is_some_and(|end_ns| end_ns > at_ns);
        lasts && (writes(row) || is_at_once(span))
    };
    last.filter(goes_on)
        .map_or(at_ns, |&row| events.start_ns(row))
}

/// When the task last sent something to where this call waited for input.
fn last_request(trace: &Trace, task: TaskId, at: usize, span: Span) -> Option<i64> {
    let events = &trace.events;
    let target = events.waited_target(span.row);
    if !target.is_some() {
        return None;
    }
    let earlier = trace.rows_of(task).get(..at)?;
    let sends = |row: u32| {
        matches!(
            events.action(row),
            Action::Sends | Action::SendsMany | Action::Writes | Action::Connects
        ) && events.target(row) == target
            && events.outcome(row) == Outcome::Ok
    };
    // What it received after another wait came with that one.
    let mut recent = earlier.iter().rev().take(MAX_CALLS_SINCE_REQUEST);
    let sent = recent
        .find(|&&row| {
            sends(row) || (waits_for_input(events, row) && events.outcome(row) == Outcome::Ok)
        })
        .filter(|&&row| sends(row))?;
    events
        .end_ns(*sent)
        .filter(|&ns| ns != NO_NS && ns <= span.start_ns)
}

fn waits_for_input(events: &EventTable, row: u32) -> bool {
    matches!(wait_of_row(events, row), Some(Wait::Poll | Wait::Read))
}
