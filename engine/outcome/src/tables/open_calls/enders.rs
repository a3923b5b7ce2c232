//! Who could end an open call: the holder of the file lock, the child, the task at the other end of the pipe.

use super::OpenCall;
use kit::table_support::context::TableContext;
use parsers::syscalls::{Action, Wait};
use parsers::{NO_NS, Outcome, Text};
use path::waits::effects::deed;
use path::waits::shape_facts::Effect;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::event::{EventKind, ThreadWait};
use trace::store::events::EventTable;
use trace::store::facts::OpenThreadWait;
use trace::store::index::TaskId;
use trace::store::task_relations::{descends, main_task, same_process};
use trace::store::trace::Capture;

/// The task that could end an open call, by its role.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ender {
    /// It holds the file lock.
    Holder(TaskId),
    /// It is the child.
    Child(TaskId),
    /// It uses the other end of the pipe or socket.
    Peer(TaskId),
    /// It reads from the pipe or socket that the call writes to.
    Reader(TaskId),
    /// It is a thread of the same process, and took the lock last.
    Owner(TaskId),
}

impl Ender {
    pub(super) fn task(&self) -> Option<TaskId> {
        match *self {
            Ender::Holder(task)
            | Ender::Child(task)
            | Ender::Peer(task)
            | Ender::Reader(task)
            | Ender::Owner(task) => Some(task),
        }
    }

    pub(super) fn holder(&self) -> Option<TaskId> {
        if let Ender::Holder(task) = *self {
            Some(task)
        } else {
            None
        }
    }

    pub(super) fn child(&self) -> Option<TaskId> {
        if let Ender::Child(task) = *self {
            Some(task)
        } else {
            None
        }
    }

    pub(super) fn peer(&self) -> Option<TaskId> {
        if let Ender::Peer(task) = *self {
            Some(task)
        } else {
            None
        }
    }

    pub(super) fn reader(&self) -> Option<TaskId> {
        if let Ender::Reader(task) = *self {
            Some(task)
        } else {
            None
        }
    }

    pub(super) fn owner(&self) -> Option<TaskId> {
        if let Ender::Owner(task) = *self {
            Some(task)
        } else {
            None
        }
    }
}

/// An address in a process of a capture.
type Address = (u32, i32, Text);

/// Locks and ends of pipes at the end of the capture, by capture and target, for the targets of open calls.
#[derive(Default)]
pub(super) struct Enders {
    /// The task that locked a file last, if it has not unlocked it.
    holders: FxHashMap<(u32, Text), TaskId>,
    /// The tasks that wrote to a pipe and that read from it last.
    writers: FxHashMap<(u32, Text), TaskId>,
    readers: FxHashMap<(u32, Text), TaskId>,
    /// The threads that waited for locks and got them, and did not wake the next waiter since.
    owners: FxHashMap<Address, TaskId>,
    /// Addresses at which threads that waited also woke others: locks.
    handed_on: FxHashSet<Address>,
}

impl Enders {
    pub(super) fn new(context: &TableContext<'_>, open: &[OpenCall]) -> Enders {
        let events = &context.trace.events;
        let key = |row: u32| {
            (
                context.trace.tasks[events.task(row)].capture,
                events.target(row),
            )
        };
        let wanted: FxHashSet<(u32, Text)> = open
            .iter()
            .map(|call| key(call.row))
            .filter(|(_, target)| target.is_some())
            .collect();
        let mut enders = Enders::default();
        if wanted.is_empty() {
            return enders;
        }
        for row in (0..events.len()).filter(|&row| events.kind(row) == EventKind::Call) {
            if events.outcome(row) == Outcome::Ok && wanted.contains(&key(row)) {
                enders.take(context, row, key(row));
            }
        }
        enders
    }

    fn take(&mut self, context: &TableContext<'_>, row: u32, key: (u32, Text)) {
        let (events, task) = (&context.trace.events, context.trace.events.task(row));
        let action = events.action(row);
        let is_control = action == Action::ControlsFile;
        match deed(action, events.texts.bytes(events.shape(row).op)) {
            // The same fcntl call locks and unlocks; within one process they alternate.
            Effect::Locks if is_control && self.holders.get(&key) == Some(&task) => {
                self.holders.remove(&key);
            }
            Effect::Locks => {
                self.holders.insert(key, task);
            }
            Effect::Unlocks => {
                self.holders.remove(&key);
            }
            Effect::Closes
                if self
                    .holders
                    .get(&key)
                    .is_some_and(|&holder| same_process(context.trace, holder, task)) =>
            {
                self.holders.remove(&key);
            }
            Effect::Writes => {
                self.writers.insert(key, task);
            }
            Effect::Wakes { .. } => {
                let address = address(context, row);
                if self.owners.get(&address) == Some(&task) {
                    self.owners.remove(&address);
                    self.handed_on.insert(address);
                }
            }
            _ if action == Action::UsesFutex && events.ret(row) == 0 => {
                self.owners.insert(address(context, row), task);
            }
            _ if matches!(action, Action::Reads) => {
                self.readers.insert(key, task);
            }
            _ => {}
        }
    }

