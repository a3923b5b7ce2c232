//! The task of a line: printed ids to tasks.
//!
//! An id refers to a task only for its lifetime: the task is born (created, attached, or first seen) and ends, and the
//! kernel may reuse the id. Children often appear before the call that created them returns, so a link can come from
//! either side.

mod attached;
mod past;

use crate::ingest::task_ids::past::PastTasks;
use crate::store::event::NONE;
use crate::store::index::TaskId;
use crate::store::tasks::{Task, TaskSlice, Tasks};
use parsers::{CaptureFacts, Line, NO_ID, NO_NS};
use rustc_hash::{FxHashMap, FxHashSet};

/// Printed ids: process (or [`NO_ID`] where only one id is printed) and thread.
pub(crate) type PrintedIds = (i32, i32);

/// A child that its creator's call returned, before its first line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Birth {
    pub creator: TaskId,
    pub row: u32,
    pub thread: bool,
    pub vfork: bool,
    pub start_ns: i64,
    /// The first line of the call; 0 if it is not comparable with lines of other tasks.
    pub line: u32,
}

/// The tasks that ids name at this point of a capture.
pub(crate) struct TaskIds {
    capture: u32,
    by_key: FxHashMap<PrintedIds, TaskId>,
    announced: FxHashMap<PrintedIds, Birth>,
    attached: Vec<i32>,
    /// The process that the tracer attached to with all its threads, and how many of these have not spoken; none if
    /// there are several such processes.
    group: Option<(i32, u32)>,
    has_groups: bool,
    alive: FxHashSet<TaskId>,
    /// Tasks that made a call that exits, but whose ends are not reported yet (or never, with `-qq`).
    leaving: FxHashSet<TaskId>,
    past: PastTasks,
    /// Whether the task without an id is inside a call; only kept up to date where ids are optional.
    pub(crate) bare_is_open: bool,
    /// Whether the tracer reports the tasks that it attaches to.
    reports_attaching: bool,
    /// The first task of all.
    first: TaskId,
    bare: TaskId,
    last: (PrintedIds, TaskId),
    ids_optional: bool,
    /// Lines have a single id, that of a thread, and the id of the only process is never printed.
    one_process: bool,
    /// First task of each process, where lines print process and thread.
    leaders: FxHashMap<i32, TaskId>,
    /// Further threads of each process.
    threads: FxHashMap<i32, Vec<TaskId>>,
    /// Some call was seen to create some task.
    has_linked: bool,
    /// Such a call was printed in full after lines of the task that it created (strace -z).
    pub(crate) links_late: bool,
}

impl TaskIds {
    pub(crate) fn new(capture: u32, facts: &CaptureFacts) -> TaskIds {
        TaskIds {
            capture,
            by_key: FxHashMap::default(),
            announced: FxHashMap::default(),
            attached: Vec::new(),
            group: None,
            has_groups: false,
            alive: FxHashSet::default(),
            leaving: FxHashSet::default(),
            past: PastTasks::default(),
            bare_is_open: false,
            reports_attaching: false,
            first: TaskId::NONE,
            bare: TaskId::NONE,
            last: ((NO_ID, NO_ID), TaskId::NONE),
            ids_optional: facts.ids_optional,
            one_process: facts.one_process,
            leaders: FxHashMap::default(),
            threads: FxHashMap::default(),
            has_linked: false,
            links_late: false,
        }
    }

    /// The task of a line, made if its ids name none.
    #[inline]
    pub(crate) fn owner(&mut self, tasks: &mut Tasks, line: &Line) -> TaskId {
        let key = (line.pid, line.tid);
        if self.last.0 == key && self.last.1.is_some() {
            self.last.1
        } else {
            self.other_owner(tasks, line, key)
        }
    }

    fn other_owner(&mut self, tasks: &mut Tasks, line: &Line, key: PrintedIds) -> TaskId {
        let task = match line.tid {
            NO_ID => self.unnamed(tasks),
            _ => self.named(tasks, key, line),
        };
        // A line without ids belongs to whoever is alone at that moment, which the next line may change.
        self.last = if line.tid == NO_ID && self.ids_optional {
            ((NO_ID, NO_ID), TaskId::NONE)
        } else {
            (key, task)
        };
        task
    }

    /// The task of a line with these ids, if they are printed and it is known, where ids are on all lines.
    #[inline]
    pub(crate) fn owner_now(&mut self, key: PrintedIds) -> Option<TaskId> {
        if self.last.0 == key && self.last.1.is_some() {
            return Some(self.last.1);
        }
        let task = self.known(key).filter(|_| key.1 != NO_ID)?;
        self.last = (key, task);
        Some(task)
    }

    /// The task that these ids name now.
    pub(crate) fn known(&self, key: PrintedIds) -> Option<TaskId> {
        self.by_key.get(&key).copied()
    }

