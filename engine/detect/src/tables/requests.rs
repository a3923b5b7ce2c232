//! Requests: a task sends something to a peer and waits for the answer.
//!
//! ```text
//! send 28 | poll 0.02 s | receive 120                      a round trip
//! send 28 | poll 5 s, nothing | send 28 | poll | receive   resent once
//! write | write | poll 40 ms | read                        the peer delayed its acknowledgement
//! send 2 | receive | poll 5 s, nothing | send 1 | receive  one of two queries got no answer, and was resent
//! send 28 | 1 s without a call | send 28 | 1 s …           only calls of the network were traced: the gaps are the waits
//! ```

mod held_back;

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::sockets::{SocketCall, Sockets, connection, peer, port};
use parsers::facts::Fds;
use parsers::syscalls::{Action, Wait};
use parsers::{NO_NS, Text};
use path::waits::wait_kinds::timed_out;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::parallel;
use trace::store::events::EventTable;
use trace::store::heuristics::{MIN_INPUT_WAIT_NS, MIN_OUTLIER_RATIO, MIN_RESEND_NS};
use trace::store::histogram::Histogram;
use trace::store::index::TaskId;

table! {
    requests "Requests to a peer, by task.";
    times: Calls;
    row {
        of: OfTask,
        peer: Words "Peer that it sent to.",
        port: MaybeNumber "The port of the peer.",
        round_trips: Count "Number of answered requests.",
        response_ns: Ns "Total time from the last send to the answer.",
        mean_ns: Ns (Same) "Mean time from the last send to the answer.",
        typical_ns: Ns "round_trips times the median response time: what they take if none is unusually slow.",
        p99_ns: Ns (Same) "99th percentile of the response time, within 1%.",
        max_ns: Ns (Max) "Longest duration.",
        outlier: Flag "Whether one of several answers took more than twice as long as all others together.",
        sends: Count "Number of sends.",
        sent_bytes: Bytes "Bytes sent.",
        received_bytes: Bytes "Bytes received.",
        connections: Count "Number of different named sockets connected to the peer.",
        resent: Count "Number of sends repeated after a timeout without an answer.",
        unanswered: Count "Number of requests that were never answered.",
        delayed_acks: Count "Round trips with several sends that took as long as a delayed acknowledgement.",
        path: PathTime { exclusive_ns "Critical-path time of the sends, waits and receives." },
        lines: Lines,
    }
}

const NAME_SERVER_PORT: i64 = 53;

/// The communication of a task with one peer.
struct Peer {
    first_target: Text,
    /// Whether that is the address that a message was sent to at a socket without a peer.
    is_named: bool,
    connections: FxHashSet<Text>,
    round_trips: i64,
    response_ns: i64,
    max_ns: i64,
    lengths: Histogram,
    sent: (i64, i64),
    received_bytes: i64,
    resent: i64,
    unanswered: i64,
    delayed: i64,
    rows: Vec<u32>,
    /// Calls of the peer itself that waited for a delayed part of a request.
    held_back: Vec<u32>,
    /// Sends after which the task waited in a call that the capture left out.
    unseen_waits: Vec<u32>,
}

/// A request without an answer so far; queries to a name server of which at least one has no answer.
#[derive(Default)]
struct Open {
    sends: i64,
    /// When the first part was sent.
    asked_ns: i64,
    sent_ns: i64,
    /// Time between the last two parts, without that in which other peers were awaited.
    apart_ns: i64,
    /// Time of the task's waits for peers up to the last part.
    waited_before_ns: i64,
    expired: bool,
    rows: Vec<u32>,
    /// Number of messages since the last timeout, and of answers to them.
    messages: i64,
    answers: i64,
    /// Whether the peer sent first, so that this is an answer to it as far as known.
    is_answer: bool,
    /// Waits after the first answer that do not name the peer. They were for it if the task sends again.
    unnamed_waits: Vec<u32>,
}

/// A new connection.
struct Silent {
    since_ns: i64,
    /// Waits in the meantime.
    rows: Vec<u32>,
}

