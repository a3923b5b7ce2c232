//! The minimum duration of a call, by its arguments and its result.
//!
//! ```text
//! nanosleep({tv_sec=5, tv_nsec=0}, …) = 0                     at least 5 s
//! ppoll(…, {tv_sec=24, tv_nsec=985173000}, …) = 0 (Timeout)   at least 24.985 s
//! ppoll(…, {tv_sec=24, tv_nsec=985173000}, …) = 1             unknown
//! ```
//! It needs no timestamp, and it is exact where the clock is coarser than the call.

use crate::store::events::EventTable;
use crate::waits::wait_kinds::{resumes_unknown, timed_out, wait_of_row};
use parsers::Outcome;
use parsers::syscalls::Wait;

/// Minimum duration of a call in nanoseconds: the time that a complete sleep requested, or that a wait took to time out.
/// 0 if nothing is known.
pub(crate) fn min_duration_ns(events: &EventTable, row: u32) -> i64 {
    let lasted = || timed_out(events, row) || sleeps_whole(events, row);
    events.requested_ns(row).filter(|_| lasted()).map_or(0, |requested_ns| requested_ns.max(0))
}

/// Whether a call is a sleep that no signal interrupted.
fn sleeps_whole(events: &EventTable, row: u32) -> bool {
    let shape = events.shape(row);
    let is_sleep = wait_of_row(events, row) == Some(Wait::Sleep) && !resumes_unknown(shape.syscall, shape.op);
    is_sleep && events.outcome(row) == Outcome::Ok
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, task};

    #[test]
    fn only_complete_sleeps_have_a_minimum() {
        let plan = task(1).call("nanosleep", 0, 9).asks(9).call("read", 9, 20).asks(11).call("nanosleep", 20, 30);
        let trace = build(vec![plan.exit(40)]);
        let minima: Vec<i64> = trace.rows_of(0).iter().map(|&row| min_duration_ns(&trace.events, row)).collect();
        assert_eq!(minima[..3], [9, 0, 0]);
    }
}
