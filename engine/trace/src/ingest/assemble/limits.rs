//! Durations that are upper bounds, shortened to the time limits of their calls.
//!
//! ```text
//! strace          10.0 poll(…, 5000) = 0 (Timeout)   |          19.0 close(8)
//! poll            |------- 5 s -------|  program     |
//!
//! truss -D        D = 9.0, printed at its end: program |------- 5 s -------|
//! ```

use crate::ingest::assemble::Assembler;
use crate::store::facts::EndedByAlarm;
use crate::store::heuristics::MAX_TIMER_DELAY_NS;
use crate::store::time_limits::reached_limit;
use parsers::facts::Timeout;
use parsers::{DurKind, NO_NS, StampMoment};

impl Assembler<'_> {
    /// At the end of the capture: a wait that timed out, or a complete sleep, lasted no longer than its limit and the delay
    /// of a timer. The rest of its upper bound is the program's own.
    pub(super) fn bound_by_limits(&mut self) {
        if self.facts.dur_kind != DurKind::UpperBound {
            return;
        }
        let is_end = self.facts.stamp == StampMoment::End;
        // Timers of Linux have a resolution of nanoseconds, and strace is a tracer of Linux.
        let delay_ns = match self.capture.format {
            "strace" => self.facts.tick_ns,
            _ => MAX_TIMER_DELAY_NS.max(self.facts.tick_ns),
        };
        let events = &mut self.trace.events;
        events.facts.order_kind::<EndedByAlarm>();
        let requested = events.facts.take::<Timeout>();
        for &(row, limit_ns) in requested
            .iter()
            .filter(|&&(row, _)| row >= self.capture.rows.start)
        {
            let dur_ns = events.dur_ns(row);
            let max_ns = limit_ns.saturating_add(delay_ns);
            let is_bound = events.dur_kind(row) == DurKind::UpperBound && limit_ns > 0;
            if !is_bound || dur_ns <= max_ns || !reached_limit(events, row) {
                continue;
            }
            let start_ns = events.start_ns(row);
            if is_end && start_ns != NO_NS {
                events.set_start(row, start_ns.saturating_add(dur_ns - max_ns));
            }
            events.set_dur(row, max_ns, DurKind::UpperBound);
        }
        events.facts.put::<Timeout>(requested);
    }
}
