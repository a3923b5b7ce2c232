//! What calls wait for, by what their syscalls do.

use crate::store::classes::class_of;
use crate::store::events::EventTable;
use parsers::syscalls::{Action, Class, Wait, action_of};
use parsers::{NO_NS, Outcome, Text};

/// What a row waits for, if it may.
pub fn wait_of_row(events: &EventTable, row: u32) -> Option<Wait> {
    let shape = events.shape(row);
    action_of(resumed(shape.syscall, shape.op)).wait()
}

/// Between two parts of a wait, each up to its limit, there are no more calls, and no more time, than this.
pub(crate) const CALLS_BETWEEN: usize = 12;
/// See [`CALLS_BETWEEN`].
pub(crate) const BETWEEN_NS: i64 = 10_000_000;

/// The name of a call, where a signal broke it off and it goes on under another one: that is its sub-operation.
pub(crate) fn resumed(syscall: Text, op: Text) -> Text {
    if op.is_some() && action_of(syscall) == Action::Restarts { op } else { syscall }
}

/// Whether a wait ended because its time was over.
pub fn timed_out(events: &EventTable, row: u32) -> bool {
    let none_ready = wait_of_row(events, row) == Some(Wait::Poll) && events.ret(row) == 0;
    let errno = events.texts.bytes(events.shape(row).errno);
    (none_ready && events.outcome(row) == Outcome::Ok) || matches!(errno, b"ETIMEDOUT" | b"ETIME")
}

/// Whether a call that ended so returned only to be taken up again, or to fail, because of a signal.
pub(crate) fn is_broken_off(outcome: Outcome, errno: &[u8]) -> bool {
    outcome == Outcome::Interrupted || errno == b"EINTR"
}

/// The same of a row.
pub(crate) fn was_broken_off(events: &EventTable, row: u32) -> bool {
    is_broken_off(events.outcome(row), events.texts.bytes(events.shape(row).errno))
}

/// Whether a call was going on when its task ended or the capture did.
pub(crate) fn never_returned(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Open | Outcome::NoReturn)
}

/// Whether the signal of a call is none, so that it only finds out whether a process is there.
pub(crate) fn is_probe(op: &[u8]) -> bool {
    matches!(op, b"0" | b"SIG_0" | b"SIG0")
}

/// Whether a target is a timer's descriptor.
pub(crate) fn is_timer(target: &[u8]) -> bool {
    target.starts_with(b"anon_inode:[timerfd]")
}

/// Whether a row read to the end of what it reads.
pub(crate) fn ends_file(events: &EventTable, row: u32) -> bool {
    events.ret(row) == 0 && wait_of_row(events, row) == Some(Wait::Read)
}

/// How a call fails because the peer was gone.
pub(crate) const RESET: &[u8] = b"ECONNRESET";

/// Whether a wait that must not block returned because no child had ended. `waitid` tells that only in its structure, where
/// it is printed.
pub(crate) fn found_no_child(events: &EventTable, row: u32) -> bool {
    if events.ret(row) != 0 {
        return false;
    }
    let action = events.action(row);
    if action.wait() != Some(Wait::Child) {
        return false;
    }
    let told = || events.waited.binary_search_by_key(&row, |&(row, _)| row).is_ok_and(|at| events.waited[at].1 == 0);
    action != Action::WaitsForChildInfo || told()
}

/// Whether a call failed because it would have had to wait, or because there was nothing to wait for.
pub(crate) fn failed_at_once(events: &EventTable, row: u32) -> bool {
    found_no_child(events, row) || fails_at_once(events.texts.bytes(events.shape(row).errno))
}

/// Whether an error is that of a call that would have had to wait, or found nothing to wait for.
pub(crate) fn fails_at_once(errno: &[u8]) -> bool {
    matches!(errno, b"EAGAIN" | b"EWOULDBLOCK" | b"EINPROGRESS" | b"ECHILD" | b"EBADF" | b"EINVAL")
}

/// Whether a daemon may idle in this call: it waits, and not for a disk.
pub(crate) fn may_idle(events: &EventTable, row: u32) -> bool {
    let is_file = class(events, row) == Class::Disk && events.target(row).is_some();
    let lasts = events.dur_ns(row) == NO_NS || events.dur_ns(row) > 0;
    lasts && !is_file && wait_of_row(events, row).is_some()
}

fn class(events: &EventTable, row: u32) -> Class {
    class_of(events.shape(row).syscall, events.texts.bytes(events.target(row)))
}

/// Whether a call is the return from the handler of a signal.
pub(crate) fn is_return(events: &EventTable, row: u32) -> bool {
    events.action(row).ends_handler()
}
