//! Requests that a task gives up: it closes the socket on which no answer came.

use kit::table_support::context::TableContext;
use parsers::syscalls::Action;
use parsers::{Outcome, Text};
use trace::store::events::EventTable;
use trace::store::heuristics::MAX_CALLS_SINCE_REQUEST;

/// Whether the socket of a request is one that an epoll watches, is open while the task waits, and is closed later.
///
/// What is only sent, as to a collector of statistics, is not watched, and its socket stays open.
pub(super) fn is_given_up_at(context: &TableContext<'_>, sent: u32, wait: u32) -> bool {
    let (trace, events) = (context.trace, &context.trace.events);
    let (task, socket) = (events.task(sent), events.target(sent));
    let places = trace.place_of(task, sent).zip(trace.place_of(task, wait));
    let Some((from, to)) = places
        .filter(|(from, to)| from < to && to - from <= MAX_CALLS_SINCE_REQUEST && socket.is_some())
    else {
        return false;
    };
    let sends = matches!(
        events.action(sent),
        Action::Sends | Action::SendsMany | Action::Writes
    );
    let rows = trace.rows_of(task);
    let watches = |&row: &u32| {
        events.action(row) == Action::RegistersPoll && events.polled(row).contains(&socket)
    };
    let closes = |&row: &u32| closes(events, row, socket);
    let earliest = from.saturating_sub(MAX_CALLS_SINCE_REQUEST);
    let later = rows[to..].iter().take(MAX_CALLS_SINCE_REQUEST);
    sends
        && events.outcome(sent) == Outcome::Ok
        && rows[earliest..to].iter().any(watches)
        && !rows[from..to].iter().any(closes)
        && later.copied().any(|row| closes(&row))
}

/// Whether the socket of a request was closed before another call of the task, so that this is no answer to it.
pub(super) fn is_closed_before(context: &TableContext<'_>, sent: u32, row: u32) -> bool {
    let (trace, events) = (context.trace, &context.trace.events);
    let (task, socket) = (events.task(sent), events.target(sent));
    let rows = trace.rows_from(task, sent).iter().copied().skip(1);
    let mut between = rows
        .take_while(|&other| other < row)
        .take(MAX_CALLS_SINCE_REQUEST);
    socket.is_some() && between.any(|row| closes(events, row, socket))
}

fn closes(events: &EventTable, row: u32, socket: Text) -> bool {
    events.action(row) == Action::Closes
        && events.target(row) == socket
        && events.outcome(row) == Outcome::Ok
}
