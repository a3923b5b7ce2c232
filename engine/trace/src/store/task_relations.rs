//! How tasks are related: main tasks, creators, processes.

use crate::store::index::TaskId;
use crate::store::tasks;
use crate::store::trace::Trace;

/// The main task of the process of a task.
pub fn main_task(trace: &Trace, number: TaskId) -> TaskId {
    tasks::main_task(&trace.tasks, number)
}

/// Whether a task belongs to the process of another, or descends from it.
pub fn descends(trace: &Trace, task: TaskId, from: TaskId) -> bool {
    creators(trace, task).any(|task| same_process(trace, task, from))
}

/// Whether two tasks belong to one process.
pub fn same_process(trace: &Trace, a: TaskId, b: TaskId) -> bool {
    a == b || process_of(trace, a).is_some_and(|ids| Some(ids) == process_of(trace, b))
}

fn process_of(trace: &Trace, task: TaskId) -> Option<(u32, i32)> {
    trace.tasks.get(task).map(|task| (task.capture, task.pid))
}

/// A task, its creator, and so on. The number of steps is bounded in case the trace contains a cycle.
pub fn creators(trace: &Trace, task: TaskId) -> impl Iterator<Item = TaskId> {
    std::iter::successors(Some(task), |&task| {
        trace
            .tasks
            .get(task)
            .map(|task| task.creator)
            .filter(|&up| up.index() < trace.tasks.len())
    })
    .take(64)
}

/// Whether two tasks have a creator in common, or one is the creator of the other.
pub fn related(trace: &Trace, a: TaskId, b: TaskId) -> bool {
    oldest_creator(trace, a) == oldest_creator(trace, b)
}

fn oldest_creator(trace: &Trace, task: TaskId) -> Option<TaskId> {
    creators(trace, task).last()
}