    /// The task for the id of a process: its first thread, regardless of that thread's id.
    pub(crate) fn process(&self, pid: i32) -> Option<TaskId> {
        let keys = [(NO_ID, pid), (pid, pid), (pid, 1)];
        let keys = if self.one_process { &keys[1..] } else { &keys };
        keys.iter()
            .find_map(|&key| self.known(key))
            .or_else(|| self.leaders.get(&pid).copied())
    }

    /// The task that these ids of a child name now, where a new process may have spoken under the id of its thread.
    pub(crate) fn child(&self, key: PrintedIds) -> Option<TaskId> {
        self.known(key)
            .or_else(|| self.leaders.get(&key.0).copied().filter(|_| key.0 == key.1))
    }

    /// Whether all tasks that were seen have ended or were let go.
    pub(crate) fn all_gone(&self) -> bool {
        self.alive.is_empty() && self.attached.is_empty()
    }

    /// Whether the tracer let the task with these ids go, which it does not take up again.
    pub(crate) fn was_let_go(&self, key: PrintedIds) -> bool {
        key.1 != NO_ID
            && self
                .known(key)
                .is_some_and(|task| !self.alive.contains(&task) && !self.leaving.contains(&task))
    }

    /// Whether children were created that have no lines yet.
    pub(crate) fn expects_more(&self) -> bool {
        !self.announced.is_empty()
    }

    /// Whether these ids have not appeared so far.
    pub(crate) fn is_new_id(&self, key: PrintedIds) -> bool {
        let is_new = !self.by_key.contains_key(&key) && !self.announced.contains_key(&key);
        key.1 != NO_ID && is_new && !self.attached.contains(&key.1)
    }

    /// Whether the calls that create tasks come before the first lines of those.
    pub(crate) fn shows_births(&self) -> bool {
        self.has_linked && !self.links_late
    }

    /// Whether nobody spoke yet under the ids of the child that this call returned.
    pub(crate) fn is_announced(&self, child: PrintedIds, row: u32) -> bool {
        self.announced
            .get(&child)
            .is_some_and(|birth| birth.row == row)
    }

    /// Take tasks for the children of these calls, where those were returned under ids that nobody spoke under.
    pub(crate) fn adopt(&mut self, tasks: &mut TaskSlice, calls: &FxHashMap<TaskId, u32>) -> u64 {
        let announced = self
            .announced
            .iter()
            .map(|(&key, birth)| (birth.row, (key, *birth)));
        let announced: FxHashMap<u32, (PrintedIds, Birth)> = if calls.is_empty() {
            FxHashMap::default()
        } else {
            announced.collect()
        };
        let orphans = calls
            .iter()
            .filter(|(child, _)| tasks[**child].creator == TaskId::NONE);
        let mut orphans: Vec<(TaskId, PrintedIds, Birth)> = orphans
            .filter_map(|(&child, row)| announced.get(row).map(|&(key, birth)| (child, key, birth)))
            .collect();
        // Creators first: a thread is of its creator's process.
        orphans.sort_unstable_by_key(|&(child, ..)| child);
        for &(child, key, birth) in &orphans {
            self.announced.remove(&key);
            self.link(tasks, child, birth);
            tasks[child].known_as = key.1;
        }
        orphans.len() as u64
    }

    /// The calls that created children without any line.
    pub(crate) fn unseen(&self) -> impl Iterator<Item = &Birth> {
        self.announced.values()
    }

    fn named(&mut self, tasks: &mut Tasks, key: PrintedIds, line: &Line) -> TaskId {
        if let Some(&task) = self.by_key.get(&key) {
            return task;
        }
        if let Some(task) = self
            .same_process(tasks, key)
            .or_else(|| self.root_learns_its_id(tasks, key, line))
        {
            self.by_key.insert(key, task);
            return task;
        }
        match self.leader_of_group(tasks, key) {
            None => self.make(tasks, key),
            Some(leader) => self.make_thread(tasks, key, leader),
        }
    }

    /// truss prints lwp numbers only while a process has several: `4711` and `4711/1` are the same first thread.
    fn same_process(&self, tasks: &TaskSlice, key: PrintedIds) -> Option<TaskId> {
        let (pid, tid) = key;
        let other = match tid {
            1 if pid == NO_ID && !self.ids_optional => (NO_ID, NO_ID),
            _ if pid == NO_ID => return None,
            1 => (pid, pid),
            _ if tid == pid => (pid, 1),
            _ => return None,
        };
        self.known(other)
            .filter(|&task| tasks[task].death_ns == NO_NS)
    }

