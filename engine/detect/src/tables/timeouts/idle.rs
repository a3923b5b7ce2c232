//! Whether a task only waits again after an expired wait.

use kit::table_support::context::TableContext;
use kit::table_support::process_ends::{ProcessEnds, ended};
use kit::table_support::sockets::{SocketCall, Sockets};
use parsers::Outcome;
use parsers::line::Ended;
use parsers::syscalls::{Action, action_of};
use rustc_hash::FxHashSet;
use trace::store::event::EventKind;
use trace::store::events::EventTable;
use trace::store::heuristics::{MAX_BETWEEN_PARTS_NS, MAX_CALLS_BETWEEN_PARTS, MIN_INPUT_WAIT_NS};
use trace::store::index::TaskId;

/// What the waits of a task are judged by.
pub(super) struct Around<'all> {
    pub context: &'all TableContext<'all>,
    pub sockets: Sockets,
    pub ends: ProcessEnds,
    /// The processes that serve clients, by capture and id.
    servers: FxHashSet<(u32, i32)>,
}

impl<'all> Around<'all> {
    pub(super) fn new(context: &'all TableContext<'all>) -> Around<'all> {
        let sockets = Sockets::new(context);
        let is_server = |task: TaskId| {
            let mut calls = sockets.deeds.calls(context, task).map(|(_, call)| call);
            calls.any(|call| matches!(call, SocketCall::Listens | SocketCall::Accepts))
        };
        let has_servers = sockets
            .deeds
            .any(|call| matches!(call, SocketCall::Listens | SocketCall::Accepts));
        let ends = ProcessEnds::new(context);
        // A program that ends by itself although no client came had other work than to serve: a crawler with a console.
        let has_accepted = |task: TaskId| {
            let mut calls = sockets.deeds.calls(context, task);
            let events = &context.trace.events;
            calls.any(|(row, call)| {
                call == SocketCall::Accepts && events.outcome(row) == Outcome::Ok
            })
        };
        let servers: FxHashSet<(u32, i32)> = context
            .tasks()
            .filter(|&task| has_servers && is_server(task))
            .filter(|&task| !ends.ends_by_itself(context, task) || has_accepted(task))
            .map(|task| process(context, task))
            .collect();
        Around {
            context,
            servers,
            ends,
            sockets,
        }
    }

    /// Whether the process of a task serves clients.
    pub(super) fn is_server(&self, task: TaskId) -> bool {
        self.servers.contains(&process(self.context, task))
    }

    /// Whether a task made hardly any calls between an expired wait and the next one for the same target, and sent nothing.
    /// What it does after it was told to end is not its choice.
    pub(super) fn is_idle(&self, task: TaskId, expired: u32, next: u32) -> bool {
        let told = self
            .ends
            .told(self.context, task)
            .filter(|&told| self.context.trace.starts_before(told, next));
        let told = told.filter(|&told| self.context.trace.starts_before(expired, told));
        !self.is_ready_by_itself(task, expired, next)
            && self.is_idle_until(task, expired, Some(told.unwrap_or(next)))
    }

    /// Whether the next wait after an expired one returned at once because of what the task asked for in between: it wants
    /// to send, and there is room.
    ///
    /// ```text
    /// epoll_wait 500 ms, nothing | epoll_ctl MOD 12 to EPOLLOUT | epoll_wait 8 us, 12 | send to 12
    /// ```
    fn is_ready_by_itself(&self, task: TaskId, expired: u32, next: u32) -> bool {
        let (context, events) = (self.context, &self.context.trace.events);
        let rows = context.trace.rows_from(task, expired).iter().skip(1);
        let mut between = rows
            .copied()
            .take_while(|&row| row != next)
            .take(MAX_CALLS_BETWEEN_PARTS);
        let is_at_once = (0..MIN_INPUT_WAIT_NS).contains(&events.dur_ns(next));
        is_at_once
            && events.ret(next) > 0
            && between.any(|row| events.action(row) == Action::RegistersPoll)
    }

    /// Whether a task does as little between an expired wait and the moment when something else ends it.
    pub(super) fn is_idle_at_end(&self, task: TaskId, expired: u32) -> bool {
        let told = self
            .ends
            .told(self.context, task)
            .filter(|&told| self.context.trace.starts_before(expired, told));
        // Where no call follows the wait, what the task does next is unknown.
        let rows = self.context.trace.rows_from(task, expired);
        let events = &self.context.trace.events;
        let is_last = || {
            let mut later = rows.iter().skip(1);
            later.all(|&row| events.kind(row) != EventKind::Call)
        };
        // Servers are told to end, even where the tracer prints no signals.
        let is_ended = match ended(self.context, task) {
            Some(Ended::Killed(_)) => true,
            Some(Ended::Exited(_)) => told.is_some(),
            None => self.is_server(task) || is_last(),
        };
        is_ended && self.is_idle_until(task, expired, told)
    }

    fn is_idle_until(&self, task: TaskId, expired: u32, until: Option<u32>) -> bool {
        let (context, events) = (self.context, &self.context.trace.events);
        let rows = context.trace.rows_from(task, expired).iter().copied();
        let mut between = rows
            .skip(1)
            .take_while(|&row| until.is_none_or(|until| context.trace.starts_before(row, until)))
            .take(MAX_CALLS_BETWEEN_PARTS + 1);
        let from_ns = events.end_ns(expired);
        let between_ns = from_ns.zip(until).map_or(0, |(from_ns, until)| {
            events.start_ns(until).saturating_sub(from_ns)
        });
        // A server has timers for its own upkeep, for which nobody waits, and which may take a while.
        let is_server = self.is_server(task);
        let keeps_up = is_server || !self.ends.ends_by_itself(context, task);
        let works = |row: u32| begins_work(events, row) && !keeps_up;
        // What it sends after the wait may be what another process waited for.
        let sends = |row: u32| {
            self.sockets.deeds.of_shape(events.shape_number(row)) == Some(SocketCall::Sends)
        };
        let mut calls = 0;
        between.all(|row| {
            calls += 1;
            calls <= MAX_CALLS_BETWEEN_PARTS && !sends(row) && !works(row)
        }) && (is_server || between_ns <= MAX_BETWEEN_PARTS_NS)
    }
}

fn process(context: &TableContext<'_>, task: TaskId) -> (u32, i32) {
    let known = &context.trace.tasks[task];
    (known.capture, known.pid)
}

/// Whether a call hands work on or begins some: it wakes a waiting thread, types a line, opens, connects, or starts a task.
fn begins_work(events: &EventTable, row: u32) -> bool {
    if events.kind(row) != EventKind::Call || events.outcome(row) != Outcome::Ok {
        return false;
    }
    let shape = events.shape(row);
    match action_of(shape.syscall) {
        Action::UsesFutex => {
            events.texts.bytes(shape.op).starts_with(b"FUTEX_WAKE") && events.ret(row) > 0
        }
        // What it types at the master side of a terminal, another program reads.
        Action::Writes => events
            .texts
            .bytes(events.target(row))
            .starts_with(b"/dev/ptmx"),
        Action::Wakes | Action::Opens | Action::MakesSocket | Action::Connects => true,
        Action::Forks | Action::Vforks | Action::Spawns | Action::CreatesThread | Action::Execs => {
            true
        }
        _ => false,
    }
}
