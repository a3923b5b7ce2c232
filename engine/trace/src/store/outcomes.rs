//! How waits ended, by outcome, result and error: broken off by a signal, or returned at once.

use crate::store::events::EventTable;
use parsers::Outcome;
use parsers::facts::WaitedChild;
use parsers::syscalls::{Action, Wait};

/// Whether a call with this outcome was interrupted by a signal, to be restarted or to fail.
pub fn is_broken_off(outcome: Outcome, errno: &[u8]) -> bool {
    outcome == Outcome::Interrupted || errno == b"EINTR"
}

/// The same for a row.
pub fn was_broken_off(events: &EventTable, row: u32) -> bool {
    is_broken_off(
        events.outcome(row),
        events.texts.bytes(events.shape(row).errno),
    )
}

/// Whether a non-blocking wait returned because no child had ended. `waitid` reports that only in its structure, if it
/// is printed.
pub fn found_no_child(events: &EventTable, row: u32) -> bool {
    if events.ret(row) != 0 {
        return false;
    }
    let action = events.action(row);
    if action.wait() != Some(Wait::Child) {
        return false;
    }
    let told = || events.facts.get::<WaitedChild>(row) == Some(&0);
    action != Action::WaitsForChildInfo || told()
}

/// Whether a call failed because it would have blocked, or because there was nothing to wait for.
pub fn failed_at_once(events: &EventTable, row: u32) -> bool {
    found_no_child(events, row) || fails_at_once(events.texts.bytes(events.shape(row).errno))
}

/// Whether an error means that a call would have blocked, or that there was nothing to wait for.
pub fn fails_at_once(errno: &[u8]) -> bool {
    matches!(
        errno,
        b"EAGAIN" | b"EWOULDBLOCK" | b"EINPROGRESS" | b"ECHILD" | b"EBADF" | b"EINVAL"
    )
}
