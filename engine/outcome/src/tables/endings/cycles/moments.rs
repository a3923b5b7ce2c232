//! What the lines of a turn show and events do not keep: the counters of timers and events, and moments that had passed
//! when a wait or a timer was set to them.
//!
//! ```text
//! timerfd_settime(6, TFD_TIMER_ABSTIME, {…, it_value={tv_sec=0, tv_nsec=1}}, NULL)     the first second of the clock
//! read(6, "\1\0\0\0\0\0\0\0", 8) = 8                                                    a counter, no data
//! ```

use crate::tables::endings::lines_of;
use kit::table_support::context::TableContext;
use parsers::syscalls::Action;
use parsers::{Clock, NO_NS};
use trace::store::index::TaskId;

/// The size of the counter of a timer or an event: timerfd_create(2), eventfd(2).
pub(super) const COUNTER_BYTES: i64 = 8;
/// What follows the first byte of a small counter, as tracers print it.
const COUNTER: &str = "\\0\\0\\0\\0\\0\\0\"";
/// Arguments by which the moment of a wait is that of a clock, rather than counted from now.
const ABSOLUTE: [&str; 2] = ["TIMER_ABSTIME", "FUTEX_WAIT_BITSET"];
/// Clocks that count from 1970 have passed this number of seconds; those that count from the boot of a machine have not.
const SECONDS_SINCE_1970: i64 = 1_000_000_000;

/// No program runs so early on any clock.
const FIRST_SECONDS: i64 = 2;

/// What the lines of a turn show.
#[derive(Default)]
pub(super) struct Moments {
    /// Waits and timers whose moment had passed.
    pub past: i64,
    /// Calls that read or write only a counter.
    pub counters: i64,
}

/// What the last turn shows, from the calls of the last two turns in their order.
pub(super) fn moments(
    context: &TableContext<'_>,
    task: TaskId,
    rows: &[u32],
    period: usize,
) -> Moments {
    let events = &context.trace.events;
    let is_of_1970 = context
        .capture_of(task)
        .is_some_and(|capture| capture.facts.clock == Clock::Epoch);
    let (mut found, mut clocks) = (Moments::default(), Vec::new());
    for (place, (&row, text)) in rows.iter().zip(lines_of(context, rows)).enumerate() {
        if events.action(row) == Action::ReadsClock {
            clocks.extend(after(&text, "{").and_then(seconds));
            continue;
        }
        if place + period < rows.len() {
            continue;
        }
        found.counters +=
            i64::from(events.bytes(row) == Some(COUNTER_BYTES) && text.contains(COUNTER));
        let start_ns = events.start_ns(row);
        let stamp = (is_of_1970 && start_ns != NO_NS).then_some(start_ns / 1_000_000_000);
        found.past += i64::from(set_to(&text).is_some_and(|moment| {
            is_past(moment, stamp) || clocks.iter().any(|&now| is_past(moment, Some(now)))
        }));
    }
    found
}

/// The second of a clock that a wait or a timer is set to; `None` if it counts from now, or if the timer is switched off.
fn set_to(text: &str) -> Option<i64> {
    let rest = ABSOLUTE.iter().find_map(|flag| after(text, flag))?;
    let moment = after(rest, "it_value={").or_else(|| after(rest, "{"))?;
    let is_off = ["tv_sec=0, tv_nsec=0}", "0, 0}"]
        .iter()
        .any(|off| moment.starts_with(off));
    seconds(moment).filter(|_| !is_off)
}

/// Whether a moment lies before a moment of the same clock; those in the first seconds of any clock do.
fn is_past(moment: i64, now: Option<i64>) -> bool {
    let is_of_1970 = |second: i64| second >= SECONDS_SINCE_1970;
    moment < FIRST_SECONDS
        || now.is_some_and(|now| is_of_1970(now) == is_of_1970(moment) && moment < now)
}

fn after<'text>(text: &'text str, mark: &str) -> Option<&'text str> {
    text.find(mark).map(|at| &text[at + mark.len()..])
}

/// `tv_sec=12, tv_nsec=5}`, `12, 5}`.
fn seconds(text: &str) -> Option<i64> {
    let text = text.strip_prefix("tv_sec=").unwrap_or(text);
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{is_past, set_to};

    #[test]
    fn only_moments_of_a_clock_can_have_passed() {
        let cases = [
            (
                "timerfd_settime(6, TFD_TIMER_ABSTIME, {it_interval={tv_sec=0, tv_nsec=0}, it_value={tv_sec=7, tv_nsec=1}}, NULL) = 0",
                Some(7),
            ),
            (
                "timerfd_settime(6, TFD_TIMER_ABSTIME, {{0, 0}, it_value={0, 0}}, NULL) = 0",
                None,
            ),
            (
                "timerfd_settime(6, 0, {it_interval={tv_sec=0, tv_nsec=0}, it_value={tv_sec=7, tv_nsec=1}}, NULL) = 0",
                None,
            ),
            (
                "futex(0x7f, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 0, {12, 5}, ffffffff) = -1 ETIMEDOUT",
                Some(12),
            ),
            (
                "futex(0x7f, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, ffffffff) = 0",
                None,
            ),
        ];
        for (text, moment) in cases {
            assert_eq!(set_to(text), moment, "{text}");
        }
    }

    #[test]
    fn clocks_of_different_starts_are_not_compared() {
        assert!(is_past(0, None));
        assert!(is_past(1_714_549_000, Some(1_714_550_000)));
        assert!(!is_past(5_000, Some(1_714_550_000)));
        assert!(!is_past(1_714_550_001, Some(1_714_550_000)));
    }
}
