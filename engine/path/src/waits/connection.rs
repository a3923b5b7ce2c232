//! Connections between two processes of the trace where the tracer prints only the address of the peer.
//!
//! ```text
//! client   connect(3, h:80) = 0      |------ read(3) ------|        3 is h:80 to the client
//! server   accept(4) = 5 from h:4711      |- work -|write(5)        5 is h:4711 to the server
//! ```
//!
//! Connections are accepted in the order in which they are made, so each accept matches the first pending connect to
//! its port. If the port is ambiguous, the accept is not matched. An accept without the peer's address is matched by
//! the address of the listener, which may be a path.
//!
//! Without a connection, data sent to the address of a socket is read there:
//!
//! ```text
//! server   bind(3, /run/log)   |------ recvfrom(3) ------|
//! other                            |- work -|sendto(/run/log)
//! ```

use super::child::Children;
use super::stream::{StreamEnd, leaver, source_and_sinks, writer};
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, ShapeFacts};
use crate::waits::times::end_ns;
use parsers::syscalls::{Action, Wait};
use parsers::{Outcome, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use trace::store::heuristics::EXIT_TOLERANCE_NS;
use trace::store::index::TaskId;
use trace::store::targets::{ACCEPTED, is_host_and_port, may_be_stream};
use trace::store::task_relations::{creators, descends, same_process};
use trace::store::trace::Trace;

/// Maximum number of pending connects per host. The oldest are dropped first.
const MAX_PENDING: usize = 1024;
/// Maximum number of connections of one address examined for one wait, the latest first.
const TRIES: usize = 16;

/// Prefix of the addresses in a tracer's decoration of datagram sockets.
const DATAGRAMS: &[u8] = b"UDP";

/// A connect and its accept.
#[derive(Clone, Copy)]
struct Link {
    connect: u32,
    accept: u32,
    /// The target of the server's reads and writes.
    client: Text,
}

/// The connections of a trace.
#[derive(Default)]
pub(super) struct Connections {
    connects: Vec<u32>,
    accepts: Vec<u32>,
    binds: Vec<u32>,
    /// The operations at each address.
    ends: FxHashMap<Text, StreamEnd>,
    links: Vec<Link>,
    /// Indices into `links` by the address of the server, as the client knows it, and by that of the client.
    by_server: FxHashMap<Text, Vec<u32>>,
    by_client: FxHashMap<Text, Vec<u32>>,
    by_accept: FxHashMap<u32, u32>,
    /// Datagram sockets decorated with an address that the system assigned, without a bind.
    datagrams: FxHashSet<Text>,
    /// For each bound address, and for these sockets, the addresses that others send to.
    sent_to: FxHashMap<Text, Vec<Text>>,
}

/// Whether a target is the address of a peer, or a connection accepted at one.
fn is_address(target: &[u8]) -> bool {
    is_host_and_port(target) || target.ends_with(ACCEPTED)
}

impl Connections {
    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        let events = &trace.events;
        let target = events.target(row);
        if known.wait == Some(Wait::Read) && events.texts.bytes(target).starts_with(DATAGRAMS) {
            self.datagrams.insert(target);
        }
        let works = known.outcome == Outcome::Ok;
        if known.deed == Effect::Moves && works {
            let sinks = source_and_sinks(events, row).1.into_iter().flatten();
            for sink in sinks.filter(|&sink| is_address(events.texts.bytes(sink))) {
                self.ends.entry(sink).or_default().writes.push(row);
            }
        }
        if !known.at_address && known.deed != Effect::Accepts {
            return;
        }
        match known.deed {
            // EINPROGRESS is not a failure.
            Effect::Connects if works && completes(trace, row) => {}
            Effect::Connects if works || known.fails_at_once => self.connects.push(row),
            Effect::Accepts if works => self.accepts.push(row),
            Effect::Binds if works => self.binds.push(row),
            Effect::Writes if works => self.ends.entry(target).or_default().writes.push(row),
            Effect::Closes if works => self.ends.entry(target).or_default().closes.push(row),
            _ => {}
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        self.ends.values_mut().for_each(|end| end.order(trace));
        self.connects.sort_by_key(|&row| trace.events.start_ns(row));
        self.accepts.sort_by_key(|&row| end_ns(trace, row));
        self.link(trace);
    }

    fn link(&mut self, trace: &Trace) {
        let mut pending = Pending::default();
        let mut connects = self.connects.iter().copied().peekable();
        let (ports, open_ns) = (self.bound_ports(trace), self.open_from(trace));
        let is_refused = |connect: u32| {
            let open_ns = open_ns.get(&(capture_of(trace, connect), port(trace, connect)));
            open_ns.is_some_and(|&open_ns| trace.events.start_ns(connect) < open_ns)
        };
        for &accept in &self.accepts {
            while let Some(connect) =
                connects.next_if(|&row| trace.events.start_ns(row) < end_ns(trace, accept))
            {
                if !is_refused(connect) {
                    pending.push(trace, connect);
                }
            }
            let listener = trace.events.target(accept);
            let at_listener = accepted_at(trace, listener);
            let named = trace.events.texts.bytes(listener);
            let taken = match at_listener.is_some() || address_of(named) != named {
                true => first_at(trace, accept, pending.at_port(port_of(address_of(named)))),
                false => first_for(trace, &ports, accept, pending.of_host(host_of(named))),
            };
            if let Some(connect) = taken {
                pending.taken.insert(connect);
                self.links.push(Link {
                    connect,
                    accept,
                    client: at_listener.unwrap_or(listener),
                });
            }
        }
        for (number, link) in (0..).zip(&self.links) {
            self.by_server
                .entry(trace.events.target(link.connect))
                .or_default()
                .push(number);
            self.by_client.entry(link.client).or_default().push(number);
            self.by_accept.insert(link.accept, number);
        }
        self.sent_to = self.sent_to(trace);
    }

    /// For each bound address, the equivalent addresses that were written to.
    fn sent_to(&self, trace: &Trace) -> FxHashMap<Text, Vec<Text>> {
        let texts = &trace.events.texts;
        let mut by_port: FxHashMap<&[u8], Vec<Text>> = FxHashMap::default();
        for &address in self.ends.keys() {
            by_port
                .entry(port_of(texts.bytes(address)))
                .or_default()
                .push(address);
        }
        let bound = self.binds.iter().map(|&row| trace.events.target(row));
        let mut bound: Vec<Text> = bound.chain(self.datagrams.iter().copied()).collect();
        bound.sort_unstable();
        bound.dedup();
        let same = |bound: Text| {
            let bytes = own_of(address_of(texts.bytes(bound)));
            let near = by_port
                .get(port_of(bytes))
                .map_or(&[][..], Vec::as_slice)
                .iter()
                .copied();
            let mut same: Vec<Text> = near
                .filter(|&address| is_at(bytes, texts.bytes(address)))
                .collect();
            same.sort_unstable();
            (!same.is_empty()).then_some((bound, same))
        };
        bound.into_iter().filter_map(same).collect()
    }

    /// The start of listening for each bound port. A non-blocking connect before that is refused later.
    fn open_from<'trace>(
        &self,
        trace: &'trace Trace,
    ) -> FxHashMap<(Option<u32>, &'trace [u8]), i64> {
        let mut open = FxHashMap::default();
        for &row in &self.binds {
            let open_ns = trace
                .events
                .start_ns(listen_after(trace, row).unwrap_or(row));
            let known: &mut i64 = open
                .entry((capture_of(trace, row), port(trace, row)))
                .or_insert(open_ns);
            *known = (*known).min(open_ns);
        }
        open
    }

    /// The ports to which each process bound a socket, without port 0, which lets the system choose.
    fn bound_ports(&self, trace: &Trace) -> FxHashMap<(u32, i32), Vec<Vec<u8>>> {
        let mut ports: FxHashMap<(u32, i32), Vec<Vec<u8>>> = FxHashMap::default();
        for &row in &self.binds {
            let Some(task) = trace.tasks.get(trace.events.task(row)) else {
                continue;
            };
            let port = port(trace, row);
            if port != b"0" {
                ports
                    .entry((task.capture, task.pid))
                    .or_default()
                    .push(port.to_vec());
            }
        }
        ports
    }

    /// The client that connected, for an accept that waited for it.
    pub(super) fn connector(&self, call: &Waiting<'_>, accept: u32) -> Option<Edge> {
        let link = self.links.get(*self.by_accept.get(&accept)? as usize)?;
        let begun_ns = call.trace.events.start_ns(link.connect);
        let inside = begun_ns > call.span.start_ns && begun_ns <= call.span.end_ns;
        let elsewhere = call.trace.events.task(link.connect) != call.task;
        (inside && elsewhere)
            .then(|| call.edge(link.connect, WakeKind::Stream, Confidence::Inferred))
    }

    /// The task that wrote at the other end of a connection, or closed it.
    pub(super) fn writer_at(
        &self,
        call: &Waiting<'_>,
        target: Text,
        ends_file: bool,
        children: &Children,
    ) -> Option<Edge> {
        let found = |numbers: &Vec<u32>, of_client: bool| {
            let links = numbers
                .iter()
                .rev()
                .filter_map(|&number| self.links.get(number as usize));
            let edges = links
                .take(TRIES)
                .filter_map(|link| self.peer(call, link, of_client, ends_file, children));
            edges.max_by_key(|edge| edge.at_ns)
        };
        let as_client = self
            .by_server
            .get(&target)
            .and_then(|numbers| found(numbers, true));
        let as_server = || {
            let numbers = self.by_client.get(&target)?;
            // Several clients share one name: the awaited data arrived at the end of the wait.
            let is_clear = |edge: &Edge| {
                numbers.len() == 1 || call.span.end_ns - edge.at_ns <= EXIT_TOLERANCE_NS
            };
            found(numbers, false).filter(is_clear)
        };
        as_client
            .or_else(as_server)
            .or_else(|| self.sender(call, target))
    }

    /// The task that sent to the address of an unconnected socket.
    fn sender(&self, call: &Waiting<'_>, bound: Text) -> Option<Edge> {
        let texts = &call.trace.events.texts;
        let addresses = self
            .sent_to
            .get(&bound)
            .or_else(|| {
                self.sent_to
                    .get(&texts.find(address_of(texts.bytes(bound)))?)
            })?
            .iter()
            .take(TRIES);
        let edges = addresses.filter_map(|address| writer(call, self.ends.get(address)?, |_| true));
        edges.max_by_key(|edge| edge.at_ns).map(|edge| Edge {
            sure: Confidence::Inferred,
            ..edge
        })
    }

    /// The edge from the peer of a link, if the waiting task has the client's or the server's end.
    fn peer(
        &self,
        call: &Waiting<'_>,
        link: &Link,
        of_client: bool,
        ends_file: bool,
        children: &Children,
    ) -> Option<Edge> {
        let trace = call.trace;
        let (own, other) = if of_client {
            (link.connect, link.accept)
        } else {
            (link.accept, link.connect)
        };
        let events = &trace.events;
        let has = |row: u32, task: TaskId| descends(trace, task, events.task(row));
        let began_ns = events.start_ns(link.connect);
        if !has(own, call.task) || began_ns > call.span.end_ns {
            return None;
        }
        let theirs = if of_client {
            link.client
        } else {
            events.target(other)
        };
        let end = self.ends.get(&theirs);
        let is_peer = |row: u32| has(other, events.task(row)) && events.start_ns(row) >= began_ns;
        let left = || {
            let closed = end.and_then(|end| leaver(call, end, is_peer));
            let at_end = closed.filter(|edge| call.is_at_end(edge.at_ns));
            at_end
                .or_else(|| children.ended_with(call, |main| has(other, main)))
                .or(closed)
        };
        let edge = if ends_file {
            left()
        } else {
            writer(call, end?, is_peer)
        };
        edge.map(|edge| Edge {
            sure: Confidence::Inferred,
            ..edge
        })
    }
}

