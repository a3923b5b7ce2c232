//! Sleeps that delay nothing: the task waits for external input right after them anyway.
//!
//! ```text
//! server   |accept|send|close|== sleep ==|------ accept ------|      the next client arrives later
//! server   |accept|send|close|== sleep ==|accept|send|               the next client had to wait
//! server   |accept|send|== sleep ==|close|------ accept ------|      the previous client may have waited for the close
//! ```

use crate::table_support::context::TableContext;
use parsers::syscalls::{self, Action, Class, Effort, Wait};
use path::waits::wait_kinds::{failed_at_once, never_returned, timed_out, wait_of_row};
use trace::store::event::EventKind;
use trace::store::heuristics::MIN_INPUT_WAIT_NS;
use trace::store::index::TaskId;

/// Number of calls after a sleep that are checked for a wait.
const MAX_ROWS_AFTER: usize = 32;

/// Whether a task waits for input from outside the trace after a sleep, before it does anything observable. [`None`] if
/// it does nothing more.
pub fn waits_after(context: &TableContext<'_>, task: TaskId, sleep: u32) -> Option<bool> {
    let events = &context.trace.events;
    let later = context
        .trace
        .rows_from(task, sleep)
        .iter()
        .copied()
        .skip(1)
        .take(MAX_ROWS_AFTER);
    let mut closes = false;
    for row in later.filter(|&row| events.kind(row) == EventKind::Call) {
        match wait_of_row(events, row) {
            Some(Wait::Sleep) => {}
            Some(Wait::Poll | Wait::Peer)
                if timed_out(events, row) || failed_at_once(events, row) => {}
            Some(wait) => return Some(!closes && waits(context, row, wait)),
            // A close before exit is part of the exit.
            None if events.action(row) == Action::Closes => closes = true,
            None if is_unobservable(context, row) => {}
            None if never_returned(events.outcome(row)) => return None,
            None => return Some(false),
        }
    }
    None
}

/// Whether a call waits for external input. Time that the trace attributes to another task is not charged to the call.
fn waits(context: &TableContext<'_>, row: u32, wait: Wait) -> bool {
    let may = match wait {
        Wait::Poll | Wait::Peer => true,
        Wait::Read => reads_from_peer(context, row),
        _ => false,
    };
    may && context.exclusive_ns(row) >= MIN_INPUT_WAIT_NS
}

/// Whether a read gets its data from a peer, not from a disk.
fn reads_from_peer(context: &TableContext<'_>, row: u32) -> bool {
    matches!(
        context.wakers.class(context.trace, row),
        Class::Network | Class::Ipc | Class::Terminal | Class::External
    )
}

/// Taking or releasing a lock is observable, unlike other uses of fcntl.
fn is_unobservable(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let shape = events.shape(row);
    let Some(call) = syscalls::by_text(shape.syscall) else {
        return false;
    };
    let locks = memchr::memmem::find(events.texts.bytes(shape.op), b"SETLK").is_some();
    let is_quiet = call.effort <= Effort::Light
        || matches!(call.action, Action::ReadsClock | Action::NamesSocket);
    call.class == Class::Memory || call.action.keeps_signals() || (is_quiet && !locks)
}
