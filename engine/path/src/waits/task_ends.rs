//! How tasks end: the task that ends its process, and the time at which it calls exit.

use parsers::NO_NS;
use parsers::syscalls::Action;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::task_relations::same_process;
use trace::store::trace::{Capture, Trace};

/// The task that ended its process: the one that called exit_group, or else the last to end.
pub(crate) fn ender(trace: &Trace, main: TaskId) -> TaskId {
    let capture = trace
        .tasks
        .get(main)
        .and_then(|task| trace.captures.get(task.capture as usize));
    let tasks = capture.into_iter().flat_map(Capture::task_ids);
    let of_process: Vec<TaskId> = tasks
        .filter(|&number| same_process(trace, number, main))
        .collect();
    ender_of(trace, &of_process, main)
}

pub(crate) fn ender_of(trace: &Trace, of_process: &[TaskId], main: TaskId) -> TaskId {
    // The id may have been reused: another main task is another process.
    let belongs = |&number: &TaskId| {
        let task = &trace.tasks[number];
        (number == main || task.is_thread) && !task.superseded && task.birth_ns != NO_NS
    };
    let tasks = || of_process.iter().copied().filter(belongs);
    let asked = tasks().find(|&number| asked_to_end(trace, number));
    asked
        .or_else(|| tasks().max_by_key(|&number| trace.tasks[number].end_ns()))
        .unwrap_or(main)
}

pub(crate) fn asked_to_end(trace: &Trace, task: TaskId) -> bool {
    asked_to_end_ns(trace, task).is_some()
}

/// When a task called exit for its process.
pub(crate) fn asked_to_end_ns(trace: &Trace, task: TaskId) -> Option<i64> {
    let events = &trace.events;
    let &last = trace
        .rows_of(task)
        .iter()
        .rev()
        .take(4)
        .find(|&&row| events.kind(row) == EventKind::Call)?;
    (events.action(last) == Action::EndsProcess).then(|| events.start_ns(last))
}
