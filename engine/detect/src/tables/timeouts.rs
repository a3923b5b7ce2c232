//! Timeouts: waits that reached their time limit, and the data that the task had sent to the awaited peer.
//!
//! ```text
//! send to 10.0.0.2:53 | poll 5 s, nothing | send again | poll 5 s, nothing | gives up      expired 2, sent_before
//! poll 1 s, nothing | poll 1 s, nothing | poll, something | …                              an idle loop
//! poll 1 s, nothing | open, read, write, … | poll 1 s, nothing | exit                      a timer: went_on
//! futex 1 s, nothing | wake a thread | futex 1 s, nothing | wake a thread | exit           a timer of a pool: went_on
//! poll 1 s, nothing | poll 1 s, nothing | poll … SIGTERM | poll 1 s, nothing | exit        idle; then its end is delayed
//! ```
//! A process that is told to end has not given up what it waited for until then.

mod ended_process;
mod given_up;
mod idle;
mod known_limits;

use crate::tables::timeouts::ended_process::{awaited_target, ends_awaited_process, meanwhile};
use crate::tables::timeouts::given_up::{is_closed_before, is_given_up_at};
use crate::tables::timeouts::idle::Around;
use crate::tables::timeouts::known_limits::known_limit;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::by_turns::turns;
use kit::table_support::call_stats::CallStats;
use kit::table_support::context::TableContext;
use kit::table_support::kill_victims::Victims;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::lengths::{chosen_ns, two_digits};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::shape_index::ShapeIndex;
use kit::table_support::sockets::{SocketCall, Sockets, bound, connection, peer, port};
use parsers::facts::Fds;
use parsers::syscalls::{Action, Wait, action_of};
use parsers::{NO_NS, Outcome, Text};
use path::waits::wait_kinds::{timed_out, was_broken_off};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::parallel;
use trace::store::event::{EventKind, Shape};
use trace::store::events::EventTable;
use trace::store::facts::EndedByAlarm;
use trace::store::heuristics::MIN_RHYTHM_WAITS;
use trace::store::index::TaskId;
use trace::store::targets::UNNAMED_SOCKET;
use trace::store::time_limits::{ran_out, wait_of_shape};
use trace::store::trace::Capture;

table! {
    timeouts "Expired waits, by task, syscall, target and time limit.";
    times: Calls;
    costs: Cost { calls: |action, _| action.wait().is_some(), apart: false, ..Cost::OF_TASK };
    row {
        of: OfTask,
        syscall: Text "Name of the system call.",
        op: Text "Sub-operation.",
        target: Text "What was awaited, if it is a single thing.",
        awaited: Words "Kind of the awaited thing: `child`, `signal`, `data`, `peer`, `file-lock`, `lock` (lock, semaphore, condition or another thread), `message` or `any` (one of several).",
        requested_ns: Ns (Same) "The timeout, if the capture shows it.",
        waits: Count "Number of all waits for the same thing, expired or not, with any timeout.",
        expired: Count "Number of waits that reached this timeout.",
        ran_ns: Ns "Total duration of the expired waits.",
        max_ns: Ns (Max) "Longest duration of an expired wait.",
        is_round: Flag "Whether the timeout is a typical hand-chosen value.",
        gave_up: Flag "Whether the last wait expired and the task continued with something else of its own accord, or killed the awaited process.",
        went_on: Flag "Whether the task then continued with something else or exited. In an idle loop, the next wait for the same thing follows soon and finally succeeds.",
        paces: Flag "Whether they pace a process that does not end by itself, or did so until it was told to end; or the task sends the next packet to an address without a port right after each.",
        sent_before: Text "Peer that the task had sent to, or tried to connect to, without an answer before the timeout.",
        sent_bytes: MaybeBytes "Bytes of the last send to that peer.",
        meanwhile: Words "What the awaited process was doing when the wait expired: its program and its call, where the trace shows it.",
        answered: Flag "Whether the answer to that request came later, without another request: the task waited for it in steps.",
        turns: MaybeCount "Number of the expired waits that began when another thread, which had just paused, woke this one, as if whoever pauses held a lock. Missing if there are none.",
        known_limit: Words "What usually sets a timeout of this length: the reply timeout of D-Bus.",
        freeable_ns: Ns "The part of exclusive_ns that an earlier end of the wait could save: none for a process that paces itself by waits for a post.",
        path: PathTime { exclusive_ns "Critical-path time of the expired waits." },
        lines: Lines {
            first_line "Line of the first expired wait.",
            last_line "Line of the last expired wait.",
        },
    }
}

