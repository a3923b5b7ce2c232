//! Where the lines of a coarse clock lie within their ticks, by the order of lines and the durations of calls.
//!
//! ```text
//! ticks        |10                      |11                      |12
//! 7  wait <1.3>          |b --------------- 1.3 ---------------- r|
//! 8  calls                |--a--|  |--c--|  |--d--|  |--e--|  |-f-|
//! ```
//! While lines are read, each is placed as early as the lines before it allow. At the end of the capture, lines move to
//! their final places, under three constraints: a line stays in its tick, a call on one line ends before the next line,
//! and the halves of a call are as far apart as its duration. The capture begins as late in its first tick as they allow
//! without making it longer: no line shows that anything ran before. The time of a tick that is in no call is spread
//! evenly over its lines, since nothing shows where the program used it.

use crate::store::heuristics::STAMP_TOLERANCE_NS;

/// Maximum number of passes over the lines. Nested calls need one each, and few are nested.
const MAX_PASSES: usize = 16;

/// The lines of a capture, as they are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct CoarseLines {
    lines: Vec<CoarseLine>,
    halves: Vec<Halves>,
    /// A line is stamped earlier than the one before it: the order of lines is not the order of events.
    is_out_of_order: bool,
    /// The line before the last one reports the end of a task, or the last one does.
    ends: [bool; 2],
}

#[derive(Clone, Copy, Debug)]
struct CoarseLine {
    /// Its place so far. No two lines have the same.
    placed_ns: i64,
    stamp_ns: i64,
    /// Minimum time to the next line.
    dur_ns: i64,
    /// It follows from the line before at once: the end of a task, or the second half of a call that such an end ended.
    is_prompt: bool,
}

/// A call printed in two halves.
#[derive(Clone, Copy, Debug)]
struct Halves {
    begun: usize,
    returned: usize,
    dur_ns: i64,
}

impl CoarseLines {
    /// Add a line: its place so far, its stamp, and the duration of the call on it.
    pub(super) fn push(&mut self, placed_ns: i64, stamp_ns: i64, dur_ns: i64) {
        let last = self.lines.last();
        self.is_out_of_order |=
            last.is_some_and(|last| stamp_ns < last.stamp_ns || placed_ns <= last.placed_ns);
        self.lines.push(CoarseLine {
            placed_ns,
            stamp_ns,
            dur_ns,
            is_prompt: false,
        });
    }

    /// The same for a line that is stamped with the time since the line before: no stamp gives its place.
    pub(super) fn push_after(&mut self, step_ns: i64, placed_ns: i64, dur_ns: i64) {
        let last = self.lines.last_mut();
        let stamp_ns = last.map_or(placed_ns, |last| {
            last.dur_ns = last.dur_ns.max(step_ns);
            i64::MIN
        });
        self.lines.push(CoarseLine {
            placed_ns,
            stamp_ns,
            dur_ns,
            is_prompt: false,
        });
    }

    /// The last line reports the end of a task, or does not.
    pub(super) fn last_is_end(&mut self, is_end: bool) {
        self.ends = [self.ends[1], is_end];
        if let Some(last) = self.lines.last_mut() {
            last.is_prompt = is_end;
        }
    }

    /// The last line is the second half of the call whose first half was placed at `begun_ns`.
    pub(super) fn join(&mut self, begun_ns: i64, returned_ns: i64, dur_ns: i64) {
        let begun = self
            .lines
            .binary_search_by_key(&begun_ns, |line| line.placed_ns);
        let returned = self.lines.len().saturating_sub(1);
        if let (Ok(begun), Some(last)) = (begun, self.lines.last_mut()) {
            last.placed_ns = returned_ns;
            last.is_prompt |= self.ends[0];
            self.halves.push(Halves {
                begun,
                returned,
                dur_ns,
            });
        }
    }

    /// The final places; `None` if the order of lines is not that of events.
    pub(super) fn settle(self, tick_ns: i64) -> Option<FinalPlaces> {
        if self.is_out_of_order || self.lines.is_empty() {
            return None;
        }
        let placed_ns = self.lines.iter().map(|line| line.placed_ns).collect();
        Some(FinalPlaces {
            placed_ns,
            final_ns: Constraints::new(&self, tick_ns).solved(),
        })
    }
}

