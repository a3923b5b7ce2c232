//! Whether the threads of a process wait only for each other when the capture ends.
//!
//! ```text
//! 100   futex(0x7f10, FUTEX_WAIT_BITSET, 101, NULL      waits for the end of 101
//! 101   futex(0x5580, FUTEX_WAIT_PRIVATE, 2, NULL       waits for a lock; no other thread is left to release it: stuck
//! ```
//! A pool without work, or a program that waits for a signal, looks alike, except that none of its threads waits for a
//! lock or for the end of a thread.

use super::{OpenCall, seen_ns};
use kit::table_support::context::TableContext;
use parsers::syscalls::{Action, Wait};
use parsers::{NO_ID, NO_NS};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::event::ThreadWait;
use trace::store::facts::OpenThreadWait;
use trace::store::index::TaskId;
use trace::store::outcomes::was_broken_off;
use trace::store::task_relations::{main_task, same_process};
use trace::store::tasks::Task;
use trace::store::trace::Capture;

/// The threads of a process at the end of the capture.
#[derive(Clone, Copy)]
pub(super) struct ProcessEnd {
    /// Number of living threads.
    pub threads: i64,
    /// How many of them the tracer attached to without printing a line: they compute, or the kernel does not let them stop.
    pub silent: i64,
    /// Whether all that have a line are in calls that wait. Of tasks that the tracer attached to one by one, the process is unknown:
    /// they may be threads of one.
    pub is_quiet: bool,
    /// Whether all of them wait for threads, and none for a client, an event or input.
    pub is_inward: bool,
    /// For how long all of them have waited; [`NO_NS`] without timestamps.
    pub quiet_ns: i64,
    /// Whether each of them waits, without a time limit, for another one.
    pub is_stuck: bool,
}

/// The processes of open calls.
pub(super) struct Threads {
    ends: FxHashMap<(u32, i32, bool), ProcessEnd>,
    /// Captures in which no call of any task returned, and whose end is unknown: all timestamps are those of the moment when the
    /// tracer attached, and the capture does not show how long it was.
    still: FxHashSet<u32>,
}

impl Threads {
    pub(super) fn new(context: &TableContext<'_>, open: &[OpenCall]) -> Threads {
        let calls: FxHashMap<TaskId, &OpenCall> =
            open.iter().map(|call| (call.task, call)).collect();
        let captures: FxHashSet<u32> = open
            .iter()
            .map(|call| context.trace.tasks[call.task].capture)
            .collect();
        let still = captures.into_iter().filter(|&number| {
            context
                .trace
                .captures
                .get(number as usize)
                .is_some_and(|capture| {
                    capture.ended_ns().is_none()
                        && capture.task_ids().all(|task| {
                            calls.contains_key(&task) && context.trace.tasks[task].calls == 1
                        })
                })
        });
        let mut threads = Threads {
            ends: FxHashMap::default(),
            still: still.collect(),
        };
        for call in open {
            if !threads.ends.contains_key(&key(context, call)) {
                let end = process_end(context, &threads, &calls, call);
                threads.ends.insert(key(context, call), end);
            }
        }
        threads
    }

    /// For how long the capture shows the call.
    pub(super) fn seen_ns(&self, context: &TableContext<'_>, call: &OpenCall) -> i64 {
        let capture = context.trace.tasks[call.task].capture;
        let shown_ns = if self.still.contains(&capture) {
            NO_NS
        } else {
            seen_ns(context, call)
        };
        // Nothing has a timestamp after the call began: it may have been open for hours.
        if shown_ns == 0 && is_first_of_kind(context, call) {
            NO_NS
        } else {
            shown_ns
        }
    }

    pub(super) fn of(&self, context: &TableContext<'_>, call: &OpenCall) -> ProcessEnd {
        let none = ProcessEnd {
            threads: 1,
            silent: 0,
            is_quiet: false,
            is_inward: false,
            quiet_ns: NO_NS,
            is_stuck: false,
        };
        self.ends.get(&key(context, call)).copied().unwrap_or(none)
    }
}

/// Whether the task waits for this lock, child, input or peer for the first time. A capture of a busy program that waits for
/// the same thing again and again may end anywhere, which shows nothing.
pub(super) fn is_first_of_kind(context: &TableContext<'_>, call: &OpenCall) -> bool {
    let events = &context.trace.events;
    // Of calls that need not wait, those on other targets return at once, too.
    let same = |row: u32| {
        let is_alike = call.wait.is_none() || events.target(row) == events.target(call.row);
        // What a signal broke off had not returned either: the program tries it again.
        let is_same = events.shape(row).syscall == events.shape(call.row).syscall && is_alike;
        is_same && !was_broken_off(events, row)
    };
    let waits = !matches!(
        call.wait,
        Some(Wait::Signal | Wait::Poll | Wait::Message | Wait::Sleep)
    );
    waits
        && context
            .calls_of(call.task)
            .take_while(|&row| row != call.row)
            .all(|row| !same(row))
}

