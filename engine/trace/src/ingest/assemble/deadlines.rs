//! Deadlines on clocks that the stamps do not use, converted to durations.
//!
//! ```text
//! start             deadline on its clock + offset      the offset is how far the clock of stamps is ahead
//!   |------ sleep ------|--| return                     a wait never ends before its deadline, so the earliest return shows it
//! ```

use crate::ingest::assemble::Assembler;
use crate::store::events::EventTable;
use crate::store::heuristics::MIN_RHYTHM_WAITS;
use crate::store::index::TaskId;
use parsers::facts::{Deadline, DeadlineClock, Timeout};
use parsers::syscalls::Action;
use parsers::{Clock, DurKind, NO_NS, Outcome, StampMoment};

impl Assembler<'_> {
    /// A wait until a moment of a clock. Without stamps, the wait begins when the call of its task right before it read this
    /// clock. Other threads may have made calls in between.
    pub(super) fn waits_until(
        &mut self,
        row: u32,
        task: TaskId,
        clock: DeadlineClock,
        until_ns: i64,
    ) {
        const MAX_ROWS_BETWEEN: u32 = 64;
        let read = self
            .state(task)
            .clock_read
            .filter(|&(_, read, _)| read == clock);
        let events = &self.trace.events;
        let read = read.filter(|&(before, ..)| {
            row.saturating_sub(before) <= MAX_ROWS_BETWEEN
                && (before + 1..row).all(|between| events.task(between) != task)
        });
        match read.filter(|_| self.facts.clock == Clock::None) {
            Some((.., now_ns)) => self
                .trace
                .events
                .facts
                .add::<Timeout>(row, until_ns.saturating_sub(now_ns).max(0)),
            None => self
                .trace
                .events
                .facts
                .add::<Deadline>(row, (clock, until_ns)),
        }
    }

    /// Compute the requested durations of calls that wait until a moment of a clock, if one of them reached its moment.
    pub(super) fn compare_clocks(&mut self) {
        let until = self.trace.events.facts.take::<Deadline>();
        for clock in [DeadlineClock::Monotonic, DeadlineClock::RealTime] {
            let of_clock = until.iter().filter(|&&(_, (used, _))| used == clock);
            self.compare_clock(
                of_clock
                    .map(|&(row, (_, until_ns))| (row, until_ns))
                    .collect(),
            );
        }
    }

    /// A return that is known by the next line of its task only may be late, so several are needed then.
    fn compare_clock(&mut self, until: Vec<(u32, i64)>) {
        let (facts, events) = (self.facts, &mut self.trace.events);
        let reached = until.iter().filter(|&&(row, _)| {
            events.outcome(row) == Outcome::Ok
                || events.texts.bytes(events.shape(row).errno) == b"ETIMEDOUT"
        });
        let reached = reached
            .filter(|&&(row, _)| events.outcome(row) == Outcome::Failed || is_sleep(events, row));
        let offsets =
            reached.filter_map(|&(row, until_ns)| events.end_ns(row)?.checked_sub(until_ns));
        let offsets: Vec<i64> = offsets.collect();
        let is_late = facts.dur_kind == DurKind::UpperBound && facts.stamp == StampMoment::Start;
        let Some(&offset_ns) = offsets
            .iter()
            .min()
            .filter(|_| !is_late || offsets.len() as i64 >= MIN_RHYTHM_WAITS)
        else {
            return;
        };
        for (row, until_ns) in until {
            let start_ns = events.start_ns(row);
            if start_ns != NO_NS {
                let requested_ns = until_ns
                    .saturating_add(offset_ns)
                    .saturating_sub(start_ns)
                    .max(0);
                events.facts.add::<Timeout>(row, requested_ns);
            }
        }
    }
}

fn is_sleep(events: &EventTable, row: u32) -> bool {
    events.action(row) == Action::Sleeps
}
