//! Absolute timeouts of sleeps and locks: which clock they use, and how much time is left of them.

use super::value::{self, Timeout};
use crate::facts::DeadlineClock;
use crate::line::{Extra, Line, Outcome};
use crate::syscalls::Syscall;

const NS_PER_S: i64 = 1_000_000_000;

/// Stamps that count from 1970 are above this, those of other clocks below.
const YEAR_2001_NS: i64 = 1_000_000_000_000_000_000;

/// The clock of an absolute time.
#[derive(PartialEq, Eq)]
enum AbsoluteClock {
    Known(DeadlineClock),
    Other,
}

const REAL_TIME: AbsoluteClock = AbsoluteClock::Known(DeadlineClock::RealTime);
const MONOTONIC: AbsoluteClock = AbsoluteClock::Known(DeadlineClock::Monotonic);

/// A moment of a clock, in nanoseconds.
pub type Moment = (DeadlineClock, i64);

/// The timeout of a call as a duration from its start, or as a moment of a clock.
///
/// Absolute times of the real-time clock are comparable with stamps of that clock. With other stamps or none, and on the
/// monotonic clock, they are kept as they are.
pub fn resolve(
    call: &Syscall,
    args: &[&[u8]],
    stamp_ns: i64,
    timeout: Timeout,
) -> (Option<Timeout>, Option<Moment>) {
    let clock = match call.canonical() {
        "clock_nanosleep" => sleep_clock(args),
        "futex" if timeout == Timeout::Never => Some(AbsoluteClock::Other),
        "futex" => futex_clock(args.get(1).copied().unwrap_or(b"")),
        "mq_timedsend" | "mq_timedreceive" if timeout != Timeout::Never => Some(REAL_TIME),
        _ if returns_at_once(call, args) => return (None, None),
        _ => None,
    };
    match (clock, timeout) {
        (None, timeout) => (Some(timeout), None),
        (Some(REAL_TIME), Timeout::After(until_ns)) if stamp_ns >= YEAR_2001_NS => (
            Some(Timeout::After(until_ns.saturating_sub(stamp_ns).max(0))),
            None,
        ),
        (Some(AbsoluteClock::Known(clock)), Timeout::After(until_ns)) => {
            (None, Some((clock, until_ns)))
        }
        _ => (None, None),
    }
}

/// `clock_gettime(CLOCK_MONOTONIC, {tv_sec=4711, tv_nsec=250})`: the time of a clock that deadlines use.
pub fn clock_read(call: &Syscall, args: &[&[u8]], line: &Line) -> Option<Extra> {
    if line.outcome != Outcome::Ok {
        return None;
    }
    let (clock, time) = match (call.canonical(), args.first().copied()) {
        ("gettimeofday", Some(time)) => (DeadlineClock::RealTime, value::timeout(time, 1_000)?),
        // The clock of seconds: the time is later than what it shows, by less than a second.
        ("time", _) if line.ret > 0 => (
            DeadlineClock::RealTime,
            Timeout::After(line.ret.checked_add(1)?.checked_mul(NS_PER_S)?),
        ),
        (_, Some(b"CLOCK_MONOTONIC")) => {
            (DeadlineClock::Monotonic, value::timeout(args.get(1)?, 1)?)
        }
        (_, Some(b"CLOCK_REALTIME")) => (DeadlineClock::RealTime, value::timeout(args.get(1)?, 1)?),
        _ => return None,
    };
    match time {
        Timeout::After(now_ns) => Some(Extra::ClockRead(clock, now_ns)),
        Timeout::Never => None,
    }
}

/// Whether a call waits for nothing, whatever its timeout.
fn returns_at_once(call: &Syscall, args: &[&[u8]]) -> bool {
    match call.canonical() {
        "semtimedop" => args
            .iter()
            .any(|arg| memchr::memmem::find(arg, b"IPC_NOWAIT").is_some()),
        "io_getevents" => args.get(1) == Some(&&b"0"[..]),
        _ => false,
    }
}

/// The clock of a `clock_nanosleep`, if its time is absolute.
fn sleep_clock(args: &[&[u8]]) -> Option<AbsoluteClock> {
    let has = |at: usize, word: &[u8]| {
        args.get(at)
            .is_some_and(|arg| memchr::memmem::find(arg, word).is_some())
    };
    match args.first() {
        _ if !has(1, b"TIMER_ABSTIME") => None,
        _ if has(0, b"CLOCK_REALTIME") => Some(REAL_TIME),
        Some(&b"CLOCK_MONOTONIC") => Some(MONOTONIC),
        _ => Some(AbsoluteClock::Other),
    }
}

/// The clock of the timeout of a futex operation, if it is absolute.
fn futex_clock(op: &[u8]) -> Option<AbsoluteClock> {
    let has = |word: &[u8]| memchr::memmem::find(op, word).is_some();
    match (has(b"FUTEX_WAIT_BITSET"), has(b"CLOCK_REALTIME")) {
        (true, true) => Some(REAL_TIME),
        (true, false) => Some(MONOTONIC),
        (false, _) if has(b"FUTEX_WAIT") && !has(b"REQUEUE") => None,
        _ => Some(AbsoluteClock::Other),
    }
}