/// The kind of a wait: syscall, operation, normalised target.
type Kind = (Text, Text, Text);

/// What expired waits of a group have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GroupKey {
    kind: Kind,
    /// The time limit, rounded.
    alike_ns: i64,
    went_on: bool,
    answered: bool,
    /// Whether the task had sent something that was not answered by then.
    has_asked: bool,
    /// Whether the process had been told to end.
    delays_end: bool,
}

/// Expired waits of a task with the same kind and time limit.
struct Group {
    key: GroupKey,
    sum: CallStats,
    requested_ns: Option<i64>,
    sent: Option<Sent>,
    rows: Vec<u32>,
}

/// All waits of a task of one kind, with any time limit.
#[derive(Clone, Copy, Default)]
struct All {
    waits: i64,
    expired: i64,
    /// The last wait, and whether it expired.
    last: Option<(u32, bool)>,
}

/// An expired wait. Its meaning is known only when the task waits for the same target again.
#[derive(Clone, Copy)]
struct Expired {
    row: u32,
    sent: Option<Sent>,
}

#[derive(Clone, Copy)]
struct Sent {
    /// The send.
    row: u32,
    to: Text,
    bytes: i64,
}

/// Builds the table of expired waits by task, syscall, target and time limit.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let tasks = tasks_with_expired(context);
    let around = Around::new(context);
    let all: Vec<OfTask> = parallel::map(&tasks, |&task| OfTask::new(&around, task));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    let victims = Victims::new(context);
    for (&task, of_task) in tasks.iter().zip(all) {
        of_task.write(&around, &victims, task, &mut builder);
    }
    builder.finish()
}

/// The tasks with waits that expired, unless all of these waits together stay below the caller's threshold: a row has no
/// more time than they have.
fn tasks_with_expired(context: &TableContext<'_>) -> Vec<TaskId> {
    let may_expire = ShapeIndex::new(context, |action, shape| {
        action
            .wait()
            .filter(|&wait| wait != Wait::Sleep && may_expire(context, wait, shape))
    });
    let tasks: Vec<TaskId> = context.tasks().collect();
    let expired_ns = |&task: &TaskId| {
        let expired = may_expire
            .calls(context, task)
            .filter(|&(row, wait)| is_expired(context, task, row, wait));
        expired
            .map(|(row, _)| context.exclusive_ns(row))
            .reduce(|sum_ns, ns| sum_ns + ns)
    };
    let found: Vec<Option<i64>> = parallel::map(&tasks, expired_ns);
    let found: Vec<(TaskId, i64)> = tasks
        .into_iter()
        .zip(found)
        .filter_map(|(task, ns)| Some((task, ns?)))
        .collect();
    let capture = |task: TaskId| context.trace.tasks[task].capture;
    let mut sums: FxHashMap<u32, i64> = FxHashMap::default();
    found
        .iter()
        .for_each(|&(task, ns)| *sums.entry(capture(task)).or_default() += ns);
    let reaches = |task: TaskId| {
        let ns = sums.get(&capture(task)).copied().unwrap_or(0);
        context
            .threshold
            .is_none_or(|threshold| ns >= threshold.least_of(capture(task)))
    };
    found
        .into_iter()
        .map(|(task, _)| task)
        .filter(|&task| reaches(task))
        .collect()
}

/// Collects the waits of a task.
#[derive(Default)]
struct OfTask {
    groups: FxHashMap<GroupKey, Group>,
    /// Expired waits, and whether the task went on after them.
    settled: Vec<(Kind, Expired, bool)>,
    /// Sends that were answered.
    answered: FxHashSet<u32>,
    /// Before and after the process was told to end.
    all: FxHashMap<(Kind, bool), All>,
    /// The last wait for each target, alone or among others, before and after the process was told to end.
    last: FxHashMap<(Text, bool), u32>,
    /// The latest consecutive expired waits, by kind and printed target.
    expired: FxHashMap<(Kind, Text), Vec<Expired>>,
    /// Data sent and not yet answered, by target.
    sent: FxHashMap<Text, Sent>,
    /// Targets that sent first. Data sent to them are answers.
    served: FxHashSet<Text>,
    /// Whether it received something unasked at a socket without a peer, as servers do.
    serves_datagrams: bool,
    last_row: u32,
}

