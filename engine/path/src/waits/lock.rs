//! Waits for a lock on a file (flock, fcntl, lockf), ended when the holder unlocks, closes the file, or exits.
//!
//! ```text
//! holder   |flock|------- work -------|unlock, close or exit
//! waiter             |----- flock ----|
//! ```
//!
//! A flock belongs to the open file description, which children inherit: any descendant of the opener may release it,
//! also another thread of the waiting process. A fcntl lock belongs to a process. Some tracers print its lock and
//! unlock calls alike; within one process they alternate.
//!
//! ```text
//! shell       open(lock) = 9 |fork|fork ------ sleep ------|exit       "flock 9" in a shell: the shell holds the lock
//! its child                      |flock(9)|exit
//! ```
//!
//! A process may also wait for itself: it took the lock through another open file, which a child inherited.

use super::ordered::Ordered;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, ShapeFacts};
use parsers::syscalls::{Action, action_of};
use parsers::{NO_NS, Outcome, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::index::{ShapeId, TaskId, TiVec};
use trace::store::task_relations::{creators, descends, same_process};
use trace::store::trace::Trace;

/// Maximum number of holders, and of ended tasks, examined for one wait.
const TRIES: usize = 64;

/// The operations on the lock of a file, each list in order of the starts.
#[derive(Default)]
struct Lock {
    taken: Vec<u32>,
    given_back: Ordered,
    closes: Ordered,
    /// By task, in order of their starts.
    opens: Vec<u32>,
}

/// The locks of a trace, by file name.
#[derive(Default)]
pub(super) struct Locks {
    files: FxHashMap<Text, Lock>,
    /// Tasks by their ends. Empty if the trace has no locks.
    ended: Vec<TaskId>,
}

impl Locks {
    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        let target = trace.events.target(row);
        let works =
            matches!(known.deed, Effect::Locks | Effect::Unlocks) && known.outcome == Outcome::Ok;
        if !works || !target.is_some() {
            return;
        }
        let lock = self.files.entry(target).or_default();
        if known.deed == Effect::Locks {
            lock.taken.push(row)
        } else {
            lock.given_back.push(row)
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        if self.files.is_empty() {
            return;
        }
        for lock in self.files.values_mut() {
            lock.taken.sort_by_key(|&row| trace.events.start_ns(row));
            lock.take_turns(trace);
            lock.given_back.order(trace);
        }
        self.collect_uses(trace);
        self.ended = trace
            .tasks
            .keys()
            .filter(|&task| trace.tasks[task].death_ns != NO_NS)
            .collect();
        self.ended.sort_by_key(|&task| trace.tasks[task].death_ns);
    }

    /// There are many closes and opens, so only those with the shape of a locked file are stored.
    fn collect_uses(&mut self, trace: &Trace) {
        let events = &trace.events;
        let names: FxHashSet<Text> = self
            .files
            .values()
            .filter_map(|lock| lock.taken.first())
            .map(|&row| events.shape(row).target)
            .collect();
        let uses = events.shapes().iter().map(|shape| {
            let fits = names.contains(&shape.target) && shape.outcome == Outcome::Ok;
            fits.then(|| use_of(action_of(shape.syscall))).flatten()
        });
        let uses: TiVec<ShapeId, Option<Use>> = uses.collect();
        let is_asked: TiVec<ShapeId, bool> = uses.iter().map(Option::is_some).collect();
        for &(row, shape) in events.calls_of_shapes(&is_asked).iter().flatten() {
            match self.files.get_mut(&events.target(row)) {
                Some(lock) if uses[shape] == Some(Use::Closes) => lock.closes.push(row),
                Some(lock) => lock.opens.push(row),
                None => {}
            }
        }
        for lock in self.files.values_mut() {
            lock.closes.order(trace);
            lock.opens
                .sort_by_key(|&row| (events.task(row), events.start_ns(row)));
        }
    }

    /// The task that released the lock that a call waited for.
    pub(super) fn holder(&self, call: &Waiting<'_>) -> Option<Edge> {
        let trace = call.trace;
        if trace.events.outcome(call.span.row) != Outcome::Ok {
            return None;
        }
        let lock = self.files.get(&trace.events.target(call.span.row))?;
        let until = lock
            .taken
            .partition_point(|&row| trace.events.start_ns(row) < call.span.end_ns);
        let before = lock.taken[..until].iter().rev().take(TRIES).copied();
        let owner = Owner::of(trace, call.span.row);
        let is_other = |task: TaskId| match owner {
            Owner::Process => !same_process(trace, task, call.task),
            Owner::OpenFile => task != call.task,
        };
        let through_another_file = |row: u32| {
            owner == Owner::OpenFile
                && trace.events.task(row) == call.task
                && lock.opened_between(trace, row, call.span.row)
        };
        let before =
            before.filter(|&row| is_other(trace.events.task(row)) || through_another_file(row));
        let mut holders: Vec<Holder> = before.map(|row| lock.holder(trace, row)).collect();
        holders.sort_unstable();
        holders.dedup();
        let had_it = |task: TaskId| {
            is_other(task)
                && holders
                    .iter()
                    .any(|holder| holder.had_it(trace, owner, task))
        };
        let row_edge = |rows: &Ordered, sure: Confidence| {
            let row = call.last_begun_inside(rows, |row| had_it(trace.events.task(row)))?;
            Some(call.edge(row, WakeKind::Lock, sure))
        };
        let unlocked = row_edge(&lock.given_back, Confidence::Measured);
        let closed = row_edge(&lock.closes, Confidence::Inferred);
        let in_time_ns = call.span.end_ns.saturating_add(call.tick_ns());
        let ended = self.last_ended(call, in_time_ns, had_it);
        let best = unlocked
            .into_iter()
            .chain(closed)
            .chain(ended)
            .max_by_key(|edge| edge.at_ns);
        let slow = || {
            self.last_ended(call, call.slow_exits_until_ns(), |task| {
                had_it(task) && call.saw_end_of(task)
            })
        };
        // Children inherit the open file: the lock ends with the last of them, whose end may be printed after this call's.
        let last_of_all = |edge: Edge| {
            // Those that only opened the file for its holder may live on.
            let inherited = |task, holder: &Holder| {
                descends(trace, task, holder.task) && descends(trace, edge.task, holder.task)
            };
            let closing = |task| {
                let is_heir = holders.iter().any(|holder| inherited(task, holder));
                is_heir && had_it(task) && call.saw_end_of(task)
            };
            let is_end = Some(edge) == ended;
            let last = is_end.then(|| self.last_ended(call, call.exits_until_ns(), closing));
            last.flatten().unwrap_or(edge)
        };
        best.filter(|edge| call.is_near_end(edge.at_ns))
            .map(last_of_all)
            .or_else(slow)
            .or(best)
            .or_else(|| self.last_ended(call, call.exits_until_ns(), had_it))
    }

    fn last_ended(
        &self,
        call: &Waiting<'_>,
        until_ns: i64,
        had_it: impl Fn(TaskId) -> bool,
    ) -> Option<Edge> {
        let death_ns = |task: TaskId| call.trace.tasks[task].death_ns;
        let until = self
            .ended
            .partition_point(|&task| death_ns(task) <= until_ns);
        let inside = self.ended[..until]
            .iter()
            .rev()
            .take(TRIES)
            .take_while(|&&task| death_ns(task) > call.span.start_ns);
        let task = inside.copied().find(|&task| had_it(task))?;
        Some(Edge {
            task,
            at_ns: death_ns(task).min(call.span.end_ns),
            how: WakeKind::Lock,
            sure: Confidence::Inferred,
        })
    }
}

/// The owner of a lock on a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Process,
    OpenFile,
}

