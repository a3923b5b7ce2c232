//! A waiting call with its position, and the calls of other tasks that lie inside it.

use super::effects::ShapeEffects;
use super::ordered::Ordered;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, ShapeFacts};
use crate::waits::task_ends::asked_to_end_ns;
use crate::waits::times::{end_ns, tick_ns};
use crate::waits::wait_kinds::{is_hung_up, is_return};
use parsers::syscalls::{Class, Wait};
use parsers::{NO_NS, Outcome};
use trace::store::event::EventKind;
use trace::store::events::EventTable;
use trace::store::heuristics::{EXIT_TOLERANCE_NS, MAX_EXIT_NS};
use trace::store::index::TaskId;
use trace::store::spans::Span;
use trace::store::trace::Trace;

/// Maximum number of calls after a poll that are searched for the one that uses the ready descriptor.
const CALLS_BEHIND_POLL: usize = 8;

/// Maximum number of calls after a signal that are searched for the return of its handler.
const CALLS_OF_HANDLER: usize = 32;

/// A waiting call and its position.
#[derive(Clone, Copy)]
pub(super) struct Waiting<'trace> {
    pub trace: &'trace Trace,
    pub task: TaskId,
    /// Its index among the task's rows.
    pub at: usize,
    pub span: Span,
}

impl Waiting<'_> {
    /// The timestamp resolution.
    pub(super) fn tick_ns(&self) -> i64 {
        tick_ns(self.trace, self.task)
    }

    /// The latest time at which the end of another task may have ended this call.
    pub(super) fn exits_until_ns(&self) -> i64 {
        self.span
            .end_ns
            .saturating_add(EXIT_TOLERANCE_NS.max(self.tick_ns()))
    }

    /// The latest start of an event that ended this call: timestamps and durations come from different clocks.
    fn begun_until_ns(&self) -> i64 {
        // A clock under NTP adjustment drifts by up to 0.05 %; strace takes timestamps and durations from two clocks.
        let slewed_ns = (self.span.end_ns - self.span.start_ns) / 1_000;
        let until_ns = self
            .span
            .end_ns
            .saturating_add(slewed_ns.min(EXIT_TOLERANCE_NS).max(self.tick_ns()));
        // Nothing that began after the next call of the task has ended this one.
        let next_ns = self
            .rows_after()
            .next()
            .map(|row| self.trace.events.start_ns(row))
            .filter(|&next_ns| next_ns != NO_NS && next_ns >= self.span.end_ns);
        next_ns.map_or(until_ns, |next_ns| until_ns.min(next_ns))
    }

    /// The latest time at which this call returned: before the next one of its task. Without a next call, the recorded end.
    pub(super) fn returned_until_ns(&self) -> i64 {
        let next_ns = self
            .rows_after()
            .next()
            .map(|row| self.trace.events.start_ns(row))
            .filter(|&next_ns| next_ns != NO_NS);
        let end_ns = self.span.end_ns;
        next_ns.map_or(end_ns, |next_ns| {
            next_ns.min(end_ns.saturating_add(EXIT_TOLERANCE_NS))
        })
    }

    /// Whether an event at this time coincides with the end of the wait, within the precision of timestamps.
    pub(super) fn is_at_end(&self, at_ns: i64) -> bool {
        self.span.end_ns.saturating_sub(at_ns) <= EXIT_TOLERANCE_NS.max(self.tick_ns())
    }

    /// Whether the end of another task at this moment may have ended this call.
    pub(super) fn spans_exit(&self, at_ns: i64) -> bool {
        at_ns != NO_NS && at_ns > self.span.start_ns && at_ns <= self.exits_until_ns()
    }

    /// The latest time at which a slow end of another task that ended this call may be printed.
    pub(super) fn slow_exits_until_ns(&self) -> i64 {
        self.span.end_ns.saturating_add(MAX_EXIT_NS)
    }

    /// Whether another task was ending when this call did: an exiting task closes its files some time before it is
    /// over.
    pub(super) fn saw_end_of(&self, task: TaskId) -> bool {
        asked_to_end_ns(self.trace, task).is_some_and(|asked_ns| asked_ns <= self.span.end_ns)
    }

    /// Whether this call ended so soon after a moment that later events need not be examined.
    pub(super) fn is_near_end(&self, at_ns: i64) -> bool {
        self.span.end_ns.saturating_sub(at_ns) <= EXIT_TOLERANCE_NS
    }

    /// A later call of the task.
    pub(super) fn part(&self, at: usize) -> Span {
        self.trace
            .spans_of(self.task, at..at + 1, NO_NS)
            .next()
            .map_or(self.span, |(_, span)| span)
    }

    /// The rows of the task after this one.
    pub(super) fn rows_after(&self) -> impl Iterator<Item = u32> {
        self.trace
            .rows_of(self.task)
            .iter()
            .skip(self.at + 1)
            .copied()
    }

    /// The calls of the task after this one, without those of signal handlers.
    fn calls_after(&self) -> impl Iterator<Item = u32> {
        let events = &self.trace.events;
        let mut rest = self
            .trace
            .rows_of(self.task)
            .get(self.at + 1..)
            .unwrap_or(&[]);
        std::iter::from_fn(move || {
            loop {
                let (&row, behind) = rest.split_first()?;
                rest = behind;
                match events.kind(row) {
                    EventKind::Call => return Some(row),
                    EventKind::Signal => rest = after_handler(events, rest),
                    _ => {}
                }
            }
        })
    }

    /// The next successful read, accept or wait for a child after a poll: its descriptor is the one that was ready.
    pub(super) fn taken_next(&self, shapes: &ShapeEffects) -> Option<u32> {
        let events = &self.trace.events;
        let calls = self.calls_after().take(CALLS_BEHIND_POLL);
        // An interpreter acquires its lock before it continues.
        let named = |row: u32| {
            Some(shapes.of(self.trace, row))
                .filter(|known| !waits_for_file(known))?
                .named
        };
        let waits = calls.filter_map(|row| Some((row, named(row)?)));
        // The task may poll again before it reads.
        let mut waits = waits.filter(|&(row, wait)| {
            wait != Wait::Lock && !(wait == Wait::Poll && returns_at_once(events, row))
        });
        let (row, wait) = waits.find(|&(row, wait)| {
            let found_end = wait == Wait::Read && is_hung_up(events, row);
            wait == Wait::Poll || events.outcome(row) == Outcome::Ok || found_end
        })?;
        matches!(wait, Wait::Read | Wait::Peer | Wait::Child).then_some(row)
    }

    /// The next successful write after a poll, if it comes before any read: the poll waited for room.
    pub(super) fn written_next(&self, shapes: &ShapeEffects) -> Option<u32> {
        let calls = self.calls_after().take(CALLS_BEHIND_POLL);
        let mut moves = calls.filter_map(|row| {
            let known = shapes.of(self.trace, row);
            let writes = known.deed == Effect::Writes;
            let waits =
                known.named.is_some_and(|wait| wait != Wait::Lock) && !waits_for_file(&known);
            (writes || waits).then_some((row, writes))
        });
        let (row, writes) = moves.next()?;
        (writes && self.trace.events.outcome(row) == Outcome::Ok).then_some(row)
    }

    /// The matching row that ended last inside this call.
    ///
    /// ```text
    /// reader   |------ read ------|
    /// writer      |--a--| |----b----|      b: its return may be stamped up to the tolerance after the reader's
    /// ```
    ///
    /// Rows of one writer end in the order of their starts. With several writers, a long row may have started before
    /// the call. If none ended in time, take a row in progress at that moment: its return was delayed.
    pub(super) fn last_inside(&self, rows: &Ordered, fits: impl Fn(u32) -> bool) -> Option<u32> {
        const TRIES: usize = 64;
        const LONG_ONES: usize = 8;
        let events = &self.trace.events;
        let Span {
            start_ns,
            end_ns: last_ns,
            ..
        } = self.span;
        let mut long_ones = 0;
        let near = || rows.back_from(self.begun_until_ns(), start_ns).take(TRIES);
        let of_others = |&row: &u32| events.task(row) != self.task && fits(row);
        let inside = near().take_while(|&row| {
            long_ones += usize::from(events.start_ns(row) < start_ns);
            long_ones <= LONG_ONES
        });
        let inside = inside
            .filter(|&row| self.spans_exit(end_ns(self.trace, row)))
            .filter(of_others);
        let last =
            inside.max_by_key(|&row| (end_ns(self.trace, row).min(last_ns), events.start_ns(row)));
        let is_under_way = |&row: &u32| {
            let begun_ns = events.start_ns(row);
            begun_ns > start_ns && begun_ns < last_ns && end_ns(self.trace, row) > last_ns
        };
        last.or_else(|| near().filter(is_under_way).find(of_others))
    }

    /// The same for calls with an immediate effect, regardless of the timestamp of their return: the one that started
    /// last.
    pub(super) fn last_begun_inside(
        &self,
        rows: &Ordered,
        fits: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        const TRIES: usize = 64;
        let events = &self.trace.events;
        let start_ns = self.span.start_ns;
        let near = rows.back_from(self.begun_until_ns(), start_ns).take(TRIES);
        let mut near = near.filter(|&row| {
            events.task(row) != self.task && end_ns(self.trace, row) > start_ns && fits(row)
        });
        near.next()
    }

    /// The first row that started after this call, if none did inside. Tracers stamp a call before they stop its clock,
    /// so the call may have ended later than recorded, but not after the next one of its task.
    ///
    /// ```text
    /// waiter   |s------- futex -------|s + <T>  ···|--- next ---|
    /// waker                             |- WAKE -|
    /// ```
    pub(super) fn first_begun_after(
        &self,
        rows: &Ordered,
        fits: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        const TRIES: usize = 64;
        let events = &self.trace.events;
        let (from_ns, until_ns) = (self.span.end_ns, self.returned_until_ns());
        let near = rows.back_from(until_ns, from_ns).take(TRIES);
        let near = near.take_while(|&row| events.start_ns(row) > from_ns);
        near.filter(|&row| events.task(row) != self.task && fits(row))
            .last()
    }

    pub(super) fn edge(&self, row: u32, how: WakeKind, sure: Confidence) -> Edge {
        let at_ns = end_ns(self.trace, row).min(self.span.end_ns);
        Edge {
            task: self.trace.events.task(row),
            at_ns,
            how,
            sure,
        }
    }
}

fn returns_at_once(events: &EventTable, row: u32) -> bool {
    events.requested_ns(row) == Some(0)
}

fn waits_for_file(known: &ShapeFacts) -> bool {
    known.wait == Some(Wait::Read) && known.class == Class::Disk
}

/// The rows after the handler of a signal, if it has a handler that returns.
fn after_handler<'rows>(events: &EventTable, rows: &'rows [u32]) -> &'rows [u32] {
    let mut handled = rows
        .iter()
        .take(CALLS_OF_HANDLER)
        .take_while(|&&row| events.kind(row) == EventKind::Call);
    let returns = handled.position(|&row| is_return(events, row));
    returns.map_or(rows, |at| &rows[at + 1..])
}
