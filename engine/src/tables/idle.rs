//! Sleeps that keep nobody waiting: behind them, the task waits for somebody outside anyway.
//!
//! ```text
//! server   |accept|send|close|== sleep ==|------ accept ------|      who comes next comes then, whether it slept or not
//! server   |accept|send|close|== sleep ==|accept|send|               who comes next was kept waiting
//! server   |accept|send|== sleep ==|close|------ accept ------|      who was there may have waited for the close
//! ```

use crate::store::event::EventKind;
use crate::table_support::context::TableContext;
use crate::waits::wait_kinds::{failed_at_once, never_returned, timed_out, wait_of_row};
use parsers::syscalls::{self, Action, Class, Effort, Wait};

/// Calls between a sleep and the wait that are looked at.
const ROWS_BEHIND: usize = 32;
/// Who waits for less than this was hardly waiting: the answer was on its way.
const MIN_NS: i64 = 1_000_000;

/// Whether a task waits behind a sleep for somebody outside of the trace, before it does anything that others notice; none
/// if it does nothing more.
pub(super) fn waits_after(context: &TableContext<'_>, task: u32, sleep: u32) -> Option<bool> {
    let events = &context.trace.events;
    let behind = context.trace.rows_from(task, sleep).iter().copied().skip(1).take(ROWS_BEHIND);
    let mut closes = false;
    for row in behind.filter(|&row| events.kind(row) == EventKind::Call) {
        match wait_of_row(events, row) {
            Some(Wait::Sleep) => {}
            Some(Wait::Poll | Wait::Peer) if timed_out(events, row) || failed_at_once(events, row) => {}
            Some(wait) => return Some(!closes && waits(context, row, wait)),
            // What is closed before the end is closed because of it.
            None if events.action(row) == Action::Closes => closes = true,
            None if is_unnoticed(context, row) => {}
            None if never_returned(events.outcome(row)) => return None,
            None => return Some(false),
        }
    }
    None
}

/// Whether a call waits for somebody outside: time that the trace leads to another task is not charged to it.
fn waits(context: &TableContext<'_>, row: u32, wait: Wait) -> bool {
    let may = match wait {
        Wait::Poll | Wait::Peer => true,
        Wait::Read => is_from_somebody(context, row),
        _ => false,
    };
    may && context.exclusive_ns(row) >= MIN_NS
}

/// Whether what is read comes from somebody, and not from a disk.
fn is_from_somebody(context: &TableContext<'_>, row: u32) -> bool {
    matches!(context.wakers.class(context.trace, row), Class::Network | Class::Ipc | Class::Terminal | Class::External)
}

/// A lock that is taken or given back is noticed, other than what else fcntl does.
fn is_unnoticed(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let shape = events.shape(row);
    let Some(call) = syscalls::by_text(shape.syscall) else { return false };
    let locks = memchr::memmem::find(events.texts.bytes(shape.op), b"SETLK").is_some();
    let is_quiet = call.effort <= Effort::Light || matches!(call.action, Action::ReadsClock | Action::NamesSocket);
    call.class == Class::Memory || call.action.keeps_signals() || (is_quiet && !locks)
}
