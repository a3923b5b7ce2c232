//! Waits that another thread ends: by a wake on the same address, by unparking, or by its own end (a join).
//!
//! ```text
//! waiter   |--- futex(0x1, WAIT) ---|      joiner   |------ futex(0x2, WAIT) ------|
//! holder      |- sleep -|- WAKE -|         thread      |-- work --|exit               (CLONE_CHILD_CLEARTID: the kernel wakes)
//! ```
//!
//! An address is the same for all threads of a process. A non-private futex address is also the same for processes that
//! inherited the memory. In a shared file, the offset is the same for all that mapped it. A join waits at the address
//! that contains the thread id, and expects that id there. If the id is not printed, the thread that ended is taken.

use super::mappings::{MappedAddress, Mappings};
use super::ordered::Ordered;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, ShapeFacts};
use crate::waits::times::end_ns;
use parsers::facts::{Joins, RequeuedTo};
use parsers::syscalls::{Action, action_of};
use parsers::{Outcome, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::task_relations::{creators, related, same_process};
use trace::store::tasks::Task;
use trace::store::trace::Trace;

/// A process of a capture.
type Process = (u32, i32);

/// The wakes of a trace, and their waiters.
#[derive(Default)]
pub(super) struct Futexes {
    /// Wakes by process and address; unparks by process and thread id.
    wakes: FxHashMap<(Process, Text), Ordered>,
    /// Wakes that reach other processes, by capture and address.
    shared: FxHashMap<(u32, Text), Ordered>,
    /// Private wakes of threads that ran before the capture began, so that their process is not known.
    private: FxHashMap<(u32, Text), Ordered>,
    /// Captures with several tasks whose creators are unknown.
    of_strays: FxHashSet<u32>,
    /// Wakes by the offset in a shared file.
    mapped: FxHashMap<(u32, MappedAddress), Ordered>,
    mappings: Mappings,
    /// Threads of each process except the main one, by their ends.
    threads: FxHashMap<Process, Vec<TaskId>>,
}

impl Futexes {
    pub(super) fn new(trace: &Trace) -> Futexes {
        let mut futexes = Futexes::default();
        for (number, task) in trace
            .tasks
            .iter_enumerated()
            .filter(|(_, task)| task.is_thread)
        {
            futexes
                .threads
                .entry((task.capture, task.pid))
                .or_default()
                .push(number);
        }
        let mut first = FxHashSet::default();
        for task in trace.tasks.iter().filter(|task| is_stray(task)) {
            if !first.insert(task.capture) {
                futexes.of_strays.insert(task.capture);
            }
        }
        futexes
            .threads
            .values_mut()
            .for_each(|tasks| tasks.sort_by_key(|&task| left_ns(trace, task)));
        futexes
    }

    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        let events = &trace.events;
        let is_shared = known.deed == Effect::Wakes { shared: true };
        let woke = known.outcome == Outcome::Ok && (!known.counts || events.ret(row) > 0);
        if !woke || !(is_shared || known.deed == Effect::Wakes { shared: false }) {
            return;
        }
        let target = events.target(row);
        let Some(task) = trace
            .tasks
            .get(events.task(row))
            .filter(|_| target.is_some())
        else {
            return;
        };
        self.wakes
            .entry(((task.capture, task.pid), target))
            .or_default()
            .push(row);
        if is_shared {
            self.shared
                .entry((task.capture, target))
                .or_default()
                .push(row);
        } else if self.of_strays.contains(&task.capture) {
            self.private
                .entry((task.capture, target))
                .or_default()
                .push(row);
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        if !self.shared.is_empty() {
            self.collect_mapped(trace);
        }
        self.mapped.values_mut().for_each(|rows| rows.order(trace));
        let lists = self
            .wakes
            .values_mut()
            .chain(self.shared.values_mut())
            .chain(self.private.values_mut());
        lists.for_each(|rows| rows.order(trace));
    }

    fn collect_mapped(&mut self, trace: &Trace) {
        self.mappings = Mappings::new(trace);
        for (&(capture, address), wakes) in &self.shared {
            for &row in wakes.rows() {
                let (task, at_ns) = (trace.events.task(row), trace.events.start_ns(row));
                if let Some(place) = self.mappings.place(trace, task, address, at_ns) {
                    self.mapped.entry((capture, place)).or_default().push(row);
                }
            }
        }
    }

    /// The waker of a wait for a lock, a condition or a thread.
    pub(super) fn waker(&self, call: &Waiting<'_>) -> Option<Edge> {
        let events = &call.trace.events;
        let shape = events.shape(call.span.row);
        let op = events.texts.bytes(shape.op);
        // An interrupted wait is examined only at its last part.
        if !matches!(
            events.outcome(call.span.row),
            Outcome::Ok | Outcome::Interrupted
        ) {
            return None;
        }
        match action_of(shape.syscall) {
            Action::Parks => self.unparked(call),
            Action::JoinsThread => self.joined(call, true),
            Action::UsesFutex if !op.ends_with(b"PRIVATE") => {
                // A wake from another process may have woken other waiters before this one.
                let from_afar = self
                    .woken_from_afar(call)
                    .into_iter()
                    .chain(self.woken_through_file(call));
                let last = from_afar
                    .chain(self.woken(call))
                    .max_by_key(|edge| edge.at_ns);
                last.or_else(|| self.joined(call, false))
            }
            Action::UsesUmtx if op == b"UMTX_OP_WAIT" => self.woken(call).or_else(|| {
                self.joined(call, false)
                    .filter(|edge| edge.sure == Confidence::Measured)
            }),
            _ => self.woken(call).or_else(|| self.woken_by_stray(call)),
        }
    }

    /// The last wake at the address, or at the one that the waiter was requeued to.
    fn woken(&self, call: &Waiting<'_>) -> Option<Edge> {
        let task = call.trace.tasks.get(call.task)?;
        let process = (task.capture, task.pid);
        let at = |address: Text, sure: Confidence| {
            let rows = self.wakes.get(&(process, address))?;
            let row = call.last_begun_inside(rows, |_| true)?;
            let is_guess = is_thread_by_wake(call, call.task)
                || is_thread_by_wake(call, call.trace.events.task(row));
            let sure = if is_guess { Confidence::Inferred } else { sure };
            Some(call.edge(row, WakeKind::Futex, sure))
        };
        let address = call.trace.events.target(call.span.row);
        let there = self
            .moved_to(call, process)
            .and_then(|address| at(address, Confidence::Inferred));
        let best = at(address, Confidence::Measured)
            .into_iter()
            .chain(there)
            .max_by_key(|edge| edge.at_ns);
        best.or_else(|| {
            let row = call.first_begun_after(self.wakes.get(&(process, address))?, |_| true)?;
            Some(call.edge(row, WakeKind::Futex, Confidence::Inferred))
        })
    }

    /// The address where a wait ends after a requeue: the call itself names it, or another task requeued the waiters.
    fn moved_to(&self, call: &Waiting<'_>, process: Process) -> Option<Text> {
        let facts = &call.trace.events.facts;
        let address = |row: u32| facts.get::<RequeuedTo>(row).copied();
        if facts.all::<RequeuedTo>().is_empty() {
            return None;
        }
        let by_others = || {
            let rows = self
                .wakes
                .get(&(process, call.trace.events.target(call.span.row)))?;
            address(call.last_begun_inside(rows, |row| address(row).is_some())?)
        };
        address(call.span.row).or_else(by_others)
    }

    /// The wake at this address at the end of the wait, between two tasks with unknown processes. A private address is
    /// valid in one process only, and the addresses in use differ between processes.
    fn woken_by_stray(&self, call: &Waiting<'_>) -> Option<Edge> {
        let trace = call.trace;
        let capture = trace.tasks.get(call.task)?.capture;
        let rows = self
            .private
            .get(&(capture, trace.events.target(call.span.row)))?;
        let may_be = |row: u32| {
            let (own, other) = (
                main_of(trace, call.task),
                main_of(trace, trace.events.task(row)),
            );
            own != other
                && [own, other]
                    .iter()
                    .all(|&main| trace.tasks.get(main).is_some_and(is_stray))
        };
        let row = call.last_begun_inside(rows, |row| {
            call.is_at_end(end_ns(trace, row)) && may_be(row)
        })?;
        Some(call.edge(row, WakeKind::Futex, Confidence::Inferred))
    }

    fn woken_from_afar(&self, call: &Waiting<'_>) -> Option<Edge> {
        let trace = call.trace;
        let capture = trace.tasks.get(call.task)?.capture;
        let rows = self
            .shared
            .get(&(capture, trace.events.target(call.span.row)))?;
        let row = call.last_begun_inside(rows, |row| {
            related(trace, trace.events.task(row), call.task)
        })?;
        Some(call.edge(row, WakeKind::Futex, Confidence::Inferred))
    }

    fn woken_through_file(&self, call: &Waiting<'_>) -> Option<Edge> {
        let trace = call.trace;
        let address = trace.events.target(call.span.row);
        let place = self
            .mappings
            .place(trace, call.task, address, call.span.start_ns)?;
        let rows = self
            .mapped
            .get(&(trace.tasks.get(call.task)?.capture, place))?;
        Some(call.edge(
            call.last_begun_inside(rows, |_| true)?,
            WakeKind::Futex,
            Confidence::Inferred,
        ))
    }

    fn unparked(&self, call: &Waiting<'_>) -> Option<Edge> {
        let task = call.trace.tasks.get(call.task)?;
        let id = call
            .trace
            .events
            .texts
            .find(task.tid.to_string().as_bytes())?;
        let rows = self.wakes.get(&((task.capture, task.pid), id))?;
        Some(call.edge(
            call.last_begun_inside(rows, |_| true)?,
            WakeKind::Futex,
            Confidence::Measured,
        ))
    }

    /// The thread that ended last before the join did. `lwp_wait` names it, unless it waits for any. A futex expects
    /// its id.
    fn joined(&self, call: &Waiting<'_>, may_be_named: bool) -> Option<Edge> {
        let trace = call.trace;
        let task = trace.tasks.get(call.task)?;
        let threads = self.threads.get(&(task.capture, task.pid))?;
        let target = trace.events.texts.bytes(trace.events.target(call.span.row));
        let named = match may_be_named {
            true => parsers::scan::number(target)
                .map(|(id, _)| id)
                .filter(|&id| id > 0),
            false => expected(trace, call.span.row, threads),
        };
        let until =
            threads.partition_point(|&thread| left_ns(trace, thread) <= call.exits_until_ns());
        let inside = threads[..until]
            .iter()
            .rev()
            .take_while(|&&thread| left_ns(trace, thread) > call.span.start_ns);
        let mut inside = inside.copied().filter(|&thread| {
            let is_named = named.is_none_or(|id| has_id(trace, thread, id));
            is_named
                && thread != call.task
                && same_process(trace, thread, call.task)
                && has_left(trace, thread)
        });
        // The line of a thread's end may come after the wake that it causes. Its last call does not.
        let in_time_ns = call.span.end_ns.saturating_add(call.tick_ns());
        let thread =
            inside.find(|&thread| named.is_some() || left_ns(trace, thread) <= in_time_ns)?;
        let at_ns = left_ns(trace, thread).min(call.span.end_ns);
        let sure = if named.is_some() {
            Confidence::Measured
        } else {
            Confidence::Inferred
        };
        Some(Edge {
            task: thread,
            at_ns,
            how: WakeKind::Join,
            sure,
        })
    }
}

fn is_thread_by_wake(call: &Waiting<'_>, task: TaskId) -> bool {
    let known = call.trace.tasks.get(task);
    known.is_some_and(|task| task.thread_by_wake)
}

/// Whether the creator of a task is unknown.
fn is_stray(task: &Task) -> bool {
    task.creator == TaskId::NONE && !task.is_thread
}

/// The task that all threads of a task's process descend from, as far as the trace shows.
fn main_of(trace: &Trace, task: TaskId) -> TaskId {
    creators(trace, task)
        .find(|number| !is_thread(trace, number))
        .unwrap_or(task)
}

fn is_thread(trace: &Trace, &number: &TaskId) -> bool {
    trace.tasks.get(number).is_some_and(|task| task.is_thread)
}

/// The id of one of these threads, if a wait expects it at its address.
fn expected(trace: &Trace, row: u32, threads: &[TaskId]) -> Option<i64> {
    let id = i64::from(*trace.events.facts.get::<Joins>(row)?);
    threads
        .iter()
        .any(|&thread| has_id(trace, thread, id))
        .then_some(id)
}

fn has_id(trace: &Trace, thread: TaskId, id: i64) -> bool {
    let task = &trace.tasks[thread];
    i64::from(task.tid) == id || i64::from(task.known_as) == id
}

/// When a thread began to end.
fn left_ns(trace: &Trace, thread: TaskId) -> i64 {
    let events = &trace.events;
    let mut last = trace
        .rows_of(thread)
        .iter()
        .rev()
        .take(4)
        .filter(|&&row| events.kind(row) == EventKind::Call);
    let exit = last.find(|&&row| events.outcome(row) == Outcome::NoReturn);
    exit.map_or_else(
        || trace.tasks[thread].end_ns(),
        |&row| events.start_ns(row).max(end_ns(trace, row)),
    )
}

fn has_left(trace: &Trace, thread: TaskId) -> bool {
    trace.tasks[thread].death_ns != parsers::NO_NS
}
