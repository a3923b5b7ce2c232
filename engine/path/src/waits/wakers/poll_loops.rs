//! Poll loops: check, sleep, check … until an action of another task makes a check succeed.
//!
//! ```text
//! poller     |check|  sleep  |check|  sleep  |check|  sleep  |check: it is there|
//! producer        |------------ work ------------|make|
//! charged          |---- the producer: polled ---------|-- lag --|
//! ```
//!
//! No check could succeed before the producer's event, so that time is charged to the producer. The time from there to
//! the successful check is the cost of the polling interval. A loop is recognized by its checks: the same condition and
//! target, all failed, with a sleep between any two. They may be calls of one task, or of children that a shell starts
//! per iteration.
//!
//! No line of a trace links the two, so all of this is inferred.

pub(crate) mod producers;
pub(crate) mod search;

use crate::waits::condition::PolledCondition;
use crate::waits::edge::Edge;
use crate::waits::shape_facts::ShapeFacts;
use crate::waits::waiting::Waiting;
use crate::waits::wakers::Wakers;
use crate::waits::wakers::poll_loops::search::is_step;
use parsers::facts::Timeout;
use parsers::syscalls::Wait;
use parsers::{NO_NS, Text};
use trace::store::heuristics::MAX_CALLS_BETWEEN_CHECKS;
use trace::store::index::TaskId;
use trace::store::spans::Span;
use trace::store::task_relations::{creators, descends, same_process};
use trace::store::tasks::program_at;
use trace::store::trace::Trace;

/// Maximum number of calls of a child that are searched for a check.
const ROWS_OF_CHILD: usize = 1024;
/// Number of the last calls of a child that are searched for a sleep.
const LAST_ROWS: usize = 16;
/// Maximum number of children between two that check.
const CHILDREN_BETWEEN: usize = 16;
/// Maximum number of children before one that checks. One of them sleeps, or the poller itself after it.
const CHILDREN_OF_A_TURN: usize = 4;

/// The wait that the last check of a poll loop ended.
#[derive(Clone, Copy, Debug)]
pub struct PollLoop {
    /// The waker: its event made the check succeed.
    pub edge: Edge,
    /// The task of the first failed check. It is another child of the poller if the children check.
    pub first_task: TaskId,
    /// When that check began.
    pub began_ns: i64,
}

/// The failed checks before a successful one.
#[derive(Clone, Copy)]
struct Failed {
    first_task: TaskId,
    first: u32,
    last: u32,
}

impl Failed {
    /// Add an earlier failed check, if there are some already.
    fn with(later: Option<Failed>, task: TaskId, row: u32) -> Failed {
        Failed {
            first_task: task,
            first: row,
            last: later.map_or(row, |later| later.last),
        }
    }
}

/// A check that succeeded, perhaps the last of a poll loop.
#[derive(Clone, Copy)]
struct Success<'call> {
    wakers: &'call Wakers,
    call: Waiting<'call>,
    matter: PolledCondition,
}

/// The tasks that sleep or wait with a timeout, and their creators. Others cannot be in a poll loop.
#[derive(Default)]
pub(in crate::waits) struct Sleepers(Vec<bool>);

impl Sleepers {
    pub(in crate::waits) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        if known.may_sleep {
            let task = trace.events.task(row);
            self.0.resize(trace.tasks.len(), false);
            let creator = trace.tasks.get(task).map_or(task, |task| task.creator);
            for task in [task, creator] {
                if let Some(sleeps) = self.0.get_mut(task.index()) {
                    *sleeps = true;
                }
            }
        }
    }

    /// Poll loops need none of these calls.
    pub(in crate::waits) fn order(&mut self, _trace: &Trace) {}

    pub(in crate::waits) fn has(&self, task: TaskId) -> bool {
        self.0.get(task.index()).copied().unwrap_or(false)
    }
}

/// The wait that this call ended, if it is the last check of a poll loop. `waiter` waits for the end of its task.
pub(in crate::waits) fn poll(
    wakers: &Wakers,
    call: Waiting<'_>,
    waiter: Option<TaskId>,
) -> Option<PollLoop> {
    let known = wakers.shapes.of(call.trace, call.span.row);
    if !known.may_end_poll || !wakers.may_poll(call.task, waiter) {
        return None;
    }
    let succeeds = |matter: &PolledCondition| {
        matter.reading(call.trace, call.span.row, known.check) == Some(true)
            && wakers
                .producers
                .may_bring(call.trace, *matter, call.span.row)
    };
    PolledCondition::ALL
        .into_iter()
        .filter(succeeds)
        .find_map(|matter| {
            Success {
                wakers,
                call,
                matter,
            }
            .poll(waiter)
        })
}

