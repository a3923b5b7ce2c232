//! The event that made the last check of a poll loop succeed.

use crate::waits::condition::{PROCESSES, PolledCondition};
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, ShapeFacts};
use crate::waits::times::end_ns;
use crate::waits::waiting::Waiting;
use crate::waits::wakers::{Wakers, poll};
use parsers::facts::{Created, WaitedChild};
use parsers::{Outcome, Text};
use rustc_hash::FxHashMap;
use trace::store::index::TaskId;
use trace::store::paths::{hash, is_same_path, split};
use trace::store::task_relations::{descends, same_process};
use trace::store::trace::Trace;

/// Maximum number of events examined for one loop.
const TRIES: usize = 256;

/// Calls that create paths, remove them, or start to listen, each in order of their ends.
#[derive(Default)]
pub(in crate::waits) struct Producers {
    /// By the last component of the path: the same path may be printed relative in one place and absolute in another.
    made: FxHashMap<u64, Vec<(u32, Text)>>,
    removed: FxHashMap<u64, Vec<(u32, Text)>>,
    /// Whether a lookup of it failed, by the number of the text.
    missed: Vec<bool>,
    binds: Vec<u32>,
    listens: Vec<u32>,
}

impl Producers {
    pub(in crate::waits) fn new(trace: &Trace) -> Producers {
        let mut producers = Producers::default();
        for &(row, path) in trace.events.facts.all::<Created>() {
            if trace.events.outcome(row) == Outcome::Ok {
                producers.makes(trace, row, path);
            }
        }
        producers
    }

    pub(in crate::waits) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        let target = trace.events.target(row);
        if known.outcome != Outcome::Ok {
            if known.check.is_hindered() {
                self.misses(trace, target);
            }
            return;
        }
        match known.deed {
            Effect::Makes | Effect::MakesFifo => self.makes(trace, row, target),
            Effect::Removes => {
                let name = split(trace.events.texts.bytes(target)).1;
                self.removed
                    .entry(hash(name))
                    .or_default()
                    .push((row, target));
            }
            Effect::Binds => self.binds.push(row),
            Effect::Listens => self.listens.push(row),
            _ => {}
        }
    }

    fn misses(&mut self, trace: &Trace, target: Text) {
        let at = target.0 as usize;
        if at >= self.missed.len() {
            self.missed
                .resize((at + 1).max(trace.events.texts.len()), false);
        }
        self.missed[at] = true;
    }

    fn is_missed(&self, target: Text) -> bool {
        self.missed.get(target.0 as usize).copied().unwrap_or(false)
    }

    fn makes(&mut self, trace: &Trace, row: u32, path: Text) {
        let name = split(trace.events.texts.bytes(path)).1;
        self.made.entry(hash(name)).or_default().push((row, path));
    }

    /// Whether any call can satisfy checks of this condition. It is evaluated for many calls that end no poll loop.
    pub(super) fn may_bring(&self, trace: &Trace, matter: PolledCondition, row: u32) -> bool {
        let target = trace.events.target(row);
        let name = || hash(split(trace.events.texts.bytes(target)).1);
        match matter {
            PolledCondition::Appears => self.is_missed(target) && self.made.contains_key(&name()),
            PolledCondition::Vanishes => self.removed.contains_key(&name()),
            PolledCondition::Freed => self.is_missed(target) && self.removed.contains_key(&name()),
            PolledCondition::Unlocked => self.is_missed(target),
            PolledCondition::Listens => self.is_missed(target) && !self.listens.is_empty(),
            PolledCondition::Ends
            | PolledCondition::Child
            | PolledCondition::Data
            | PolledCondition::Ready => true,
        }
    }

    /// Whether the process of a task bound a socket that accepts the connections of this call.
    pub(in crate::waits) fn is_bound(&self, trace: &Trace, task: TaskId, connect: u32) -> bool {
        let bound = self
            .binds
            .iter()
            .rev()
            .filter(|&&bind| descends(trace, task, trace.events.task(bind)));
        bound
            .take(TRIES)
            .any(|&bind| is_bound_for(trace, bind, connect))
    }

    pub(in crate::waits) fn order(&mut self, trace: &Trace) {
        for rows in self.made.values_mut().chain(self.removed.values_mut()) {
            rows.sort_by_key(|&(row, _)| end_ns(trace, row));
        }
        for rows in [&mut self.binds, &mut self.listens] {
            rows.sort_by_key(|&row| end_ns(trace, row));
        }
    }
}

