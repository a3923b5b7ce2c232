//! The tasks that have ended, by their ids.
//!
//! The ids of short processes follow one another, so 16 neighbouring ids share an entry. With an entry for each id, very many
//! processes would be scattered over memory.

use crate::ingest::task_ids::PrintedIds;
use crate::store::index::TaskId;
use rustc_hash::FxHashMap;

/// Ids that are kept together. More would cost too much where ids are far from one another.
const TOGETHER: usize = 16;

/// The last task that had certain ids and has ended.
#[derive(Default)]
pub(super) struct PastTasks {
    groups: FxHashMap<PrintedIds, [TaskId; TOGETHER]>,
}

/// The group of ids, and the place in it.
fn place((pid, tid): PrintedIds) -> (PrintedIds, usize) {
    let together = TOGETHER as i32;
    (
        (pid, tid.div_euclid(together)),
        tid.rem_euclid(together) as usize,
    )
}

impl PastTasks {
    pub(super) fn get(&self, ids: PrintedIds) -> Option<TaskId> {
        let (group, at) = place(ids);
        self.groups
            .get(&group)
            .map(|tasks| tasks[at])
            .filter(|task| task.is_some())
    }

    pub(super) fn insert(&mut self, ids: PrintedIds, task: TaskId) {
        let (group, at) = place(ids);
        self.groups.entry(group).or_insert([TaskId::NONE; TOGETHER])[at] = task;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsers::NO_ID;

    #[test]
    fn each_id_has_its_last_task() {
        let mut past = PastTasks::default();
        let ids = [
            (NO_ID, 7),
            (NO_ID, 8),
            (NO_ID, NO_ID),
            (4, 7),
            (i32::MAX, i32::MAX),
            (NO_ID, i32::MIN),
            (NO_ID, 23),
        ];
        for task in 0..14 {
            past.insert(ids[task % ids.len()], TaskId::from(task));
        }
        assert_eq!(
            ids.map(|ids| past.get(ids)),
            [7, 8, 9, 10, 11, 12, 13].map(|task| Some(TaskId::new(task)))
        );
        assert_eq!(
            [(NO_ID, 9), (4, 8), (5, 7)].map(|ids| past.get(ids)),
            [None; 3]
        );
    }
}
