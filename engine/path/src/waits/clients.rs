//! Waits of a server for its clients, which are outside the trace: for the next connection, or the next request.
//!
//! ```text
//! server   |~ epoll_wait ~|accept|~ epoll_wait ~|read|-- work --|write|~ epoll_wait ~|read|-- work --|write|
//! ```
//!
//! Until a client requests something the server is idle: no work of its own, or of the other side, would make it quicker.
//! A server reads from a peer before it sends anything there, and connects to no peer itself; a client of a server that
//! greets first has connected. A connection with the address at which the server accepts others is that of a client, too, though it
//! was made before the capture began.

use super::effects::ShapeEffects;
use super::requests;
use super::waiting::Waiting;
use crate::waits::shape_facts::Effect;
use parsers::syscalls::{Class, Wait};
use parsers::{Outcome, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use trace::store::index::TaskId;
use trace::store::request_sources::brings_requests;
use trace::store::trace::Trace;

/// The peers that tasks serve, by task, as far as a wait required them.
#[derive(Default)]
pub(super) struct Clients {
    served: Mutex<FxHashMap<TaskId, Arc<FxHashSet<Text>>>>,
    /// The addresses at which connections were accepted, by capture, as soon as a wait requires them.
    accepting: OnceLock<FxHashSet<(u32, Box<[u8]>)>>,
}

impl Clients {
    /// Whether a call of a server waits for a client. `taken` is what the call itself received, or the call after a poll that
    /// did.
    pub(super) fn awaits(&self, shapes: &ShapeEffects, call: &Waiting<'_>, taken: u32) -> bool {
        let known = shapes.of(call.trace, taken);
        match known.named {
            Some(Wait::Peer) => known.deed == Effect::Accepts,
            Some(Wait::Read) => self.is_client(shapes, call, call.trace.events.target(taken)),
            _ => false,
        }
    }

    /// Whether a target brings the task requests of clients.
    pub(super) fn is_client(
        &self,
        shapes: &ShapeEffects,
        call: &Waiting<'_>,
        target: Text,
    ) -> bool {
        brings_requests(call.trace.events.texts.bytes(target))
            || target.is_some() && self.served(shapes, call.trace, call.task).contains(&target)
            || self.was_accepted(shapes, call.trace, call.task, target)
    }

    /// Whether a connection has the address at which others were accepted.
    pub(super) fn was_accepted(
        &self,
        shapes: &ShapeEffects,
        trace: &Trace,
        task: TaskId,
        target: Text,
    ) -> bool {
        let Some(own) = own_end(trace.events.texts.bytes(target)) else {
            return false;
        };
        let accepting = self.accepting.get_or_init(|| accepting(shapes, trace));
        let capture = trace.tasks[task].capture;
        !accepting.is_empty() && accepting.contains(&(capture, own.into()))
    }

    fn served(&self, shapes: &ShapeEffects, trace: &Trace, task: TaskId) -> Arc<FxHashSet<Text>> {
        let mut known = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .entry(task)
            .or_insert_with(|| Arc::new(served(shapes, trace, task)))
            .clone()
    }
}

/// The peers from which a task received something before it sent them anything. None if it connected to any.
fn served(shapes: &ShapeEffects, trace: &Trace, task: TaskId) -> FxHashSet<Text> {
    let events = &trace.events;
    let mut received_first: FxHashMap<Text, bool> = FxHashMap::default();
    for &row in trace.rows_of(task) {
        let known = shapes.of(trace, row);
        let target = events.target(row);
        let is_socket = known.at_address || is_socket(events.texts.bytes(target));
        match known.deed {
            Effect::Connects if known.class == Class::Network => return FxHashSet::default(),
            Effect::Connects => _ = received_first.insert(target, false),
            Effect::Writes if is_socket => _ = received_first.entry(target).or_insert(false),
            _ if known.named == Some(Wait::Read) && known.outcome == Outcome::Ok && is_socket => {
                received_first.entry(target).or_insert(true);
            }
            _ => {}
        }
    }
    received_first
        .into_iter()
        .filter(|&(_, is_served)| is_served)
        .map(|(target, _)| target)
        .collect()
}

/// The own ends of connections that were accepted: an accept prints the client, and later calls both ends.
fn accepting(shapes: &ShapeEffects, trace: &Trace) -> FxHashSet<(u32, Box<[u8]>)> {
    let (mut found, mut seen) = (FxHashSet::default(), FxHashSet::default());
    let accepted = requests::accepted(shapes, trace);
    if accepted.is_empty() {
        return found;
    }
    for (task, known) in trace.tasks.iter_enumerated() {
        for &row in trace.rows_of(task) {
            // Whoever accepts a client reads its request.
            let target = trace.events.target(row);
            let reads = shapes.of(trace, row).wait == Some(Wait::Read);
            if !reads || !target.is_some() || !seen.insert((known.capture, target)) {
                continue;
            }
            let own = own_end(trace.events.texts.bytes(target));
            let client = requests::client_of(trace, target);
            if let Some((own, client)) = own.zip(client)
                && accepted.contains_key(&(known.capture, client))
            {
                found.insert((known.capture, own.into()));
            }
        }
    }
    found
}

/// The own end of a connection of which both ends are known: `TCP:[10.0.0.1:80` of `TCP:[10.0.0.1:80->10.0.0.2:4711]`.
fn own_end(name: &[u8]) -> Option<&[u8]> {
    let arrow = name.windows(2).position(|pair| pair == b"->")?;
    name.starts_with(b"TCP").then_some(&name[..arrow])
}

/// Whether a target is a socket with a peer, as tracers print it.
fn is_socket(target: &[u8]) -> bool {
    const PREFIXES: [&[u8]; 6] = [
        b"socket:[",
        b"NETLINK:[",
        b"TCP",
        b"SCTP",
        b"UNIX-STREAM:[",
        b"UNIX:[",
    ];
    PREFIXES.iter().any(|prefix| target.starts_with(prefix))
}
