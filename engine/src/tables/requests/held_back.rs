//! Round trips that take as long as an acknowledgement is held back, where the peer is in the trace, too.
//!
//! ```text
//! client   write | write |--------- read 40 ms ---------|        nobody does anything until the second write gets through,
//! server   read    |-------- read 40 ms -------|write|            so the time on the path is in the server's read
//! server   read  | read |- work 40 ms -|write|                    not so: the second write came at once
//! ```

use crate::table_support::context::TableContext;
use crate::tables::sockets::{SocketCall, Sockets};
use parsers::syscalls::Wait;
use std::ops::Range;

/// How long acknowledgements are held back: 40 ms on Linux, 200 ms elsewhere, and a little for the way.
const HELD_BACK_NS: [Range<i64>; 2] = [38_000_000..60_000_000, 195_000_000..225_000_000];
/// Calls of the peer that are looked at for one request.
const CALLS: usize = 64;

/// Whether this long after the last write an acknowledgement was no longer held back.
fn is_held_back(gap_after_ns: i64) -> bool {
    HELD_BACK_NS.iter().any(|held| held.contains(&gap_after_ns))
}

/// The calls in which the peer waited for the rest of a request, whose last part was sent at `sent_ns` and which these calls
/// waited for; none if the peer is not in the trace. `None` if no acknowledgement was held back.
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
    let answer = waits.iter().rev().find_map(|&row| answered_by(context, row));
    let Some((peer, at_ns)) = answer else { return Some(Vec::new()) };
    let rows = context.trace.rows_of(peer);
    let until = rows.partition_point(|&row| events.start_ns(row) < at_ns);
    let calls = rows[..until].iter().rev().take(CALLS).filter_map(|&row| {
        let deed = sockets.deeds.of_shape(events.shape_number(row))?;
        matches!(deed, SocketCall::Receives | SocketCall::Waits(Wait::Poll)).then_some((row, deed))
    });
    let near: Vec<(u32, SocketCall)> = calls.collect();
    let received = near.iter().find(|(row, deed)| *deed == SocketCall::Receives && events.ret(*row) > 0);
    let Some(got_ns) = received.and_then(|&(row, _)| events.end_ns(row)) else { return Some(Vec::new()) };
    let waited =
        near.iter().map(|&(row, _)| row).filter(|&row| events.end_ns(row).is_some_and(|end_ns| end_ns > sent_ns));
    is_held_back(got_ns.saturating_sub(sent_ns)).then(|| waited.collect())
}

/// Who ended a wait for an answer, and when.
fn answered_by(context: &TableContext<'_>, row: u32) -> Option<(u32, i64)> {
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
