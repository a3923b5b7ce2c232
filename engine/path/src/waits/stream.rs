//! Reads of pipes, fifos and connected sockets, ended by a write at the other end, or at end of file by its last close.
//!
//! ```text
//! reader   |------ read(pipe:[7]) ------|       reader   |------ read(pipe:[7]) = 0 ------|
//! writer      |-- work --|- write -|            writer      |-- work --|close or exit
//! ```

use super::fifos::are_two_sides;
use super::ordered::Ordered;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, ShapeFacts};
use parsers::syscalls::{Action, Wait};
use parsers::{NO_NS, Outcome, Text};
use rustc_hash::FxHashMap;
use trace::store::events::EventTable;
use trace::store::heuristics::MIN_BLOCKED_WRITE_NS;
use trace::store::index::TaskId;
use trace::store::request_sources::takes_answers;
use trace::store::task_relations::{descends, same_process};
use trace::store::trace::Trace;

/// The calls at one end of a stream.
#[derive(Default)]
pub(super) struct StreamEnd {
    pub writes: Ordered,
    reads: Ordered,
    pub closes: Ordered,
    /// Of a fifo.
    opens: Ordered,
    /// Tasks that used it.
    pub users: Vec<TaskId>,
    /// When users ended, in order, with their indices: a stream that all tasks inherit has thousands.
    deaths: Vec<(i64, u32)>,
}

impl StreamEnd {
    /// The last user is usually the next one. In a list of many users there are duplicates, which are harmless.
    fn used_by(&mut self, task: TaskId) {
        if !self.users.iter().rev().take(8).any(|&user| user == task) {
            self.users.push(task);
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        self.writes.order(trace);
        self.reads.order(trace);
        self.closes.order(trace);
        self.opens.order(trace);
        let deaths = (0u32..).zip(&self.users).map(|(place, &user)| {
            let death_ns = trace.tasks.get(user).map_or(NO_NS, |task| task.death_ns);
            (death_ns, place)
        });
        self.deaths = deaths.filter(|&(death_ns, _)| death_ns != NO_NS).collect();
        self.deaths.sort_unstable();
    }

    /// The matching user with the last end that is printed between these moments.
    fn last_ended(
        &self,
        call: &Waiting<'_>,
        from_ns: i64,
        until_ns: i64,
        fits: impl Fn(TaskId) -> bool,
    ) -> Option<Edge> {
        let until = self
            .deaths
            .partition_point(|&(death_ns, _)| death_ns <= until_ns);
        let ended = self.deaths[..until]
            .iter()
            .rev()
            .take_while(|&&(death_ns, _)| death_ns > from_ns);
        let exits = ended.filter_map(|&(death_ns, place)| {
            let user = *self
                .users
                .get(place as usize)
                .filter(|&&user| user != call.task && fits(user))?;
            Some((death_ns.min(call.span.end_ns), place, user))
        });
        exits.max().map(|(at_ns, _, task)| Edge {
            task,
            at_ns,
            how: WakeKind::Stream,
            sure: Confidence::Inferred,
        })
    }
}

/// A target as a stream: its number, and that of its write end.
#[derive(Clone, Copy)]
struct Ends {
    own: u32,
    peer: u32,
    /// The confidence that it is a stream.
    sure: Confidence,
}

/// The pipes, fifos and connected sockets of a trace, by the names of their targets.
#[derive(Default)]
pub(super) struct Streams {
    ends: Vec<StreamEnd>,
    numbers: FxHashMap<Vec<u8>, u32>,
    /// State of each text as a target, by its number: 0 if not examined yet, 1 if it is not a stream, else 2 plus its
    /// index in `targets`.
    known: Vec<u32>,
    targets: Vec<Ends>,
    /// Writes to descriptors without names: tracers can omit those of new pipes.
    unnamed: Ordered,
}

impl Streams {
    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        let events = &trace.events;
        let target = events.target(row);
        if known.deed == Effect::Moves && known.outcome != Outcome::Failed {
            return self.moves(trace, row);
        }
        if known.outcome == Outcome::Failed {
            return;
        }
        if !target.is_some() {
            if known.deed == Effect::Writes {
                self.unnamed.push(row);
            }
            return;
        }
        if known.deed == Effect::MakesFifo {
            self.learn_fifo(events, target, Confidence::Measured);
        }
        let Some(ends) = self.ends_of(events, target) else {
            return;
        };
        let end = &mut self.ends[ends.own as usize];
        match known.deed {
            Effect::Writes => end.writes.push(row),
            Effect::Closes => end.closes.push(row),
            Effect::Opens => end.opens.push(row),
            _ if known.named == Some(Wait::Read) => end.reads.push(row),
            _ => {}
        }
        end.used_by(events.task(row));
    }