    /// strace on a terminal prints no id while one task lives; the first id that nobody announced is that task's,
    /// unless it is a child speaking before the call that makes it returns.
    fn root_learns_its_id(
        &mut self,
        tasks: &mut TaskSlice,
        key: PrintedIds,
        line: &Line,
    ) -> Option<TaskId> {
        let unnamed = self.ids_optional && self.bare.is_some() && tasks[self.bare].tid == NO_ID;
        if !unnamed || self.attached.contains(&key.1) || self.announced.contains_key(&key) {
            return None;
        }
        if self.one_process {
            // It printed no number as long as it was the only thread, and that was the first.
            return (key == (NO_ID, 1)).then(|| self.name_root(tasks, key.1));
        }
        let resumes = line.kind == parsers::LineKind::CallEnd;
        // Without messages (-q) a child appears unannounced. But a task inside a call can only resume it: another line
        // belongs to a child, and a second half to the task.
        if !self.reports_attaching && resumes != self.bare_is_open {
            return None;
        }
        if !resumes
            && self.attached.is_empty()
            && self.announced.is_empty()
            && tasks[self.bare].calls <= 1
        {
            return None;
        }
        Some(self.name_root(tasks, key.1))
    }

    fn name_root(&mut self, tasks: &mut TaskSlice, tid: i32) -> TaskId {
        let root = &mut tasks[self.bare];
        root.tid = tid;
        if self.one_process {
            return self.bare;
        }
        root.pid = tid;
        // Its threads get their process with it.
        for thread in tasks
            .iter_mut()
            .filter(|task| task.is_thread && task.creator == self.bare)
        {
            thread.pid = tid;
        }
        if let Some(threads) = self.threads.remove(&NO_ID) {
            self.threads.insert(tid, threads);
        }
        self.bare
    }

    fn unnamed(&mut self, tasks: &mut Tasks) -> TaskId {
        if let Some(only) = self.only_one() {
            return only;
        }
        if self.ids_optional && self.alive.is_empty() && self.attached.len() == 1 {
            let tid = self.attached[0];
            return self.make(tasks, (NO_ID, tid));
        }
        let ended = |task: TaskId| tasks.get(task).is_none_or(|task| task.death_ns != NO_NS);
        if !self.bare.is_some() || (!self.ids_optional && ended(self.bare)) {
            self.bare = self.make(tasks, (NO_ID, NO_ID));
        }
        self.bare
    }

    /// The task that is alone at this moment, if lines without an id are its.
    fn only_one(&self) -> Option<TaskId> {
        let alive = if self.alive.is_empty() && self.attached.is_empty() {
            &self.leaving
        } else {
            &self.alive
        };
        (self.ids_optional && alive.len() == 1 && self.attached.is_empty())
            .then(|| alive.iter().next().copied())
            .flatten()
    }

    /// The task without an id, or [`NONE`].
    pub(crate) fn bare(&self) -> TaskId {
        self.bare
    }

    /// The task made a call that exits.
    pub(crate) fn leaves(&mut self, task: TaskId) {
        if self.alive.remove(&task) {
            self.leaving.insert(task);
        }
    }

    fn make(&mut self, tasks: &mut Tasks, key: PrintedIds) -> TaskId {
        let number = tasks.next_key();
        self.first = self.first.min(number);
        let pid = if key.0 == NO_ID && !self.one_process {
            key.1
        } else {
            key.0
        };
        tasks.push(Task::new(key.1, pid, self.capture));
        self.by_key.insert(key, number);
        self.alive.insert(number);
        self.join_process(tasks, number, key.0);
        self.attached.retain(|&tid| tid != key.1);
        // A fork returns the process; lines of the child may have the ids of process and thread.
        if let Some(birth) = self
            .announced
            .remove(&key)
            .or_else(|| self.announced.remove(&(key.0, key.0)))
        {
            self.link(tasks, number, birth);
        }
        number
    }

    /// Where lines print the process, a further thread of it is known as one at once.
    fn join_process(&mut self, tasks: &mut TaskSlice, number: TaskId, pid: i32) {
        if pid == NO_ID && !self.one_process {
            return;
        }
        let leader = *self.leaders.entry(pid).or_insert(number);
        let goes_on = pid == NO_ID || tasks[leader].death_ns == NO_NS;
        if leader != number && goes_on {
            let task = &mut tasks[number];
            (task.is_thread, task.creator) = (true, leader);
            self.threads.entry(pid).or_default().push(number);
        } else {
            self.leaders.insert(pid, number);
        }
    }

    /// A message reports that an id is traced from now on, or no longer.
    pub(crate) fn attach(&mut self, tid: i32, begins: bool) {
        self.reports_attaching = true;
        if !begins {
            self.attached.retain(|&other| other != tid);
            if let Some(task) = self.known((NO_ID, tid)) {
                self.alive.remove(&task);
            }
        } else if self.known((NO_ID, tid)).is_none() && !self.attached.contains(&tid) {
            self.attached.push(tid);
        }
    }

