//! Time limits of calls: what a call waits for, and its duration by its arguments and its result.
//!
//! ```text
//! nanosleep({tv_sec=5, tv_nsec=0}, …) = 0                     at least 5 s
//! ppoll(…, {tv_sec=24, tv_nsec=985173000}, …) = 0 (Timeout)   at least 24.985 s
//! ppoll(…, {tv_sec=24, tv_nsec=985173000}, …) = 1             unknown
//! ```
//! It needs no timestamp, and it is exact where the clock is coarser than the call. Such a call returns soon after its limit,
//! so what follows until the next line of its task is time of the program.

use crate::store::event::Shape;
use crate::store::events::EventTable;
use crate::store::facts::EndedByAlarm;
use parsers::syscalls::{Action, Wait, action_of};
use parsers::{Outcome, Text};

/// Minimum duration of a call in nanoseconds: the time that a complete sleep requested, or that a wait took to time out.
/// 0 if nothing is known.
pub fn min_duration_ns(events: &EventTable, row: u32) -> i64 {
    let lasted = || reached_limit(events, row);
    events
        .requested_ns(row)
        .filter(|_| lasted())
        .map_or(0, |requested_ns| requested_ns.max(0))
}

/// Whether a call lasted as long as it requested: a complete sleep, or a wait that timed out.
pub fn reached_limit(events: &EventTable, row: u32) -> bool {
    timed_out(events, row)
        || ran_out(events, row)
        || sleeps_whole(events, row)
        || events.facts.has::<EndedByAlarm>(row)
}

/// Whether a wait with a time limit other than zero ended without what it waited for, and reports that in another way than
/// polls: with EAGAIN, or with no results.
pub fn ran_out(events: &EventTable, row: u32) -> bool {
    let (shape, limited) = (events.shape(row), || {
        events.requested_ns(row).is_some_and(|ns| ns > 0)
    });
    match action_of(shape.syscall) {
        Action::WaitsForSignal | Action::ChangesSemaphore => {
            events.texts.bytes(shape.errno) == b"EAGAIN" && limited()
        }
        Action::CollectsIo => shape.outcome == Outcome::Ok && events.ret(row) == 0 && limited(),
        _ => false,
    }
}

/// What a row waits for, if it can block.
pub fn wait_of_row(events: &EventTable, row: u32) -> Option<Wait> {
    wait_of_shape(&events.shape(row))
}

/// The same for all calls of a shape.
pub fn wait_of_shape(shape: &Shape) -> Option<Wait> {
    if resumes_unknown(shape.syscall, shape.op) {
        Some(Wait::Poll)
    } else {
        action_of(resumed(shape.syscall, shape.op)).wait()
    }
}

/// The name of a call. For an interrupted call that continues under another name, it is the sub-operation.
pub fn resumed(syscall: Text, op: Text) -> Text {
    if op.is_some() && action_of(syscall) == Action::Restarts {
        op
    } else {
        syscall
    }
}

/// Whether a call continues one that is not known, because it began before the capture. Only waits with a timeout continue.
pub fn resumes_unknown(syscall: Text, op: Text) -> bool {
    action_of(resumed(syscall, op)) == Action::Restarts
}

/// Whether a wait ended with a timeout. Of an unknown call, 0 may also be the result of a sleep, or of a woken futex.
pub fn timed_out(events: &EventTable, row: u32) -> bool {
    let shape = events.shape(row);
    let is_known = !resumes_unknown(shape.syscall, shape.op);
    let none_ready =
        is_known && wait_of_row(events, row) == Some(Wait::Poll) && events.ret(row) == 0;
    let errno = events.texts.bytes(events.shape(row).errno);
    (none_ready && events.outcome(row) == Outcome::Ok) || matches!(errno, b"ETIMEDOUT" | b"ETIME")
}

/// Whether a call is a sleep that no signal interrupted.
fn sleeps_whole(events: &EventTable, row: u32) -> bool {
    let shape = events.shape(row);
    let is_sleep =
        wait_of_row(events, row) == Some(Wait::Sleep) && !resumes_unknown(shape.syscall, shape.op);
    is_sleep && events.outcome(row) == Outcome::Ok
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::index::TaskId;
    use crate::testing::{build, task};

    #[test]
    fn only_complete_sleeps_have_a_minimum() {
        let plan = task(1)
            .call("nanosleep", 0, 9)
            .asks(9)
            .call("read", 9, 20)
            .asks(11)
            .call("nanosleep", 20, 30);
        let trace = build(vec![plan.exit(40)]);
        let minima: Vec<i64> = trace
            .rows_of(TaskId::new(0))
            .iter()
            .map(|&row| min_duration_ns(&trace.events, row))
            .collect();
        assert_eq!(minima[..3], [9, 0, 0]);
    }
}