    /// Its input is a read of one stream, its output a write to the other.
    fn moves(&mut self, trace: &Trace, row: u32) {
        let events = &trace.events;
        let (source, sinks) = source_and_sinks(events, row);
        if let Some(ends) = source.and_then(|source| self.ends_of(events, source)) {
            let end = &mut self.ends[ends.own as usize];
            end.reads.push(row);
            end.used_by(events.task(row));
        }
        // At the end of its source, it has nothing to give.
        let gives = events.ret(row) != 0;
        for sink in sinks.into_iter().flatten().filter(|_| gives) {
            if let Some(ends) = self.ends_of(events, sink) {
                let end = &mut self.ends[ends.own as usize];
                end.writes.push(row);
                end.used_by(events.task(row));
            }
        }
    }

    /// The state of a fifo before any call at it is examined.
    pub(super) fn know_fifos(&mut self, trace: &Trace, fifos: &[Text]) {
        fifos
            .iter()
            .for_each(|&fifo| self.learn_fifo(&trace.events, fifo, Confidence::Inferred));
    }

    fn learn_fifo(&mut self, events: &EventTable, target: Text, sure: Confidence) {
        let number = self.number(events.texts.bytes(target));
        self.learn(
            target,
            Some(Ends {
                own: number,
                peer: number,
                sure,
            }),
        );
    }

    fn ends_of(&mut self, events: &EventTable, target: Text) -> Option<Ends> {
        if self
            .known
            .get(target.0 as usize)
            .is_none_or(|&known| known == 0)
        {
            let names = names(events.texts.bytes(target));
            let ends = names.map(|(own, peer)| {
                let (own, peer) = (self.number(&own), self.number(&peer));
                Ends {
                    own,
                    peer,
                    sure: Confidence::Measured,
                }
            });
            self.learn(target, ends);
        }
        self.known_ends(target)
    }

    fn known_ends(&self, target: Text) -> Option<Ends> {
        let known = *self.known.get(target.0 as usize)?;
        self.targets.get(known.checked_sub(2)? as usize).copied()
    }

    fn learn(&mut self, target: Text, ends: Option<Ends>) {
        let at = target.0 as usize;
        if at >= self.known.len() {
            self.known.resize(at + 1, 0);
        }
        self.known[at] = 1;
        if let Some(ends) = ends {
            self.targets.push(ends);
            self.known[at] = self.targets.len() as u32 + 1;
        }
    }

    fn number(&mut self, name: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.ends.len() as u32;
        self.ends.push(StreamEnd::default());
        self.numbers.insert(name.to_vec(), number);
        number
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        self.ends.iter_mut().for_each(|end| end.order(trace));
        self.unnamed.order(trace);
    }

    /// The last descendant that wrote to a descriptor without a name, if it did so just before the call ended.
    pub(super) fn unnamed_writer(&self, call: &Waiting<'_>) -> Option<Edge> {
        let trace = call.trace;
        let by_descendant = |row: u32| {
            let writer = trace.events.task(row);
            descends(trace, writer, call.task) && !same_process(trace, writer, call.task)
        };
        let row = call.last_inside(&self.unnamed, by_descendant)?;
        Some(call.edge(row, WakeKind::Stream, Confidence::Inferred))
            .filter(|edge| call.is_near_end(edge.at_ns))
    }

    /// The number of the write end of a target that is read.
    pub(super) fn other_end(&self, target: Text) -> Option<u32> {
        self.known_ends(target).map(|ends| ends.peer)
    }

    /// The tasks that used an end.
    pub(super) fn users(&self, end: u32) -> &[TaskId] {
        self.ends.get(end as usize).map_or(&[], |end| &end.users)
    }

    /// The number of the read end of a target that is written, and the reads there.
    pub(super) fn reads(&self, target: Text) -> Option<(u32, &Ordered)> {
        let ends = self.known_ends(target)?;
        Some((ends.peer, &self.ends.get(ends.peer as usize)?.reads))
    }

    /// The task that closed an end last.
    pub(super) fn left(&self, call: &Waiting<'_>, end: u32) -> Option<Edge> {
        leaver(call, self.ends.get(end as usize)?, |_| true)
    }

