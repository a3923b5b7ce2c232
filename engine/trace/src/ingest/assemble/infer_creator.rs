//! Infers the creator of a task by elimination, if its first line precedes the return of the creator's call, or if that
//! call never reports it.
//!
//! ```text
//! 100  |---------- vfork ----------| = 200         the child has the descriptors of 100 from its first line on
//! 200       |dup2(4, 1)|execve|
//!
//! 100  |- clone -| = 2                             a container counts from 1: if no line has the id 2, and only this
//! 300       |----- work ----|exit                  call could have created 300 when that began, then it did
//! ```
//!
//! If several calls may have created a task, they stay open until the same number of unknown tasks has appeared, and
//! nothing is inferred. A task that the tracer attached to may appear at any moment. In such a capture, a new task has
//! the descriptors of the presumed creator only until the call returns and reports its child; nothing else is inferred.

use crate::ingest::assemble::{self, Assembler, TaskState};
use crate::ingest::task_ids::{Birth, PrintedIds, TaskIds};
use crate::store::index::TaskId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of concurrent creations or unknown tasks. With more, nothing is inferred.
const AT_ONCE: usize = 64;

/// A call that creates a task.
#[derive(Clone, Copy)]
struct Creation {
    creator: TaskId,
    row: u32,
    shares_files: bool,
    /// What it returned: the ids that the lines of its child should have.
    child: Option<PrintedIds>,
}

/// Calls that created tasks nobody claims, and tasks that nobody is known to have created.
#[derive(Default)]
pub(super) struct Presumed {
    creations: Vec<Creation>,
    orphans: Vec<TaskId>,
    /// By the child, the call that must have created it.
    calls: FxHashMap<TaskId, u32>,
    /// Those of these calls that have not returned yet.
    under_way: FxHashSet<u32>,
    /// Ids in lines of children differ from the ids that calls return.
    foreign: bool,
    /// There were too many to distinguish.
    lost: bool,
}

impl Presumed {
    /// A call returned this child, which spoke before: whether that was to be expected.
    pub(super) fn confirm(&mut self, child: TaskId, row: u32) -> Option<bool> {
        self.under_way.remove(&row);
        self.calls.remove(&child).map(|presumed| presumed == row)
    }

    fn add(&mut self, creation: Creation, is_pending: impl Fn(&Creation) -> bool) {
        if self.creations.len() >= AT_ONCE {
            self.creations.retain(is_pending);
            self.lost |= self.creations.len() >= AT_ONCE;
        }
        if !self.lost {
            self.creations.push(creation);
        }
    }

    /// The only call that can have created a task that appears for the first time.
    fn only_one(&mut self, task: TaskId, attached: bool) -> Option<Creation> {
        let returned = |creation: &Creation| creation.child.is_some();
        let under_way = self
            .creations
            .iter()
            .filter(|creation| !returned(creation))
            .count();
        let counts = |creation: &Creation| self.foreign || under_way == 0 || !returned(creation);
        let may = self
            .creations
            .iter()
            .filter(|creation| counts(creation))
            .count();
        if may == 1 && self.orphans.is_empty() && (under_way == 1 || !attached) {
            let at = self.creations.iter().position(counts)?;
            let creation = self.creations.swap_remove(at);
            self.calls.insert(task, creation.row);
            if !returned(&creation) {
                self.under_way.insert(creation.row);
            }
            return Some(creation);
        }
        if attached {
            return None;
        }
        self.orphans.push(task);
        self.lost |= self.orphans.len() >= AT_ONCE;
        if self.foreign && self.orphans.len() == may {
            // Each is one of theirs, whichever it is.
            self.orphans.clear();
            self.creations.clear();
        }
        None
    }
}

