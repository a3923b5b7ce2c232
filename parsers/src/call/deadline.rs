//! Absolute timeouts of sleeps and locks: which clock they use, and how much time is left of them.

use super::value::Timeout;
use crate::syscalls::Syscall;

/// Stamps that count from 1970 are above this, those of other clocks below.
const YEAR_2001_NS: i64 = 1_000_000_000_000_000_000;

/// The clock of an absolute time.
enum AbsoluteClock {
    RealTime,
    Monotonic,
    Other,
}

/// The timeout of a call as a duration from its start, or as a moment of the monotonic clock.
///
/// Absolute times of the real-time clock are comparable with stamps of that clock. Those of the monotonic clock are
/// kept as they are.
pub fn resolve(call: &Syscall, args: &[&[u8]], stamp_ns: i64, timeout: Timeout) -> (Option<Timeout>, Option<i64>) {
    let clock = match call.canonical() {
        "clock_nanosleep" => sleep_clock(args),
        "futex" if timeout == Timeout::Never => Some(AbsoluteClock::Other),
        "futex" => futex_clock(args.get(1).copied().unwrap_or(b"")),
        "mq_timedsend" | "mq_timedreceive" if timeout != Timeout::Never => Some(AbsoluteClock::RealTime),
        _ if returns_at_once(call, args) => return (None, None),
        _ => None,
    };
    match (clock, timeout) {
        (None, timeout) => (Some(timeout), None),
        (Some(AbsoluteClock::RealTime), Timeout::After(until_ns)) if stamp_ns >= YEAR_2001_NS => {
            (Some(Timeout::After(until_ns.saturating_sub(stamp_ns).max(0))), None)
        }
        (Some(AbsoluteClock::Monotonic), Timeout::After(until_ns)) => (None, Some(until_ns)),
        _ => (None, None),
    }
}

/// Whether a call waits for nothing, whatever its timeout.
fn returns_at_once(call: &Syscall, args: &[&[u8]]) -> bool {
    match call.canonical() {
        "semtimedop" => args.iter().any(|arg| memchr::memmem::find(arg, b"IPC_NOWAIT").is_some()),
        "io_getevents" => args.get(1) == Some(&&b"0"[..]),
        _ => false,
    }
}

/// The clock of a `clock_nanosleep`, if its time is absolute.
fn sleep_clock(args: &[&[u8]]) -> Option<AbsoluteClock> {
    let has = |at: usize, word: &[u8]| args.get(at).is_some_and(|arg| memchr::memmem::find(arg, word).is_some());
    match args.first() {
        _ if !has(1, b"TIMER_ABSTIME") => None,
        _ if has(0, b"CLOCK_REALTIME") => Some(AbsoluteClock::RealTime),
        Some(&b"CLOCK_MONOTONIC") => Some(AbsoluteClock::Monotonic),
        _ => Some(AbsoluteClock::Other),
    }
}

/// The clock of the timeout of a futex operation, if it is absolute.
fn futex_clock(op: &[u8]) -> Option<AbsoluteClock> {
    let has = |word: &[u8]| memchr::memmem::find(op, word).is_some();
    match (has(b"FUTEX_WAIT_BITSET"), has(b"CLOCK_REALTIME")) {
        (true, true) => Some(AbsoluteClock::RealTime),
        (true, false) => Some(AbsoluteClock::Monotonic),
        (false, _) if has(b"FUTEX_WAIT") && !has(b"REQUEUE") => None,
        _ => Some(AbsoluteClock::Other),
    }
}
