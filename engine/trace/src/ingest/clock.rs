//! Stamps as printed to one time line per capture.

use crate::ingest::coarse_lines::{CoarseLines, FinalPlaces};
use crate::store::heuristics::MAX_LATE_LOG_LINE_NS;
use crate::store::resolution::is_coarse;
use parsers::{CaptureFacts, Clock, DurKind, LEAP_YEAR_NS, Line, LineKind, NO_NS};

const DAY_NS: i64 = 86_400_000_000_000;
/// 29 February, as a day of the year from 0.
const LEAP_DAY: std::ops::Range<i64> = 59..60;
/// Maximum distance of a stamp from 1970 (146 years), so that sums and differences of a stamp and a duration cannot
/// overflow.
const FURTHEST_NS: i64 = (1 << 62) - 1;
/// Maximum duration (2 years). A sum of 64 of them does not overflow.
const MAX_NS: i64 = 1 << 56;

/// A duration as printed, kept within what can be added up; [`NO_NS`] stays.
#[inline]
pub(crate) fn bounded_ns(dur_ns: i64) -> i64 {
    if dur_ns == NO_NS {
        NO_NS
    } else {
        dur_ns.clamp(-MAX_NS, MAX_NS)
    }
}

#[inline]
pub(crate) fn bounded_stamp_ns(stamp_ns: i64) -> i64 {
    stamp_ns.clamp(-FURTHEST_NS, FURTHEST_NS)
}

/// The clock of one file.
#[derive(Clone, Debug)]
pub struct FileClock {
    clock: Clock,
    tick_ns: i64,
    last_ns: i64,
    /// Of a coarse clock.
    coarse: Option<CoarseClock>,
    /// Days or years since the first stamp.
    rounds_ns: i64,
    /// This year has a 29 February.
    is_leap: bool,
    /// How far the time line is ahead of the minutes that some lines print.
    ahead_of_minutes_ns: Option<i64>,
    /// Of a log.
    onward: Option<Onward>,
    /// Stamps fall from line to line.
    is_newest_first: bool,
    /// Stamps that lie before the one before them.
    pub backward_steps: u64,
}

impl FileClock {
    /// A clock that has not seen a stamp.
    pub fn new(facts: &CaptureFacts) -> FileClock {
        let onward =
            (facts.dur_kind == DurKind::Gap && !facts.is_newest_first).then(Onward::default);
        FileClock {
            clock: facts.clock,
            tick_ns: facts.tick_ns,
            last_ns: NO_NS,
            coarse: is_coarse(facts).then(CoarseClock::default),
            rounds_ns: 0,
            is_leap: false,
            ahead_of_minutes_ns: None,
            onward,
            is_newest_first: facts.is_newest_first,
            backward_steps: 0,
        }
    }

    /// The same for one of several files that are merged by their stamps: equal stamps leave their order to causes.
    pub(crate) fn merged(self) -> FileClock {
        FileClock {
            coarse: None,
            ..self
        }
    }

    /// The place of a line on the time line; [`NO_NS`] as for [`FileClock::place`].
    ///
    /// Lines of a file are in the order of their events. A tracer splits a call into two lines if another task has an
    /// event meanwhile, so a call on one line ended before the next line:
    ///
    /// ```text
    /// printed   10 read <0.3>  10 write <0.1>  10 close <0.0>  11 read <0.2>
    /// placed    |--- read ---|write|close      |-- read --|
    /// ```
    /// The places of a coarse clock are preliminary: [`FileClock::final_places`] has the final ones.
    pub(crate) fn place_line(&mut self, line: &Line) -> i64 {
        let before_ns = self.last_ns;
        let placed_ns = self.place(line.stamp_ns);
        let Some(coarse) = self.coarse.as_mut().filter(|_| placed_ns != NO_NS) else {
            return placed_ns;
        };
        let is_call = line.kind == LineKind::Call && line.dur_ns != NO_NS;
        let dur_ns = bounded_ns(if is_call { line.dur_ns.max(0) } else { 0 });
        let placed_ns = if self.clock == Clock::SincePrevious {
            let step_ns = if before_ns == NO_NS {
                0
            } else {
                placed_ns.saturating_sub(before_ns)
            };
            self.last_ns = coarse.place_after(step_ns, placed_ns, dur_ns);
            self.last_ns
        } else {
            coarse.place_in_tick(placed_ns, self.tick_ns, dur_ns)
        };
        coarse.lines.last_is_end(line.kind == LineKind::Exit);
        placed_ns
    }