/// The call by which a task starts to listen on the socket that it has just bound.
fn listen_after(trace: &Trace, bind: u32) -> Option<u32> {
    const CALLS_BETWEEN: usize = 16;
    let (events, task) = (&trace.events, trace.events.task(bind));
    let behind = trace
        .rows_from(task, bind)
        .iter()
        .skip(1)
        .take(CALLS_BETWEEN)
        .copied();
    behind
        .take_while(|&row| events.action(row) != Action::Binds)
        .find(|&row| events.action(row) == Action::Listens)
}

/// Whether a connect only queries the result of a non-blocking one: the task created no other socket in between.
fn completes(trace: &Trace, connect: u32) -> bool {
    const CALLS_BETWEEN: usize = 64;
    let events = &trace.events;
    let Some(at) = trace.place_of(events.task(connect), connect) else {
        return false;
    };
    let before = trace.rows_of(events.task(connect))[..at]
        .iter()
        .rev()
        .take(CALLS_BETWEEN);
    let mut before = before.take_while(|&&row| events.action(row) != Action::MakesSocket);
    before.any(|&row| {
        let (old, new) = (events.shape(row), events.shape(connect));
        let is_same = old.syscall == new.syscall && events.target(row) == events.target(connect);
        is_same && events.texts.bytes(old.errno) == b"EINPROGRESS"
    })
}

