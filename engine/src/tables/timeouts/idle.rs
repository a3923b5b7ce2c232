//! Whether a task only waits again after an expired wait.

use crate::store::event::EventKind;
use crate::store::events::EventTable;
use crate::store::heuristics::{MAX_BETWEEN_PARTS_NS, MAX_CALLS_BETWEEN_PARTS};
use crate::table_support::context::TableContext;
use crate::tables::sleeps::ends_by_itself;
use crate::tables::sockets::{SocketCall, Sockets};
use parsers::Outcome;
use parsers::syscalls::{Action, action_of};

/// Whether a task made hardly any calls between an expired wait and the next one for the same target, and sent nothing.
pub(super) fn is_idle(context: &TableContext<'_>, sockets: &Sockets, expired: u32, next: u32) -> bool {
    let events = &context.trace.events;
    let task = events.task(expired);
    let rows = context.trace.rows_from(task, expired);
    let between = rows.iter().take_while(|&&row| row != next).take(MAX_CALLS_BETWEEN_PARTS + 2);
    let between_ns = events.end_ns(expired).map_or(0, |end_ns| events.start_ns(next).saturating_sub(end_ns));
    // A server has timers for its own upkeep, for which nobody waits.
    let works = || between.clone().skip(1).any(|&row| begins_work(events, row)) && ends_by_itself(context, task);
    // What it sends after the wait may be what another process waited for.
    let sends = |&row: &u32| sockets.deeds.of_shape(events.shape_number(row)) == Some(SocketCall::Sends);
    between.clone().count() <= MAX_CALLS_BETWEEN_PARTS + 1
        && between_ns <= MAX_BETWEEN_PARTS_NS
        && !between.clone().any(sends)
        && !works()
}

/// Whether a call hands work on or begins some: it wakes a waiting thread, opens, connects, or starts a task.
fn begins_work(events: &EventTable, row: u32) -> bool {
    if events.kind(row) != EventKind::Call || events.outcome(row) != Outcome::Ok {
        return false;
    }
    let shape = events.shape(row);
    match action_of(shape.syscall) {
        Action::UsesFutex => events.texts.bytes(shape.op).starts_with(b"FUTEX_WAKE") && events.ret(row) > 0,
        Action::Wakes | Action::Opens | Action::MakesSocket | Action::Connects => true,
        Action::Forks | Action::Vforks | Action::Spawns | Action::CreatesThread | Action::Execs => true,
        _ => false,
    }
}
