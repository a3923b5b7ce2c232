//! Waits for a lock on a file (flock, fcntl, lockf), which its holder ends by unlocking, closing the file, or ending.
//!
//! ```text
//! holder   |flock|------- work -------|unlock, close or exit
//! waiter             |----- flock ----|
//! ```
//!
//! A flock belongs to the open file, which children inherit: whoever is kin to the one that took it may give it back. An
//! fcntl that unlocks prints as one that locks; of one process they take turns.

use super::ordered::Ordered;
use super::shapes::{Deed, Known};
use super::waiting::{Waiting, descends, same_process};
use super::{Edge, How, Sure};
use crate::events::EventKind;
use crate::trace::Trace;
use parsers::{NO_NS, Outcome, Text};
use rustc_hash::{FxHashMap, FxHashSet};

/// Holders, and tasks that ended, that are looked at for one wait.
const TRIES: usize = 64;

/// What happened to the lock of a file, each in order of their starts.
#[derive(Default)]
struct Lock {
    taken: Vec<u32>,
    given_back: Ordered,
    closes: Ordered,
}

/// The locks of a trace, by the names of their files.
#[derive(Default)]
pub(super) struct Locks {
    files: FxHashMap<Text, Lock>,
    /// Tasks by their ends, if there are locks at all.
    ended: Vec<u32>,
}

impl Locks {
    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: Known) {
        let target = trace.events.target(row);
        let works = matches!(known.deed, Deed::Locks | Deed::Unlocks) && known.outcome == Outcome::Ok;
        if !works || !target.is_some() {
            return;
        }
        let lock = self.files.entry(target).or_default();
        if known.deed == Deed::Locks { lock.taken.push(row) } else { lock.given_back.push(row) }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        if self.files.is_empty() {
            return;
        }
        let start = |&row: &u32| trace.events.start_ns(row);
        for lock in self.files.values_mut() {
            lock.taken.sort_by_key(start);
            lock.take_turns(trace);
            lock.given_back.order(trace);
        }
        self.collect_closes(trace);
        self.ended =
            (0..trace.tasks.len() as u32).filter(|&task| trace.tasks[task as usize].death_ns != NO_NS).collect();
        self.ended.sort_by_key(|&task| trace.tasks[task as usize].death_ns);
    }

    /// Closes are many, so only those are kept whose shape is that of a locked file.
    fn collect_closes(&mut self, trace: &Trace) {
        let events = &trace.events;
        let names: FxHashSet<Text> =
            self.files.values().filter_map(|lock| lock.taken.first()).map(|&row| events.shape(row).target).collect();
        let closes = events.shapes().iter().map(|shape| {
            names.contains(&shape.target)
                && shape.outcome == Outcome::Ok
                && events.texts.bytes(shape.syscall) == b"close"
        });
        let closes: Vec<bool> = closes.collect();
        for row in (0..events.len()).filter(|&row| closes.get(events.shape_number(row) as usize) == Some(&true)) {
            if let Some(lock) = self.files.get_mut(&events.target(row)).filter(|_| events.kind(row) == EventKind::Call)
            {
                lock.closes.push(row);
            }
        }
        self.files.values_mut().for_each(|lock| lock.closes.order(trace));
    }

    /// Who gave back the lock that a call waited for.
    pub(super) fn holder(&self, call: &Waiting<'_>) -> Option<Edge> {
        let trace = call.trace;
        if trace.events.outcome(call.span.row) != Outcome::Ok {
            return None;
        }
        let lock = self.files.get(&trace.events.target(call.span.row))?;
        let until = lock.taken.partition_point(|&row| trace.events.start_ns(row) < call.span.end_ns);
        let before = lock.taken[..until].iter().rev().take(TRIES).map(|&row| trace.events.task(row));
        let holders: Vec<u32> = before.filter(|&holder| !same_process(trace, holder, call.task)).collect();
        let had_it = |task: u32| {
            let kin = |&holder: &u32| descends(trace, task, holder) || descends(trace, holder, task);
            !same_process(trace, task, call.task) && holders.iter().any(kin)
        };
        let row_edge = |rows: &Ordered, sure: Sure| {
            let row = call.last_begun_inside(rows, |row| had_it(trace.events.task(row)))?;
            Some(call.edge(row, How::Lock, sure))
        };
        let unlocked = row_edge(&lock.given_back, Sure::Measured);
        let closed = row_edge(&lock.closes, Sure::Inferred);
        let in_time_ns = call.span.end_ns.saturating_add(call.tick_ns());
        let ended = self.last_ended(call, in_time_ns, had_it);
        let best = unlocked.into_iter().chain(closed).chain(ended).max_by_key(|edge| edge.at_ns);
        let late = || self.last_ended(call, call.exits_until_ns(), had_it);
        let slow = || self.last_ended(call, call.slow_exits_until_ns(), |task| had_it(task) && call.saw_end_of(task));
        best.filter(|edge| call.is_near_end(edge.at_ns)).or_else(slow).or(best).or_else(late)
    }

    fn last_ended(&self, call: &Waiting<'_>, until_ns: i64, had_it: impl Fn(u32) -> bool) -> Option<Edge> {
        let death_ns = |task: u32| call.trace.tasks[task as usize].death_ns;
        let until = self.ended.partition_point(|&task| death_ns(task) <= until_ns);
        let inside =
            self.ended[..until].iter().rev().take(TRIES).take_while(|&&task| death_ns(task) > call.span.start_ns);
        let task = inside.copied().find(|&task| had_it(task))?;
        Some(Edge { task, at_ns: death_ns(task).min(call.span.end_ns), how: How::Lock, sure: Sure::Inferred })
    }
}

impl Lock {
    /// Of a process that calls fcntl on the file again, every other call gives the lock back.
    fn take_turns(&mut self, trace: &Trace) {
        let mut held: FxHashSet<(u32, i32)> = FxHashSet::default();
        let events = &trace.events;
        let (taken, back) = std::mem::take(&mut self.taken).into_iter().partition(|&row| {
            let Some(task) = trace.tasks.get(events.task(row) as usize) else { return true };
            let process = (task.capture, task.pid);
            let is_fcntl = events.texts.bytes(events.shape(row).syscall).starts_with(b"fcntl");
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