impl<'call> Success<'call> {
    fn poll(&self, waiter: Option<TaskId>) -> Option<PollLoop> {
        let by_itself = self.failed_before();
        let (failed, poller) = match (by_itself, waiter) {
            (Some(failed), _) => (failed, self.call.task),
            (None, Some(waiter)) if self.matter.is_of_all_processes() => {
                (self.failed_in_children(waiter)?, waiter)
            }
            (None, _) => return None,
        };
        let trace = self.call.trace;
        let start_ns = trace
            .events
            .start_ns(failed.last)
            .min(self.call.span.start_ns);
        let reaching_back = Waiting {
            span: Span {
                start_ns,
                ..self.call.span
            },
            ..self.call
        };
        let edge = producers::of(self.wakers, &reaching_back, self.matter, poller)?;
        // A wait for a child's output cannot start before the child exists.
        let made_ns = made_by(trace, poller, edge.task);
        let began_ns = trace.events.start_ns(failed.first);
        let inside = edge.at_ns > start_ns
            && began_ns != NO_NS
            && made_ns.is_none_or(|made_ns| start_ns >= made_ns);
        let began_ns = began_ns.max(made_ns.unwrap_or(began_ns));
        (inside && self.slept_besides(edge.task, poller, start_ns)).then_some(PollLoop {
            edge,
            first_task: failed.first_task,
            began_ns,
        })
    }

    /// Whether a call checks the same condition, and whether it succeeded.
    fn reading(&self, row: u32) -> Option<bool> {
        self.reading_of(row, self.wakers.shapes.of(self.call.trace, row))
    }

    fn reading_of(&self, row: u32, known: ShapeFacts) -> Option<bool> {
        let trace = self.call.trace;
        let reading = self.matter.reading(trace, row, known.check)?;
        self.matter
            .is_same(trace, self.call.span.row, row)
            .then_some(reading)
    }

    /// The failed checks of the same task, back to the first one that is in reach and separated by a sleep.
    fn failed_before(&self) -> Option<Failed> {
        let Waiting {
            trace, task, at, ..
        } = self.call;
        let mut failed = None;
        let (mut slept, mut between) = (false, 0);
        for (at, &row) in trace.rows_of(task).get(..at)?.iter().enumerate().rev() {
            let known = self.wakers.shapes.of(trace, row);
            let is_question = |reading: &bool| *reading || !is_step(self.wakers, trace, task, at);
            match self.reading_of(row, known).filter(is_question) {
                None if between < MAX_CALLS_BETWEEN_CHECKS => {
                    between += 1;
                    slept = slept || self.sleeps(task, at, row, known);
                }
                Some(false) if slept || self.sleeps_itself(row, known) => {
                    failed = Some(Failed::with(failed, task, row));
                    (slept, between) = (false, 0);
                }
                // Checking again at once after a success does not start a new loop.
                Some(false)
                    if self.matter == PolledCondition::Ready
                        && between < MAX_CALLS_BETWEEN_CHECKS =>
                {
                    between += 1
                }
                _ => break,
            }
        }
        failed
    }

    /// The checks of earlier children of the task that waits for this one, as of a shell that runs `test` in each
    /// iteration.
    fn failed_in_children(&self, waiter: TaskId) -> Option<Failed> {
        let Waiting { trace, task, .. } = self.call;
        let own = trace
            .tasks
            .get(task)
            .filter(|own| own.creator == waiter && !own.is_thread)?;
        let made = self.wakers.children.made_by(trace, waiter);
        let until = made.partition_point(|&child| trace.tasks[child].end_ns() <= own.birth_ns);
        // Builds look for files in thousands of children. Only those with a sleep in between are worth a search.
        let turn = made[..until].iter().rev().take(CHILDREN_OF_A_TURN);
        if !turn
            .clone()
            .any(|&child| self.ends_with_sleep(child) || self.sleeps_after(waiter, child))
        {
            return None;
        }
        let mut failed = None;
        let (mut slept, mut between) = (false, 0);
        for &child in made[..until].iter().rev() {
            let calls = trace
                .rows_of(child)
                .iter()
                .enumerate()
                .rev()
                .take(ROWS_OF_CHILD);
            let alike = |(at, &row): (usize, &u32)| {
                let reading = self.reading(row)?;
                let is_question = reading || !is_step(self.wakers, trace, child, at);
                (is_question && self.is_same_command(child, row)).then_some((row, reading))
            };
            match calls.into_iter().find_map(alike) {
                None if between < CHILDREN_BETWEEN => {
                    between += 1;
                    slept = slept || self.ends_with_sleep(child);
                }
                Some((row, false)) if slept || self.sleeps_after(waiter, child) => {
                    failed = Some(Failed::with(failed, child, row));
                    (slept, between) = (false, 0);
                }
                _ => break,
            }
        }
        failed
    }

