//! The tasks of each process id. An id that was given out again has the tasks of several processes.

use crate::store::grouped::Grouped;
use crate::store::index::{TaskId, TiVec, ti_vec};
use crate::store::tasks::TaskSlice;
use rayon::prelude::*;

/// The ids of processes, numbered, and their tasks.
#[derive(Debug, Default)]
pub struct PidIndex {
    /// By capture and id, in order. The index is the number of the id.
    ids: Vec<(u32, i32)>,
    /// The number of each task's id.
    of_tasks: TiVec<TaskId, u32>,
    tasks: Grouped<u32, TaskId>,
}

impl PidIndex {
    /// Number the ids. Most are given out in ascending order, so neighbouring tasks have neighbouring numbers.
    pub(crate) fn new(tasks: &TaskSlice) -> PidIndex {
        let mut order: Vec<(u32, i32, TaskId)> = tasks
            .iter_enumerated()
            .map(|(number, task)| (task.capture, task.pid, number))
            .collect();
        order.par_sort_unstable();
        let (mut ids, mut of_tasks) = (Vec::new(), ti_vec![0; tasks.len()]);
        for (capture, pid, task) in order {
            if ids.last() != Some(&(capture, pid)) {
                ids.push((capture, pid));
            }
            of_tasks[task] = ids.len() as u32 - 1;
        }
        let tasks = Grouped::new(ids.len(), of_tasks.iter().copied().map(Some));
        PidIndex {
            ids,
            of_tasks,
            tasks,
        }
    }

    /// How many ids there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The number of an id.
    pub fn number(&self, capture: u32, pid: i32) -> Option<u32> {
        self.ids
            .binary_search(&(capture, pid))
            .ok()
            .map(|number| number as u32)
    }

    /// The number of the id of a task.
    pub fn number_of(&self, task: TaskId) -> Option<u32> {
        self.of_tasks.get(task).copied()
    }

    /// The tasks by number of their id. The tasks of each id are in order.
    pub fn tasks(&self) -> &Grouped<u32, TaskId> {
        &self.tasks
    }
}