/// The final place of each line.
pub(crate) struct FinalPlaces {
    placed_ns: Vec<i64>,
    final_ns: Vec<i64>,
}

impl FinalPlaces {
    /// The final time of a moment on the time line so far. A call keeps its duration.
    pub(crate) fn of(&self, at_ns: i64) -> i64 {
        let next = self
            .placed_ns
            .partition_point(|&placed_ns| placed_ns <= at_ns);
        let Some(line) = next.checked_sub(1) else {
            return at_ns;
        };
        let moved_ns = self.final_ns[line].saturating_add(at_ns - self.placed_ns[line]);
        self.final_ns
            .get(next)
            .map_or(moved_ns, |&next_ns| moved_ns.min(next_ns))
    }
}

/// The lines, and the earliest place of each that is known so far.
struct Constraints<'lines> {
    lines: &'lines [CoarseLine],
    halves: Vec<Halves>,
    earliest_ns: Vec<i64>,
    tick_ns: i64,
}

impl<'lines> Constraints<'lines> {
    fn new(read: &'lines CoarseLines, tick_ns: i64) -> Constraints<'lines> {
        let earliest_ns = read.lines.iter().map(|line| line.stamp_ns).collect();
        Constraints {
            lines: &read.lines,
            halves: read.halves.clone(),
            earliest_ns,
            tick_ns,
        }
    }

    fn solved(mut self) -> Vec<i64> {
        self.earliest_ns[0] = self.start_ns();
        let earliest = self.with_halves_joined();
        let latest = self.latest(&earliest);
        self.earliest_ns = self.spread(&earliest, &latest);
        self.with_halves_joined()
    }

    /// Each line as early as possible, with the halves of calls as far apart as their durations.
    fn with_halves_joined(&mut self) -> Vec<i64> {
        let mut places = self.forward();
        let mut excess_ns = vec![i64::MAX; self.halves.len()];
        for _ in 0..MAX_PASSES {
            if !self.push_first_halves(&places, &mut excess_ns) {
                break;
            }
            places = self.forward();
        }
        places
    }

    /// Each line as late as possible. The capture does not become longer, and neither does the time between two halves.
    fn latest(&self, earliest: &[i64]) -> Vec<i64> {
        let ends = earliest
            .iter()
            .enumerate()
            .map(|(number, &at_ns)| self.end_of_tick_ns(number).max(at_ns));
        let mut limits: Vec<i64> = ends.collect();
        for end in [0, limits.len() - 1] {
            limits[end] = earliest[end];
        }
        let mut places = self.backward(&limits);
        for _ in 0..MAX_PASSES {
            let mut has_moved = false;
            for halves in &self.halves {
                let apart_ns = earliest[halves.returned].saturating_sub(earliest[halves.begun]);
                let limit_ns = places[halves.begun].saturating_add(apart_ns.max(halves.dur_ns));
                has_moved |= limit_ns < places[halves.returned];
                limits[halves.returned] = limits[halves.returned].min(limit_ns);
            }
            if !has_moved {
                break;
            }
            places = self.backward(&limits);
        }
        places
    }

    /// Lines of a tick move from their earliest to their latest places, the first one not at all and the last one all
    /// the way. The result are earliest places.
    fn spread(&self, earliest: &[i64], latest: &[i64]) -> Vec<i64> {
        let mut places = Vec::with_capacity(earliest.len());
        for tick in self.lines.chunk_by(|a, b| a.stamp_ns == b.stamp_ns) {
            let steps = tick
                .iter()
                .skip(1)
                .filter(|line| !line.is_prompt)
                .count()
                .max(1) as f64;
            let mut step = 0.0;
            for (at, line) in tick.iter().enumerate() {
                step += f64::from(u8::from(at > 0 && !line.is_prompt));
                let (early_ns, late_ns) = (earliest[places.len()], latest[places.len()]);
                let moved_ns = late_ns.saturating_sub(early_ns).max(0) as f64 * (step / steps);
                places.push(early_ns.saturating_add(moved_ns as i64));
            }
        }
        places
    }

    /// Each line as early as its earliest place and the lines before it allow.
    fn forward(&self) -> Vec<i64> {
        let mut places: Vec<i64> = Vec::with_capacity(self.lines.len());
        let mut halves = self.halves.iter().peekable();
        let mut free_ns = i64::MIN;
        for (number, line) in self.lines.iter().enumerate() {
            let mut at_ns = self.earliest_ns[number].max(free_ns);
            while let Some(halves) = halves.next_if(|halves| halves.returned == number) {
                at_ns = at_ns.max(places[halves.begun].saturating_add(halves.dur_ns));
            }
            places.push(at_ns);
            free_ns = at_ns.saturating_add(line.dur_ns);
        }
        places
    }

    /// The latest place of the first line that keeps all lines in their ticks, but no later than what makes the capture
    /// shortest.
    fn start_ns(&self) -> i64 {
        let first_ns = self.earliest_ns[0];
        let last = |places: Vec<i64>| places.last().copied().unwrap_or(first_ns);
        let by_stamps_ns = last(self.forward());
        let free = vec![i64::MIN; self.lines.len()];
        let mut by_durations = Constraints {
            lines: self.lines,
            halves: self.halves.clone(),
            earliest_ns: free,
            ..*self
        };
        by_durations.earliest_ns[0] = first_ns;
        let slack_ns = by_stamps_ns.saturating_sub(last(by_durations.forward()));
        self.latest_start_ns()
            .min(first_ns.saturating_add(slack_ns))
            .max(first_ns)
    }

    fn latest_start_ns(&self) -> i64 {
        let limits: Vec<i64> = (0..self.lines.len())
            .map(|number| self.end_of_tick_ns(number))
            .collect();
        self.backward(&limits)[0]
    }

    /// Each line as late as its limit and the lines after it allow.
    fn backward(&self, limits: &[i64]) -> Vec<i64> {
        let mut places = limits.to_vec();
        let mut halves = self.halves.iter().rev().peekable();
        let mut next_ns = i64::MAX;
        for (number, line) in self.lines.iter().enumerate().rev() {
            let at_ns = places[number].min(next_ns.saturating_sub(line.dur_ns));
            places[number] = at_ns;
            while let Some(halves) = halves.next_if(|halves| halves.returned == number) {
                let begun_ns = &mut places[halves.begun];
                *begun_ns = (*begun_ns).min(at_ns.saturating_sub(halves.dur_ns));
            }
            next_ns = at_ns;
        }
        places
    }

    /// The latest place of a line by its stamp.
    fn end_of_tick_ns(&self, number: usize) -> i64 {
        let line = self.lines[number];
        let tick_ns = if line.stamp_ns == i64::MIN {
            line.placed_ns
        } else {
            line.stamp_ns
        };
        tick_ns.saturating_add(self.tick_ns - 1)
    }

    /// Move the first halves of calls whose second halves are too late, within their ticks. Returns whether one moved.
    ///
    /// A call inside which other calls take longer than itself would move on and on: clocks of tracers differ.
    fn push_first_halves(&mut self, places: &[i64], excess_ns: &mut [i64]) -> bool {
        let mut has_moved = false;
        for (number, halves) in self.halves.iter().enumerate() {
            let begun_ns = places[halves.begun];
            let latest_ns = places[halves.returned]
                .saturating_sub(halves.dur_ns)
                .min(self.end_of_tick_ns(halves.begun));
            let late_ns = latest_ns.saturating_sub(begun_ns);
            if late_ns <= STAMP_TOLERANCE_NS || late_ns > excess_ns[number] / 2 {
                continue;
            }
            excess_ns[number] = late_ns;
            self.earliest_ns[halves.begun] = self.earliest_ns[halves.begun].max(latest_ns);
            has_moved = true;
        }
        has_moved
    }
}
