//! Threads of a process that the tracer attached to: `strace: Process 500 attached with 3 threads` reports
//! how many, not which.
//!
//! A separate message reports each task that is created later. So ids without a message belong to these threads, unless
//! a line contradicts it: a fork that returned them, an execve under their own id, or a wait for them as for children.

use crate::ingest::task_ids::{PrintedIds, TaskIds};
use crate::store::index::TaskId;
use crate::store::tasks::Tasks;
use parsers::NO_ID;

impl TaskIds {
    /// The tracer attached to a process with so many threads.
    pub(crate) fn attach_all(&mut self, pid: i32, threads: u32) {
        self.attach(pid, true);
        if threads > 1 {
            let is_only = !std::mem::replace(&mut self.has_groups, true);
            self.group = is_only.then_some((pid, threads - 1));
        }
    }

    /// The process that the tracer attached to with all its threads, and how many other than its main thread have no line.
    pub(crate) fn attached_group(&self) -> Option<(i32, u32)> {
        self.group
    }

    /// The main thread of the process that the tracer attached to with all its threads, if these ids can only belong to
    /// one of them.
    pub(super) fn leader_of_group(&mut self, tasks: &mut Tasks, key: PrintedIds) -> Option<TaskId> {
        let (pid, left) = self.group.filter(|&(_, left)| left > 0)?;
        let is_told = self.attached.contains(&key.1)
            || self.announced.contains_key(&key)
            || self.past.get(key).is_some();
        if is_told || key.0 != NO_ID || key.1 == pid {
            return None;
        }
        let main: PrintedIds = (NO_ID, pid);
        let leader = match self.known(main) {
            None if self.attached.contains(&pid) => self.make(tasks, main),
            known => known.filter(|&leader| tasks[leader].ended.is_none())?,
        };
        self.group = Some((pid, left - 1));
        Some(leader)
    }

    pub(super) fn make_thread(
        &mut self,
        tasks: &mut Tasks,
        key: PrintedIds,
        leader: TaskId,
    ) -> TaskId {
        let number = self.make(tasks, key);
        let pid = tasks[leader].pid;
        let task = &mut tasks[number];
        (task.pid, task.creator, task.is_thread, task.adopted) = (pid, leader, true, true);
        self.threads.entry(pid).or_default().push(number);
        number
    }
}
