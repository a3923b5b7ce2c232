//! The steps of a lane: calls that something else ended, and what did.

use trace::store::index::TaskId;
use trace::store::spans::Span;

/// The iterations of a poll loop before the check that succeeded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Turns {
    /// The task whose event made the check succeed.
    pub producer: TaskId,
    /// When that event was.
    pub at_ns: i64,
    /// The start of the first check.
    pub began_ns: i64,
}

/// What a task waits for that another one ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Awaited {
    /// The end of a child.
    Child,
    /// A lock on a file. Without the lock, nothing would be awaited.
    Lock,
    /// Anything else that the other task makes or does.
    Work,
}

/// What ends a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EndedBy {
    /// An event of another task.
    Task {
        /// The task.
        task: TaskId,
        /// The moment of the event.
        at_ns: i64,
        /// What was awaited.
        awaited: Awaited,
    },
    /// The answer to what the task itself sent at this moment; it came from outside the capture.
    Answer(i64),
    /// An event outside the capture that depends on nothing in it.
    Moment,
    /// The step is the last check of a poll loop.
    Check(Turns),
}

/// A call of a task that something else ended, or a wait whose call a filter of the tracer left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    /// Its place among the rows of the task.
    pub at: u32,
    /// Whether it is the time after that row.
    pub is_gap: bool,
    pub start_ns: i64,
    pub end_ns: i64,
    pub ended_by: EndedBy,
}

pub(super) fn step(at: usize, span: Span, ended_by: EndedBy) -> Step {
    Step {
        at: at as u32,
        is_gap: false,
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        ended_by,
    }
}