/// Builds the table of requests by task and peer.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let sockets = Sockets::new(context);
    let tasks: Vec<TaskId> = context.tasks().collect();
    let all: Vec<Vec<(Text, Peer)>> = parallel::map(&tasks, |&task| {
        OfTask::new(context, &sockets, task).finish(context)
    });
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (&task, peers) in tasks.iter().zip(all) {
        peers
            .into_iter()
            .for_each(|(name, peer)| write(context, task, name, peer, &mut builder));
    }
    builder.finish()
}

#[derive(Default)]
struct OfTask {
    /// By normalised target.
    peers: FxHashMap<Text, Peer>,
    /// Normalised target of each target that was sent to.
    normal: FxHashMap<Text, Text>,
    /// Open requests by target.
    open: FxHashMap<Text, Open>,
    /// Targets that sent first. Data sent to them are answers.
    served: FxHashSet<Text>,
    /// The peers that the task connected to. One that sends first greets (SMTP, FTP, SSH); it is not served.
    connected: FxHashSet<Text>,
    /// Those of them that neither side has sent anything to.
    silent: FxHashMap<Text, Silent>,
    /// Whether the capture has calls that wait for several descriptors.
    shows_polls: bool,
    /// Time of the waits for peers that something ended.
    waited_ns: i64,
    /// When datagram sockets without a peer were polled first, by name.
    datagrams: FxHashMap<Text, i64>,
    /// The last wait that names no peer, until something is sent: what is received next ended it.
    unnamed_wait: Option<u32>,
}

impl OfTask {
    fn new(context: &TableContext<'_>, sockets: &Sockets, task: TaskId) -> OfTask {
        let events = &context.trace.events;
        let mut here = OfTask {
            shows_polls: sockets.shows_polls,
            ..OfTask::default()
        };
        // Threads that wait for one another do so very often.
        for (row, kind) in sockets
            .deeds
            .calls(context, task)
            .filter(|&(_, kind)| !is_other_wait(kind))
        {
            let target = connection(&events.texts, events.target(row));
            match kind {
                SocketCall::Accepts | SocketCall::Listens => {}
                SocketCall::Connects => here.connects(context, row, target),
                SocketCall::Sends if connects_by_send(context, row) => {
                    here.connects(context, row, target);
                }
                SocketCall::Sends if sent_nothing(context, row) => {}
                SocketCall::Sends if sockets.is_accepted(context, row) => {}
                SocketCall::Sends if here.served.contains(&target) => {
                    // Which side of a connection asks is unknown if the capture does not show who opened it.
                    if is_bare(context, target) {
                        here.sends(context, row);
                        here.open
                            .entry(target)
                            .and_modify(|open| open.is_answer = true);
                    }
                }
                SocketCall::Sends => here.sends(context, row),
                SocketCall::Receives => here.receives(context, sockets, row),
                SocketCall::Waits(_) => {
                    let is_ended = !timed_out(events, row) && events.dur_ns(row) > 0;
                    here.waited_ns = here.waited_ns.saturating_add(if is_ended {
                        events.dur_ns(row)
                    } else {
                        0
                    });
                    here.waits(context, row);
                }
            }
        }
        here
    }

    fn connects(&mut self, context: &TableContext<'_>, row: u32, target: Text) {
        let events = &context.trace.events;
        self.served.remove(&target);
        self.connected.insert(target);
        let silent = Silent {
            since_ns: events.end_ns(row).unwrap_or_else(|| events.start_ns(row)),
            rows: Vec::new(),
        };
        self.silent.insert(target, silent);
    }

    /// The first data from a peer that the task connected to, before it sent anything.
    fn greeting(&mut self, context: &TableContext<'_>, row: u32, target: Text, silent: Silent) {
        let events = &context.trace.events;
        let response_ns = events
            .end_ns(row)
            .map_or(0, |end_ns| end_ns.saturating_sub(silent.since_ns).max(0));
        let bytes = events.bytes(row).unwrap_or(0);
        let peer = self.peer(context, row, target);
        peer.rows.extend(silent.rows);
        peer.rows.push(row);
        peer.received_bytes += bytes;
        peer.answered(response_ns);
    }

