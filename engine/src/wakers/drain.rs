//! Writes that were held up because a pipe or socket was full, until its reader made room, or left it for good (`EPIPE`).
//!
//! ```text
//! writer   |------ write(pipe:[7]) ------|
//! reader      |--- work ---|- read -|              begun behind the write: it did not wait for it, so it was busy
//! ```

use super::stream::Streams;
use super::waiting::{Waiting, end_ns};
use super::{Edge, How, Sure};
use crate::outline::HELD_UP_NS;
use parsers::Outcome;

/// Reads that are looked at.
const READS: usize = 64;

/// Who made room for a write.
pub(super) fn reader(streams: &Streams, call: &Waiting<'_>) -> Option<Edge> {
    let held_up = call.span.end_ns.saturating_sub(call.span.start_ns) >= HELD_UP_NS;
    let (peer, reads) = held_up.then(|| streams.reads(call)).flatten()?;
    let trace = call.trace;
    let events = &trace.events;
    if events.texts.bytes(events.shape(call.span.row).errno) == b"EPIPE" {
        return streams.left(call, peer).map(|edge| Edge { how: How::Drain, sure: Sure::Inferred, ..edge });
    }
    let made_room = |&row: &u32| {
        let by_another = events.start_ns(row) > call.span.start_ns && events.task(row) != call.task;
        by_another && events.ret(row) > 0 && events.outcome(row) == Outcome::Ok
    };
    let behind = reads.back_from(trace, call.span.end_ns, call.span.start_ns).take(READS);
    let row = behind.filter(made_room).max_by_key(|&row| end_ns(trace, row))?;
    Some(call.edge(row, How::Drain, Sure::Inferred))
}