/// The connect that an accept completed: the first one to its port.
fn first_for(
    trace: &Trace,
    ports: &FxHashMap<(u32, i32), Vec<Vec<u8>>>,
    accept: u32,
    mut waiting: impl Iterator<Item = u32> + Clone,
) -> Option<u32> {
    let server = trace.events.task(accept);
    let bound = creators(trace, server).find_map(|task| {
        let task = trace.tasks.get(task)?;
        ports.get(&(task.capture, task.pid))
    });
    let fits = |&connect: &u32| {
        let own = same_process(trace, trace.events.task(connect), server)
            && trace.events.task(connect) == server;
        let is_bound =
            bound.is_none_or(|ports| ports.iter().any(|bound| bound == port(trace, connect)));
        !own && is_bound && same_capture(trace, connect, accept)
    };
    let first = waiting.find(fits)?;
    let is_clear = || {
        waiting
            .filter(fits)
            .all(|connect| port(trace, connect) == port(trace, first))
    };
    (bound.is_some_and(|ports| ports.len() == 1) || is_clear()).then_some(first)
}

/// The name of connections accepted at an address, if peers' addresses are not printed.
pub fn accepted_at(trace: &Trace, listener: Text) -> Option<Text> {
    let texts = &trace.events.texts;
    texts.find(&[texts.bytes(listener), ACCEPTED].concat())
}

