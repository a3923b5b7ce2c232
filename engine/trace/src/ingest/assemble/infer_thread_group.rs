//! Infers the process of a task that ran before the capture, from what only threads of one process have in common.
//!
//! ```text
//! 501  getpid() = 500                         501 is a thread of 500
//! 501  tgkill(500, 502, SIGURG) = 0           and so is the receiver
//!
//! 500  |------- read -------|exited with 3    main thread: its end is reported after all others
//! 501  |futex|exit_group(3)  exited with 3
//! 502  |------ futex ------|exited with 3     made no call that exits: 501 took it along
//!
//! 501  futex(0x4a8, FUTEX_WAKE_PRIVATE, 1) = 1     a private address has meaning within one process only,
//! 502  |--- futex(0x4a8, FUTEX_WAIT_PRIVATE) = 0   so whoever was woken there is of the same one
//! ```
//!
//! Settled at the end of the capture, like the kin of tasks.

use crate::ingest::assemble::Assembler;
use crate::store::event::NONE;
use crate::store::heuristics::{EXIT_TOLERANCE_NS, MAX_THREAD_AFTER_EXIT_NS};
use crate::store::index::{ShapeId, TaskId, TiVec};
use crate::store::tasks::Task;
use parsers::line::Ended;
use parsers::syscalls::{Action, action_of};
use parsers::{Line, NO_ID, NO_NS, Outcome, Text};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of waits and wake-ups at private addresses that are compared. Threads that work together show it soon.
const MAX_FUTEX_CALLS: usize = 1 << 16;

/// Ids of processes and of threads in them, each with the time of the first report.
pub(super) type SharedIds = FxHashMap<(i32, i32), i64>;

/// A task that ends its process.
#[derive(Clone, Copy)]
struct Ends {
    task: TaskId,
    at_ns: i64,
}

/// Waits by the address at which they wait.
type WaitsByAddress = FxHashMap<Text, Vec<u32>>;

