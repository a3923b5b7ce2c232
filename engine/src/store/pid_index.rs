//! The tasks of each process id. An id that was given out again has the tasks of several processes.

use crate::store::grouped::Grouped;
use crate::store::tasks::Task;
use rustc_hash::FxHashMap;

/// The ids of processes, numbered, and their tasks.
#[derive(Debug, Default)]
pub(crate) struct PidIndex {
    /// By capture and id.
    numbers: FxHashMap<(u32, i32), u32>,
    /// By task.
    of_tasks: Vec<u32>,
    tasks: Grouped,
}

impl PidIndex {
    /// Number the ids in the order of their first tasks.
    pub(crate) fn new(tasks: &[Task]) -> PidIndex {
        let mut numbers: FxHashMap<(u32, i32), u32> = FxHashMap::default();
        let of_tasks = tasks.iter().map(|task| {
            let next = numbers.len() as u32;
            *numbers.entry((task.capture, task.pid)).or_insert(next)
        });
        let of_tasks: Vec<u32> = of_tasks.collect();
        let tasks = Grouped::new(numbers.len(), of_tasks.iter().copied().map(Some));
        PidIndex { numbers, of_tasks, tasks }
    }

    /// How many ids there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of an id.
    pub(crate) fn number(&self, capture: u32, pid: i32) -> Option<u32> {
        self.numbers.get(&(capture, pid)).copied()
    }

    /// The number of the id of a task.
    pub(crate) fn number_of(&self, task: u32) -> Option<u32> {
        self.of_tasks.get(task as usize).copied()
    }

    /// The tasks by number of their id, those of an id in order.
    pub(crate) fn tasks(&self) -> &Grouped {
        &self.tasks
    }
}