impl OfTask {
    fn new(around: &Around<'_>, task: TaskId) -> OfTask {
        let (context, sockets) = (around.context, &around.sockets);
        let events = &context.trace.events;
        let mut here = OfTask::default();
        for (row, kind) in sockets.deeds.calls(context, task) {
            let target = connection(&events.texts, events.target(row));
            match kind {
                SocketCall::Accepts => {}
                // A program that looked for its own address by a connect asked nobody there.
                SocketCall::Listens => {
                    let bound = bound(&events.texts, target);
                    here.sent.remove(&bound);
                    here.served.extend([target, bound]);
                }
                SocketCall::Connects => {
                    here.served.remove(&target);
                    here.sends(context, sockets, row);
                    here.waits(around, task, row, Wait::Peer);
                }
                SocketCall::Sends => here.sends(context, sockets, row),
                SocketCall::Receives => {
                    // The connect has the address of the peer, the calls after it may have those of both sides.
                    let connected =
                        Some(peer(&events.texts, target)).filter(|&peer| peer != target);
                    let connect = connected.and_then(|peer| here.sent.remove(&peer));
                    here.answered.extend(connect.map(|sent| sent.row));
                    let asked = here.sent.remove(&target);
                    match asked.or_else(|| here.answered_datagram(context, row)) {
                        Some(sent) => here.answered.insert(sent.row),
                        None => {
                            // One that the task made and bound to no address serves nobody: netlink, a client.
                            let is_own = events.texts.bytes(target) == UNNAMED_SOCKET.as_bytes();
                            here.serves_datagrams |= has_no_peer(events, target) && !is_own;
                            here.served.insert(target)
                        }
                    };
                }
                SocketCall::Waits(wait) => here.waits(around, task, row, wait),
            }
        }
        here.last_row = context.calls_of(task).next_back().unwrap_or(0);
        for ((kind, _), expired) in std::mem::take(&mut here.expired) {
            let is_idle = expired
                .last()
                .is_some_and(|last| around.is_idle_at_end(task, last.row));
            here.settle(kind, &expired, !is_idle);
        }
        for (kind, expired, went_on) in std::mem::take(&mut here.settled) {
            here.group(around, kind, expired, went_on);
        }
        here
    }

    fn sends(&mut self, context: &TableContext<'_>, sockets: &Sockets, row: u32) {
        let events = &context.trace.events;
        let to = connection(&events.texts, events.target(row));
        if to.is_some() && !self.served.contains(&to) && !sockets.is_accepted(context, row) {
            let bytes = events.bytes(row).unwrap_or(0);
            // A message names the address that it is sent to where the socket has no peer.
            let named = Some(events.sink(row)).filter(|address| address.is_some());
            let sent = Sent {
                row,
                to: named.unwrap_or(to),
                bytes,
            };
            self.sent.insert(to, sent);
        }
    }

    fn waits(&mut self, around: &Around<'_>, task: TaskId, row: u32, wait: Wait) {
        let (context, events) = (around.context, &around.context.trace.events);
        let shape = events.shape(row);
        let kind = (shape.syscall, shape.op, shape.target);
        let expired = is_expired(context, task, row, wait);
        let delays_end = around.ends.was_told_before(context, task, row);
        let targets = events
            .polled(row)
            .iter()
            .copied()
            .chain([events.target(row)])
            .filter(|target| target.is_some());
        self.last
            .extend(targets.map(|target| ((bound(&events.texts, target), delays_end), row)));
        let all = self.all.entry((kind, delays_end)).or_default();
        all.waits += 1;
        all.expired += i64::from(expired);
        all.last = Some((row, expired));
        let is_look =
            wait == Wait::Poll && timed_out(events, row) && events.requested_ns(row) == Some(0);
        let like_this = (kind, events.target(row));
        let Some(before) = self
            .expired
            .get_mut(&like_this)
            .filter(|before| !is_look && !before.is_empty())
        else {
            if expired {
                let expired = Expired {
                    row,
                    sent: self.sent_to(context, row),
                };
                self.expired.insert(like_this, vec![expired]);
            }
            return;
        };
        let is_idle = before
            .last()
            .is_some_and(|last| around.is_idle(task, last.row, row));
        let settled = if expired && is_idle {
            Vec::new()
        } else {
            std::mem::take(before)
        };
        self.settle(kind, &settled, !is_idle);
        if expired {
            let expired = Expired {
                row,
                sent: self.sent_to(context, row),
            };
            self.expired.entry(like_this).or_default().push(expired);
        }
    }