    /// The task that opened the other side of a fifo, which an open waits for.
    ///
    /// ```text
    /// reader   |------ open(fifo) ------|
    /// writer        |-- work --|- open -|
    /// ```
    pub(super) fn opener(&self, call: &Waiting<'_>) -> Option<Edge> {
        let target = call.trace.events.target(call.span.row);
        let end = self.ends.get(self.known_ends(target)?.own as usize)?;
        let row = call.last_begun_inside(&end.opens, |row| {
            call.trace.events.start_ns(row) > call.span.start_ns
                && are_two_sides(call.trace, call.span.row, row)
        })?;
        Some(call.edge(row, WakeKind::Stream, Confidence::Inferred))
    }

    /// The task that supplied the data that a call moved into another stream. A supplier that was itself blocked there
    /// is not the cause.
    pub(super) fn giver(&self, call: &Waiting<'_>) -> Option<Edge> {
        let events = &call.trace.events;
        let (Some(source), _) = source_and_sinks(events, call.span.row) else {
            return None;
        };
        let ends = self.known_ends(source)?;
        let end = self.ends.get(ends.peer as usize)?;
        let edge = match events.ret(call.span.row) {
            0 => leaver(call, end, |_| true),
            _ => writer(call, end, |row| events.dur_ns(row) < MIN_BLOCKED_WRITE_NS),
        }?;
        Some(Edge {
            sure: edge.sure.max(ends.sure),
            ..edge
        })
    }

    /// The last task that wrote at the other end of a target, or closed it.
    pub(super) fn last_event(&self, call: &Waiting<'_>, target: Text) -> Option<Edge> {
        let ends = self.known_ends(target)?;
        let end = self.ends.get(ends.peer as usize)?;
        let edge = writer(call, end, |_| true).or_else(|| leaver(call, end, |_| true))?;
        Some(Edge {
            sure: edge.sure.max(ends.sure),
            ..edge
        })
    }

    /// The waker of a read: the last writer during it; at end of file, the last to close.
    pub(super) fn writer(&self, call: &Waiting<'_>, row: u32, is_at_end: bool) -> Option<Edge> {
        let ends = self.known_ends(call.trace.events.target(row))?;
        let end = self.ends.get(ends.peer as usize)?;
        let late = || {
            Some(call.edge(
                call.first_begun_after(&end.writes, |_| true)?,
                WakeKind::Stream,
                Confidence::Inferred,
            ))
        };
        let edge = match is_at_end {
            true => leaver(call, end, |_| true),
            false => writer(call, end, |_| true).or_else(late),
        }?;
        Some(Edge {
            sure: edge.sure.max(ends.sure),
            ..edge
        })
    }
}

/// The source of a call's bytes, and their destination, if it has one. The source of sendfile is a file: the order of
/// the two arguments differs between systems.
pub(super) fn source_and_sinks(events: &EventTable, row: u32) -> (Option<Text>, [Option<Text>; 2]) {
    let (target, sink) = (known_text(events.target(row)), known_text(events.sink(row)));
    match events.action(row) {
        Action::SendsFile => (None, [sink, target]),
        _ => (target, [sink, None]),
    }
}

fn known_text(text: Text) -> Option<Text> {
    text.is_some().then_some(text)
}

/// The last matching writer.
pub(super) fn writer(
    call: &Waiting<'_>,
    end: &StreamEnd,
    fits: impl Fn(u32) -> bool,
) -> Option<Edge> {
    let row = call.last_inside(&end.writes, fits)?;
    Some(call.edge(row, WakeKind::Stream, Confidence::Measured))
}

/// The last matching close, or end of a user.
pub(super) fn leaver(
    call: &Waiting<'_>,
    end: &StreamEnd,
    fits: impl Fn(u32) -> bool,
) -> Option<Edge> {
    let closed = call
        .last_inside(&end.closes, fits)
        .map(|row| call.edge(row, WakeKind::Stream, Confidence::Measured));
    let exit = end.last_ended(call, call.span.start_ns, call.exits_until_ns(), |_| true);
    let best = closed.into_iter().chain(exit).max_by_key(|edge| edge.at_ns);
    best.filter(|edge| call.is_near_end(edge.at_ns))
        .or_else(|| {
            end.last_ended(
                call,
                call.exits_until_ns(),
                call.slow_exits_until_ns(),
                |user| call.saw_end_of(user),
            )
        })
        .or(best)
}

