//! Waits for one of several descriptors, ended by an event at one of them.
//!
//! ```text
//! waiter   |------ poll(3, 4) ------|- read(4) -|      the descriptor that it reads next is the one that was ready
//! writer      |-- work --|- write -|
//! ```
//!
//! If the task reads none of them next, any of the polled descriptors may have ended the poll: the last event at one of
//! them did. For an epoll these are all descriptors that its process watches. If it writes next, it waited for room, which
//! the reader of what it writes made. Where another thread adds a descriptor to an epoll that is ready at once, that thread
//! ended the wait.

use crate::waits::backpressure;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::ordered::Ordered;
use crate::waits::wait_kinds;
use crate::waits::waiting::Waiting;
use crate::waits::wakers::Wakers;
use parsers::facts::{Fds, ReadyFd};
use parsers::syscalls::{Action, Wait};
use parsers::{Outcome, Text};
use rustc_hash::FxHashMap;
use trace::store::facts::PolledTargets;
use trace::store::heuristics::MAX_EXIT_NS;
use trace::store::spans::Span;
use trace::store::task_relations::descends;
use trace::store::trace::Trace;

/// Maximum number of descriptors examined for one wait.
const TARGETS: usize = 256;

/// The descriptors that polls wait for, as far as they are known.
#[derive(Default)]
pub(in crate::waits) struct Polled {
    /// By process, the descriptors that its epolls watch.
    watched: FxHashMap<(u32, i32), Vec<Text>>,
    /// By process, the calls that add descriptors to its epolls.
    additions: FxHashMap<(u32, i32), Ordered>,
}

impl Polled {
    pub(in crate::waits) fn new(trace: &Trace) -> Polled {
        let mut polled = Polled::default();
        let events = &trace.events;
        let process = |row: u32| {
            let adds = events.action(row) == Action::RegistersPoll;
            let task = trace.tasks.get(events.task(row)).filter(|_| adds)?;
            Some((task.capture, task.pid))
        };
        for (row, targets) in events.facts.all::<PolledTargets>() {
            if let Some(process) = process(*row) {
                let watched = polled.watched.entry(process).or_default();
                let new = targets
                    .iter()
                    .filter(|target| !watched.iter().rev().take(TARGETS).any(|old| old == *target));
                let new: Vec<Text> = new.copied().collect();
                watched.extend(new);
            }
        }
        for (row, _) in events.facts.all::<Fds>() {
            let removes = events.texts.bytes(events.shape(*row).op) == b"EPOLL_CTL_DEL";
            if let Some(process) = process(*row).filter(|_| !removes) {
                polled.additions.entry(process).or_default().push(*row);
            }
        }
        let additions = polled.additions.values_mut();
        additions.for_each(|rows| rows.order(trace));
        polled
    }

    /// The thread that added the descriptor which a wait at an epoll found ready, while it waited.
    fn adder(&self, call: &Waiting<'_>) -> Option<Edge> {
        let events = &call.trace.events;
        let ready = *events.facts.get::<ReadyFd>(call.span.row)?;
        let task = call.trace.tasks.get(call.task)?;
        let additions = self.additions.get(&(task.capture, task.pid))?;
        let row = call.last_begun_inside(additions, |row| {
            let fds = events.facts.get::<Fds>(row);
            fds.is_some_and(|fds| **fds == [ready]) && events.outcome(row) == Outcome::Ok
        })?;
        let edge = call.edge(row, WakeKind::Stream, Confidence::Inferred);
        call.is_near_end(edge.at_ns).then_some(edge)
    }

    fn targets<'all>(&'all self, call: &Waiting<'all>) -> &'all [Text] {
        let named = call.trace.events.facts.get::<PolledTargets>(call.span.row);
        if let Some(targets) = named {
            return targets;
        }
        let is_epoll = call.trace.events.action(call.span.row) == Action::PollsEpoll;
        let task = call.trace.tasks.get(call.task).filter(|_| is_epoll);
        task.and_then(|task| self.watched.get(&(task.capture, task.pid)))
            .map_or(&[], Vec::as_slice)
    }
}

