//! What calls wait for, by their syscalls.

use parsers::syscalls::{Class, Wait};
use parsers::{NO_NS, Outcome};
use trace::store::classes::class_of;
use trace::store::events::EventTable;
pub use trace::store::outcomes::{
    failed_at_once, fails_at_once, found_no_child, is_broken_off, was_broken_off,
};
pub use trace::store::time_limits::{resumed, resumes_unknown, timed_out, wait_of_row};

/// Whether a call was in progress when its task or the capture ended.
pub fn never_returned(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Open | Outcome::NoReturn)
}

/// Whether timers send signals of this name.
pub(crate) fn is_of_timer(name: &[u8]) -> bool {
    matches!(name, b"SIGALRM" | b"SIGVTALRM" | b"SIGPROF") || name.starts_with(b"SIGRT")
}

/// Whether a call sends signal 0, which only checks whether a process exists.
pub fn is_probe(op: &[u8]) -> bool {
    matches!(op, b"0" | b"SIG_0" | b"SIG0")
}

/// Whether a target is the descriptor of a timer.
pub fn is_timer(target: &[u8]) -> bool {
    target.starts_with(b"anon_inode:[timerfd]")
}

/// Whether a row read to the end of its input.
pub fn ends_file(events: &EventTable, row: u32) -> bool {
    events.ret(row) == 0 && wait_of_row(events, row) == Some(Wait::Read)
}

/// Whether a row failed because the other side of its terminal is gone.
pub fn is_hung_up(events: &EventTable, row: u32) -> bool {
    events.texts.bytes(events.shape(row).errno) == b"EIO"
}

/// The errors of a call after the peer closed the connection.
pub(crate) const RESET: &[u8] = b"ECONNRESET";

/// Whether a daemon may idle in this call: it blocks, and not on a disk.
pub(crate) fn may_idle(events: &EventTable, row: u32) -> bool {
    let is_file = class(events, row) == Class::Disk && events.target(row).is_some();
    let lasts = events.dur_ns(row) == NO_NS || events.dur_ns(row) > 0;
    lasts && !is_file && wait_of_row(events, row).is_some()
}

fn class(events: &EventTable, row: u32) -> Class {
    class_of(
        events.shape(row).syscall,
        events.texts.bytes(events.target(row)),
    )
}

/// Whether a call is the return from a signal handler.
pub(crate) fn is_return(events: &EventTable, row: u32) -> bool {
    events.action(row).ends_handler()
}
