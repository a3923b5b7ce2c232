//! Spans of the path in which a task works: calls that no other task ended, and the gaps between them.
//!
//! ```text
//! task   |-- call --|   |- call -|     |- wait ...      a spell, from the end of one wait to the start of the next
//! spell   <---------------------->|<--->|
//! ```
//! The walk passes them whole. Each is divided on request, without the state of the walk.

use crate::critical_path::segment::{Segment, Tag, What};
use crate::waits::stops::is_stop;
use crate::waits::wakers::Wakers;
use parsers::NO_NS;
use parsers::syscalls::Class;
use std::ops::Range;
use trace::store::event::{EventKind, NONE};
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// A span of the path in which a task works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkSpan {
    /// The task.
    pub task: TaskId,
    /// From when.
    pub start_ns: i64,
    /// To when.
    pub end_ns: i64,
    /// Whether somebody polled for it.
    pub tag: Tag,
    /// Places of its rows in the list of the task's rows, possibly with a few more at both ends.
    pub(super) rows: Range<usize>,
    /// When the last call before these rows ended.
    pub(super) floor_ns: i64,
}

/// A part of a spell: a call, or the gap after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkPart {
    /// The call; [`NONE`] before the first.
    pub row: u32,
    pub is_gap: bool,
    pub start_ns: i64,
    pub end_ns: i64,
    pub class: Class,
}

impl WorkSpan {
    /// The lifetime of a task, as if it worked all the time.
    pub fn of_life(trace: &Trace, task: TaskId) -> WorkSpan {
        let (start_ns, end_ns) = trace
            .tasks
            .get(task)
            .map_or((0, 0), |task| (task.birth_ns, task.end_ns()));
        let rows = 0..trace.rows_of(task).len();
        WorkSpan {
            task,
            start_ns,
            end_ns,
            tag: Tag::None,
            rows,
            floor_ns: start_ns,
        }
    }

    /// Upper bound of the number of rows it covers.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// All of it as one segment, regardless of wait classes.
    pub fn whole(&self) -> Segment {
        let WorkSpan {
            task,
            start_ns,
            end_ns,
            tag,
            ..
        } = *self;
        Segment {
            task,
            start_ns,
            end_ns,
            what: What::Gap(NONE),
            class: Class::User,
            resolved: true,
            tag,
        }
    }

    /// Tell its parts, in order of time.
    pub fn each(&self, trace: &Trace, wakers: &Wakers, mut tell: impl FnMut(Segment)) {
        self.parts(trace, wakers, |part| {
            if let Some(segment) = self.segment(&part) {
                tell(segment);
            }
        });
    }

    /// A part of it as far as it lies inside.
    #[inline]
    pub(crate) fn segment(&self, part: &WorkPart) -> Option<Segment> {
        let (start_ns, end_ns) = (
            part.start_ns.max(self.start_ns),
            part.end_ns.min(self.end_ns),
        );
        let what = if part.is_gap {
            What::Gap(part.row)
        } else {
            What::Call(part.row)
        };
        (start_ns < end_ns).then(|| Segment {
            start_ns,
            end_ns,
            what,
            class: part.class,
            ..self.whole()
        })
    }

    /// Report its parts in order of time, possibly with a few after its end. Parts at its ends are not clipped.
    #[inline]
    pub(crate) fn parts(&self, trace: &Trace, wakers: &Wakers, mut tell: impl FnMut(WorkPart)) {
        let (mut last, mut reached_ns) = (self.call_before(trace), self.floor_ns);
        let (shapes, may_stop) = (trace.shapes_of(self.task), wakers.may_stop());
        trace
            .spans_of(self.task, self.rows.clone(), self.floor_ns)
            .each(|at, span, _| {
                if span.start_ns > reached_ns {
                    self.gap(
                        trace,
                        may_stop,
                        last,
                        reached_ns..span.start_ns.min(self.end_ns),
                        &mut tell,
                    );
                }
                let class = wakers.class_of(shapes[at]);
                tell(WorkPart {
                    row: span.row,
                    is_gap: false,
                    start_ns: span.start_ns,
                    end_ns: span.end_ns,
                    class,
                });
                (last, reached_ns) = (Some((at, span.row)), span.end_ns);
            });
        if reached_ns < self.end_ns {
            self.gap(trace, may_stop, last, reached_ns..self.end_ns, &mut tell);
        }
    }

    /// The last call before its rows, and its place among the task's.
    fn call_before(&self, trace: &Trace) -> Option<(usize, u32)> {
        let rows = trace.rows_of(self.task).get(..self.rows.start)?;
        rows.iter()
            .rposition(|&row| is_timed_call(trace, row))
            .map(|at| (at, rows[at]))
    }

    /// ```text
    /// task     |--call--|                 |--call--|
    ///                   |<---- gap ------>|               user code, or calls that the capture left out
    ///                   |  stop---|cont   |               or stopped, perhaps more than once
    /// ```
    ///
    /// `last` is the call before it, with its place among the task's rows.
    #[inline]
    fn gap(
        &self,
        trace: &Trace,
        may_stop: bool,
        last: Option<(usize, u32)>,
        Range {
            start: from_ns,
            end: to_ns,
        }: Range<i64>,
        tell: &mut impl FnMut(WorkPart),
    ) {
        if may_stop {
            return self.stopped(trace, last, from_ns..to_ns, tell);
        }
        let row = last.map_or(NONE, |(_, row)| row);
        tell(WorkPart {
            row,
            is_gap: true,
            start_ns: from_ns,
            end_ns: to_ns,
            class: Class::User,
        });
    }

    /// The parts of a gap during which the task may have been stopped.
    fn stopped(
        &self,
        trace: &Trace,
        last: Option<(usize, u32)>,
        Range {
            start: from_ns,
            end: to_ns,
        }: Range<i64>,
        tell: &mut impl FnMut(WorkPart),
    ) {
        let row = last.map_or(NONE, |(_, row)| row);
        let part = |start_ns, end_ns, class| WorkPart {
            row,
            is_gap: true,
            start_ns,
            end_ns,
            class,
        };
        let Some((stopped_ns, goes_on_ns)) = self.last_stop(trace, last.map(|(at, _)| at), to_ns)
        else {
            return tell(part(from_ns, to_ns, Class::User));
        };
        if stopped_ns > from_ns {
            self.stopped(trace, last, from_ns..stopped_ns, tell);
        }
        let goes_on_ns = goes_on_ns.max(from_ns);
        tell(part(stopped_ns.max(from_ns), goes_on_ns, Class::Stopped));
        tell(part(goes_on_ns, to_ns, Class::User));
    }

    /// When the task was stopped last in the gap before a moment, and when it went on: with the signal that let it.
    fn last_stop(&self, trace: &Trace, last: Option<usize>, until_ns: i64) -> Option<(i64, i64)> {
        const MAX_ROWS: usize = 64;
        let events = &trace.events;
        let rows = trace
            .rows_of(self.task)
            .get(last.map_or(0, |at| at + 1)..)?;
        let before = rows
            .iter()
            .take(MAX_ROWS)
            .take_while(|&&row| events.start_ns(row) < until_ns);
        let (at, &stop) = before
            .enumerate()
            .filter(|&(_, &row)| is_stop(trace, row))
            .last()?;
        let goes_on_ns = rows
            .get(at + 1)
            .map_or(until_ns, |&row| events.start_ns(row).min(until_ns));
        Some((events.start_ns(stop), goes_on_ns))
    }
}

fn is_timed_call(trace: &Trace, row: u32) -> bool {
    trace.events.kind(row) == EventKind::Call && trace.events.start_ns(row) != NO_NS
}