/// The event between the last failed check, taken as the start of this call, and the check that succeeded.
pub(super) fn of(
    wakers: &Wakers,
    call: &Waiting<'_>,
    matter: PolledCondition,
    poller: TaskId,
) -> Option<Edge> {
    let producers = &wakers.producers;
    let edge = match matter {
        PolledCondition::Appears => at_path(&producers.made, call, poller),
        PolledCondition::Vanishes | PolledCondition::Freed => {
            at_path(&producers.removed, call, poller)
        }
        PolledCondition::Unlocked => wakers.locks.holder(call),
        PolledCondition::Listens => listener(producers, call, poller),
        PolledCondition::Ends => ended(wakers, call, poller),
        PolledCondition::Child => wakers.children.waited(call),
        PolledCondition::Data => wakers.taken(call),
        PolledCondition::Ready => poll::waker(wakers, call),
    }?;
    let elsewhere = edge.task != call.task && edge.task != poller;
    elsewhere.then_some(Edge {
        how: WakeKind::Poll,
        sure: Confidence::Inferred,
        ..edge
    })
}

/// The first of these calls within the time range that affects the checked path.
fn at_path(
    rows: &FxHashMap<u64, Vec<(u32, Text)>>,
    call: &Waiting<'_>,
    poller: TaskId,
) -> Option<Edge> {
    let texts = &call.trace.events.texts;
    let checked = texts.bytes(call.trace.events.target(call.span.row));
    let rows = rows.get(&hash(split(checked).1))?;
    let from = rows.partition_point(|&(row, _)| end_ns(call.trace, row) <= call.span.start_ns);
    let near = rows[from..].iter().take(TRIES);
    let mut inside =
        near.take_while(|&&(row, _)| call.trace.events.start_ns(row) <= call.span.end_ns);
    let &(row, _) = inside.find(|&&(row, path)| {
        is_same_path(checked, texts.bytes(path))
            && is_elsewhere(call, row, poller)
            && is_same_capture(call, row)
    })?;
    Some(call.edge(row, WakeKind::Poll, Confidence::Inferred))
}

/// The call that started to listen at the address.
fn listener(producers: &Producers, call: &Waiting<'_>, poller: TaskId) -> Option<Edge> {
    let trace = call.trace;
    let from = producers
        .listens
        .partition_point(|&row| end_ns(trace, row) <= call.span.start_ns);
    let near = producers.listens[from..].iter().copied().take(TRIES);
    let mut inside = near.take_while(|&row| trace.events.start_ns(row) <= call.span.end_ns);
    let row = inside.find(|&listen| {
        let is_bound = || producers.is_bound(trace, trace.events.task(listen), call.span.row);
        is_elsewhere(call, listen, poller) && is_same_capture(call, listen) && is_bound()
    })?;
    Some(call.edge(row, WakeKind::Poll, Confidence::Inferred))
}

/// Whether a socket bound to one address accepts the connections to the other: the same port, or the same path.
fn is_bound_for(trace: &Trace, bind: u32, connect: u32) -> bool {
    let address = |row: u32| trace.events.texts.bytes(trace.events.target(row));
    let (bound, asked) = (address(bind), address(connect));
    bound == asked
        || (is_any_address(bound) && port(bound) == port(asked))
        || is_same_path(asked, bound)
}

fn is_any_address(address: &[u8]) -> bool {
    address.starts_with(b"0.0.0.0:") || address.starts_with(b"[::]:")
}

fn port(address: &[u8]) -> Option<Vec<u8>> {
    memchr::memrchr(b':', address).map(|colon| address[colon + 1..].to_vec())
}

/// The task that removed a process: the last one that waited for it, or the process itself.
fn ended(wakers: &Wakers, call: &Waiting<'_>, poller: TaskId) -> Option<Edge> {
    let events = &call.trace.events;
    let text = events.texts.bytes(events.target(call.span.row));
    let id = text.strip_prefix(PROCESSES).unwrap_or(text);
    let pid = parsers::scan::number(id).and_then(|(pid, _)| i32::try_from(pid).ok())?;
    let waited = events.facts.all::<WaitedChild>();
    let until = waited.partition_point(|&(row, _)| events.start_ns(row) <= call.span.end_ns);
    let reaped = waited[..until]
        .iter()
        .rev()
        .take(TRIES)
        .find(|&&(row, child)| {
            let ended_ns = end_ns(call.trace, row);
            child == pid
                && ended_ns > call.span.start_ns
                && ended_ns <= call.exits_until_ns()
                && is_elsewhere(call, row, poller)
        });
    let by_waiter = reaped.map(|&(row, _)| call.edge(row, WakeKind::Poll, Confidence::Inferred));
    by_waiter.or_else(|| wakers.children.process_end(call, pid))
}

fn is_elsewhere(call: &Waiting<'_>, row: u32, poller: TaskId) -> bool {
    let task = call.trace.events.task(row);
    !same_process(call.trace, task, call.task) && !same_process(call.trace, task, poller)
}

fn is_same_capture(call: &Waiting<'_>, row: u32) -> bool {
    let capture = |task: TaskId| call.trace.tasks.get(task).map(|task| task.capture);
    capture(call.task) == capture(call.trace.events.task(row))
}
