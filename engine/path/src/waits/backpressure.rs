//! Writes that blocked because a pipe or socket was full, until its reader made room or closed it (`EPIPE`).
//!
//! ```text
//! writer   |------ write(pipe:[7]) ------|
//! reader      |--- work ---|- read -|              started after the write: it did not block, so it was busy
//! ```

use super::stream::Streams;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::times::end_ns;
use parsers::syscalls::Action;
use parsers::{DurKind, Outcome, Text};
use trace::store::facts::SeenAsleep;
use trace::store::heuristics::MIN_BLOCKED_WRITE_NS;

/// Maximum number of reads examined.
const READS: usize = 64;

/// The reader that made room for the write of a call to a target.
pub(super) fn reader(streams: &Streams, call: &Waiting<'_>, target: Text) -> Option<Edge> {
    let trace = call.trace;
    let events = &trace.events;
    // Where a duration lasts until the next call, most of it may be the program's own time.
    let is_proven = events.dur_kind(call.span.row) != DurKind::UpperBound
        || events.facts.has::<SeenAsleep>(call.span.row);
    let held_up =
        is_proven && call.span.end_ns.saturating_sub(call.span.start_ns) >= MIN_BLOCKED_WRITE_NS;
    let (peer, reads) = held_up.then(|| streams.reads(target)).flatten()?;
    if events.texts.bytes(events.shape(call.span.row).errno) == b"EPIPE" {
        return streams.left(call, peer).map(|edge| Edge {
            how: WakeKind::Drain,
            sure: Confidence::Inferred,
            ..edge
        });
    }
    let made_room = |&row: &u32| {
        let is_free = events.start_ns(row) > call.span.start_ns || was_held_up_too(call, row);
        is_free
            && events.task(row) != call.task
            && events.ret(row) > 0
            && events.outcome(row) == Outcome::Ok
    };
    let behind = reads
        .back_from(call.span.end_ns, call.span.start_ns)
        .take(READS);
    let row = behind
        .filter(made_room)
        .max_by_key(|&row| end_ns(trace, row))?;
    Some(call.edge(row, WakeKind::Drain, Confidence::Inferred))
}

/// Whether a call moved the written data into another pipe, which was full. It started before the write, and did not
/// block on its input, because there was data.
fn was_held_up_too(call: &Waiting<'_>, row: u32) -> bool {
    let events = &call.trace.events;
    events.action(row) == Action::Splices && end_ns(call.trace, row) > call.span.start_ns
}