/// The names of a stream's own end and of the other one. A pipe has one name for both; a connected socket is `a->b`.
fn names(target: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    // Who reads the next request there waited for the answer to the one before, which a client needs first.
    if target.starts_with(b"pipe:[") || takes_answers(target) {
        return Some((target.to_vec(), target.to_vec()));
    }
    let open = memchr::memchr(b'[', target).filter(|&at| at > 0 && target[at - 1] == b':')?;
    let (kind, inside) = target.split_at_checked(open + 1)?;
    let is_socket = [&b"UNIX"[..], b"TCP", b"UDP", b"SCTP"]
        .iter()
        .any(|prefix| kind.starts_with(prefix));
    // After the numbers, `,"/run/x"` or `,@"x"`.
    let inside = &inside[..memchr::memchr(b',', inside).unwrap_or(inside.len())];
    let inside = if inside.len() + open + 1 == target.len() {
        inside.strip_suffix(b"]").unwrap_or(inside)
    } else {
        inside
    };
    let arrow = memchr::memmem::find(inside, b"->").filter(|_| is_socket);
    if kind.starts_with(b"UNIX") {
        return local_names(kind, inside, arrow);
    }
    let arrow = arrow?;
    let (own, peer) = (&inside[..arrow], &inside[arrow + 2..]);
    if let Some((own, peer)) = as_v4(own).zip(as_v4(peer)) {
        let kind = [
            kind.split(|&byte| byte == b'v').next().unwrap_or(kind),
            b":[",
        ]
        .concat();
        return Some((
            [&kind, &*own, b"->", &*peer].concat(),
            [&kind, &*peer, b"->", &*own].concat(),
        ));
    }
    Some((
        [kind, own, b"->", peer].concat(),
        [kind, peer, b"->", own].concat(),
    ))
}

/// The IPv4 address of an IPv6 socket in the form that the other end prints, which may be an IPv4 socket: of
/// `[::ffff:10.0.0.1]:80`, `10.0.0.1:80`.
fn as_v4(address: &[u8]) -> Option<Vec<u8>> {
    let (host, port) = address
        .strip_prefix(b"[::ffff:")?
        .split_at_checked(memchr::memchr(b']', address)? - 8)?;
    Some([host, port.strip_prefix(b"]")?].concat())
}

/// The same for a local socket, whose ends have numbers. Each end is named by its peer, because a socket with a peer
/// that is not accepted yet is printed without its own.
fn local_names(kind: &[u8], inside: &[u8], arrow: Option<usize>) -> Option<(Vec<u8>, Vec<u8>)> {
    let own = &inside[..arrow.unwrap_or(inside.len())];
    let writes_to = match arrow {
        Some(arrow) => [kind, b"->", &inside[arrow + 2..]].concat(),
        None => [kind, own, b"->"].concat(),
    };
    (!own.is_empty()).then(|| (writes_to, [kind, b"->", own].concat()))
}

#[cfg(test)]
mod tests {
    use super::names;
    use trace::store::targets::may_be_stream;

    #[test]
    fn the_two_ends_of_a_socket_name_each_other() {
        let cases: [(&[u8], &[u8]); 6] = [
            (
                b"TCP:[10.0.0.1:4711->10.0.0.2:80]",
                b"TCPv6:[[::ffff:10.0.0.2]:80->[::ffff:10.0.0.1]:4711]",
            ),
            (b"pipe:[7]", b"pipe:[7]"),
            (b"UNIX-STREAM:[20->21]", b"UNIX-STREAM:[21->20]"),
            (
                b"UNIX-STREAM:[20->21,\"/run/x\"]",
                b"UNIX-STREAM:[21->20,\"/run/x\"]",
            ),
            (b"UNIX-STREAM:[20->21,@\"x\"]", b"UNIX-STREAM:[21->20]"),
            (
                b"TCPv6:[[::1]:80->[::1]:4711]",
                b"TCPv6:[[::1]:4711->[::1]:80]",
            ),
        ];
        for (one, other) in cases {
            assert_eq!(
                names(one).map(|(_, peer)| peer),
                names(other).map(|(own, _)| own)
            );
            assert!(names(one).is_some());
        }
        assert!(
            cases
                .iter()
                .all(|(one, other)| may_be_stream(one) && may_be_stream(other))
        );
        let (_, read_by_accepted) = names(b"UNIX-STREAM:[20]").expect("a local socket");
        assert_eq!(
            names(b"UNIX-STREAM:[21->20]").map(|(own, _)| own),
            Some(read_by_accepted)
        );
        assert!(names(b"/etc/passwd").is_none());
        assert!(names(b"TCP:[0.0.0.0:22]").is_none());
    }
}