    /// The last line is the second half of the call whose first half was placed here. The place of its return, which is not
    /// earlier than its duration allows.
    pub(crate) fn place_return(&mut self, begun_ns: i64, returned_ns: i64, dur_ns: i64) -> i64 {
        let is_known = begun_ns != NO_NS && returned_ns != NO_NS && dur_ns != NO_NS;
        let Some(coarse) = self.coarse.as_mut().filter(|_| is_known) else {
            return returned_ns;
        };
        let placed_ns = coarse.place_return(begun_ns, returned_ns, dur_ns.max(0));
        if self.clock == Clock::SincePrevious {
            self.last_ns = placed_ns;
        }
        placed_ns
    }

    /// The final places of all lines since the last such call, if they differ.
    pub(crate) fn final_places(&mut self) -> Option<FinalPlaces> {
        std::mem::take(&mut self.coarse.as_mut()?.lines).settle(self.tick_ns)
    }

    /// The place of a printed stamp on the time line; [`NO_NS`] if it is missing or not related to wall time.
    #[inline]
    pub fn place(&mut self, stamp_ns: i64) -> i64 {
        if stamp_ns == NO_NS {
            return NO_NS;
        }
        let stamp_ns = bounded_stamp_ns(stamp_ns);
        let placed_ns = match self.clock {
            Clock::Epoch | Clock::SinceStart => stamp_ns,
            Clock::PerThread | Clock::None => return NO_NS,
            Clock::SincePrevious if stamp_ns < 0 && self.onward.is_some() => self.minute(stamp_ns),
            Clock::SincePrevious => bounded_stamp_ns(self.last_ns.max(0).saturating_add(stamp_ns)),
            Clock::TimeOfDay => bounded_stamp_ns(self.over(stamp_ns, DAY_NS)),
            Clock::SinceNewYear => bounded_stamp_ns(self.over_new_year(stamp_ns)),
        };
        if self.is_newest_first {
            return self.place_older(placed_ns);
        }
        self.backward_steps += u64::from(self.last_ns != NO_NS && placed_ns < self.last_ns);
        let before_ns = std::mem::replace(&mut self.last_ns, placed_ns);
        match &mut self.onward {
            None => placed_ns,
            Some(onward) => onward.place(placed_ns, before_ns),
        }
    }

    /// Below a line of the same stamp is one that was logged before it, at a distance that no clock of a log measures.
    fn place_older(&mut self, stamp_ns: i64) -> i64 {
        let is_same = self.last_ns != NO_NS
            && (self.last_ns..self.last_ns + self.tick_ns).contains(&stamp_ns);
        let placed_ns = if is_same { self.last_ns - 1 } else { stamp_ns };
        self.last_ns = placed_ns;
        placed_ns
    }

    /// A line with its minute, among others that count from the line before. It is placed as early as the minute
    /// allows, but not before that line. Lines before the first minute have no place yet, so the first minute continues
    /// from them.
    fn minute(&mut self, stamp_ns: i64) -> i64 {
        let minute_ns = self.over_new_year(stamp_ns.saturating_add(LEAP_YEAR_NS));
        let last_ns = self.last_ns;
        let ahead_ns = *self.ahead_of_minutes_ns.get_or_insert_with(|| {
            if last_ns == NO_NS {
                0
            } else {
                last_ns.saturating_sub(minute_ns)
            }
        });
        bounded_stamp_ns(minute_ns.saturating_add(ahead_ns).max(last_ns))
    }

    /// A step of more than half a round (a day) is midnight, forward or (lines held back over it) backward.
    fn over(&mut self, stamp_ns: i64, round_ns: i64) -> i64 {
        if self.last_ns != NO_NS {
            let ahead_ns = stamp_ns + self.rounds_ns - self.last_ns;
            if ahead_ns < -round_ns / 2 {
                self.rounds_ns = self.rounds_ns.saturating_add(round_ns).min(FURTHEST_NS);
            } else if ahead_ns > round_ns / 2 && (self.rounds_ns > 0 || self.is_newest_first) {
                self.rounds_ns -= round_ns;
            }
        }
        stamp_ns + self.rounds_ns
    }

