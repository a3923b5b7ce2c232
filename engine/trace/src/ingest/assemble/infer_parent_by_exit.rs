//! Infers the process or parent of a task from its end, if the capture does not contain its birth (strace -p).
//!
//! ```text
//! 500  |---- futex(0x7f1d, WAIT, 501) ----|       glibc joins where the id of the thread lies, which the kernel clears
//! 501    |----------- work ----------|exit        when that ends: 501 is a thread of 500
//!
//! 600  |-- read --| SIGCHLD of 601, wait4 = 601   only the parent gets it: 601 is a child of 600
//! 601    |- work -|exit_group
//! ```
//!
//! This runs after reading: in files of `strace -ff` a wait may come before its cause. A parent may only have inherited
//! the child, so a creator that the capture shows takes precedence.

use crate::ingest::assemble::Assembler;
use crate::store::event::NONE;
use crate::store::heuristics::EXIT_TOLERANCE_NS;
use crate::store::index::TaskId;
use crate::store::task_relations::creators;
use crate::store::tasks::Task;
use parsers::facts::Joins;
use parsers::{Line, NO_ID, NO_NS, Outcome};
use rustc_hash::{FxHashMap, FxHashSet};

/// A claim that a task is related to another one, by its id.
pub(super) struct Claim {
    by: TaskId,
    id: i32,
    tells: Tells,
    /// When it was observed; [`NO_NS`] if unknown.
    at_ns: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tells {
    Child,
    /// A thread that ended after this moment.
    Thread(i64),
}

impl Claim {
    /// Replace each of its times.
    pub(super) fn move_to(&mut self, moved_ns: impl Fn(i64) -> i64) {
        self.at_ns = moved_ns(self.at_ns);
        if let Tells::Thread(start_ns) = &mut self.tells {
            *start_ns = moved_ns(*start_ns);
        }
    }
}

impl Assembler<'_> {
    /// A task waited as one does for the end of the thread with this id.
    pub(super) fn joins(&mut self, row: u32, task: TaskId, line: &Line, id: i32) {
        self.trace.events.facts.add::<Joins>(row, id);
        let start_ns = self.trace.events.start_ns(row);
        let end_ns = self
            .trace
            .events
            .end_ns(row)
            .filter(|_| line.outcome == Outcome::Ok && line.pid == NO_ID);
        if let Some(at_ns) = end_ns {
            self.kin.push(Claim {
                by: task,
                id,
                tells: Tells::Thread(start_ns),
                at_ns,
            });
        }
    }

    /// A task received what only the parent of a process receives.
    pub(super) fn is_parent(&mut self, task: TaskId, child: i32, at_ns: i64) {
        let is_told = |&child: &TaskId| self.trace.tasks[child].created_by != NONE;
        if child > 0 && self.owners.process(child).filter(is_told).is_none() {
            self.kin.push(Claim {
                by: task,
                id: child,
                tells: Tells::Child,
                at_ns,
            });
        }
    }

    /// The tracer prints the id of a task's parent.
    pub(super) fn has_parent(&mut self, task: TaskId, parent: i32, at_ns: i64) {
        let known = &self.trace.tasks[task];
        let (pid, is_settled) = (
            known.pid,
            known.created_by != NONE || known.creator != TaskId::NONE,
        );
        if let Some(parent) = self
            .owners
            .process(parent)
            .filter(|&parent| parent != task && !is_settled)
        {
            self.is_parent(parent, pid, at_ns);
        }
    }