    fn peer(&mut self, context: &TableContext<'_>, row: u32, target: Text) -> &mut Peer {
        // Descriptors without a name are told apart by their numbers.
        let normal = if is_bare(context, target) {
            target
        } else {
            context.trace.events.shape(row).target
        };
        self.normal.insert(target, normal);
        let peer = self.peers.entry(normal).or_insert_with(|| {
            let named = context.trace.events.sink(row);
            let is_named = named.is_some();
            Peer {
                is_named,
                ..Peer::new(if is_named { named } else { target })
            }
        });
        peer.connections.insert(target);
        peer
    }

    fn sends(&mut self, context: &TableContext<'_>, row: u32) {
        let events = &context.trace.events;
        let target = connection(&events.texts, events.target(row));
        let bytes = events.bytes(row).unwrap_or(0);
        let messages = messages(context, row);
        self.silent.remove(&peer(&events.texts, target));
        self.unnamed_wait = None;
        let open = self.open.entry(target).or_default();
        let again = std::mem::take(&mut open.expired);
        if again {
            (open.messages, open.answers) = (0, 0);
        }
        if open.sends == 0 {
            open.asked_ns = events.start_ns(row);
        }
        open.sends += 1;
        open.messages += messages;
        let waited_ns =
            self.waited_ns - std::mem::replace(&mut open.waited_before_ns, self.waited_ns);
        let apart_ns = events.start_ns(row).saturating_sub(open.sent_ns);
        open.apart_ns = apart_ns.saturating_sub(waited_ns);
        open.sent_ns = events.end_ns(row).unwrap_or_else(|| events.start_ns(row));
        let waits = std::mem::take(&mut open.unnamed_waits);
        let unseen_ns = if self.shows_polls {
            0
        } else {
            context.attribution.own_gap_after_ns(row)
        };
        open.expired = unseen_ns >= MIN_RESEND_NS;
        let peer = self.peer(context, row, target);
        if unseen_ns >= MIN_INPUT_WAIT_NS {
            peer.unseen_waits.push(row);
        }
        peer.resent += i64::from(again);
        peer.sent = (peer.sent.0 + messages, peer.sent.1 + bytes);
        peer.rows.extend(waits.into_iter().filter(|_| again));
        peer.rows.push(row);
    }

    fn waits(&mut self, context: &TableContext<'_>, row: u32) {
        let events = &context.trace.events;
        let polled = events.polled(row);
        let named = std::iter::once(events.target(row)).chain(polled.iter().copied());
        for target in named
            .clone()
            .filter(|&target| is_datagram_socket(events, target))
        {
            self.datagrams
                .entry(target)
                .or_insert_with(|| events.start_ns(row));
        }
        let named = named.map(|target| connection(&events.texts, target));
        let only = if self.open.len() == 1 {
            self.open.keys().next().copied()
        } else {
            None
        };
        let only = only.filter(|&only| !awaits_others(context, row, only));
        let named = named
            .into_iter()
            .find(|target| self.open.contains_key(target));
        if self.open.is_empty() && self.silent.len() == 1 {
            let silent = self.silent.values_mut();
            silent.for_each(|silent| silent.rows.push(row));
        }
        if let Some(open) = named.or(only).and_then(|target| self.open.get_mut(&target)) {
            open.expired |= timed_out(events, row) && events.requested_ns(row) != Some(0);
            let is_for_other = named.is_none() && open.answers > 0;
            if is_for_other {
                &mut open.unnamed_waits
            } else {
                &mut open.rows
            }
            .push(row);
        } else if named.is_none() {
            self.unnamed_wait = Some(row);
        }
    }

