//! Stamps as printed to one time line per capture.

use parsers::{Clock, NO_NS};

const DAY_NS: i64 = 86_400_000_000_000;
/// No stamp lies further from 1970 than this (146 years), whatever the trace says, so that sums and differences of a
/// stamp and a duration cannot overflow.
const FURTHEST_NS: i64 = (1 << 62) - 1;
/// No duration is longer than this (73 years).
const LONGEST_NS: i64 = 1 << 61;

/// A duration as printed, kept within what can be added up; [`NO_NS`] stays.
#[inline]
pub(crate) fn bounded_ns(dur_ns: i64) -> i64 {
    if dur_ns == NO_NS { NO_NS } else { dur_ns.clamp(-LONGEST_NS, LONGEST_NS) }
}

#[inline]
fn bounded_stamp_ns(stamp_ns: i64) -> i64 {
    stamp_ns.clamp(-FURTHEST_NS, FURTHEST_NS)
}

/// The clock of one file.
#[derive(Clone, Copy, Debug)]
pub struct FileClock {
    clock: Clock,
    last_ns: i64,
    day_ns: i64,
    /// Stamps that lie before the one before them.
    pub backward_steps: u64,
}

impl FileClock {
    /// A clock that has not seen a stamp.
    pub fn new(clock: Clock) -> FileClock {
        FileClock { clock, last_ns: NO_NS, day_ns: 0, backward_steps: 0 }
    }

    /// The place of a printed stamp on the time line; [`NO_NS`] if there is none or if it says nothing about wall time.
    #[inline]
    pub fn place(&mut self, stamp_ns: i64) -> i64 {
        if stamp_ns == NO_NS {
            return NO_NS;
        }
        let stamp_ns = bounded_stamp_ns(stamp_ns);
        let placed_ns = match self.clock {
            Clock::Epoch | Clock::SinceStart => stamp_ns,
            Clock::PerThread | Clock::None => return NO_NS,
            Clock::SincePrevious => bounded_stamp_ns(self.last_ns.max(0).saturating_add(stamp_ns)),
            Clock::TimeOfDay => bounded_stamp_ns(self.over_midnight(stamp_ns)),
        };
        self.backward_steps += u64::from(self.last_ns != NO_NS && placed_ns < self.last_ns);
        self.last_ns = placed_ns;
        placed_ns
    }

    /// A step of more than half a day is midnight, forward or (lines held back over it) backward.
    fn over_midnight(&mut self, stamp_ns: i64) -> i64 {
        if self.last_ns != NO_NS {
            let ahead_ns = stamp_ns + self.day_ns - self.last_ns;
            if ahead_ns < -DAY_NS / 2 {
                self.day_ns += DAY_NS;
            } else if ahead_ns > DAY_NS / 2 && self.day_ns > 0 {
                self.day_ns -= DAY_NS;
            }
        }
        stamp_ns + self.day_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: i64 = 1_000_000_000;

    #[test]
    fn midnight_adds_a_day_and_a_late_line_takes_it_back() {
        let mut clock = FileClock::new(Clock::TimeOfDay);
        let late_ns = DAY_NS - SECOND_NS;
        assert_eq!(clock.place(late_ns), late_ns);
        assert_eq!(clock.place(SECOND_NS), DAY_NS + SECOND_NS);
        assert_eq!(clock.place(late_ns), late_ns);
        assert_eq!(clock.place(2 * SECOND_NS), DAY_NS + 2 * SECOND_NS);
        assert_eq!(clock.backward_steps, 1);
    }

    #[test]
    fn relative_stamps_add_up() {
        let mut clock = FileClock::new(Clock::SincePrevious);
        assert_eq!([0, 5, 7].map(|step_ns| clock.place(step_ns)), [0, 5, 12]);
    }
}
