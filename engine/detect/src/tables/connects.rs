//! Connects: attempts to reach a peer, including the poll after a non-blocking connect.

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::sockets::{SocketCall, Sockets, port};
use parsers::syscalls::{Action, Wait};
use parsers::{NO_NS, Outcome, Text};
use path::waits::wait_kinds::timed_out;
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::events::EventTable;
use trace::store::facts::ConnectOutcome;
use trace::store::index::TaskId;
use trace::store::time_limits::min_duration_ns;

table! {
    connects "Connections, by task and peer.";
    times: Calls;
    costs: Cost {
        calls: |action, _| action == Action::Connects || action.wait() == Some(Wait::Poll),
        ..Cost::OF_TASK
    };
    row {
        of: OfTask,
        peer: Text "Peer that it tried to reach.",
        port: MaybeNumber "The port of the peer.",
        attempts: Count "Number of connects.",
        failed: Count "Number of these calls that failed.",
        expired: Count "Number of waits for a connection that timed out.",
        errno: Text "Name of the last error.",
        waited_ns: Ns "Time in connects and in polls for them.",
        max_ns: Ns (Max) "Longest wait, from the connect to the end of the poll.",
        path: PathTime,
        lines: Lines,
    }
}

/// Connection attempts of a task to one peer.
struct Peer {
    first_target: Text,
    attempts: i64,
    failed: i64,
    expired: i64,
    errno: Text,
    waited_ns: i64,
    max_ns: i64,
    rows: Vec<u32>,
}

/// A connection in progress.
#[derive(Clone, Copy)]
struct Pending {
    /// Its peer.
    name: Text,
    since_ns: i64,
    /// The row that reports its outcome, if there is one.
    outcome: Option<u32>,
}

/// Builds the table of connects by task and peer.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let sockets = Sockets::new(context);
    let tasks: Vec<TaskId> = context.tasks().collect();
    let all: Vec<Vec<(Text, Peer)>> =
        parallel::map(&tasks, |&task| of_task(context, &sockets, task));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (&task, peers) in tasks.iter().zip(all) {
        peers
            .into_iter()
            .for_each(|(name, peer)| write(context, task, name, peer, &mut builder));
    }
    builder.finish()
}

fn of_task(context: &TableContext<'_>, sockets: &Sockets, task: TaskId) -> Vec<(Text, Peer)> {
    let events = &context.trace.events;
    let mut peers: FxHashMap<Text, Peer> = FxHashMap::default();
    let mut pending: Option<Pending> = None;
    for (row, kind) in sockets.deeds.calls(context, task) {
        match kind {
            SocketCall::Connects => pending = connect(context, row, &mut peers),
            SocketCall::Waits(Wait::Poll) => {
                pending =
                    pending.filter(|pending| pending.outcome.is_none_or(|outcome| row < outcome));
                let Some(Pending { name, since_ns, .. }) = pending else {
                    continue;
                };
                let Some(peer) = peers.get_mut(&name) else {
                    continue;
                };
                let expired = timed_out(events, row);
                peer.expired += i64::from(expired);
                peer.rows.push(row);
                let dur_ns = lasted_ns(events, row);
                peer.waited_ns = peer.waited_ns.saturating_add(dur_ns);
                let since_ns = events
                    .end_ns(row)
                    .map_or(dur_ns, |end_ns| end_ns.saturating_sub(since_ns));
                peer.max_ns = peer.max_ns.max(since_ns);
                if !expired {
                    pending = None;
                }
            }
            SocketCall::Sends | SocketCall::Receives => pending = None,
            _ => {}
        }
    }
    let mut peers: Vec<_> = peers.into_iter().collect();
    peers.sort_unstable_by_key(|(name, _)| *name);
    peers
}

/// The duration of a call, or the limit that it reached where no duration is known.
fn lasted_ns(events: &EventTable, row: u32) -> i64 {
    match events.dur_ns(row) {
        NO_NS => min_duration_ns(events, row),
        dur_ns => dur_ns.max(0),
    }
}

fn connect(
    context: &TableContext<'_>,
    row: u32,
    peers: &mut FxHashMap<Text, Peer>,
) -> Option<Pending> {
    let events = &context.trace.events;
    let (shape, dur_ns) = (events.shape(row), events.dur_ns(row));
    let new = || Peer {
        first_target: events.target(row),
        attempts: 0,
        failed: 0,
        expired: 0,
        errno: Text::NONE,
        waited_ns: 0,
        max_ns: 0,
        rows: Vec::new(),
    };
    let peer = peers.entry(shape.target).or_insert_with(new);
    let goes_on = matches!(
        events.texts.bytes(shape.errno),
        b"EINPROGRESS" | b"EAGAIN" | b"EINTR"
    );
    let connected = events.facts.get::<ConnectOutcome>(row).copied();
    let errno = connected.map_or(shape.errno, |connected| connected.errno);
    let failed = connected.map_or(shape.outcome == Outcome::Failed && !goes_on, |connected| {
        connected.errno.is_some()
    });
    peer.attempts += 1;
    peer.failed += i64::from(failed);
    if failed {
        peer.errno = errno;
    }
    let dur_ns = if dur_ns == NO_NS { 0 } else { dur_ns };
    peer.waited_ns = peer.waited_ns.saturating_add(dur_ns);
    peer.max_ns = peer.max_ns.max(dur_ns);
    peer.rows.push(row);
    let outcome = connected.map(|connected| connected.by);
    goes_on.then(|| Pending {
        name: shape.target,
        since_ns: events.start_ns(row),
        outcome,
    })
}

fn write(
    context: &TableContext<'_>,
    task: TaskId,
    name: Text,
    peer: Peer,
    builder: &mut TableBuilder<'_>,
) {
    let (Some(&first_row), Some(&last_row)) = (peer.rows.first(), peer.rows.last()) else {
        return;
    };
    let row = TableRow {
        of: TaskAt {
            task,
            row: first_row,
        },
        peer: name,
        port: port(context.trace.events.texts.bytes(peer.first_target)),
        attempts: peer.attempts,
        failed: peer.failed,
        expired: peer.expired,
        errno: peer.errno,
        waited_ns: peer.waited_ns,
        max_ns: peer.max_ns,
        path: peer.rows.iter().map(|&row| context.exclusive_ns(row)).sum(),
        lines: LinesOf {
            first_row,
            last_row,
        },
    };
    builder.add(row, Provenance::Rows(peer.rows));
}