    fn receives(&mut self, context: &TableContext<'_>, sockets: &Sockets, row: u32) {
        let events = &context.trace.events;
        let bare = !events.target(row).is_some() || is_bare(context, events.target(row));
        let unnamed_wait = self.unnamed_wait.take();
        let named = connection(&events.texts, events.target(row));
        let only = if bare && self.open.len() == 1 && !self.open.contains_key(&named) {
            self.open.keys().next().copied()
        } else {
            None
        };
        // Two descriptors are two connections.
        let only = only.filter(|&open| !is_numbered(context, named) || !is_numbered(context, open));
        let only = only.or_else(|| self.asked_by_datagram(context, named));
        let target = only.unwrap_or(named);
        let bytes = events.bytes(row).unwrap_or(0);
        let Some(mut open) = self.open.remove(&target) else {
            let address = peer(&events.texts, target);
            if let Some(silent) = self.silent.remove(&address).filter(|_| bytes > 0) {
                return self.greeting(context, row, target, silent);
            }
            match self
                .normal
                .get(&target)
                .and_then(|normal| self.peers.get_mut(normal))
            {
                Some(peer) => {
                    peer.received_bytes += bytes;
                    peer.rows.push(row);
                }
                None if self.connected.contains(&address) => {}
                None => {
                    self.served.insert(target);
                }
            }
            return;
        };
        let response_ns = events
            .end_ns(row)
            .map_or(0, |end_ns| end_ns.saturating_sub(open.sent_ns).max(0));
        let Some(peer) = self
            .normal
            .get(&target)
            .and_then(|normal| self.peers.get_mut(normal))
        else {
            return;
        };
        open.rows.extend(unnamed_wait);
        open.rows.push(row);
        let held_back = || held_back::waits_of_peer(context, sockets, open.sent_ns, &open.rows);
        let is_in_parts = open.sends > 1 && held_back::are_together(open.apart_ns);
        let held_back = if is_in_parts { held_back() } else { None };
        if open.is_answer && held_back.is_none() {
            return;
        }
        peer.rows.extend(&open.rows);
        peer.received_bytes += bytes;
        let answers = open.answers + messages(context, row);
        if events.ret(row) == 0 {
            peer.unanswered += 1;
            return;
        }
        peer.answered(response_ns);
        if let Some(waits) = held_back {
            peer.delayed += 1;
            peer.held_back.extend(waits);
        }
        if answers < open.messages && is_query(context, row, target) {
            let left = Open {
                answers,
                rows: Vec::new(),
                expired: false,
                unnamed_waits: Vec::new(),
                ..open
            };
            self.open.insert(target, left);
        }
    }

    /// ```text
    /// sendto(9<UDP:[7]>, "q", …, 10.0.0.2:53)         the socket has no address yet; the peer is named
    /// poll([{fd=9<UDP:[0.0.0.0:55486]>, …}])          now it has one
    /// recvfrom(9<UDP:[0.0.0.0:55486]>, "a")
    /// ```
    ///
    /// The only open request, if it was sent to an address, and a datagram arrives at a socket that got its own address then.
    /// At the sockets of a server, it waited before.
    fn asked_by_datagram(&self, context: &TableContext<'_>, named: Text) -> Option<Text> {
        let events = &context.trace.events;
        let mut open = self.open.iter();
        let (&target, request) = open.next().filter(|_| open.next().is_none())?;
        let is_address = !self.connected.contains(&target)
            && !events.texts.bytes(target).contains(&b'[')
            && port(events.texts.bytes(target)).is_some();
        let is_new = || {
            self.datagrams
                .get(&named)
                .is_none_or(|&since_ns| since_ns >= request.asked_ns)
        };
        let is_unknown = !self.normal.contains_key(&named) && !self.served.contains(&named);
        let fits = is_address && is_unknown && is_datagram_socket(events, named) && is_new();
        fits.then_some(target)
    }

    /// Counts the open requests as unanswered, and returns the peers.
    fn finish(mut self, context: &TableContext<'_>) -> Vec<(Text, Peer)> {
        // A task that did not wait for the other answers does not need them.
        for (target, open) in self
            .open
            .into_iter()
            .filter(|(_, open)| (open.answers == 0 || open.expired) && !open.is_answer)
        {
            if let Some(peer) = self
                .normal
                .get(&target)
                .and_then(|normal| self.peers.get_mut(normal))
            {
                peer.unanswered += 1;
                peer.rows.extend(open.rows);
            }
        }
        let mut peers: Vec<_> = self.peers.into_iter().collect();
        join_delayed(context, &mut peers);
        peers.sort_unstable_by_key(|(name, peer)| (peer.rows.first().copied(), *name));
        peers
    }
}

