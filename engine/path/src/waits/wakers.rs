//! Wakers: which task ended a wait, and when.
//!
//! One pass over the events collects all evidence. Each kind of waker has a file of its own. The most specific evidence
//! wins: a child that the wait names precedes a guess from writes.

pub(crate) mod poll;
pub(crate) mod poll_loops;

use crate::waits::candidates::WaitBitmap;
use crate::waits::edge::{Confidence, Edge, Ender, WakeKind};
use crate::waits::left_out::LeftOuts;
use crate::waits::shape_facts::Effect;
use crate::waits::stops::may_stop;
use crate::waits::waiting::Waiting;
use crate::waits::wakers::poll_loops::{producers, search};
use crate::waits::witness::Verdict;
use crate::waits::{
    awaited_end, backlog, backpressure, child, clients, connection, effects, eventfd, file_watch,
    futex, interrupted, lock, message, requests, serving, signal, stream, terminal, wait_kinds,
    watchdog, witness,
};
use parsers::facts::Fds;
use parsers::syscalls::{Class, Wait};
use parsers::{Outcome, Text};
use rustc_hash::FxHashMap;
use trace::store::classes::class_of;
use trace::store::heuristics::EXIT_TOLERANCE_NS;
use trace::store::index::{ShapeId, TaskId};
use trace::store::request_sources::takes_answers;
use trace::store::scheduling::Scheduling;
use trace::store::spans::Span;
use trace::store::targets::PROCESS;
use trace::store::task_relations;
use trace::store::trace::Trace;

/// Maximum number of users of a stream whose descendants are searched.
const HEIRS: usize = 16;

/// The wakers of the waits of a trace.
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
    pub(super) clients: clients::Clients,
    pub(super) requests: requests::Requests,
    pub(super) outline: WaitBitmap,
    pub(super) may_stop: bool,
    pub(super) left_out: LeftOuts,
    pub(super) ignores_kernel: bool,
}

impl Wakers {
    /// No wakers: each wait is charged to the waiter.
    pub fn none(trace: &Trace) -> Wakers {
        let left_out = LeftOuts::default();
        let none = Wakers {
            left_out,
            ..Wakers::empty(trace)
        };
        none.outlined(trace)
    }

