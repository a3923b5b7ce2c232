//! Waits and births that the walk entered without moving in time: entering one twice at one moment is a circle.

use rustc_hash::FxHashSet;
use trace::store::index::TaskId;

/// What was entered at the present moment.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Visited {
    few: Vec<u64>,
    many: Option<FxHashSet<u64>>,
}

const FEW: usize = 32;

impl Visited {
    /// Time has moved.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.few.clear();
        if self.many.is_some() {
            self.many = None;
        }
    }

    pub(super) fn first_visit_of_wait(&mut self, row: u32) -> bool {
        self.first_visit(u64::from(row))
    }

    pub(super) fn first_visit_of_birth(&mut self, task: TaskId) -> bool {
        self.first_visit(1 << 32 | u64::from(task.raw()))
    }

    pub(super) fn first_visit_of_life(&mut self, task: TaskId) -> bool {
        self.first_visit(2 << 32 | u64::from(task.raw()))
    }

    fn first_visit(&mut self, key: u64) -> bool {
        if let Some(many) = &mut self.many {
            return many.insert(key);
        }
        let is_new = !self.few.contains(&key);
        if is_new {
            self.few.push(key);
        }
        if self.few.len() > FEW {
            self.many = Some(self.few.drain(..).collect());
        }
        is_new
    }
}