impl Assembler<'_> {
    /// A signal was sent to this thread of this process.
    pub(super) fn is_member(&mut self, row: u32, line: &Line, pid: i32, tid: i32) {
        if line.pid == NO_ID && pid != tid {
            self.members
                .entry((pid, tid))
                .or_insert(self.trace.events.start_ns(row));
        }
    }

    /// At the end of the capture: find the processes of threads that nobody was seen creating.
    pub(super) fn infer_thread_groups(&mut self) {
        let strays: Vec<TaskId> = self
            .own_tasks()
            .filter(|&task| is_stray(self.task(task)))
            .collect();
        if strays.len() < 2 {
            return;
        }
        let mut by_id: FxHashMap<i32, Option<TaskId>> = FxHashMap::default();
        for &task in &strays {
            by_id
                .entry(self.task(task).tid)
                .and_modify(|only| *only = None)
                .or_insert(Some(task));
        }
        let pids = self.getpid_results();
        let mut has_threads = false;
        for ((pid, tid), at_ns) in pids.into_iter().chain(std::mem::take(&mut self.members)) {
            let found = self
                .stray(&by_id, tid, at_ns)
                .zip(self.stray(&by_id, pid, at_ns));
            if let Some((thread, main)) = found.filter(|(thread, main)| thread != main) {
                has_threads |= self.adopt(thread, self.main(main), true);
            }
        }
        has_threads |= self.settle_taken_along(&strays);
        has_threads |= self.settle_woken();
        if has_threads {
            self.settle_processes();
        }
    }

    /// The tasks of this capture so far.
    pub(super) fn own_tasks(&self) -> impl DoubleEndedIterator<Item = TaskId> + Clone + use<> {
        TaskId::all(self.first_task..self.trace.tasks.next_key())
    }

    fn task(&self, task: TaskId) -> &Task {
        &self.trace.tasks[task]
    }

    /// The task that has this id, if only one does and it was not gone at this moment.
    fn stray(&self, by_id: &FxHashMap<i32, Option<TaskId>>, id: i32, at_ns: i64) -> Option<TaskId> {
        let only = by_id.get(&id).copied().flatten()?;
        let death_ns = self.task(only).death_ns;
        (death_ns == NO_NS || at_ns == NO_NS || death_ns >= at_ns).then_some(only)
    }

    /// Results of `getpid` in tasks other than main threads.
    fn getpid_results(&self) -> SharedIds {
        let mut results = SharedIds::default();
        for (row, task) in self.rows_of(Action::ReturnsPid, Outcome::Ok) {
            let tid = self.task(task).tid_at(self.trace.events.line(row));
            let pid = i32::try_from(self.trace.events.ret(row)).unwrap_or(NO_ID);
            if pid > 0 && pid != tid {
                results
                    .entry((pid, tid))
                    .or_insert(self.trace.events.start_ns(row));
            }
        }
        results
    }

    /// The calls of this capture that do this and ended so, each with its task.
    fn rows_of(&self, action: Action, outcome: Outcome) -> Vec<(u32, TaskId)> {
        let events = &self.trace.events;
        let is_asked: TiVec<ShapeId, bool> = events
            .shapes()
            .iter()
            .map(|shape| action_of(shape.syscall) == action && shape.outcome == outcome)
            .collect();
        let rows = events
            .calls_of_shapes_from(self.capture.rows.start, &is_asked)
            .into_iter()
            .flatten();
        rows.map(|(row, _)| (row, events.task(row))).collect()
    }

    /// Who ended with a status without a call of its own did so because another thread of its process made that call.
    fn settle_taken_along(&mut self, strays: &[TaskId]) -> bool {
        let start_ns = |row: u32| self.trace.events.start_ns(row);
        let calls = self.rows_of(Action::EndsProcess, Outcome::NoReturn);
        let ends: Vec<Ends> = calls
            .into_iter()
            .map(|(row, task)| Ends {
                task,
                at_ns: start_ns(row),
            })
            .collect();
        let mut groups: FxHashMap<TaskId, Vec<TaskId>> = FxHashMap::default();
        for &task in strays
            .iter()
            .filter(|&&task| is_stray(self.task(task)) && self.was_taken_along(task))
        {
            let mut by = ends
                .iter()
                .filter(|end| self.may_take_along(end, task))
                .map(|end| end.task);
            if let Some(only) = by.next().filter(|_| by.next().is_none()) {
                groups.entry(only).or_default().push(task);
            }
        }
        let mut has_threads = false;
        for (by, taken) in groups {
            let known = self.main(by);
            let all = || taken.iter().copied().chain([by]);
            let is_known = self.task(by).is_thread;
            let main = if is_known {
                known
            } else {
                all()
                    .max_by_key(|&task| self.task(task).last_line)
                    .unwrap_or(by)
            };
            for thread in all().filter(|&task| task != main) {
                has_threads |= self.adopt(thread, main, true);
            }
        }
        has_threads
    }

    /// A task that was woken at a private address is of the process of the one that woke it.
    ///
    /// Processes that were forked from one have the same addresses, so only one task may have waited there, and its wait
    /// has to end when it is woken.
    fn settle_woken(&mut self) -> bool {
        let (wakes, waits) = self.private_futex_calls();
        let mut pairs: FxHashSet<(TaskId, TaskId)> = FxHashSet::default();
        for (address, row) in wakes {
            let by = self.trace.events.task(row);
            let here = waits.get(&address).map_or(&[][..], Vec::as_slice);
            let mut woken = here.iter().filter(|&&wait| self.may_have_woken(row, wait));
            if let Some(&only) = woken.next().filter(|_| woken.next().is_none()) {
                pairs.insert((by, self.trace.events.task(only)));
            }
        }
        let mut pairs: Vec<(TaskId, TaskId)> = pairs.into_iter().collect();
        pairs.sort_unstable();
        let mut has_threads = false;
        for (by, woken) in pairs {
            let (one, other) = (self.main(by), self.main(woken));
            let id = |task: TaskId| (self.task(task).tid, task);
            // The main thread was there first, so it has the lowest id.
            let (main, thread) = if id(one) < id(other) {
                (one, other)
            } else {
                (other, one)
            };
            let joins = main != thread && is_stray(self.task(thread)) && self.ran_before(main);
            if joins && self.adopt(thread, main, true) {
                self.trace.tasks[thread].thread_by_wake = true;
                has_threads = true;
            }
        }
        has_threads
    }

    /// Whether a task ran before the capture: nothing created it there, and no wait returned it as a child.
    fn ran_before(&self, task: TaskId) -> bool {
        self.task(task).creator == TaskId::NONE && !self.task(task).born
    }

    /// The wake-ups at private addresses that woke a task, and by address the waits that ended by one.
    fn private_futex_calls(&self) -> (Vec<(Text, u32)>, WaitsByAddress) {
        let events = &self.trace.events;
        let op = |row: u32| events.texts.bytes(events.shape(row).op);
        let (mut wakes, mut waits) = (Vec::new(), FxHashMap::<Text, Vec<u32>>::default());
        let calls = self.rows_of(Action::UsesFutex, Outcome::Ok);
        for (row, _) in calls.into_iter().take(MAX_FUTEX_CALLS) {
            let address = events.target(row);
            match op(row) {
                _ if !address.is_some() => {}
                op if op.starts_with(b"FUTEX_WAKE_PRIVATE") && events.ret(row) > 0 => {
                    wakes.push((address, row));
                }
                op if op.starts_with(b"FUTEX_WAIT") && is_private(op) => {
                    waits.entry(address).or_default().push(row);
                }
                _ => {}
            }
        }
        (wakes, waits)
    }

    /// Whether a wait of another task was in progress when it was woken, and ended then.
    fn may_have_woken(&self, wake: u32, wait: u32) -> bool {
        let events = &self.trace.events;
        let (woken_ns, started_ns) = (events.start_ns(wake), events.start_ns(wait));
        let end_ns = events.end_ns(wait).unwrap_or(NO_NS);
        let until_ns = events
            .end_ns(wake)
            .unwrap_or(woken_ns)
            .saturating_add(EXIT_TOLERANCE_NS);
        events.task(wake) != events.task(wait)
            && woken_ns != NO_NS
            && started_ns < woken_ns
            && (woken_ns..=until_ns).contains(&end_ns)
    }

    fn was_taken_along(&self, task: TaskId) -> bool {
        let state = self.states.get(task.since(self.first_task).index());
        let known = self.task(task);
        let has_end = known.death_ns != NO_NS && matches!(known.ended, Some(Ended::Exited(_)));
        has_end && state.is_some_and(|state| !state.exiting)
    }

    fn may_take_along(&self, end: &Ends, task: TaskId) -> bool {
        let (by, known) = (self.task(end.task), self.task(task));
        let until_ns = by.end_ns().saturating_add(MAX_THREAD_AFTER_EXIT_NS);
        end.task != task
            && by.ended == known.ended
            && (end.at_ns..=until_ns).contains(&known.death_ns)
    }
}

fn is_private(op: &[u8]) -> bool {
    memchr::memmem::find(op, b"_PRIVATE").is_some()
}

/// Whether a task has no known creator, lines without the id of its process, and no execve of its own.
fn is_stray(task: &Task) -> bool {
    let is_orphan = task.creator == TaskId::NONE && task.created_by == NONE && !task.born;
    is_orphan && !task.is_thread && task.pid == task.tid && task.programs.is_empty()
}
