//! Wakers: which task ended a wait, and when.
//!
//! What is needed to answer is collected in one pass over the events; each kind of waker is a file of its own. The best
//! one wins: a child that the wait itself names before a guess from who wrote where.

pub(crate) mod poll;
pub mod poll_loops;

use crate::store::spans::Span;
use crate::store::targets::PROCESS;
use crate::store::task_relations::{self, EXIT_TOLERANCE_NS};
use crate::store::trace::Trace;
use crate::waits::candidates::WaitBitmap;
use crate::waits::edge::{Edge, Ender, WakeKind};
use crate::waits::shape_facts::Effect;
use crate::waits::stops::may_stop;
use crate::waits::waiting::Waiting;
use crate::waits::wakers::poll_loops::{producers, search};
use crate::waits::{
    backlog, backpressure, child, connection, effects, eventfd, file_watch, futex, interrupted, lock, message, signal,
    stream, terminal, wait_kinds, watchdog,
};
use parsers::syscalls::{Class, Wait};
use rustc_hash::FxHashMap;

/// Users of a stream that are looked at for those who have it from them.
const HEIRS: usize = 16;

/// Who ended which wait, for the waits of a trace.
pub struct Wakers {
    pub(super) shapes: effects::ShapeEffects,
    pub(super) children: child::Children,
    pub(super) signals: signal::Signals,
    pub(super) streams: stream::Streams,
    pub(super) terminals: terminal::Terminals,
    pub(super) futexes: futex::Futexes,
    pub(super) locks: lock::Locks,
    pub(super) connections: connection::Connections,
    pub(super) counters: eventfd::Counters,
    pub(super) polled: poll::Polled,
    pub(super) producers: producers::Producers,
    pub(super) sleepers: poll_loops::Sleepers,
    pub(super) messages: message::Messages,
    pub(super) backlog: backlog::Backlog,
    pub(super) watches: file_watch::Watches,
    pub(super) outline: WaitBitmap,
    pub(super) may_stop: bool,
}

impl Wakers {
    /// Nobody ever wakes anybody: each wait is charged to the waiter.
    pub fn none(trace: &Trace) -> Wakers {
        Wakers::empty(trace).outlined(trace)
    }

    fn outlined(self, trace: &Trace) -> Wakers {
        let outline = WaitBitmap::new(trace, &self.shapes.looks());
        Wakers { outline, ..self }
    }

    pub(super) fn empty(trace: &Trace) -> Wakers {
        Wakers {
            shapes: effects::ShapeEffects::new(trace),
            children: child::Children::default(),
            signals: signal::Signals::default(),
            streams: stream::Streams::default(),
            terminals: terminal::Terminals::default(),
            futexes: futex::Futexes::default(),
            locks: lock::Locks::default(),
            connections: connection::Connections::default(),
            counters: eventfd::Counters::default(),
            polled: poll::Polled::default(),
            producers: producers::Producers::default(),
            sleepers: poll_loops::Sleepers::default(),
            messages: message::Messages::default(),
            backlog: backlog::Backlog::default(),
            watches: file_watch::Watches::default(),
            outline: WaitBitmap::default(),
            may_stop: may_stop(trace),
        }
    }

    /// The calls of each task in blocks, with those that the walk looks at.
    pub(crate) fn outline(&self) -> &WaitBitmap {
        &self.outline
    }

    /// Whether any task was ever stopped.
    pub(crate) fn may_stop(&self) -> bool {
        self.may_stop
    }

    /// What the time of a call is spent on.
    #[inline]
    pub fn class(&self, trace: &Trace, row: u32) -> Class {
        self.class_of(trace.events.shape_number(row))
    }

    /// The same for calls of a shape.
    #[inline]
    pub(crate) fn class_of(&self, shape: u32) -> Class {
        self.shapes.class_of(shape)
    }

    /// What calls like this one wait for in general.
    #[inline]
    pub(crate) fn wait(&self, trace: &Trace, row: u32) -> Option<Wait> {
        self.shapes.of(trace, row).named
    }

    /// Whether a task, or who waits for its end, ever sleeps, so that one of them may be in a poll loop.
    pub fn may_poll(&self, task: u32, waiter: Option<u32>) -> bool {
        self.sleepers.has(task) || waiter.is_some_and(|waiter| self.sleepers.has(waiter))
    }

    /// Whether somebody or something must have ended this call, be it in the trace or not.
    ///
    /// A sleep and an expired time-out end by themselves; a read of a file is work of the disk; some failures come at once.
    pub fn needs_waker(&self, trace: &Trace, row: u32) -> bool {
        let known = self.shapes.of(trace, row);
        let waits = match known.wait {
            None | Some(Wait::Sleep) => false,
            Some(Wait::Read) => {
                matches!(known.class, Class::Ipc | Class::Terminal | Class::Network | Class::External)
            }
            Some(_) => true,
        };
        waits && !self.shapes.timed_out(trace, row) && !self.shapes.failed_at_once(trace, row)
    }

