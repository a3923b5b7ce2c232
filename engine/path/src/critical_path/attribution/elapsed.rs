//! The elapsed time of calls, in place of the path, for captures without a wall clock.
//!
//! ```text
//! connect(…) = -1 ETIMEDOUT <21.002000>     21.002 s of its process, no matter what the others did
//! nanosleep({5, 0}, …) = 0                  at least 5 s, by its arguments
//! read(…) = 1                               nothing: its duration is not printed
//! ```
//! Such times overlap between tasks and do not add up to a window. They are shares of the time in calls.

use crate::critical_path::attribution::Attribution;
use crate::critical_path::segment::{Segment, Tag, What};
use parsers::syscalls::{Action, Class, Wait};
use parsers::{DurKind, NO_NS};
use query::selection::Selection;
use trace::store::classes::class_of;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::time_limits::min_duration_ns;
use trace::store::trace::{Capture, Trace};

impl Attribution {
    /// Adds the elapsed time of the selected calls of captures without a wall clock, and at least `min_ns` for each call.
    pub fn with_elapsed(
        mut self,
        trace: &Trace,
        selection: &Selection<'_>,
        min_ns: i64,
    ) -> Attribution {
        for capture in trace
            .captures
            .iter()
            .filter(|capture| !capture.has_wall_clock())
        {
            for task in capture
                .task_ids()
                .filter(|&task| selection.touches_task(task))
            {
                let calls = trace
                    .rows_of(task)
                    .iter()
                    .filter(|&&row| trace.events.kind(row) == EventKind::Call);
                calls.for_each(|&row| self.add_elapsed(trace, task, row, min_ns));
            }
        }
        self.complete(trace)
    }

    fn add_elapsed(&mut self, trace: &Trace, task: TaskId, row: u32, min_ns: i64) {
        let end_ns = elapsed_ns(trace, row).max(min_ns);
        if end_ns <= 0 {
            return;
        }
        let class = if trace.events.only_sleeps(row) {
            Class::Sleep
        } else {
            class_of(
                trace.events.shape(row).syscall,
                trace.events.texts.bytes(trace.events.target(row)),
            )
        };
        let what = What::Call(row);
        let resolved = !waits_for_others(class, trace.events.action(row));
        self.add(&Segment {
            task,
            start_ns: 0,
            end_ns,
            what,
            class,
            resolved,
            tag: Tag::None,
        });
    }
}

/// Whether the trace has a capture whose times are elapsed times only.
pub fn has_elapsed(trace: &Trace) -> bool {
    !trace.captures.iter().all(Capture::has_wall_clock)
}

/// Elapsed time of a call, or a lower bound of it; 0 if unknown.
fn elapsed_ns(trace: &Trace, row: u32) -> i64 {
    match trace.events.dur_ns(row) {
        // They last a whole second or nothing, by chance.
        _ if has_coarse_durations(trace, row) => min_duration_ns(&trace.events, row),
        NO_NS => min_duration_ns(&trace.events, row),
        dur_ns => dur_ns,
    }
}

/// Whether the duration of a call is a difference between timestamps that are too coarse.
fn has_coarse_durations(trace: &Trace, row: u32) -> bool {
    let capture = trace.tasks[trace.events.task(row)].capture;
    let is_too_coarse = trace
        .captures
        .get(capture as usize)
        .is_some_and(|capture| capture.is_too_coarse);
    is_too_coarse && trace.events.dur_kind(row) == DurKind::UpperBound
}

/// Whether such calls last until another task acts. Without moments, that task is unknown. What a descriptor of an
/// unknown kind refers to may be a pipe.
fn waits_for_others(class: Class, action: Action) -> bool {
    use Class::{Child, External, Ipc, Lock, Other, Poll, Stopped, Terminal};
    let reads_from_unknown = class == Other && action.wait() == Some(Wait::Read);
    matches!(
        class,
        Child | External | Ipc | Lock | Poll | Stopped | Terminal
    ) || action == Action::Accepts
        || reads_from_unknown
}