    /// The task that could end the call, as far as the capture shows it.
    pub(super) fn of(&self, context: &TableContext<'_>, call: &OpenCall) -> Option<Ender> {
        let trace = context.trace;
        let key = (
            trace.tasks[call.task].capture,
            trace.events.target(call.row),
        );
        let other = |known: &FxHashMap<(u32, Text), TaskId>| {
            known.get(&key).copied().filter(|&task| {
                !same_process(trace, task, call.task) && is_alive(context, call, task)
            })
        };
        match call.wait {
            Some(Wait::Child | Wait::Signal) => children(context, call)
                .next()
                .or_else(|| awaited_process(context, call))
                .map(Ender::Child),
            Some(Wait::Lock)
                if trace.events.facts.get::<OpenThreadWait>(call.row)
                    == Some(&ThreadWait::Lock) =>
            {
                let address = address(context, call.row);
                let owner = self
                    .owners
                    .get(&address)
                    .copied()
                    .filter(|_| self.handed_on.contains(&address));
                owner
                    .filter(|&task| task != call.task && is_alive(context, call, task))
                    .map(Ender::Owner)
            }
            Some(Wait::Lock) => other(&self.holders).map(Ender::Holder),
            Some(Wait::Peer) => other(&self.readers).map(Ender::Reader),
            Some(Wait::Read) => other(&self.writers).map(Ender::Peer),
            _ => None,
        }
    }

    /// Whether the task that could end the call waits, through locks and children only, for this one.
    pub(super) fn is_circle(
        &self,
        context: &TableContext<'_>,
        open: &[OpenCall],
        call: &OpenCall,
    ) -> bool {
        let mut at = *call;
        for _ in 0..open.len().min(64) {
            let next = match self.of(context, &at) {
                Some(Ender::Holder(task)) => task,
                Some(Ender::Owner(task)) if task == call.task => return true,
                Some(Ender::Owner(task)) => {
                    let Some(waits) = open.iter().find(|other| other.task == task) else {
                        return false;
                    };
                    at = *waits;
                    continue;
                }
                // With several children, another one may end the wait.
                Some(Ender::Child(task))
                    if at.wait == Some(Wait::Child) && children(context, &at).count() == 1 =>
                {
                    task
                }
                _ => return false,
            };
            if same_process(context.trace, next, call.task) {
                return true;
            }
            let Some(waits) = open.iter().find(|other| other.task == next) else {
                return false;
            };
            at = *waits;
        }
        false
    }
}

/// Whether a task lives when the capture ends, or when a signal breaks off the call.
pub(super) fn is_alive(context: &TableContext<'_>, call: &OpenCall, task: TaskId) -> bool {
    let Some(known) = context.trace.tasks.get(task) else {
        return false;
    };
    let outlives =
        || call.killed_by.is_some() && known.last_line >= context.trace.tasks[call.task].last_line;
    known.death_ns == NO_NS && known.ended.is_none() || outlives()
}

/// Whether the task that could end the wait for data or a peer runs when the capture ends: the other end of the pipe, or a child
/// that may have it.
pub(super) fn is_at_work(
    context: &TableContext<'_>,
    open: &[OpenCall],
    call: &OpenCall,
    ender: Option<TaskId>,
) -> bool {
    if !matches!(call.wait, Some(Wait::Read | Wait::Peer)) || call.killed_by.is_some() {
        return false;
    }
    let target = context
        .trace
        .events
        .texts
        .bytes(context.trace.events.target(call.row));
    // A write and a read of one pipe that are both open end each other: the capture ends between their lines.
    let events = &context.trace.events;
    let meets = |other: &OpenCall| {
        !target.is_empty()
            && events.target(other.row) == events.target(call.row)
            && direction(events, other.row).is_some()
            && direction(events, call.row).is_some()
            && direction(events, other.row) != direction(events, call.row)
    };
    let may_be_pipe = target.is_empty() || target.starts_with(b"pipe:");
    let runs = |task: TaskId| {
        let waits = open
            .iter()
            .any(|other| other.task == task && other.wait.is_some() && !meets(other));
        let has_lines = !context.trace.rows_of(task).is_empty();
        has_lines && !waits && is_alive(context, call, task)
    };
    ender.is_some_and(runs) || ender.is_none() && may_be_pipe && children(context, call).any(runs)
}

fn direction(events: &EventTable, row: u32) -> Option<parsers::syscalls::Transfer> {
    events.action(row).transfer()
}

fn address(context: &TableContext<'_>, row: u32) -> Address {
    let task = &context.trace.tasks[context.trace.events.task(row)];
    (task.capture, task.pid, context.trace.events.target(row))
}

/// The living process that a wait names, where the capture does not show who created it.
fn awaited_process(context: &TableContext<'_>, call: &OpenCall) -> Option<TaskId> {
    let events = &context.trace.events;
    let name = std::str::from_utf8(events.texts.bytes(events.target(call.row))).ok()?;
    let pid: i32 = name.parse().ok()?;
    let tasks = context.capture_of(call.task)?.task_ids();
    tasks.rev().find(|&task| {
        let known = &context.trace.tasks[task];
        known.pid == pid
            && !known.is_thread
            && known.creator == TaskId::NONE
            && is_alive(context, call, task)
    })
}

/// The living children of a process, the youngest first.
fn children<'a>(
    context: &'a TableContext<'_>,
    call: &'a OpenCall,
) -> impl Iterator<Item = TaskId> + 'a {
    let (trace, task) = (context.trace, call.task);
    let tasks = context
        .capture_of(task)
        .into_iter()
        .flat_map(Capture::task_ids);
    let is_child = move |&other: &TaskId| {
        let known = &trace.tasks[other];
        // A terminal sends its signals to children, too, and these may die first.
        let lives = is_alive(context, call, other) || call.killed_by.is_some();
        let is_own = !known.is_thread && known.creator != TaskId::NONE;
        lives
            && is_own
            && main_task(trace, known.creator) == main_task(trace, task)
            && descends(trace, other, task)
    };
    tasks.rev().filter(is_child)
}