    /// The same according to the lines of the trace only.
    pub fn without_kernel(self) -> Wakers {
        Wakers {
            ignores_kernel: true,
            ..self
        }
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
            clients: clients::Clients::default(),
            requests: requests::Requests::default(),
            outline: WaitBitmap::default(),
            may_stop: may_stop(trace),
            left_out: LeftOuts::new(trace),
            ignores_kernel: false,
        }
    }

    /// The calls of each task in blocks, with the calls that the walk must examine.
    pub fn outline(&self) -> &WaitBitmap {
        &self.outline
    }

    /// Whether any task was ever stopped.
    pub fn may_stop(&self) -> bool {
        self.may_stop
    }

    /// Time ranges without lines in the capture.
    pub fn left_out(&self) -> &LeftOuts {
        &self.left_out
    }

    /// The wait class of a call.
    #[inline]
    pub fn class(&self, trace: &Trace, row: u32) -> Class {
        match trace.events.filled_from_pipe(row) {
            Some(sink) => class_of(
                trace.events.shape(row).syscall,
                trace.events.texts.bytes(sink),
            ),
            None => self.class_of(trace.events.shape_number(row)),
        }
    }

    /// The same for the calls of a shape.
    #[inline]
    pub fn class_of(&self, shape: ShapeId) -> Class {
        self.shapes.class_of(shape)
    }

    /// The general wait class of calls like this one.
    #[inline]
    pub fn wait(&self, trace: &Trace, row: u32) -> Option<Wait> {
        self.shapes.of(trace, row).named
    }

    /// Whether a task, or the waiter for its end, ever sleeps, so that one of them may be in a poll loop.
    pub fn may_poll(&self, task: TaskId, waiter: Option<TaskId>) -> bool {
        self.sleepers.has(task) || waiter.is_some_and(|waiter| self.sleepers.has(waiter))
    }

    /// Whether another task or event must have ended this call, in the trace or not.
    ///
    /// A sleep and an expired timeout end by themselves, a read of a file is disk work, and some failures are
    /// immediate.
    pub fn needs_waker(&self, trace: &Trace, row: u32) -> bool {
        let known = self.shapes.of(trace, row);
        let of_peer = matches!(
            known.class,
            Class::Ipc | Class::Terminal | Class::Network | Class::External
        );
        let waits = match known.wait {
            // Its class is that of the source. The data may have been late, or there was no room for it.
            None if known.deed == Effect::Moves => {
                of_peer && trace.events.filled_from_pipe(row).is_none()
            }
            None | Some(Wait::Sleep) => false,
            Some(Wait::Read) => of_peer,
            Some(_) => true,
        };
        waits && !self.shapes.timed_out(trace, row) && !self.shapes.failed_at_once(trace, row)
    }

    /// The waker of a call of a task. `at` is the index of the call among the task's rows. Scheduler events decide, where
    /// there are any.
    pub fn waker(&self, trace: &Trace, task: TaskId, at: usize, span: Span) -> Option<Edge> {
        let inferred = self.inferred(trace, task, at, span);
        let Some(kernel) = self.kernel_of(trace, task) else {
            return inferred;
        };
        if inferred.is_none() && !self.needs_waker(trace, span.row) {
            return None;
        }
        let call = Waiting {
            trace,
            task,
            at,
            span,
        };
        witness::decided(kernel, &call, inferred, |waker, at_ns| {
            self.is_sending(trace, waker, at_ns)
        })
    }

    /// What the kernel saw of the end of a call; `None` without scheduler events.
    pub fn verdict(&self, trace: &Trace, task: TaskId, at: usize, span: Span) -> Option<Verdict> {
        let capture = trace.tasks.get(task)?.capture;
        let call = Waiting {
            trace,
            task,
            at,
            span,
        };
        let verdict = witness::verdict(trace.scheduling(capture)?, &call);
        let is_doubtful = |(waker, at_ns)| !self.is_sending(trace, waker, at_ns);
        match verdict {
            Verdict::Task {
                task,
                at_ns,
                is_perhaps: true,
            } if is_doubtful((task, at_ns)) => Some(Verdict::Unknown),
            verdict => Some(verdict),
        }
    }

    fn kernel_of<'trace>(&self, trace: &'trace Trace, task: TaskId) -> Option<&'trace Scheduling> {
        let capture = trace.tasks.get(task)?.capture;
        trace.scheduling(capture).filter(|_| !self.ignores_kernel)
    }

    /// Whether a task was in a call at this moment that may have sent something.
    fn is_sending(&self, trace: &Trace, task: TaskId, at_ns: i64) -> bool {
        let rows = trace.rows_of(task);
        let after = rows.partition_point(|&row| trace.events.start_ns(row) <= at_ns);
        let row = after.checked_sub(1).and_then(|at| rows.get(at));
        row.is_some_and(|&row| {
            let is_open = trace
                .events
                .end_ns(row)
                .is_none_or(|end_ns| at_ns <= end_ns);
            is_open
                && matches!(
                    self.shapes.of(trace, row).class,
                    Class::Ipc | Class::Network | Class::Terminal
                )
        })
    }

    /// The waker according to the lines of the trace.
    pub fn inferred(&self, trace: &Trace, task: TaskId, at: usize, span: Span) -> Option<Edge> {
        let (call, known) = (
            Waiting {
                trace,
                task,
                at,
                span,
            },
            self.shapes.of(trace, span.row),
        );
        if let Some(edge) = known
            .may_vfork
            .then(|| self.children.vfork(&call))
            .flatten()
        {
            return Some(edge);
        }
        let may_wait = known.wait.is_some()
            || matches!(
                known.deed,
                Effect::Writes | Effect::Counts | Effect::Moves | Effect::Opens
            );
        if !may_wait {
            return None;
        }
        if self.shapes.timed_out(trace, span.row) {
            return awaited_end::awaited(&self.shapes, &self.children, &call)
                .or_else(|| serving::worker(&self.shapes, &self.children, &call));
        }
        if wait_kinds::never_returned(known.outcome) {
            let killed = self.signals.sender(&call, None, &self.children);
            return killed.or_else(|| self.children.process_ender(&call));
        }
        if known.interrupted {
            return self
                .breaker(&call, known.wait)
                .or_else(|| {
                    let ended = self.signals.sender(&call, known.wait, &self.children)?;
                    serving::handed_over(&self.shapes, &call, ended)
                })
                .or_else(|| self.owed_meanwhile(&call));
        }
        let ended = match known.wait {
            None if known.deed == Effect::Opens => self.streams.opener(&call),
            None if known.deed == Effect::Moves => self.moved(&call),
            None => backpressure::reader(&self.streams, &call, trace.events.target(span.row))
                .or_else(|| self.counters.reader(&call)),
            Some(Wait::Poll) => poll::waker(self, &call.by_origin(known)),
            Some(_) => self.taken(&call.by_origin(known)),
        };
        ended
            .or_else(|| self.signals.sender(&call, known.wait, &self.children))
            .or_else(|| self.owed_meanwhile(&call))
    }

    /// The task that owed an answer to another client while this one waited for its next client.
    fn owed_meanwhile(&self, call: &Waiting<'_>) -> Option<Edge> {
        let is_idle = self.awaits_client(call);
        let owed = || self.requests.owed(&self.shapes, call);
        is_idle.then(owed).flatten()
    }

    /// The waker of an interrupted call: the sender of the signal, or if the task resumed the call, the waker of its
    /// last part.
    fn breaker(&self, call: &Waiting<'_>, wait: Option<Wait>) -> Option<Edge> {
        let sender = || self.signals.sender(call, wait, &self.children);
        let Some(last) = interrupted::last_part(call).filter(|_| wait != Some(Wait::Signal)) else {
            return sender();
        };
        let part = call.part(last);
        // The awaited event may have arrived with the signal, before the task checked again.
        let ends_with_signal = part.end_ns.saturating_sub(call.span.end_ns) <= EXIT_TOLERANCE_NS;
        // Or during the signal handler, so that the last part returned at once.
        let whole = Span {
            start_ns: call.span.start_ns,
            ..part
        };
        // A handler that writes to the task's own pipe passes the signal on.
        let by_others = |edge: &Edge| edge.task != call.task;
        self.inferred(call.trace, call.task, last, whole)
            .filter(by_others)
            .or_else(|| ends_with_signal.then(sender).flatten())
    }

    /// The end of a wait that no task of the trace caused.
    pub fn ended_by(&self, trace: &Trace, task: TaskId, at: usize, span: Span) -> Ender {
        let call = Waiting {
            trace,
            task,
            at,
            span,
        };
        let goes_on =
            self.shapes.of(trace, span.row).interrupted && interrupted::last_part(&call).is_some();
        let seen = || {
            self.kernel_of(trace, task)
                .map(|kernel| witness::verdict(kernel, &call))
        };
        match () {
            () if goes_on => Ender::Unknown,
            () if matches!(seen(), Some(Verdict::Outside(_))) => Ender::Outside,
            () if seen() == Some(Verdict::NotBlocked) => Ender::Itself,
            () if signal::Signals::is_timer(&call) || poll::is_timer(self, &call) => Ender::Timer,
            () if self.broke_off_idling(&call) => Ender::Client,
            () if self.signals.came_from_outside(&call) => Ender::Outside,
            () if self.awaits_client(&call) => Ender::Client,
            () => Ender::Unknown,
        }
    }

    /// Whether a wait ended with its time limit.
    pub fn timed_out(&self, trace: &Trace, row: u32) -> bool {
        self.shapes.timed_out(trace, row)
    }

    /// Whether a server waited for a client outside the trace.
    pub fn is_idle(&self, trace: &Trace, task: TaskId, at: usize, span: Span) -> bool {
        self.awaits_client(&Waiting {
            trace,
            task,
            at,
            span,
        })
    }

    /// Whether a connection has the address at which the trace shows that others were accepted.
    pub fn was_accepted(&self, trace: &Trace, task: TaskId, target: Text) -> bool {
        self.clients.was_accepted(&self.shapes, trace, task, target)
    }

    /// The same for a wait in its place.
    fn awaits_client(&self, call: &Waiting<'_>) -> bool {
        let known = self.shapes.of(call.trace, call.span.row);
        if known.interrupted || known.outcome == Outcome::Open {
            return self.broke_off_idling(call);
        }
        let polls = self.shapes.of(call.trace, call.span.row).named == Some(Wait::Poll);
        let taken = if polls {
            call.taken_next(&self.shapes)
        } else {
            Some(call.span.row)
        };
        taken.is_some_and(|taken| {
            !self.has_peer_inside(call, taken) && self.clients.awaits(&self.shapes, call, taken)
        })
    }

    /// Whether a signal or the end of the capture broke off a wait at the same descriptors as the last one that ended, if that was for
    /// a client, and the task asked no other server since.
    fn broke_off_idling(&self, call: &Waiting<'_>) -> bool {
        const MAX_ROWS: usize = 4096;
        let (trace, events) = (call.trace, &call.trace.events);
        let known = self.shapes.of(trace, call.span.row);
        // The descriptors of a poll at several are no target.
        let polled = |row: u32| (events.target(row), events.facts.get::<Fds>(row));
        let (target, fds) = polled(call.span.row);
        let is_known = target.is_some() || fds.is_some_and(|fds| !fds.is_empty());
        let is_cut = known.interrupted || known.outcome == Outcome::Open;
        if !is_cut || known.named != Some(Wait::Poll) || !is_known {
            return false;
        }
        let is_equal = |row: u32| match polled(row) {
            (other, _) if target.is_some() => other == target,
            equal => equal == (target, fds),
        };
        let rows = &trace.rows_of(call.task)[..call.at];
        let mut earlier = (0..call.at).rev().take(MAX_ROWS);
        let last = earlier.find(|&at| {
            let known = self.shapes.of(trace, rows[at]);
            let is_same = known.named == Some(Wait::Poll) && is_equal(rows[at]);
            known.deed == Effect::Connects
                || is_same && !known.interrupted && !self.shapes.timed_out(trace, rows[at])
        });
        let Some(at) = last.filter(|&at| self.shapes.of(trace, rows[at]).deed != Effect::Connects)
        else {
            return false;
        };
        let asks = |&row: &u32| {
            let known = self.shapes.of(trace, row);
            let is_sent = known.deed == Effect::Writes && known.class == Class::Network;
            is_sent
                && !self
                    .clients
                    .is_client(&self.shapes, call, events.target(row))
        };
        if known.outcome == Outcome::Open && rows[at..].iter().any(asks) {
            return false;
        }
        let span = Waiting { at, ..*call }.part(at);
        self.awaits_client(&Waiting { at, span, ..*call })
    }

    /// Whether another task of the trace uses the other end of what a call received something from.
    fn has_peer_inside(&self, call: &Waiting<'_>, taken: u32) -> bool {
        let end = self
            .streams
            .other_end(call.trace.events.target(taken))
            .map_or(&[][..], |end| self.streams.users(end));
        end.iter()
            .any(|&user| user != call.task && user.index() < call.trace.tasks.len())
    }

    /// The start of the wait that this call of a task may be the last part of, if the call itself started at
    /// `start_ns`.
    pub fn began_ns(&self, trace: &Trace, task: TaskId, at: usize, start_ns: i64) -> i64 {
        interrupted::began_ns(&self.shapes, trace, task, at, start_ns)
    }

    /// The start of the wait for a lock that this call may be the last part of, after earlier parts with a timeout.
    pub fn asked_first_ns(&self, trace: &Trace, task: TaskId, at: usize, start_ns: i64) -> i64 {
        interrupted::asked_first_ns(&self.shapes, trace, task, at, start_ns)
    }

    /// The start of the wait for one of several events that this call may be the last part of, after its own timers interrupted it.
    pub fn polled_first_ns(&self, trace: &Trace, task: TaskId, at: usize, start_ns: i64) -> i64 {
        interrupted::polled_first_ns(&self.shapes, trace, task, at, start_ns)
    }

    /// Whether a call only manages signal masks and handlers.
    pub fn keeps_signals(&self, trace: &Trace, row: u32) -> bool {
        self.shapes.of(trace, row).upkeep
    }

    /// Whether a call starts new work: it creates a task, or sends a signal.
    pub fn begins(&self, trace: &Trace, row: u32) -> bool {
        let known = self.shapes.of(trace, row);
        known.creates || known.deed == Effect::Signals
    }

    /// The wait that a call ended as the last check of a poll loop. `waiter` waits for the end of its task.
    pub fn poll(
        &self,
        trace: &Trace,
        task: TaskId,
        at: usize,
        span: Span,
        waiter: Option<TaskId>,
    ) -> Option<poll_loops::PollLoop> {
        poll_loops::poll(
            self,
            Waiting {
                trace,
                task,
                at,
                span,
            },
            waiter,
        )
    }

    /// Whether a failed lookup is only a step of a search that found the name elsewhere right after it.
    pub fn is_step_of_search(&self, trace: &Trace, task: TaskId, row: u32) -> bool {
        trace
            .place_of(task, row)
            .is_some_and(|at| search::is_step(self, trace, task, at))
    }

    /// For each stream that is read: the tasks that read it, and the users of its write end.
    pub fn readers_and_users(
        &self,
        trace: &Trace,
    ) -> impl Iterator<Item = (Vec<TaskId>, &[TaskId])> {
        let mut readers: FxHashMap<u32, Vec<TaskId>> = FxHashMap::default();
        for task in trace.tasks.keys() {
            // Any reader of a stream may block on it.
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
        readers
            .into_iter()
            .map(|(end, readers)| (readers, self.streams.users(end)))
    }

    /// The task that produced the input of a call.
    pub(super) fn taken(&self, call: &Waiting<'_>) -> Option<Edge> {
        let known = self.shapes.of(call.trace, call.span.row);
        match known.wait? {
            Wait::Child => self.children.waited(call),
            Wait::Read => self.read(call),
            Wait::Peer if known.deed == Effect::Accepts => {
                self.connections.connector(call, call.span.row)
            }
            Wait::Peer => self.backlog.server(call, &self.producers),
            Wait::Message => match known.deed {
                Effect::Handles(object) => self.messages.other_side(call, object, &self.children),
                _ => None,
            },
            Wait::Lock if known.deed == Effect::Locks => self.locks.holder(call),
            Wait::Lock => self.futexes.waker(call).or_else(|| self.died_holding(call)),
            Wait::Sleep => watchdog::worker(&self.shapes, &self.children, call)
                .or_else(|| awaited_end::awaited(&self.shapes, &self.children, call)),
            _ => None,
        }
    }

    /// The process that ended together with an unwoken wait at a shared address: the kernel releases the locks that it
    /// held (`set_robust_list`).
    fn died_holding(&self, call: &Waiting<'_>) -> Option<Edge> {
        let events = &call.trace.events;
        let op = events.texts.bytes(events.shape(call.span.row).op);
        let is_shared = op.starts_with(b"FUTEX_WAIT") && !op.ends_with(b"PRIVATE");
        let returned = events.outcome(call.span.row) == parsers::Outcome::Ok;
        let died = (is_shared && returned)
            .then(|| {
                self.children.ended_with(call, |main| {
                    task_relations::related(call.trace, main, call.task)
                })
            })
            .flatten();
        died.map(|edge| Edge {
            how: WakeKind::Lock,
            ..edge
        })
    }

    fn read(&self, call: &Waiting<'_>) -> Option<Edge> {
        let row = call.span.row;
        let target = call.trace.events.texts.bytes(call.trace.events.target(row));
        let is_at_end = self.shapes.found_end(call.trace, row);
        let streamed = self.streamed(call, is_at_end).or_else(|| {
            self.connections.writer_at(
                call,
                call.trace.events.target(row),
                is_at_end,
                &self.children,
            )
        });
        let streamed = if takes_answers(target) {
            streamed.and_then(|edge| answered(call, edge))
        } else {
            streamed
        };
        let told = || {
            streamed
                .or_else(|| {
                    self.counters
                        .writer(call, target, &self.signals, &self.children)
                })
                .or_else(|| self.watches.changer(call, target))
        };
        told()
            .or_else(|| self.terminals.writer(call, row))
            .or_else(|| terminal::Terminals::leaver(call, row, &self.children))
    }

    /// The task that produced the input of a call, or made room for its output.
    fn moved(&self, call: &Waiting<'_>) -> Option<Edge> {
        let given = self.streams.giver(call);
        let (_, sinks) = stream::source_and_sinks(&call.trace.events, call.span.row);
        given
            .filter(|edge| call.is_at_end(edge.at_ns))
            .or_else(|| {
                sinks
                    .into_iter()
                    .flatten()
                    .find_map(|sink| backpressure::reader(&self.streams, call, sink))
            })
            .or(given)
    }

    /// The writer at the other end of a stream. At end of file, the task that closed it by a close, an exit or an exec,
    /// or a process that ended at that moment and had inherited the end without using it.
    fn streamed(&self, call: &Waiting<'_>, is_at_end: bool) -> Option<Edge> {
        let row = call.span.row;
        let left = self.streams.writer(call, row, is_at_end);
        let other_end = self.streams.other_end(call.trace.events.target(row));
        let Some(other_end) = other_end.filter(|_| is_at_end) else {
            return left;
        };
        let left = left
            .into_iter()
            .chain(self.children.execed(call))
            .max_by_key(|edge| edge.at_ns);
        left.filter(|edge| call.is_at_end(edge.at_ns))
            .or_else(|| self.heir(call, other_end))
            .or(left)
    }

    /// The process that ended together with this wait, among the descendants of the users of the stream's end.
    fn heir(&self, call: &Waiting<'_>, end: u32) -> Option<Edge> {
        let users = self.streams.users(end);
        self.children.ended_with(call, |main| {
            users
                .iter()
                .take(HEIRS)
                .any(|&user| task_relations::descends(call.trace, main, user))
        })
    }

    /// The last writer at the other end of a target.
    pub(super) fn write_at(&self, call: &Waiting<'_>, target: parsers::Text) -> Option<Edge> {
        let name = call.trace.events.texts.bytes(target);
        if let Some(process) = process_of(name) {
            return self.children.process_end(call, process);
        }
        let streamed = self.streams.last_event(call, target);
        let streamed = streamed.or_else(|| {
            self.connections
                .writer_at(call, target, false, &self.children)
        });
        streamed
            .or_else(|| {
                self.counters
                    .writer(call, name, &self.signals, &self.children)
            })
            .or_else(|| self.watches.changer(call, name))
    }
}

/// The task that answered the request before the one that a call took, if its answer fills most of the wait: one client
/// then sends one request after the other, and needs the answer first.
fn answered(call: &Waiting<'_>, edge: Edge) -> Option<Edge> {
    let (waited_ns, since_ns) = (
        call.span.end_ns.saturating_sub(call.span.start_ns),
        call.span.end_ns.saturating_sub(edge.at_ns),
    );
    (since_ns <= waited_ns / 2).then_some(Edge {
        sure: Confidence::Inferred,
        ..edge
    })
}

/// The process that a descriptor stands for.
fn process_of(target: &[u8]) -> Option<i32> {
    let (id, rest) = parsers::scan::number(target.strip_prefix(PROCESS)?)?;
    rest.is_empty().then(|| i32::try_from(id).ok()).flatten()
}