/// Whether a target is a datagram socket that is known by its own address only.
fn is_datagram_socket(events: &EventTable, target: Text) -> bool {
    let name = events.texts.bytes(target);
    name.starts_with(b"UDP") && memchr::memmem::find(name, b"->").is_none()
}

fn is_other_wait(kind: SocketCall) -> bool {
    matches!(kind, SocketCall::Waits(wait) if wait != Wait::Poll)
}

/// Whether a poll waits for other peers than this one, as far as all of its descriptors have a name.
fn awaits_others(context: &TableContext<'_>, row: u32, only: Text) -> bool {
    let events = &context.trace.events;
    let (polled, only) = (events.polled(row), peer(&events.texts, only));
    let fds = events.facts.get::<Fds>(row).map_or(0, |fds| fds.len());
    let is_other = |&target: &Text| {
        let is_named = events
            .texts
            .bytes(target)
            .iter()
            .any(|byte| b"./@>".contains(byte));
        is_named && peer(&events.texts, target) != only
    };
    !polled.is_empty() && polled.len() == fds && polled.iter().all(is_other)
}

/// Whether a target is a socket of which only the descriptor, or an inode, is known.
fn is_bare(context: &TableContext<'_>, target: Text) -> bool {
    context
        .trace
        .events
        .texts
        .bytes(target)
        .starts_with(b"socket:[")
}

/// Whether it is known by its descriptor.
fn is_numbered(context: &TableContext<'_>, target: Text) -> bool {
    context
        .trace
        .events
        .texts
        .bytes(target)
        .starts_with(b"socket:[fd ")
}

/// Makes one peer of the descriptors without a name whose peers delay their acknowledgements: a pool of connections.
fn join_delayed(context: &TableContext<'_>, peers: &mut Vec<(Text, Peer)>) {
    let is_one = |(name, peer): &(Text, Peer)| is_numbered(context, *name) && peer.delayed > 0;
    peers.sort_unstable_by_key(|(name, peer)| (peer.rows.iter().min().copied(), *name));
    let Some(first) = peers.iter().position(is_one) else {
        return;
    };
    let (others, rest): (Vec<_>, Vec<_>) = peers
        .drain(..)
        .enumerate()
        .partition(|(at, each)| *at > first && is_one(each));
    peers.extend(rest.into_iter().map(|(_, each)| each));
    for (_, (_, other)) in others {
        peers[first].1.join(other);
    }
}

/// Whether a send opens the connection, as TCP Fast Open does (send(2), MSG_FASTOPEN): nothing of it is sent yet, and the
/// connection is in progress. The peer may then greet first, as an SMTP server does.
fn connects_by_send(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    events.texts.bytes(events.shape(row).errno) == b"EINPROGRESS"
}

/// Whether a call for several messages sent none: BIND's tools find out in this way whether the kernel has the call.
fn sent_nothing(context: &TableContext<'_>, row: u32) -> bool {
    context.trace.events.action(row) == Action::SendsMany && context.trace.events.ret(row) == 0
}

/// Number of messages that a call sent or received.
fn messages(context: &TableContext<'_>, row: u32) -> i64 {
    let events = &context.trace.events;
    match events.action(row) {
        Action::SendsMany | Action::ReceivesMany => events.ret(row).max(1),
        _ => 1,
    }
}

/// Whether an answer from a name server is a datagram, so that other queries have answers of their own. A stream has the
/// length of an answer in two bytes before it.
fn is_query(context: &TableContext<'_>, row: u32, target: Text) -> bool {
    const LENGTH_BYTES: i64 = 2;
    let events = &context.trace.events;
    let name = events.texts.bytes(target);
    port(name) == Some(NAME_SERVER_PORT)
        && !name.starts_with(b"TCP")
        && events.ret(row) > LENGTH_BYTES
}

impl Peer {
    fn new(first_target: Text) -> Peer {
        Peer {
            first_target,
            is_named: false,
            connections: FxHashSet::default(),
            round_trips: 0,
            response_ns: 0,
            max_ns: 0,
            lengths: Histogram::default(),
            sent: (0, 0),
            received_bytes: 0,
            resent: 0,
            unanswered: 0,
            delayed: 0,
            rows: Vec::new(),
            held_back: Vec::new(),
            unseen_waits: Vec::new(),
        }
    }