impl Assembler<'_> {
    /// A task began a call that creates one.
    pub(super) fn creates(&mut self, creator: TaskId, row: u32, shares_files: bool) {
        self.keep_creation(Creation {
            creator,
            row,
            shares_files,
            child: None,
        });
    }

    /// A call returned a child that has not spoken under those ids.
    pub(super) fn created(&mut self, birth: &Birth, child: PrintedIds) {
        if self.presumed.under_way.remove(&birth.row) {
            if !self.is_attached() {
                self.presumed.foreign = true;
                return;
            }
            self.disown(birth.row);
        }
        self.presumed
            .creations
            .retain(|creation| creation.row != birth.row);
        let Birth {
            creator,
            row,
            thread,
            ..
        } = *birth;
        self.keep_creation(Creation {
            creator,
            row,
            shares_files: thread,
            child: Some(child),
        });
    }

    fn keep_creation(&mut self, creation: Creation) {
        if self.can_presume() {
            let pending = is_pending(&self.owners, &self.states, &self.open, self.first_task);
            self.presumed.add(creation, pending);
        }
    }

    fn can_presume(&self) -> bool {
        !self.presumed.lost && !self.facts.mixes_threads
    }

    /// Whether tasks of the capture may have been there before it.
    fn is_attached(&self) -> bool {
        let root = self.trace.tasks.get(self.first_task);
        root.is_none_or(|root| !root.born || root.creator != TaskId::NONE)
    }

    /// The task that this call was presumed to have created has another creator, or existed before.
    fn disown(&mut self, row: u32) {
        let child = self
            .presumed
            .calls
            .iter()
            .find(|&(_, &presumed)| presumed == row)
            .map(|(&child, _)| child);
        if let Some(child) = child {
            self.presumed.calls.remove(&child);
            self.descriptors.forget(child.since(self.first_task));
        }
    }

    /// A task appears for the first time, and no call has reported its creation: it has the descriptors of the only
    /// possible creator.
    pub(super) fn presume(&mut self, task: TaskId) {
        if task == self.first_task || !self.can_presume() {
            return;
        }
        let pending = is_pending(&self.owners, &self.states, &self.open, self.first_task);
        self.presumed.creations.retain(pending);
        let tasks = &self.trace.tasks;
        self.presumed
            .orphans
            .retain(|&orphan| tasks[orphan].creator == TaskId::NONE);
        let attached = self.is_attached();
        let Some(creation) = self.presumed.only_one(task, attached) else {
            return;
        };
        let (child, creator) = (
            task.since(self.first_task),
            creation.creator.since(self.first_task),
        );
        if !self.descriptors.take_forked(creation.row, child) {
            self.descriptors
                .inherit(child, creator, creation.shares_files);
        }
    }

    /// A call that creates a task will not return: the task that only it can have created is its child.
    pub(super) fn never_told(&mut self, birth: Birth) {
        if !self.presumed.under_way.remove(&birth.row) {
            return;
        }
        if self.is_attached() {
            self.disown(birth.row);
            return;
        }
        let child = self
            .presumed
            .calls
            .iter()
            .find(|&(_, &row)| row == birth.row)
            .map(|(&child, _)| child);
        if let Some(child) = child.filter(|&child| self.trace.tasks[child].creator == TaskId::NONE)
        {
            self.presumed.calls.remove(&child);
            self.owners.link(&mut self.trace.tasks, child, birth);
            self.capture.presumed_children += 1;
        }
    }

    /// At the end of the capture: match children that never appeared under the ids returned to their creators, if only
    /// one match is possible.
    pub(super) fn infer_creators(&mut self) {
        let calls = std::mem::take(&mut self.presumed).calls;
        if self.is_attached() {
            return;
        }
        self.capture.presumed_children += self.owners.adopt(&mut self.trace.tasks, &calls);
    }
}

/// Whether the child of a creation is still to come: the call goes on, or nobody spoke under the ids that it returned.
fn is_pending<'a>(
    owners: &'a TaskIds,
    states: &'a [TaskState],
    open: &'a [assemble::OpenCall],
    first_task: TaskId,
) -> impl Fn(&Creation) -> bool + 'a {
    move |creation| match creation.child {
        Some(child) => owners.is_announced(child, creation.row),
        None => {
            let state = states.get(creation.creator.since(first_task).index());
            let at = state.and_then(|state| state.open);
            at.and_then(|at| open.get(at.number() as usize))
                .is_some_and(|open| open.row == creation.row)
        }
    }
}
