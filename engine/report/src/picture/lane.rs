//! What a task does over its lifetime, as far as it lies in the window.

use parsers::syscalls::Class;
use parsers::{DurKind, NO_NS};
use path::critical_path::segment::{Segment, What};
use path::critical_path::walk::work_span::WorkSpan;
use path::waits::left_out::LeftOut;
use path::waits::wakers::Wakers;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Number of wait classes.
pub const CLASSES: usize = Class::ALL.len();

/// A trace as lanes, within a window.
#[derive(Clone, Copy)]
pub struct LaneSource<'trace> {
    /// The trace.
    pub trace: &'trace Trace,
    /// The wakers of its waits.
    pub wakers: &'trace Wakers,
    /// Start of the window.
    pub start_ns: i64,
    /// End of the window.
    pub end_ns: i64,
}

impl LaneSource<'_> {
    /// The lifetime of a task inside the window; None if it lies outside. A task may live for 0 ns.
    pub fn life(&self, task: TaskId) -> Option<(i64, i64)> {
        let known = self.trace.tasks.get(task)?;
        let (birth_ns, end_ns) = (known.birth_ns, known.end_ns());
        let is_inside = birth_ns != NO_NS && birth_ns < self.end_ns && end_ns >= self.start_ns;
        is_inside.then(|| (birth_ns.max(self.start_ns), end_ns.min(self.end_ns)))
    }

    /// Report the parts of a lane in order of time: calls, and the gaps between them. They cover the lifetime.
    pub fn each(&self, task: TaskId, mut report: impl FnMut(Segment)) {
        let Some((from_ns, to_ns)) = self.life(task) else {
            return;
        };
        let is_log = self.is_log(task);
        let left_out = self.wakers.left_out().of(task);
        WorkSpan::of_life(self.trace, task).each(self.trace, self.wakers, |part| {
            let (start_ns, end_ns) = (part.start_ns.max(from_ns), part.end_ns.min(to_ns));
            if start_ns < end_ns {
                let part = Segment {
                    start_ns,
                    end_ns,
                    class: self.class(&part, is_log),
                    ..part
                };
                if left_out.is_empty() || !matches!(part.what, What::Gap(_)) {
                    report(part);
                } else {
                    without_left_out(part, left_out, &mut report);
                }
            }
        });
    }

    fn is_log(&self, task: TaskId) -> bool {
        let capture = self
            .trace
            .captures
            .get(self.trace.tasks[task].capture as usize);
        capture.is_some_and(|capture| capture.facts.dur_kind == DurKind::Gap)
    }

    fn class(&self, part: &Segment, is_log: bool) -> Class {
        match part.what {
            What::Call(row) if part.class == Class::Poll && self.trace.events.only_sleeps(row) => {
                Class::Sleep
            }
            What::Call(row) if self.trace.events.filled_from_pipe(row).is_some() => {
                self.wakers.class(self.trace, row)
            }
            What::Gap(_) if is_log => Class::Gap,
            _ => part.class,
        }
    }
}

/// Divides a gap where the capture leaves lines out: nothing is known of that time.
fn without_left_out(part: Segment, ranges: &[LeftOut], report: &mut impl FnMut(Segment)) {
    let mut from_ns = part.start_ns;
    let first = ranges.partition_point(|range| range.to_ns <= part.start_ns);
    for range in ranges[first..]
        .iter()
        .take_while(|range| range.from_ns < part.end_ns)
    {
        let (out_ns, in_ns) = (range.from_ns.max(from_ns), range.to_ns.min(part.end_ns));
        if from_ns < out_ns {
            report(Segment {
                start_ns: from_ns,
                end_ns: out_ns,
                ..part
            });
        }
        if out_ns < in_ns {
            report(Segment {
                start_ns: out_ns,
                end_ns: in_ns,
                class: Class::Gap,
                resolved: false,
                ..part
            });
        }
        from_ns = from_ns.max(in_ns);
    }
    if from_ns < part.end_ns {
        report(Segment {
            start_ns: from_ns,
            ..part
        });
    }
}