    fn settle(&mut self, kind: Kind, expired: &[Expired], went_on: bool) {
        self.settled
            .extend(expired.iter().map(|&expired| (kind, expired, went_on)));
    }

    /// Add a wait to those like it. Whether an answer came after it is known once all calls have been read.
    fn group(
        &mut self,
        around: &Around<'_>,
        kind: Kind,
        Expired { row, sent }: Expired,
        went_on: bool,
    ) {
        let context = around.context;
        let requested_ns = context.trace.events.requested_ns(row);
        let key = GroupKey {
            kind,
            alike_ns: requested_ns.map_or(NO_NS, two_digits),
            went_on,
            answered: sent.is_some_and(|sent| self.answered.contains(&sent.row)),
            has_asked: sent.is_some(),
            delays_end: around
                .ends
                .was_told_before(context, context.trace.events.task(row), row),
        };
        let group = self.groups.entry(key).or_insert_with(|| Group {
            key,
            sum: CallStats::new(row),
            requested_ns,
            sent,
            rows: Vec::new(),
        });
        group.sum.add(context, row);
        group.sent = group.sent.or(sent);
        group.rows.push(row);
    }

    /// The data sent to a target that the call waits for.
    fn sent_to(&self, context: &TableContext<'_>, row: u32) -> Option<Sent> {
        let events = &context.trace.events;
        let mut targets =
            std::iter::once(events.target(row)).chain(events.polled(row).iter().copied());
        targets
            .find_map(|target| self.sent.get(&connection(&events.texts, target)))
            .copied()
            .or_else(|| self.asked_before(events, row))
            .or_else(|| self.asked_at_epoll(context, row))
    }

    /// The only request that an epoll waits for and that the task gives up later, without an answer.
    ///
    /// ```text
    /// send to 7 | epoll_ctl ADD 7 | epoll_wait 500 ms, nothing | epoll_wait 500 ms, nothing | close 7
    /// ```
    fn asked_at_epoll(&self, context: &TableContext<'_>, row: u32) -> Option<Sent> {
        if context.trace.events.action(row) != Action::PollsEpoll {
            return None;
        }
        let mut given_up = self
            .sent
            .values()
            .filter(|sent| is_given_up_at(context, sent.row, row));
        let only = given_up.next()?;
        given_up.next().is_none().then_some(*only)
    }

    /// The only open request, if it is a datagram to an address, and the call waits for one socket without a peer.
    ///
    /// ```text
    /// sendto(3, "q", …, 10.0.0.2:1812) | pselect6(4, [3], 1 s), nothing | sendto again
    /// sendto(3, "q", …, 10.0.0.2:69) | alarm 1 s | recvfrom(3), broken off | sendto again
    /// ```
    fn asked_before(&self, events: &EventTable, row: u32) -> Option<Sent> {
        let is_receive = matches!(events.action(row), Action::Receives | Action::ReceivesMany);
        let waits_for_one = events
            .facts
            .get::<Fds>(row)
            .map_or(is_receive, |fds| fds.len() == 1);
        let polled = events.polled(row);
        let fits = waits_for_one
            && !self.serves_datagrams
            && polled.iter().all(|&target| has_no_peer(events, target));
        let asked = self.asked_datagram(events).filter(|_| fits)?;
        self.sent.get(&asked).copied()
    }

    /// The open request that data answer which arrive at a socket without a peer.
    fn answered_datagram(&mut self, context: &TableContext<'_>, row: u32) -> Option<Sent> {
        let events = &context.trace.events;
        let target = connection(&events.texts, events.target(row));
        let asked = self
            .asked_datagram(events)
            .filter(|_| has_no_peer(events, target))?;
        let sent = self.sent.remove(&asked)?;
        (!is_closed_before(context, sent.row, row)).then_some(sent)
    }