    /// Who ended a call of a task. `at` is the place of the call among the task's rows.
    pub fn waker(&self, trace: &Trace, task: u32, at: usize, span: Span) -> Option<Edge> {
        let (call, known) = (Waiting { trace, task, at, span }, self.shapes.of(trace, span.row));
        if let Some(edge) = known.may_vfork.then(|| self.children.vfork(&call)).flatten() {
            return Some(edge);
        }
        let may_wait = known.wait.is_some() || matches!(known.deed, Effect::Writes | Effect::Moves | Effect::Opens);
        if !may_wait || self.shapes.timed_out(trace, span.row) {
            return None;
        }
        if wait_kinds::never_returned(known.outcome) {
            let killed = self.signals.sender(&call, None, &self.children);
            return killed.or_else(|| self.children.process_ender(&call));
        }
        if known.interrupted {
            return self.breaker(&call, known.wait);
        }
        let ended = match known.wait {
            None if known.deed == Effect::Opens => self.streams.opener(&call),
            None if known.deed == Effect::Moves => self.moved(&call),
            None => backpressure::reader(&self.streams, &call, trace.events.target(span.row)),
            Some(Wait::Poll) => poll::waker(self, &call.by_origin(known)),
            Some(_) => self.taken(&call.by_origin(known)),
        };
        ended.or_else(|| self.signals.sender(&call, known.wait, &self.children))
    }

    /// Who broke a call off, or if the task went on with it, who ended its last part.
    fn breaker(&self, call: &Waiting<'_>, wait: Option<Wait>) -> Option<Edge> {
        let sender = || self.signals.sender(call, wait, &self.children);
        let Some(last) = interrupted::last_part(call).filter(|_| wait != Some(Wait::Signal)) else {
            return sender();
        };
        let part = call.part(last);
        // What ended it may have come with the signal, before the task looked again.
        let ends_with_signal = part.end_ns.saturating_sub(call.span.end_ns) <= EXIT_TOLERANCE_NS;
        // Or while the signal was handled, so that the last part found it done.
        let whole = Span { start_ns: call.span.start_ns, ..part };
        self.waker(call.trace, call.task, last, whole).or_else(|| ends_with_signal.then(sender).flatten())
    }

    /// What ended a wait that no task of the trace did.
    pub fn ended_by(&self, trace: &Trace, task: u32, at: usize, span: Span) -> Ender {
        let call = Waiting { trace, task, at, span };
        let goes_on = self.shapes.of(trace, span.row).interrupted && interrupted::last_part(&call).is_some();
        match () {
            () if goes_on => Ender::Unknown,
            () if signal::Signals::is_timer(&call) || poll::is_timer(self, &call) => Ender::Timer,
            () if self.signals.came_from_outside(&call) => Ender::Outside,
            () => Ender::Unknown,
        }
    }

    /// When the wait began of which this call of a task may be the last part, if it began at `start_ns` itself.
    pub fn began_ns(&self, trace: &Trace, task: u32, at: usize, start_ns: i64) -> i64 {
        interrupted::began_ns(&self.shapes, trace, task, at, start_ns)
    }

    /// When the wait for a lock began of which this call may be the last part: those before it may have come to their limits.
    pub fn asked_first_ns(&self, trace: &Trace, task: u32, at: usize, start_ns: i64) -> i64 {
        interrupted::asked_first_ns(&self.shapes, trace, task, at, start_ns)
    }

    /// Whether a call only keeps signals in order.
    pub fn keeps_signals(&self, trace: &Trace, row: u32) -> bool {
        self.shapes.of(trace, row).upkeep
    }

    /// Whether a call begins something new: it creates a task, or sends a signal.
    pub fn begins(&self, trace: &Trace, row: u32) -> bool {
        let known = self.shapes.of(trace, row);
        known.creates || known.deed == Effect::Signals
    }

    /// What a call had to wait for that is the last check of a poll loop. `waiter` waits for the end of its task.
    pub fn poll(
        &self,
        trace: &Trace,
        task: u32,
        at: usize,
        span: Span,
        waiter: Option<u32>,
    ) -> Option<poll_loops::PollLoop> {
        poll_loops::poll(self, Waiting { trace, task, at, span }, waiter)
    }

    /// Whether a look in vain is only a step of a search, which found the name elsewhere right behind it.
    pub(crate) fn is_step_of_search(&self, trace: &Trace, task: u32, row: u32) -> bool {
        trace.place_of(task, row).is_some_and(|at| search::is_step(self, trace, task, at))
    }

    /// Of each stream that is read, the tasks that read it, and those that use the end from which it is written.
    pub fn readers_and_users(&self, trace: &Trace) -> impl Iterator<Item = (Vec<u32>, &[u32])> {
        let mut readers: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for task in 0..trace.tasks.len() as u32 {
            // Whoever reads a stream may wait for it.
            let rows = self.outline.rows_looked_at(trace, task);
            for row in rows.filter(|&row| self.shapes.of(trace, row).wait == Some(Wait::Read)) {
                if let Some(end) = self.streams.other_end(trace.events.target(row)) {
                    let readers = readers.entry(end).or_default();
                    if readers.last() != Some(&task) {
                        readers.push(task);
                    }
                }
            }
        }
        readers.into_iter().map(|(end, readers)| (readers, self.streams.users(end)))
    }

