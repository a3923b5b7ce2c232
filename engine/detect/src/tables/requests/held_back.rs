//! Round trips as long as a delayed acknowledgement, confirmed by the peer's calls if the peer is traced.
//!
//! ```text
//! client   write | write |--------- read 40 ms ---------|        both wait until the second write gets through,
//! server   read    |-------- read 40 ms -------|write|            so the time on the path is in the server's read
//! server   read  | read |- work 40 ms -|write|                    not delayed: the second write arrived at once
//! client   write |- pause 40 ms -| write |- pause 40 ms -| write  not delayed: the first was acknowledged long before
//! ```

use kit::table_support::context::TableContext;
use kit::table_support::sockets::{SocketCall, Sockets};
use parsers::syscalls::Wait;
use trace::store::heuristics::DELAYED_ACK_NS;
use trace::store::index::TaskId;

/// Maximum number of calls of the peer that are checked per request.
const MAX_CALLS: usize = 64;

/// Whether this time since the last write matches a delayed acknowledgement.
fn is_held_back(gap_after_ns: i64) -> bool {
    DELAYED_ACK_NS
        .iter()
        .any(|held| held.contains(&gap_after_ns))
}

/// Whether one write followed another so soon that the acknowledgement of the first may still have been due.
pub(super) fn are_together(apart_ns: i64) -> bool {
    apart_ns < DELAYED_ACK_NS[0].start
}

/// The peer's waits for the rest of a request. The last part was sent at `sent_ns`, and `waits` are
/// the calls that waited for the answer. Empty if the peer is not traced, `None` if no acknowledgement was delayed.
pub(super) fn waits_of_peer(
    context: &TableContext<'_>,
    sockets: &Sockets,
    sent_ns: i64,
    waits: &[u32],
) -> Option<Vec<u32>> {
    let events = &context.trace.events;
    let answered_ns = waits.last().and_then(|&row| events.end_ns(row))?;
    if !is_held_back(answered_ns.saturating_sub(sent_ns)) {
        return None;
    }
    let answer = waits
        .iter()
        .rev()
        .find_map(|&row| answered_by(context, row));
    let Some((peer, at_ns)) = answer else {
        return Some(Vec::new());
    };
    let rows = context.trace.rows_of(peer);
    let until = rows.partition_point(|&row| events.start_ns(row) < at_ns);
    let calls = rows[..until]
        .iter()
        .rev()
        .take(MAX_CALLS)
        .filter_map(|&row| {
            let kind = sockets.deeds.of_shape(events.shape_number(row))?;
            matches!(kind, SocketCall::Receives | SocketCall::Waits(Wait::Poll))
                .then_some((row, kind))
        });
    let near: Vec<(u32, SocketCall)> = calls.collect();
    let received = near
        .iter()
        .find(|(row, kind)| *kind == SocketCall::Receives && events.ret(*row) > 0);
    let Some(got_ns) = received.and_then(|&(row, _)| events.end_ns(row)) else {
        return Some(Vec::new());
    };
    let waited = near
        .iter()
        .map(|&(row, _)| row)
        .filter(|&row| events.end_ns(row).is_some_and(|end_ns| end_ns > sent_ns));
    is_held_back(got_ns.saturating_sub(sent_ns)).then(|| waited.collect())
}

/// The task that ended a wait for an answer, and the time.
fn answered_by(context: &TableContext<'_>, row: u32) -> Option<(TaskId, i64)> {
    let events = &context.trace.events;
    let task = events.task(row);
    events.end_ns(row)?;
    let edge = context.wakers.waker(
        context.trace,
        task,
        context.trace.place_of(task, row)?,
        context.trace.printed_span(row),
    )?;
    (edge.task != task).then_some((edge.task, edge.at_ns))
}
