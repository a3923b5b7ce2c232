//! The processes that an id named, by birth.

use crate::store::index::TaskId;
use crate::store::tasks::TaskSlice;
use std::ops::Range;

/// Processes, ordered by capture, id and birth. The kernel may give one id to many processes, one after the other.
pub struct LivesById(Vec<(u32, i32, i64, TaskId)>);

impl LivesById {
    /// Of these tasks of the trace.
    pub fn new(tasks: &TaskSlice, numbers: Range<TaskId>) -> LivesById {
        let of_task = |number: TaskId| {
            let task = tasks.get(number)?;
            (!task.is_thread).then_some((task.capture, task.pid, task.birth_ns, number))
        };
        let mut lives: Vec<_> = TaskId::all(numbers).filter_map(of_task).collect();
        lives.sort_unstable();
        LivesById(lives)
    }

    /// The process that the id named at a moment: the last one that had begun.
    pub fn at(&self, capture: u32, pid: i32, at_ns: i64) -> Option<TaskId> {
        let after = self
            .0
            .partition_point(|&(of, id, birth_ns, _)| (of, id, birth_ns) <= (capture, pid, at_ns));
        let &(of, id, _, number) = self.0.get(after.checked_sub(1)?)?;
        ((of, id) == (capture, pid)).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tasks::{Task, Tasks};

    #[test]
    fn an_id_names_the_last_process_that_had_begun() {
        let born = |birth_ns: i64, pid: i32, is_thread: bool| Task {
            birth_ns,
            is_thread,
            ..Task::new(pid, pid, 0)
        };
        let tasks = Tasks::from(vec![
            born(0, 1, false),
            born(30, 7, false),
            born(10, 7, false),
            born(20, 7, true),
        ]);
        let lives = LivesById::new(&tasks, TaskId::new(0)..TaskId::new(4));
        let found = [5, 10, 29, 30].map(|at_ns| lives.at(0, 7, at_ns));
        assert_eq!(
            found,
            [None, Some(2), Some(2), Some(1)].map(|task| task.map(TaskId::new))
        );
        assert_eq!(lives.at(1, 7, 50), None);
    }
}