    /// Who gave a call what it took.
    pub(super) fn taken(&self, call: &Waiting<'_>) -> Option<Edge> {
        let known = self.shapes.of(call.trace, call.span.row);
        match known.wait? {
            Wait::Child => self.children.waited(call),
            Wait::Read => self.read(call),
            Wait::Peer if known.deed == Effect::Accepts => self.connections.connector(call, call.span.row),
            Wait::Peer => self.backlog.server(call, &self.producers),
            Wait::Message => match known.deed {
                Effect::Handles(object) => self.messages.other_side(call, object),
                _ => None,
            },
            Wait::Lock if known.deed == Effect::Locks => self.locks.holder(call),
            Wait::Lock => self.futexes.waker(call).or_else(|| self.died_holding(call)),
            Wait::Sleep => watchdog::worker(&self.shapes, &self.children, call),
            _ => None,
        }
    }

    /// The process that ended as a wait at a shared address did which nobody woke: the kernel gives back what it held
    /// (`set_robust_list`).
    fn died_holding(&self, call: &Waiting<'_>) -> Option<Edge> {
        let events = &call.trace.events;
        let op = events.texts.bytes(events.shape(call.span.row).op);
        let is_shared = op.starts_with(b"FUTEX_WAIT") && !op.ends_with(b"PRIVATE");
        let shares_memory = |main: u32| task_relations::related(call.trace, main, call.task);
        let returned = events.outcome(call.span.row) == parsers::Outcome::Ok;
        let died = (is_shared && returned).then(|| self.children.ended_with(call, shares_memory)).flatten();
        died.map(|edge| Edge { how: WakeKind::Lock, ..edge })
    }

    fn read(&self, call: &Waiting<'_>) -> Option<Edge> {
        let row = call.span.row;
        let target = call.trace.events.texts.bytes(call.trace.events.target(row));
        let is_at_end = self.shapes.found_end(call.trace, row);
        let connected = || self.connections.writer_at(call, call.trace.events.target(row), is_at_end, &self.children);
        let streamed = self.streamed(call, is_at_end).or_else(connected);
        let counted = || self.counters.writer(call, target, &self.signals, &self.children);
        let hung_up = || terminal::Terminals::leaver(call, row, &self.children);
        let told = || streamed.or_else(counted).or_else(|| self.watches.changer(call, target));
        told().or_else(|| self.terminals.writer(call, row)).or_else(hung_up)
    }

    /// Who gave a call what it moved, or made room for it.
    fn moved(&self, call: &Waiting<'_>) -> Option<Edge> {
        let given = self.streams.giver(call);
        let (_, sinks) = stream::source_and_sinks(&call.trace.events, call.span.row);
        let made_room = || sinks.into_iter().flatten().find_map(|sink| backpressure::reader(&self.streams, call, sink));
        given.filter(|edge| call.is_at_end(edge.at_ns)).or_else(made_room).or(given)
    }

    /// Who wrote at the other end of a stream; at its end, who left it by a close, an exit or an exec, or whose process ended
    /// just then that had it from one of those, without ever using it.
    fn streamed(&self, call: &Waiting<'_>, is_at_end: bool) -> Option<Edge> {
        let row = call.span.row;
        let left = self.streams.writer(call, row, is_at_end);
        let other_end = self.streams.other_end(call.trace.events.target(row));
        let Some(other_end) = other_end.filter(|_| is_at_end) else { return left };
        let left = left.into_iter().chain(self.children.execed(call)).max_by_key(|edge| edge.at_ns);
        left.filter(|edge| call.is_at_end(edge.at_ns)).or_else(|| self.heir(call, other_end)).or(left)
    }

    /// The process that ended as this wait did, of those that descend from users of the end of a stream.
    fn heir(&self, call: &Waiting<'_>, end: u32) -> Option<Edge> {
        let users = self.streams.users(end);
        let inherits =
            |main: u32| users.iter().take(HEIRS).any(|&user| task_relations::descends(call.trace, main, user));
        self.children.ended_with(call, inherits)
    }

    /// Who wrote last at the other end of a target.
    pub(super) fn write_at(&self, call: &Waiting<'_>, target: parsers::Text) -> Option<Edge> {
        let name = call.trace.events.texts.bytes(target);
        let counted = || self.counters.writer(call, name, &self.signals, &self.children);
        if let Some(process) = process_of(name) {
            return self.children.process_end(call, process);
        }
        let streamed = self.streams.last_event(call, target);
        let streamed = streamed.or_else(|| self.connections.writer_at(call, target, false, &self.children));
        streamed.or_else(counted).or_else(|| self.watches.changer(call, name))
    }
}

/// The process that a descriptor stands for.
fn process_of(target: &[u8]) -> Option<i32> {
    let (id, rest) = parsers::scan::number(target.strip_prefix(PROCESS)?)?;
    rest.is_empty().then(|| i32::try_from(id).ok()).flatten()
}