    /// The same for years. Stamps count the days of a leap year. If a log does not contain 29 February, its 28 February
    /// is the day before 1 March. If that is one day too few, no silence is invented.
    fn over_new_year(&mut self, stamp_ns: i64) -> i64 {
        self.is_leap |= LEAP_DAY.contains(&(stamp_ns / DAY_NS));
        let leap_ns = if self.is_leap { DAY_NS } else { 0 };
        let missing_ns = if stamp_ns / DAY_NS >= LEAP_DAY.end {
            DAY_NS - leap_ns
        } else {
            0
        };
        let years_ns = self.rounds_ns;
        let placed_ns = self.over(stamp_ns - missing_ns, 365 * DAY_NS + leap_ns);
        self.is_leap &= self.rounds_ns <= years_ns;
        placed_ns
    }
}

/// Places of lines within the ticks of a clock that is coarser than calls.
#[derive(Clone, Debug)]
struct CoarseClock {
    /// When the call of the last line returned, which is not after the next line.
    free_ns: i64,
    lines: CoarseLines,
}

impl Default for CoarseClock {
    fn default() -> CoarseClock {
        CoarseClock {
            free_ns: i64::MIN,
            lines: CoarseLines::default(),
        }
    }
}

impl CoarseClock {
    /// The place of a line in the tick of its stamp. It has a call of this duration.
    fn place_in_tick(&mut self, stamp_ns: i64, tick_ns: i64, dur_ns: i64) -> i64 {
        // A clock that was set back leads to a place more than a tick before the last one.
        let is_set_back = self.free_ns.saturating_sub(stamp_ns) > tick_ns.saturating_mul(2);
        let placed_ns = if is_set_back {
            stamp_ns
        } else {
            stamp_ns.max(self.free_ns)
        };
        self.lines.push(placed_ns, stamp_ns, dur_ns);
        self.take(placed_ns, dur_ns)
    }

    /// The same for a line that is stamped with the time since the line before.
    fn place_after(&mut self, step_ns: i64, stamp_ns: i64, dur_ns: i64) -> i64 {
        let placed_ns = stamp_ns.max(self.free_ns);
        self.lines.push_after(step_ns, placed_ns, dur_ns);
        self.take(placed_ns, dur_ns)
    }

    /// The next line comes later, by at least a nanosecond, so that each line has a place of its own.
    fn take(&mut self, placed_ns: i64, dur_ns: i64) -> i64 {
        self.free_ns = placed_ns.saturating_add(dur_ns).saturating_add(1);
        placed_ns
    }

    fn place_return(&mut self, begun_ns: i64, returned_ns: i64, dur_ns: i64) -> i64 {
        let placed_ns = returned_ns.max(begun_ns.saturating_add(dur_ns));
        self.lines.join(begun_ns, placed_ns, dur_ns);
        self.take(placed_ns, 0)
    }
}

/// The time line of a log, on which no stretch lies on another one.
///
/// ```text
/// stamps      100  101 | 41  42  43        the duration of the silence at | is unknown: it counts as 0,
/// time line   100  101  101 102 103        and the clock continues from there
/// ```
#[derive(Clone, Copy, Debug)]
struct Onward {
    /// How far the time line is ahead of the stamps.
    ahead_ns: i64,
    /// Above which stamp the clock was set back, and how far ahead the time line was there, until that stamp is reached
    /// again.
    set_back: Option<(i64, i64)>,
    highest_ns: i64,
}

impl Default for Onward {
    fn default() -> Onward {
        Onward {
            ahead_ns: 0,
            set_back: None,
            highest_ns: NO_NS,
        }
    }
}

impl Onward {
    #[inline]
    fn place(&mut self, stamp_ns: i64, before_ns: i64) -> i64 {
        if self.set_back.is_some() || stamp_ns < before_ns {
            self.follow(stamp_ns, stamp_ns.saturating_sub(before_ns));
        }
        let placed_ns = bounded_stamp_ns(stamp_ns.saturating_add(self.ahead_ns));
        self.highest_ns = self.highest_ns.max(placed_ns);
        placed_ns
    }