    /// The address of the only open request that was sent as a datagram from a socket without a peer.
    fn asked_datagram(&self, events: &EventTable) -> Option<Text> {
        let is_datagram = |(to, sent): &(&Text, &Sent)| {
            let name = events.texts.bytes(**to);
            let is_send = matches!(events.action(sent.row), Action::Sends | Action::SendsMany);
            let is_address = memchr::memmem::find(name, b":[").is_none()
                && port(name).is_some_and(|port| port > 0);
            is_send && is_address && events.outcome(sent.row) == Outcome::Ok
        };
        let mut all = self.sent.iter().filter(is_datagram);
        let (&to, _) = all.next()?;
        all.next().is_none().then_some(to)
    }

    /// Whether the last wait for the same thing expired, and the task then did something else of its own accord.
    fn gave_up(&self, around: &Around<'_>, task: TaskId, all: &All, key: &GroupKey) -> bool {
        let events = &around.context.trace.events;
        all.last.is_some_and(|(row, expired)| {
            let target = events.target(row);
            let is_last = !target.is_some()
                || self
                    .last
                    .get(&(bound(&events.texts, target), key.delays_end))
                    == Some(&row);
            // A server in its rhythm waits for clients until it ends.
            let serves = all.expired >= MIN_RHYTHM_WAITS && around.is_server(task);
            expired
                && is_last
                && row != self.last_row
                && !serves
                && !around.is_idle_at_end(task, row)
        })
    }

    fn write(
        mut self,
        around: &Around<'_>,
        victims: &Victims<'_>,
        task: TaskId,
        builder: &mut TableBuilder<'_>,
    ) {
        let context = around.context;
        let mut groups: Vec<Group> = std::mem::take(&mut self.groups).into_values().collect();
        groups.sort_unstable_by_key(|group| group.sum.first_row);
        let tick_ns = context.capture_of(task).map_or(1, Capture::dur_tick_ns);
        let asks = groups.iter().filter(|group| group.key.has_asked);
        let asks: FxHashSet<Kind> = asks.map(|group| group.key.kind).collect();
        for group in groups {
            let GroupKey {
                kind: (syscall, op, _),
                delays_end,
                ..
            } = group.key;
            let all = self
                .all
                .get(&(group.key.kind, delays_end))
                .copied()
                .unwrap_or_default();
            let length_ns = group.requested_ns.unwrap_or(group.sum.max_ns);
            // A task that repeats the wait is idle and has not given up, unless it sent a signal to end the awaited
            // process.
            let gives_up = |&row: &u32| ends_awaited_process(context, task, row);
            // Ticks without a request end in nothing because the waits for an answer do.
            let has_last = group.key.has_asked
                || !asks.contains(&group.key.kind)
                || all.last.is_some_and(|(row, _)| group.rows.contains(&row));
            let gave_up = has_last && self.gave_up(around, task, &all, &group.key)
                || group.rows.iter().any(gives_up);
            // The limit is what is left until the next timer of a loop: waits with several limits are one rhythm.
            let is_rhythm = all.expired >= MIN_RHYTHM_WAITS && !delays_end;
            let known = group.requested_ns.and_then(|limit_ns| {
                let port = group
                    .sent
                    .and_then(|sent| port(context.trace.events.texts.bytes(sent.to)));
                known_limit(limit_ns, action_of(syscall).wait(), port)
            });
            let is_epoll = action_of(syscall) == Action::PollsEpoll;
            // Neither name says more than that of the peer.
            let first_target = context.trace.events.target(group.sum.first_row);
            let first_name = context.trace.events.texts.bytes(first_target);
            let is_unnamed = first_name == UNNAMED_SOCKET.as_bytes();
            let is_turn = awaited(action_of(syscall)) == Some("lock") && is_rhythm;
            let row = TableRow {
                of: TaskAt {
                    task,
                    row: group.sum.first_row,
                },
                syscall,
                op,
                target: if (is_epoll || is_unnamed) && group.sent.is_some() {
                    Text::NONE
                } else {
                    awaited_target(context, victims, task, group.sum.first_row)
                },
                awaited: awaited(action_of(syscall)).map(str::to_owned),
                requested_ns: group.requested_ns.unwrap_or(NO_NS),
                waits: all.waits,
                expired: group.sum.calls,
                ran_ns: group.sum.total_ns,
                max_ns: group.sum.max_ns,
                is_round: chosen_ns(length_ns, tick_ns).is_some(),
                gave_up,
                went_on: group.key.went_on,
                paces: is_rhythm && !around.ends.ends_by_itself(context, task)
                    || group.sent.is_none()
                        && group.rows.iter().all(|&row| probes_next(context, row)),
                sent_before: group.sent.map_or(Text::NONE, |sent| sent.to),
                sent_bytes: group.sent.map(|sent| sent.bytes),
                meanwhile: meanwhile(context, victims, task, group.sum.first_row),
                answered: group.key.answered,
                turns: turns(context, task, &group.rows),
                known_limit: known.map(str::to_owned),
                freeable_ns: if is_turn { 0 } else { group.sum.exclusive_ns },
                path: group.sum.exclusive_ns,
                lines: LinesOf {
                    first_row: group.sum.first_row,
                    last_row: group.sum.last_row,
                },
            };
            builder.add(row, Provenance::Rows(group.rows));
        }
    }
}