impl Owner {
    fn of(trace: &Trace, row: u32) -> Owner {
        let shape = trace.events.shape(row);
        let (action, op) = (action_of(shape.syscall), trace.events.texts.bytes(shape.op));
        if action == Action::ControlsFile && !op.starts_with(b"F_OFD_") {
            Owner::Process
        } else {
            Owner::OpenFile
        }
    }
}

/// The task that acquired a lock, and the opener of the file if the open was traced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Holder {
    task: TaskId,
    opener: Option<TaskId>,
}

impl Holder {
    /// Whether a task may have released the lock.
    fn had_it(&self, trace: &Trace, owner: Owner, task: TaskId) -> bool {
        match (owner, self.opener) {
            (Owner::Process, _) => same_process(trace, task, self.task),
            (Owner::OpenFile, Some(opener)) => descends(trace, task, opener),
            (Owner::OpenFile, None) => {
                descends(trace, task, self.task) || descends(trace, self.task, task)
            }
        }
    }
}

/// The effect of a call on a locked file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Opens,
    Closes,
}

fn use_of(action: Action) -> Option<Use> {
    match action {
        Action::Closes => Some(Use::Closes),
        Action::Opens | Action::Creates => Some(Use::Opens),
        _ => None,
    }
}

impl Lock {
    /// The holder by this call. The file was opened by the task itself, or by an ancestor before it created the next
    /// descendant.
    fn holder(&self, trace: &Trace, taken: u32) -> Holder {
        let events = &trace.events;
        let task = events.task(taken);
        let mut before_ns = events.start_ns(taken);
        let opener = creators(trace, task).find(|&task| {
            let at = self.opens.partition_point(|&row| {
                (events.task(row), events.start_ns(row)) < (task, before_ns)
            });
            before_ns = before_ns.min(trace.tasks[task].birth_ns);
            at.checked_sub(1)
                .is_some_and(|at| events.task(self.opens[at]) == task)
        });
        Holder { task, opener }
    }

    /// Whether the task of these two calls opened the file between them.
    fn opened_between(&self, trace: &Trace, from: u32, to: u32) -> bool {
        let events = &trace.events;
        let at = |row: u32| (events.task(row), events.start_ns(row));
        let [from, to] =
            [from, to].map(|row| self.opens.partition_point(|&open| at(open) < at(row)));
        from < to
    }

    /// Repeated fcntl calls of a process on the file alternate: every other one releases the lock.
    fn take_turns(&mut self, trace: &Trace) {
        let mut held: FxHashSet<(u32, i32)> = FxHashSet::default();
        let events = &trace.events;
        let (taken, back) = std::mem::take(&mut self.taken)
            .into_iter()
            .partition(|&row| {
                let Some(task) = trace.tasks.get(events.task(row)) else {
                    return true;
                };
                // Each thread may have opened the file.
                let id = if Owner::of(trace, row) == Owner::Process {
                    task.pid
                } else {
                    task.tid
                };
                let process = (task.capture, id);
                let is_fcntl = events.action(row) == Action::ControlsFile;
                let had = is_fcntl && held.remove(&process);
                if is_fcntl && !had {
                    held.insert(process);
                }
                !had
            });
        self.taken = taken;
        let back: Vec<u32> = back;
        back.into_iter().for_each(|row| self.given_back.push(row));
    }
}
