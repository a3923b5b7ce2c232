//! The calls of a task as spans: in order, not overlapping.
//!
//! ```text
//! printed   |---- read ----|              spans   |---- read ----|
//!                      |--- write ---|                           |- write -|
//!                                 |close|                                  |c|
//! ```
//! Walking or dividing the path visits most calls of a trace, so this reads only the needed columns of a row, and looks
//! up a segment of rows only when the next one begins.

use crate::store::event::SEGMENT_ROWS;
use crate::store::index::TaskId;
use crate::store::tasks::Task;
use crate::store::trace::Trace;
use parsers::{NO_NS, Outcome};
use std::ops::Range;

/// A time range of a task spent in one event, cut so that the spans of a task do not overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The event.
    pub row: u32,
    /// Start.
    pub start_ns: i64,
    /// End, not before `start_ns`.
    pub end_ns: i64,
}

/// Spans of a task, each with its index among the task's rows; see [`Trace::spans_of`].
pub struct Spans<'trace> {
    trace: &'trace Trace,
    task: TaskId,
    rows: &'trace [u32],
    next: usize,
    to: usize,
    /// The end of the last one.
    floor_ns: i64,
}

impl<'trace> Spans<'trace> {
    #[inline]
    pub(crate) fn new(
        trace: &'trace Trace,
        task: TaskId,
        at: Range<usize>,
        floor_ns: i64,
    ) -> Spans<'trace> {
        let rows = trace.rows_of(task);
        let to = at.end.min(rows.len());
        Spans {
            trace,
            task,
            rows,
            next: at.start.min(to),
            to,
            floor_ns,
        }
    }

    /// Iterate over all of them. The flag is true if the span is cut: it starts before the previous one ended.
    #[inline]
    pub fn each(mut self, mut tell: impl FnMut(usize, Span, bool)) {
        while let Some(&row) = self.rows[..self.to].get(self.next) {
            let number = row / SEGMENT_ROWS as u32;
            let calls = self.trace.events.calls_of_segment(number);
            let first_row = number * SEGMENT_ROWS as u32;
            while self.next < self.to {
                let (at, row) = (self.next, self.rows[self.next]);
                let place = row.wrapping_sub(first_row) as usize;
                if place >= SEGMENT_ROWS {
                    break;
                }
                self.next += 1;
                if let Some((begun_ns, dur_ns)) = calls.call_ns(place) {
                    let is_cut = begun_ns < self.floor_ns;
                    tell(at, self.span(row, begun_ns, dur_ns), is_cut);
                }
            }
        }
    }

    /// The last call that was read, cut.
    #[inline]
    fn span(&mut self, row: u32, begun_ns: i64, dur_ns: i64) -> Span {
        let end_ns = match dur_ns {
            NO_NS => open_end_ns(self.trace, self.task, self.rows.get(self.next), row),
            dur_ns => begun_ns.saturating_add(dur_ns),
        };
        let start_ns = begun_ns.max(self.floor_ns);
        self.floor_ns = end_ns.max(start_ns);
        Span {
            row,
            start_ns,
            end_ns: self.floor_ns,
        }
    }
}

impl Iterator for Spans<'_> {
    type Item = (usize, Span);

    #[inline]
    fn next(&mut self) -> Option<(usize, Span)> {
        while self.next < self.to {
            let (at, row) = (self.next, self.rows[self.next]);
            self.next += 1;
            if let Some((begun_ns, dur_ns)) = self.trace.events.call_ns(row) {
                return Some((at, self.span(row, begun_ns, dur_ns)));
            }
        }
        None
    }
}

impl Trace {
    /// A call as printed, regardless of the previous one. A call without a duration ends where it starts.
    pub fn printed_span(&self, row: u32) -> Span {
        let start_ns = self.events.start_ns(row);
        Span {
            row,
            start_ns,
            end_ns: self.events.end_ns(row).unwrap_or(start_ns),
        }
    }

    /// The calls of a task as spans: in order, not overlapping, inside its life. The times between them are gaps.
    ///
    /// A call that has no duration (it does not return, or the capture ends) lasts to the next event of its task,
    /// or to the task's end, or to the end of the capture.
    pub fn spans(&self, task: TaskId) -> impl Iterator<Item = Span> + '_ {
        let birth_ns = self.tasks.get(task).map_or(NO_NS, |task| task.birth_ns);
        self.spans_of(task, 0..usize::MAX, birth_ns)
            .map(|(_, span)| span)
    }

    /// The spans of these rows of the task, each with its index. The span before them ended at
    /// `floor_ns`.
    #[inline]
    pub fn spans_of(&self, task: TaskId, at: Range<usize>, floor_ns: i64) -> Spans<'_> {
        Spans::new(self, task, at, floor_ns)
    }
}

/// The end of a call without a duration.
#[cold]
fn open_end_ns(trace: &Trace, task: TaskId, next: Option<&u32>, row: u32) -> i64 {
    let owner: &Task = &trace.tasks[task];
    let next_ns = next
        .map(|&next| trace.events.start_ns(next))
        .filter(|&start_ns| start_ns != NO_NS);
    let capture_ns = || {
        trace
            .captures
            .get(owner.capture as usize)
            .map_or(NO_NS, |capture| capture.last_ns)
    };
    let ends = owner.death_ns == NO_NS && trace.events.outcome(row) == Outcome::Open;
    next_ns.unwrap_or_else(|| if ends { capture_ns() } else { owner.end_ns() })
}
