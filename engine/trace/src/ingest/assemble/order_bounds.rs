//! Durations that are upper bounds, shortened by the order of lines of several tasks.
//!
//! ```text
//! 7 10.000 openat(…) = 3      returned before the next line was printed
//! 8 10.001 read(…) = 1
//! 7 11.500 close(3) = 0       the program computed for 1.499 s
//! ```
//! strace prints a call in two halves if another task has a line before it returns.

use crate::ingest::assemble::Assembler;
use crate::store::event::EventKind;
use crate::store::time_limits::min_duration_ns;
use parsers::{DurKind, NO_NS, Outcome, StampMoment};

impl Assembler<'_> {
    /// At the end of the capture: a call on one line ended before the next line.
    pub(super) fn bound_by_order(&mut self) {
        for (row, dur_ns) in self.bounds_by_order().unwrap_or_default() {
            self.trace.events.set_dur(row, dur_ns, DurKind::UpperBound);
        }
    }

    /// The rows with shorter bounds. `None` if lines are not in the order in which they were begun: a tracer may print
    /// calls when they return, each on one line.
    fn bounds_by_order(&self) -> Option<Vec<(u32, i64)>> {
        let is_bound =
            self.facts.dur_kind == DurKind::UpperBound && self.facts.stamp == StampMoment::Start;
        let is_ordered =
            self.clocks.len() == 1 && !self.has_steps_back() && !self.capture.is_order_inferred;
        let events = &self.trace.events;
        let second_halves = events
            .ends
            .iter()
            .filter(|&&(row, line)| row >= self.capture.rows.start && line != 0);
        let mut ends: Vec<(u32, u32)> = second_halves.map(|&(row, line)| (line, row)).collect();
        if !is_bound || !is_ordered || ends.is_empty() {
            return None;
        }
        ends.sort_unstable();
        let (mut bounds, mut next) = (Vec::new(), None);
        for row in (self.capture.rows.start..events.len()).rev() {
            let (start_ns, task) = (events.start_ns(row), events.task(row));
            if start_ns == NO_NS {
                continue;
            }
            // Second halves that are printed after this line and before the next row.
            while let Some((_, ended)) = ends.pop_if(|&mut (line, _)| line > events.line(row)) {
                if let Some(end_ns) = events.end_ns(ended) {
                    next = Some((end_ns, events.task(ended)));
                }
            }
            let (before, dur_ns) = (next.replace((start_ns, task)), events.dur_ns(row));
            let is_whole =
                events.kind(row) == EventKind::Call && events.dur_kind(row) == DurKind::UpperBound;
            let Some((next_ns, _)) = before.filter(|&(_, of)| is_whole && of != task) else {
                continue;
            };
            let until_next_ns = next_ns.saturating_sub(start_ns).max(self.facts.tick_ns);
            if until_next_ns < dur_ns && events.outcome(row) != Outcome::Open {
                if until_next_ns < min_duration_ns(events, row) {
                    return None;
                }
                bounds.push((row, until_next_ns));
            }
        }
        Some(bounds)
    }

    fn has_steps_back(&self) -> bool {
        self.clocks.iter().any(|clock| clock.backward_steps > 0)
    }
}