/// The first connect to the address at which this accept listened.
fn first_at(trace: &Trace, accept: u32, mut waiting: impl Iterator<Item = u32>) -> Option<u32> {
    let texts = &trace.events.texts;
    let listener = address_of(texts.bytes(trace.events.target(accept)));
    waiting.find(|&connect| {
        let own = trace.events.task(connect) == trace.events.task(accept);
        let is_there = is_at(listener, texts.bytes(trace.events.target(connect)));
        !own && is_there && same_capture(trace, connect, accept)
    })
}

/// Pending connects, in order of their starts.
#[derive(Default)]
struct Pending {
    by_host: FxHashMap<Vec<u8>, VecDeque<u32>>,
    by_port: FxHashMap<Vec<u8>, VecDeque<u32>>,
    /// Accepted connects that are not removed yet.
    taken: FxHashSet<u32>,
}

impl Pending {
    fn push(&mut self, trace: &Trace, connect: u32) {
        let keys = [
            (&mut self.by_host, host(trace, connect)),
            (&mut self.by_port, port(trace, connect)),
        ];
        for (lists, key) in keys {
            let list = match lists.get_mut(key) {
                Some(list) => list,
                None => lists.entry(key.to_vec()).or_default(),
            };
            if list.len() >= MAX_PENDING {
                list.pop_front();
            }
            list.push_back(connect);
        }
    }