    /// Whether a child checks with the same command. Different commands may look at one path for other reasons.
    fn is_same_command(&self, child: TaskId, row: u32) -> bool {
        let Waiting {
            trace, task, span, ..
        } = self.call;
        command_at(trace, child, trace.events.start_ns(row))
            == command_at(trace, task, span.start_ns)
    }

    /// Whether a call is a sleep, or waits for a child that sleeps.
    fn sleeps(&self, task: TaskId, at: usize, row: u32, known: ShapeFacts) -> bool {
        let child = || self.child(task, at, row, known);
        self.sleeps_itself(row, known) || child().is_some_and(|child| self.ends_with_sleep(child))
    }

    /// The child that a call of a task waited for.
    fn child(&self, task: TaskId, at: usize, row: u32, known: ShapeFacts) -> Option<TaskId> {
        let trace = self.call.trace;
        (known.wait == Some(Wait::Child))
            .then(|| self.wakers.children.waited(&waiting(trace, task, at, row)))?
            .map(|edge| edge.task)
    }

    fn sleeps_itself(&self, row: u32, known: ShapeFacts) -> bool {
        let events = &self.call.trace.events;
        let may_sleep = match known.wait {
            None => false,
            Some(Wait::Sleep) => true,
            // An interrupted sleep counts, too.
            Some(Wait::Poll) if events.only_sleeps(row) => true,
            Some(_) => self.wakers.shapes.timed_out(self.call.trace, row),
        };
        may_sleep && events.dur_ns(row) != 0 && asked_ns(self.call.trace, row) != Some(0)
    }

    fn ends_with_sleep(&self, child: TaskId) -> bool {
        let last = self.call.trace.rows_of(child).iter().rev().take(LAST_ROWS);
        last.copied()
            .any(|row| self.sleeps_itself(row, self.wakers.shapes.of(self.call.trace, row)))
    }

    /// Whether a task itself sleeps after the end of a child.
    fn sleeps_after(&self, task: TaskId, child: TaskId) -> bool {
        let trace = self.call.trace;
        let rows = trace.rows_of(task);
        let ended_ns = trace.tasks[child].end_ns();
        let from = rows.partition_point(|&row| trace.events.start_ns(row) < ended_ns);
        let behind = rows[from..].iter().take(LAST_ROWS);
        behind
            .copied()
            .any(|row| self.sleeps_itself(row, self.wakers.shapes.of(trace, row)))
    }

    /// Whether the poller slept between its last two checks. A poller that only waited for the producer, or for an
    /// ancestor of it, checked just for confirmation.
    fn slept_besides(&self, producer: TaskId, poller: TaskId, start_ns: i64) -> bool {
        let trace = self.call.trace;
        let rows = trace.rows_of(poller);
        let bound = |at_ns: i64| rows.partition_point(|&row| trace.events.start_ns(row) < at_ns);
        let mut behind =
            (bound(start_ns)..bound(self.call.span.start_ns)).take(4 * MAX_CALLS_BETWEEN_CHECKS);
        behind.any(|at| {
            let known = self.wakers.shapes.of(trace, rows[at]);
            let child = self.child(poller, at, rows[at], known);
            self.sleeps_itself(rows[at], known)
                || child.is_some_and(|child| {
                    !descends(trace, producer, child) && self.ends_with_sleep(child)
                })
        })
    }
}

fn command_at(trace: &Trace, task: TaskId, at_ns: i64) -> Option<(Text, Text)> {
    program_at(&trace.tasks, task, at_ns).map(|program| (program.path, program.argv))
}

/// When a process created the child that this task is or descends from.
fn made_by(trace: &Trace, maker: TaskId, task: TaskId) -> Option<i64> {
    let mut above = creators(trace, task).skip(1);
    let child = creators(trace, task).find(|_| {
        above
            .next()
            .is_some_and(|up| same_process(trace, up, maker))
    })?;
    let made = trace.tasks[child].created_by;
    let is_known = made < trace.events.len() && !same_process(trace, child, maker);
    is_known
        .then(|| trace.events.start_ns(made))
        .filter(|&made_ns| made_ns != NO_NS)
}

/// A call of a task as a waiting call.
fn waiting(trace: &Trace, task: TaskId, at: usize, row: u32) -> Waiting<'_> {
    Waiting {
        trace,
        task,
        at,
        span: trace.printed_span(row),
    }
}

fn asked_ns(trace: &Trace, row: u32) -> Option<i64> {
    trace.events.facts.get::<Timeout>(row).copied()
}