/// Whether the next call of the task sends a packet to an address without a port, as ping does after its pause.
fn probes_next(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let next = context.trace.rows_from(events.task(row), row).get(1);
    next.is_some_and(|&next| {
        matches!(events.action(next), Action::Sends | Action::SendsMany)
            && events.texts.bytes(events.target(next)).ends_with(b":0")
    })
}

/// Whether a socket is known by its descriptor, its inode or its own address only.
fn has_no_peer(events: &EventTable, target: Text) -> bool {
    let name = events.texts.bytes(target);
    let own = [&b"UDP"[..], b"socket:[", b"0.0.0.0:", b"[::]:"];
    own.iter().any(|own| name.starts_with(own)) && memchr::memmem::find(name, b"->").is_none()
}

/// The kind of event that a syscall waits for.
fn awaited(action: Action) -> Option<&'static str> {
    Some(match action.wait()? {
        Wait::Child => "child",
        Wait::Signal => "signal",
        Wait::Read => "data",
        Wait::Poll => "any",
        Wait::Peer => "peer",
        Wait::Message if action == Action::ChangesSemaphore => "lock",
        Wait::Lock
            if matches!(
                action,
                Action::LocksFile | Action::LocksRange | Action::ControlsFile
            ) =>
        {
            "file-lock"
        }
        Wait::Lock => "lock",
        Wait::Message => "message",
        Wait::Sleep => return None,
    })
}

/// Whether a wait ended because of its time limit. Polls with a zero timeout and sleeps do not count.
pub(super) fn is_expired(context: &TableContext<'_>, task: TaskId, row: u32, wait: Wait) -> bool {
    let events = &context.trace.events;
    let errno = events.texts.bytes(events.shape(row).errno);
    match wait {
        Wait::Poll => {
            timed_out(events, row)
                && events.requested_ns(row) != Some(0)
                && !events.polls_nothing(row)
        }
        Wait::Signal if errno == b"EAGAIN" => events.requested_ns(row) != Some(0),
        Wait::Signal => ended_by_own_timer(context, task, row),
        Wait::Child if was_broken_off(events, row) => ended_by_own_timer(context, task, row),
        Wait::Message if errno == b"EAGAIN" => ran_out(events, row),
        _ => timed_out(events, row) || events.facts.has::<EndedByAlarm>(row),
    }
}

/// Whether calls of a shape may have ended because of their time limits. Of most shapes, none has.
pub(super) fn may_expire(context: &TableContext<'_>, wait: Wait, shape: &Shape) -> bool {
    let events = &context.trace.events;
    let has_expired = match events.texts.bytes(shape.errno) {
        b"ETIMEDOUT" | b"ETIME" => true,
        b"EAGAIN" => wait == Wait::Message,
        _ => shape.outcome == Outcome::Ok && wait_of_shape(shape) == Some(Wait::Poll),
    };
    // What follows these, and the alarms of a process, may show it.
    has_expired
        || matches!(wait, Wait::Signal | Wait::Child)
        || !events.facts.all::<EndedByAlarm>().is_empty()
}

/// Whether the next event of the task is SIGALRM.
fn ended_by_own_timer(context: &TableContext<'_>, task: TaskId, row: u32) -> bool {
    let events = &context.trace.events;
    let next = context
        .trace
        .rows_from(task, row)
        .get(1)
        .filter(|&&next| events.kind(next) == EventKind::Signal);
    next.is_some_and(|&next| events.texts.bytes(events.shape(next).syscall) == b"SIGALRM")
}