/// Whether no other thread of the process has a line.
pub(super) fn is_alone(context: &TableContext<'_>, task: TaskId) -> bool {
    let numbers = context
        .capture_of(task)
        .into_iter()
        .flat_map(Capture::task_ids);
    numbers
        .into_iter()
        .all(|other| other == task || !same_process(context.trace, other, task))
}

fn key(context: &TableContext<'_>, call: &OpenCall) -> (u32, i32, bool) {
    let task = &context.trace.tasks[call.task];
    (task.capture, task.pid, task.born)
}

fn process_end(
    context: &TableContext<'_>,
    threads: &Threads,
    open: &FxHashMap<TaskId, &OpenCall>,
    call: &OpenCall,
) -> ProcessEnd {
    let tasks = &context.trace.tasks;
    let numbers = context
        .capture_of(call.task)
        .into_iter()
        .flat_map(Capture::task_ids);
    let living: Vec<TaskId> = numbers.filter(|&other| lives(&tasks[other])).collect();
    let own: Vec<TaskId> = living
        .iter()
        .copied()
        .filter(|&other| same_process(context.trace, other, call.task))
        .collect();
    let may_be_own =
        |other: TaskId| own.contains(&other) || !tasks[other].born && !tasks[call.task].born;
    let is_quiet = living
        .iter()
        .all(|other| open.contains_key(other) || is_silent(context, *other) || !may_be_own(*other));
    let main_pid = tasks[main_task(context.trace, call.task)].pid;
    let attached = context
        .capture_of(call.task)
        .and_then(|capture| capture.attached_process);
    let unseen = attached
        .filter(|&(pid, _)| pid == main_pid)
        .map_or(0, |(_, unseen)| i64::from(unseen));
    let silent = own
        .iter()
        .copied()
        .filter(|other| is_silent(context, *other))
        .count() as i64
        + unseen;
    let waits = own.iter().map(|task| open.get(task).copied());
    let is_stuck = is_complete(context, call) && {
        let mut waits = waits.clone();
        waits.all(|wait| wait.is_some_and(|wait| waits_for_thread(context, &own, wait)))
            && own
                .iter()
                .any(|task| open.get(task).is_some_and(|wait| is_named(context, wait)))
    };
    let waits_inward = |other: &TaskId| {
        open.get(other)
            .is_some_and(|wait| wait.wait == Some(Wait::Lock))
    };
    let is_inward = living
        .iter()
        .all(|other| waits_inward(other) || !may_be_own(*other));
    let quiet_ns = waits
        .flatten()
        .map(|wait| threads.seen_ns(context, wait))
        .min()
        .unwrap_or(NO_NS);
    ProcessEnd {
        threads: own.len() as i64,
        silent,
        is_quiet,
        is_inward,
        quiet_ns,
        is_stuck,
    }
}

fn is_silent(context: &TableContext<'_>, other: TaskId) -> bool {
    context.trace.rows_of(other).is_empty()
}

fn lives(task: &Task) -> bool {
    task.death_ns == NO_NS && task.ended.is_none() && !task.superseded
}

/// Whether the capture has all threads of the process.
pub(super) fn is_complete(context: &TableContext<'_>, call: &OpenCall) -> bool {
    let main = &context.trace.tasks[main_task(context.trace, call.task)];
    context.capture_of(call.task).is_some_and(|capture| {
        let is_attached = main.pid != NO_ID && capture.attached_process == Some((main.pid, 0));
        capture.unseen_threads == 0 && capture.elisions.is_empty() && (main.born || is_attached)
    })
}

/// Whether only another thread of the process, or a signal, can end the wait.
fn waits_for_thread(context: &TableContext<'_>, own: &[TaskId], call: &OpenCall) -> bool {
    let events = &context.trace.events;
    let has_limit = events.requested_ns(call.row).is_some_and(|ns| ns != NO_NS);
    let ends_by_thread = match events.facts.get::<OpenThreadWait>(call.row) {
        Some(ThreadWait::Limited) => false,
        Some(&ThreadWait::End(id)) => own.iter().any(|&task| context.trace.tasks[task].tid == id),
        Some(ThreadWait::Lock) | None => events
            .texts
            .bytes(events.shape(call.row).op)
            .ends_with(b"_PRIVATE"),
    };
    call.wait == Some(Wait::Lock)
        && events.action(call.row) == Action::UsesFutex
        && ends_by_thread
        && !has_limit
}

/// Whether the wait is for a lock or the end of a thread.
fn is_named(context: &TableContext<'_>, call: &OpenCall) -> bool {
    matches!(
        context.trace.events.facts.get::<OpenThreadWait>(call.row),
        Some(ThreadWait::Lock | ThreadWait::End(_))
    )
}