    fn answered(&mut self, response_ns: i64) {
        self.round_trips += 1;
        self.response_ns = self.response_ns.saturating_add(response_ns);
        self.max_ns = self.max_ns.max(response_ns);
        self.lengths.add(response_ns);
    }

    fn has_outlier(&self) -> bool {
        let others_ns = self.response_ns.saturating_sub(self.max_ns);
        self.round_trips > 1 && self.max_ns > others_ns.saturating_mul(MIN_OUTLIER_RATIO)
    }

    fn join(&mut self, other: Peer) {
        self.connections.extend(other.connections);
        self.round_trips += other.round_trips;
        self.response_ns = self.response_ns.saturating_add(other.response_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.lengths.merge(&other.lengths);
        self.sent = (self.sent.0 + other.sent.0, self.sent.1 + other.sent.1);
        self.received_bytes += other.received_bytes;
        self.resent += other.resent;
        self.unanswered += other.unanswered;
        self.delayed += other.delayed;
        self.rows.extend(other.rows);
        self.held_back.extend(other.held_back);
        self.unseen_waits.extend(other.unseen_waits);
    }
}

/// The address of a peer: `10.0.0.2:53` for `UDP:[10.0.0.7:N->10.0.0.2:53]`.
fn address(name: &str) -> &str {
    let of_internet = name.starts_with("TCP") || name.starts_with("UDP");
    let connected = name.split_once("->").filter(|_| of_internet);
    connected
        .and_then(|(_, peer)| peer.strip_suffix(']'))
        .unwrap_or(name)
}

fn write(
    context: &TableContext<'_>,
    task: TaskId,
    name: Text,
    mut peer: Peer,
    builder: &mut TableBuilder<'_>,
) {
    let texts = &context.trace.events.texts;
    peer.rows.sort_unstable();
    let (Some(&first_row), Some(&last_row)) = (peer.rows.first(), peer.rows.last()) else {
        return;
    };
    let answered = peer.round_trips > 0;
    let path = context.trace.events.socket_paths.get(&peer.first_target);
    let sent_to = Some(peer.first_target).filter(|_| peer.is_named);
    let name = texts.string(path.copied().or(sent_to).unwrap_or(name));
    peer.rows.append(&mut peer.held_back);
    peer.rows.sort_unstable();
    peer.rows.dedup();
    let if_answered = |of: &dyn Fn() -> i64| if answered { of() } else { NO_NS };
    let unseen_ns = peer
        .unseen_waits
        .iter()
        .map(|&row| context.attribution.own_gap_after_ns(row));
    let (unseen_ns, calls_ns): (i64, i64) = (
        unseen_ns.sum(),
        peer.rows.iter().map(|&row| context.exclusive_ns(row)).sum(),
    );
    let row = TableRow {
        of: TaskAt {
            task,
            row: first_row,
        },
        peer: Some(address(&name).to_owned()),
        port: port(texts.bytes(peer.first_target)),
        round_trips: peer.round_trips,
        response_ns: peer.response_ns,
        mean_ns: if_answered(&|| peer.response_ns / peer.round_trips.max(1)),
        typical_ns: if_answered(&|| peer.lengths.quantile(0.5).saturating_mul(peer.round_trips)),
        p99_ns: if_answered(&|| peer.lengths.quantile(0.99)),
        max_ns: if_answered(&|| peer.max_ns),
        outlier: peer.has_outlier(),
        sends: peer.sent.0,
        sent_bytes: peer.sent.1,
        received_bytes: peer.received_bytes,
        connections: peer.connections.len() as i64,
        resent: peer.resent,
        unanswered: peer.unanswered,
        delayed_acks: peer.delayed,
        path: unseen_ns.max(calls_ns),
        lines: LinesOf {
            first_row,
            last_row,
        },
    };
    // A row is about calls or about the time between them: here, about what takes longer.
    let members = if unseen_ns > calls_ns {
        Provenance::Gaps(peer.unseen_waits)
    } else {
        Provenance::Rows(peer.rows)
    };
    builder.add(row, members);
}