    /// At the end of the capture: link the tasks that these claims name.
    pub(super) fn infer_parents(&mut self) {
        let mut claims = std::mem::take(&mut self.kin);
        self.retain_open(&mut claims);
        if claims.is_empty() {
            return;
        }
        let named: FxHashSet<i32> = claims.iter().map(|claim| claim.id).collect();
        let mut lives: FxHashMap<i32, Vec<TaskId>> = FxHashMap::default();
        for number in self.own_tasks() {
            let &Task { tid, pid, .. } = &self.trace.tasks[number];
            if named.contains(&tid) && pid != NO_ID {
                lives.entry(tid).or_default().push(number);
            }
        }
        lives
            .values_mut()
            .for_each(|lives| lives.sort_by_key(|&number| self.trace.tasks[number].birth_ns));
        let (children, threads): (Vec<Claim>, Vec<Claim>) = claims
            .into_iter()
            .partition(|claim| claim.tells == Tells::Child);
        let children: Vec<(TaskId, TaskId)> = children
            .iter()
            .filter_map(|claim| Some((claim.by, self.meant(claim, &lives)?)))
            .collect();
        let are_children: FxHashSet<TaskId> = children.iter().map(|&(_, child)| child).collect();
        let mut has_threads = false;
        for claim in &threads {
            if let Some(thread) = self
                .meant(claim, &lives)
                .filter(|thread| !are_children.contains(thread))
            {
                has_threads |= self.settle_thread(claim, thread);
            }
        }
        for (parent, child) in children {
            self.adopt(child, self.main(parent), false);
        }
        if has_threads {
            self.settle_processes();
        }
    }

    /// Drop claims that change nothing: all tasks with their ids are known to be created by some call. These are nearly all in a
    /// capture of many short processes.
    fn retain_open(&self, claims: &mut Vec<Claim>) {
        if claims.is_empty() {
            return;
        }
        let tasks = self.trace.tasks.iter().skip(self.first_task.index());
        let orphans: FxHashSet<i32> = tasks
            .filter(|task| task.created_by == NONE)
            .map(|task| task.tid)
            .collect();
        claims.retain(|claim| orphans.contains(&claim.id));
    }

    /// The task that had the id of a claim at its moment: the one that began last, and was not seen later. `lives` are
    /// in order of their births: an id may have had many.
    fn meant(&self, claim: &Claim, lives: &FxHashMap<i32, Vec<TaskId>>) -> Option<TaskId> {
        let lives = lives.get(&claim.id)?;
        let task = |number: TaskId| &self.trace.tasks[number];
        if claim.at_ns == NO_NS {
            return lives.first().copied().filter(|_| lives.len() == 1);
        }
        let until_ns = claim.at_ns.saturating_add(EXIT_TOLERANCE_NS);
        let began = lives.partition_point(|&number| task(number).birth_ns <= claim.at_ns);
        let last = lives.get(began.checked_sub(1)?)?;
        Some(*last).filter(|&last| task(last).last_ns <= until_ns)
    }

    /// It ended alone, and so that the wait for it could end.
    fn settle_thread(&mut self, claim: &Claim, thread: TaskId) -> bool {
        let Tells::Thread(start_ns) = claim.tells else {
            return false;
        };
        let known = &self.trace.tasks[thread];
        let until_ns = claim.at_ns.saturating_add(EXIT_TOLERANCE_NS);
        let ends_inside = known.death_ns > start_ns && known.death_ns <= until_ns;
        let left_alone = self
            .states
            .get(thread.since(self.first_task).index())
            .is_some_and(|state| state.left_alone);
        let is_joined = ends_inside && left_alone && known.programs.is_empty();
        is_joined && self.adopt(thread, self.main(claim.by), true)
    }

    pub(super) fn adopt(&mut self, task: TaskId, creator: TaskId, is_thread: bool) -> bool {
        let is_circle = creators(self.trace, creator).any(|above| above == task);
        let known = &mut self.trace.tasks[task];
        // Until a task waited for it as for a child, a thread was the best guess.
        let is_guess = known.is_thread && known.adopted && !is_thread;
        let is_orphan =
            (known.creator == TaskId::NONE || is_guess) && known.created_by == NONE && !is_circle;
        if is_orphan {
            if is_guess {
                known.pid = known.tid;
            }
            (known.creator, known.is_thread, known.adopted) = (creator, is_thread, true);
        }
        is_orphan
    }

    /// The first thread of the process of a task.
    pub(super) fn main(&self, task: TaskId) -> TaskId {
        creators(self.trace, task)
            .find(|&task| {
                let known: &Task = &self.trace.tasks[task];
                !known.is_thread || known.creator == TaskId::NONE
            })
            .unwrap_or(task)
    }

    /// Threads that are known as such only now are of the processes of their creators.
    pub(super) fn settle_processes(&mut self) {
        for number in self.own_tasks() {
            if self.trace.tasks[number].is_thread {
                let pid = self.trace.tasks[self.main(number)].pid;
                self.trace.tasks[number].pid = pid;
            }
        }
    }
}
