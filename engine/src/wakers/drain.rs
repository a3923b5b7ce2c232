//! Writes that were held up because a pipe or socket was full, until its reader made room, or left it for good (`EPIPE`).
//!
//! ```text
//! writer   |------ write(pipe:[7]) ------|
//! reader      |--- work ---|- read -|              begun behind the write: it did not wait for it, so it was busy
//! ```

use super::stream::Streams;
use super::waiting::{Waiting, end_ns};
use super::waits::{Wait, wait_of_row};
use super::{Edge, How, Sure};
use parsers::Outcome;

/// A write that nothing holds up takes less, tracer and all.
const HELD_UP_NS: i64 = 100_000;
/// Readers, and calls of each, that are looked at.
const READERS: usize = 32;
const CALLS: usize = 64;

/// Who made room for a write.
pub(super) fn reader(streams: &Streams, call: &Waiting<'_>) -> Option<Edge> {
    let held_up = call.span.end_ns.saturating_sub(call.span.start_ns) >= HELD_UP_NS;
    let (readers, peer) = held_up.then(|| streams.readers(call)).flatten()?;
    let trace = call.trace;
    let events = &trace.events;
    if events.texts.bytes(events.shape(call.span.row).errno) == b"EPIPE" {
        return streams.left(call, peer).map(|edge| Edge { how: How::Drain, sure: Sure::Inferred, ..edge });
    }
    let made_room = |reader: u32| {
        let rows = trace.rows_of(reader);
        let until = rows.partition_point(|&row| events.start_ns(row) <= call.span.end_ns);
        let behind =
            rows[..until].iter().rev().take(CALLS).take_while(|&&row| events.start_ns(row) > call.span.start_ns);
        let mut reads = behind.copied().filter(|&row| {
            let takes = events.ret(row) > 0 && events.outcome(row) == Outcome::Ok;
            takes && wait_of_row(events, row) == Some(Wait::Read) && streams.own_end(events.target(row)) == Some(peer)
        });
        reads.next()
    };
    let others = readers.iter().rev().filter(|&&reader| reader != call.task).take(READERS);
    let row = others.filter_map(|&reader| made_room(reader)).max_by_key(|&row| end_ns(trace, row))?;
    Some(call.edge(row, How::Drain, Sure::Inferred))
}