/// The waker of a poll.
pub(in crate::waits) fn waker(wakers: &Wakers, call: &Waiting<'_>) -> Option<Edge> {
    if let Some(edge) = wakers.polled.adder(call) {
        return Some(edge);
    }
    let taken = call.taken_next(&wakers.shapes);
    let taken_from = taken.and_then(|row| {
        wakers.taken(&Waiting {
            span: Span { row, ..call.span },
            ..*call
        })
    });
    // A wait for a child after a poll may be unrelated to the poll.
    if taken.is_some_and(|row| wakers.shapes.of(call.trace, row).named != Some(Wait::Child)) {
        return taken_from.or_else(|| unnamed_waker(wakers, call, taken?));
    }
    if let Some(edge) = room_maker(wakers, call).filter(|edge| call.is_near_end(edge.at_ns)) {
        return Some(edge);
    }
    let last = last_event(wakers, call);
    last.filter(|edge| call.is_at_end(edge.at_ns))
        .or(taken_from)
        .or(last)
}

/// The descendant that wrote when a poll ended, or ended with it, if the name of what the task reads next is not known (`-s 0`
/// hides the descriptors of pipes).
fn unnamed_waker(wakers: &Wakers, call: &Waiting<'_>, read: u32) -> Option<Edge> {
    if call.trace.events.target(read).is_some() {
        return None;
    }
    if wakers.shapes.found_end(call.trace, read) {
        return wakers.children.ended_within(call, MAX_EXIT_NS, |main| {
            descends(call.trace, main, call.task)
        });
    }
    if wakers.shapes.has_unnamed_pipes() {
        wakers.streams.unnamed_writer(call)
    } else {
        None
    }
}

/// The reader of what a task writes after a poll, unless it polled another descriptor only.
fn room_maker(wakers: &Wakers, call: &Waiting<'_>) -> Option<Edge> {
    let events = &call.trace.events;
    let target = events.target(call.written_next(&wakers.shapes)?);
    let own = Some(events.target(call.span.row))
        .filter(|own| own.is_some() && events.action(call.span.row) != Action::PollsEpoll);
    let end_of = |target: Text| own_end(events.texts.bytes(target));
    let fits = own.is_none_or(|own| end_of(own) == end_of(target));
    fits.then(|| backpressure::reader(&wakers.streams, call, target))
        .flatten()
}

/// A name without its peer, which a socket has once it is connected: `UNIX-STREAM:[7]`, `UNIX-STREAM:[7->8]`.
fn own_end(name: &[u8]) -> &[u8] {
    let end = memchr::memmem::find(name, b"->").or_else(|| memchr::memchr(b']', name));
    &name[..end.unwrap_or(name.len())]
}

/// The last event at one of the descriptors of a poll.
fn last_event(wakers: &Wakers, call: &Waiting<'_>) -> Option<Edge> {
    // A poll of one descriptor has the descriptor's name as its target.
    let own = call.trace.events.target(call.span.row);
    let targets = wakers
        .polled
        .targets(call)
        .iter()
        .rev()
        .copied()
        .take(TARGETS)
        .chain(own.is_some().then_some(own));
    let edges = targets.filter_map(|target| wakers.write_at(call, target));
    edges.max_by_key(|edge| edge.at_ns).map(|edge| Edge {
        sure: Confidence::Inferred,
        ..edge
    })
}

/// Whether a timer ended a poll: its descriptor is read next, or the poll waited for timers alone.
pub(in crate::waits) fn is_timer(wakers: &Wakers, call: &Waiting<'_>) -> bool {
    let known = wakers.shapes.of(call.trace, call.span.row);
    if known.wait != Some(Wait::Poll) || known.outcome != Outcome::Ok {
        return false;
    }
    let is_timer = |target: Text| wait_kinds::is_timer(call.trace.events.texts.bytes(target));
    match call.taken_next(&wakers.shapes) {
        Some(row) => is_timer(call.trace.events.target(row)),
        None => {
            let targets = wakers.polled.targets(call);
            !targets.is_empty() && targets.iter().copied().all(is_timer)
        }
    }
}