    fn of_host(&mut self, host: &[u8]) -> impl Iterator<Item = u32> + Clone {
        left(&self.taken, self.by_host.get_mut(host))
    }

    fn at_port(&mut self, port: &[u8]) -> impl Iterator<Item = u32> + Clone {
        left(&self.taken, self.by_port.get_mut(port))
    }
}

/// The connects of a list that were not accepted.
fn left<'all>(
    taken: &'all FxHashSet<u32>,
    list: Option<&'all mut VecDeque<u32>>,
) -> impl Iterator<Item = u32> + Clone + 'all {
    let list = list.map(|list| {
        while list.front().is_some_and(|first| taken.contains(first)) {
            list.pop_front();
        }
        &*list
    });
    list.into_iter()
        .flatten()
        .copied()
        .filter(|connect| !taken.contains(connect))
}

/// The address of a socket without a peer, if the tracer decorates descriptors with it: of `TCP:[127.0.0.1:80]`, of
/// `UNIX-STREAM:[7,"/run/x"]`. An abstract name (`@"x"`) is not resolved.
fn address_of(target: &[u8]) -> &[u8] {
    let inside = memchr::memmem::find(target, b":[").filter(|_| may_be_stream(target));
    let Some(inside) = inside.and_then(|at| target[at + 2..].strip_suffix(b"]")) else {
        return target;
    };
    let path =
        memchr::memmem::find(inside, b",\"").and_then(|at| inside[at + 2..].strip_suffix(b"\""));
    path.unwrap_or(inside)
}

/// The local address, when it is followed by the peer's.
fn own_of(address: &[u8]) -> &[u8] {
    memchr::memmem::find(address, b"->").map_or(address, |arrow| &address[..arrow])
}

/// Whether data or connections to one address reach a socket bound to the other.
fn is_at(bound: &[u8], address: &[u8]) -> bool {
    let any = [&b"0.0.0.0"[..], b"[::]", b"*"].contains(&host_of(bound));
    bound == address
        || (is_host_and_port(bound)
            && is_host_and_port(address)
            && port_of(bound) == port_of(address)
            && (any || host_of(bound) == host_of(address)))
}

fn same_capture(trace: &Trace, a: u32, b: u32) -> bool {
    capture_of(trace, a) == capture_of(trace, b)
}

fn capture_of(trace: &Trace, row: u32) -> Option<u32> {
    trace
        .tasks
        .get(trace.events.task(row))
        .map(|task| task.capture)
}

fn host(trace: &Trace, row: u32) -> &[u8] {
    host_of(trace.events.texts.bytes(trace.events.target(row)))
}

fn port(trace: &Trace, row: u32) -> &[u8] {
    port_of(trace.events.texts.bytes(trace.events.target(row)))
}

/// `127.0.0.1` of `127.0.0.1:80`, and of an IPv4-mapped IPv6 address; of a path, all of it.
fn host_of(target: &[u8]) -> &[u8] {
    if target.starts_with(b"/") {
        return target;
    }
    let host = &target[..memchr::memrchr(b':', target).unwrap_or(target.len())];
    let bare = host
        .strip_prefix(b"[::ffff:")
        .and_then(|host| host.strip_suffix(b"]"));
    bare.unwrap_or(host)
}

/// The port; of a path, all of it.
fn port_of(target: &[u8]) -> &[u8] {
    if target.starts_with(b"/") {
        return target;
    }
    memchr::memrchr(b':', target).map_or(b"", |colon| &target[colon + 1..])
}