    #[cold]
    fn follow(&mut self, stamp_ns: i64, step_ns: i64) {
        if step_ns <= -MAX_LATE_LOG_LINE_NS {
            let before_ns = stamp_ns.saturating_sub(step_ns);
            self.set_back.get_or_insert((before_ns, self.ahead_ns));
            self.ahead_ns = self.highest_ns.saturating_sub(stamp_ns);
        } else if let Some((_, ahead_ns)) =
            self.set_back.take_if(|(left_ns, _)| stamp_ns >= *left_ns)
            && step_ns >= self.ahead_ns.saturating_sub(ahead_ns) / 2
        {
            // A leap ahead over most of it: the lines since were late or another machine's, and this one is not.
            self.ahead_ns = ahead_ns.max(self.highest_ns.saturating_sub(stamp_ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: i64 = 1_000_000_000;

    fn clock_of(clock: Clock, dur_kind: DurKind) -> FileClock {
        let reader = parsers::by_name("kernel-log").map(|format| {
            format.reader(parsers::Head {
                bytes: b"",
                complete: true,
            })
        });
        let facts = reader.expect("a format").facts();
        FileClock::new(&CaptureFacts {
            clock,
            dur_kind,
            ..facts
        })
    }

    #[test]
    fn the_clock_of_a_log_goes_on_where_it_is_set_back() {
        #[rustfmt::skip]
        let cases: &[(&[i64], &[i64])] = &[
            (&[100, 101, 98, 102], &[100, 101, 98, 102]),
            (&[1800, 1803, 9, 12, 1805, 1806], &[1800, 1803, 1803, 1806, 1806, 1807]),
            (&[1800, 1803, 9, 12, 912, 1712, 1812, 1813], &[1800, 1803, 1803, 1806, 2706, 3506, 3606, 3607]),
            (&[100, 50, 51, 10, 12], &[100, 100, 101, 101, 103]),
            // Two machines whose clocks differ by two minutes.
            (&[600, 480, 601, 481, 482, 604, 490], &[600, 600, 601, 601, 602, 604, 604]),
        ];
        for (stamps, expected) in cases {
            let mut clock = clock_of(Clock::Epoch, DurKind::Gap);
            let placed: Vec<i64> = stamps
                .iter()
                .map(|stamp| clock.place(stamp * SECOND_NS) / SECOND_NS)
                .collect();
            assert_eq!(placed, *expected, "{stamps:?}");
        }
    }

    #[test]
    fn midnight_adds_a_day_and_a_late_line_takes_it_back() {
        let mut clock = clock_of(Clock::TimeOfDay, DurKind::None);
        let late_ns = DAY_NS - SECOND_NS;
        assert_eq!(clock.place(late_ns), late_ns);
        assert_eq!(clock.place(SECOND_NS), DAY_NS + SECOND_NS);
        assert_eq!(clock.place(late_ns), late_ns);
        assert_eq!(clock.place(2 * SECOND_NS), DAY_NS + 2 * SECOND_NS);
        assert_eq!(clock.backward_steps, 1);
    }

    #[test]
    fn new_year_adds_a_year_and_the_days_of_a_february_are_as_it_shows() {
        let (new_year, eve, feb_28, feb_29, mar_1) = (0, 365, 58, 59, 60);
        #[rustfmt::skip]
        let cases: &[(&[i64], &[i64])] = &[
            (&[eve, new_year, eve, 1], &[364, 365, 364, 366]),
            (&[feb_28, mar_1], &[58, 59]),
            (&[feb_28, feb_29, mar_1], &[58, 59, 60]),
            (&[feb_29, eve, new_year, eve, new_year, feb_28, mar_1], &[59, 365, 366, 365, 366, 424, 425]),
        ];
        for (days, expected) in cases {
            let mut clock = clock_of(Clock::SinceNewYear, DurKind::None);
            let placed: Vec<i64> = days
                .iter()
                .map(|day| clock.place(day * DAY_NS) / DAY_NS)
                .collect();
            assert_eq!(placed, *expected, "{days:?}");
        }
    }

    #[test]
    fn many_years_stay_within_what_can_be_added_up() {
        let mut clock = clock_of(Clock::SinceNewYear, DurKind::Gap);
        let placed = (0..3000).map(|iteration| clock.place(iteration % 3 * 120 * DAY_NS));
        assert!(placed.last() <= Some(FURTHEST_NS));
    }

    const TENTH_NS: i64 = SECOND_NS / 10;

    fn clock_of_seconds() -> FileClock {
        let line = b"1 10:00:00 read(3, \"\", 1) = 1 <0.000010>\n";
        let reader = parsers::by_name("strace").map(|format| {
            format.reader(parsers::Head {
                bytes: line,
                complete: true,
            })
        });
        let facts = reader.expect("a format").facts();
        assert!(is_coarse(&facts));
        FileClock::new(&facts)
    }

    fn whole(stamp_ns: i64, dur_ns: i64) -> Line {
        Line {
            stamp_ns,
            dur_ns,
            ..Line::of(LineKind::Call)
        }
    }

    #[test]
    fn place_line_puts_calls_one_after_the_other_within_a_tick() {
        let mut clock = clock_of_seconds();
        #[rustfmt::skip]
        let cases = [(10, 3, 100), (10, 1, 103), (10, 0, 104), (11, 2, 110), (11, 25, 112), (13, 1, 137), (15, 1, 150)];
        for (second, tenths, placed) in cases {
            let line = whole(second * SECOND_NS, tenths * TENTH_NS);
            assert_eq!(
                clock.place_line(&line) / TENTH_NS,
                placed,
                "{second} {tenths}"
            );
        }
    }

    #[test]
    fn place_line_follows_a_clock_that_is_set_back() {
        let mut clock = clock_of_seconds();
        let placed = [100, 50, 51]
            .map(|second| clock.place_line(&whole(second * SECOND_NS, TENTH_NS)) / SECOND_NS);
        assert_eq!(placed, [100, 50, 51]);
    }

    /// Final places in tenths of a second, of lines given as seconds and tenths.
    fn settled(clock: &mut FileClock, lines: &[(i64, i64)]) -> Vec<i64> {
        let placed = lines.iter().map(|&(second, tenths)| {
            clock.place_line(&whole(second * SECOND_NS, tenths * TENTH_NS))
        });
        let placed: Vec<i64> = placed.collect();
        let places = clock.final_places().expect("lines in order");
        placed
            .iter()
            .map(|&placed_ns| places.of(placed_ns) / TENTH_NS)
            .collect()
    }

    #[test]
    fn a_capture_begins_no_earlier_than_its_calls_require() {
        let mut clock = clock_of_seconds();
        assert_eq!(
            settled(&mut clock, &[(10, 3), (10, 3), (11, 0)]),
            [104, 107, 110]
        );
        assert_eq!(
            settled(&mut clock, &[(20, 3), (20, 2), (20, 0)]),
            [200, 203, 205]
        );
    }

    #[test]
    fn time_in_no_call_is_spread_over_the_lines_of_its_tick() {
        let mut clock = clock_of_seconds();
        let lines = [
            (10, 0),
            (11, 0),
            (11, 0),
            (11, 0),
            (11, 0),
            (11, 0),
            (12, 0),
        ];
        assert_eq!(
            settled(&mut clock, &lines),
            [109, 110, 112, 114, 117, 119, 120]
        );
    }

    #[test]
    fn halves_are_as_far_apart_as_their_duration() {
        let mut clock = clock_of_seconds();
        let mut half = |second: i64, kind| {
            clock.place_line(&Line {
                stamp_ns: second * SECOND_NS,
                ..Line::of(kind)
            })
        };
        let (first_ns, begun_ns) = (half(10, LineKind::Signal), half(10, LineKind::CallStart));
        let returned_ns = half(12, LineKind::CallEnd);
        let returned_ns = clock.place_return(begun_ns, returned_ns, 13 * TENTH_NS);
        let places = clock.final_places().expect("lines in order");
        let tenths = [first_ns, begun_ns, returned_ns].map(|at_ns| places.of(at_ns) / TENTH_NS);
        assert_eq!(tenths, [107, 107, 120]);
    }

    #[test]
    fn lines_out_of_order_keep_their_places() {
        let mut clock = clock_of_seconds();
        for second in [100, 50, 51] {
            clock.place_line(&whole(second * SECOND_NS, TENTH_NS));
        }
        assert!(clock.final_places().is_none());
    }

    #[test]
    fn relative_stamps_add_up() {
        let mut clock = clock_of(Clock::SincePrevious, DurKind::None);
        assert_eq!([0, 5, 7].map(|step_ns| clock.place(step_ns)), [0, 5, 12]);
    }
}