    /// A call returned a child: link it if it spoke since the call began, else remember it.
    pub(crate) fn spawned(
        &mut self,
        tasks: &mut TaskSlice,
        child: PrintedIds,
        birth: Birth,
    ) -> Option<TaskId> {
        let known = self.child(child).filter(|&task| {
            let task = &tasks[task];
            let is_reported = task.creator == birth.creator;
            // Its lines so far may have had no stamp.
            let is_new = task.birth_ns >= birth.start_ns
                || task.birth_ns == NO_NS
                || birth.start_ns == NO_NS;
            // The stamp of a log is late, by the duration of the line before.
            let is_behind = birth.line > 0 && task.first_line > birth.line;
            task.created_by == NONE && (is_reported || is_new || is_behind)
        });
        let known = known.or_else(|| self.ended_before(tasks, child, &birth));
        let known = known.filter(|&task| task != birth.creator);
        match known {
            Some(task) => self.link(tasks, task, birth),
            None => {
                self.forget(child);
                self.announced.insert(child, birth);
            }
        }
        known
    }

    /// A child that was born and ended while the call that made it went on.
    fn ended_before(&self, tasks: &TaskSlice, child: PrintedIds, birth: &Birth) -> Option<TaskId> {
        self.past.get(child).filter(|&task| {
            let task = &tasks[task];
            let unlinked = task.created_by == NONE
                && (task.creator == TaskId::NONE || task.creator == birth.creator);
            unlinked && (task.birth_ns >= birth.start_ns || birth.start_ns == NO_NS)
        })
    }

    /// The first line of the child names its creator.
    pub(crate) fn born(
        &mut self,
        tasks: &mut TaskSlice,
        task: TaskId,
        creator_pid: i32,
        thread: bool,
    ) {
        let pid = tasks[task].pid;
        let creator_pid = if thread { pid } else { creator_pid };
        let keys = [
            (creator_pid, creator_pid),
            (creator_pid, 1),
            (NO_ID, creator_pid),
        ];
        let named = keys
            .iter()
            .filter(|_| creator_pid != NO_ID)
            .find_map(|&key| self.known(key));
        let leader = || match tasks[task].tid {
            _ if !thread => None,
            // Where only threads have ids, they are all of one process.
            tid if tid == pid => Some(self.first),
            _ => self.leaders.get(&pid).copied(),
        };
        let creator = named.filter(|&named| named != task).or_else(leader);
        let Some(creator) =
            creator.filter(|&creator| creator != task && tasks[task].created_by == NONE)
        else {
            tasks[task].born = true;
            return;
        };
        let birth = Birth {
            creator,
            row: NONE,
            thread,
            vfork: false,
            start_ns: NO_NS,
            line: 0,
        };
        self.link(tasks, task, birth);
    }

    /// The task has ended: its ids are free for another one.
    pub(crate) fn ended(&mut self, task: TaskId, key: PrintedIds) {
        self.past.insert(key, task);
        self.leaving.remove(&task);
        self.forget(key);
        self.alive.remove(&task);
        self.last.1 = TaskId::NONE;
    }

    /// Another line with these ids will be another task's.
    pub(crate) fn forget(&mut self, key: PrintedIds) {
        self.by_key.remove(&key);
        self.last.1 = TaskId::NONE;
    }

    /// execve by a thread: it continues under the id of its process, whose main thread has ended.
    pub(crate) fn take_over(&mut self, task: TaskId, from: PrintedIds, to: PrintedIds) {
        let leader = self.by_key.insert(to, task);
        if let Some(leader) = leader {
            self.alive.remove(&leader);
        }
        if Some(self.bare) == leader {
            self.bare = task;
        }
        self.forget(from);
    }

    pub(crate) fn link(&mut self, tasks: &mut TaskSlice, child: TaskId, birth: Birth) {
        self.has_linked |= birth.row != NONE;
        let creator_pid = tasks[birth.creator].pid;
        let task = &mut tasks[child];
        if task.adopted && !birth.thread {
            task.pid = task.tid;
        }
        (task.creator, task.created_by, task.adopted) = (birth.creator, birth.row, false);
        (task.is_thread, task.vfork, task.born) = (birth.thread, birth.vfork, true);
        if birth.thread {
            task.pid = creator_pid;
            self.threads.entry(creator_pid).or_default().push(child);
        }
    }

    /// The process of a task ends: all other tasks of it that have not ended yet.
    pub(crate) fn end_group(&mut self, tasks: &TaskSlice, task: TaskId) -> Vec<TaskId> {
        let pid = tasks[task].pid;
        let mut group = self.threads.remove(&pid).unwrap_or_default();
        if tasks[task].is_thread {
            group.extend(self.process(pid));
        }
        group.retain(|&other| {
            other != task && tasks[other].pid == pid && tasks[other].ended.is_none()
        });
        group.iter().for_each(|&other| self.leaves(other));
        group
    }
}
