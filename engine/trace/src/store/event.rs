//! One event, and the types of the rows of the event table.

use crate::store::index::{ShapeId, TaskId};
use parsers::{DurKind, NO_NS, Outcome, Text};

/// Rows of a full segment.
pub const SEGMENT_ROWS: usize = 1 << 16;

/// No row, no task.
pub const NONE: u32 = u32::MAX;

/// What the line of a thread's wait shows, if it did not return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadWait {
    /// It expects the state of a lock with waiters.
    Lock,
    /// It expects this id: it waits for the end of a thread.
    End(i32),
    /// It ends by itself at some moment.
    Limited,
}

/// The kind of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum EventKind {
    /// A system call.
    Call,
    /// A signal that was delivered.
    Signal,
    /// The end of a task.
    Exit,
    /// Stopped, continued, attached, superseded.
    Process,
    /// A message of a log.
    Log,
}

impl EventKind {
    /// All kinds, by number.
    pub const ALL: [EventKind; 5] = [
        EventKind::Call,
        EventKind::Signal,
        EventKind::Exit,
        EventKind::Process,
        EventKind::Log,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        ["call", "signal", "exit", "process", "log"][self as usize]
    }
}

/// One row in unpacked form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Start; [`NO_NS`] without a clock.
    pub start_ns: i64,
    /// Duration; [`NO_NS`] if unknown.
    pub dur_ns: i64,
    /// CPU time of the call; [`NO_NS`] if unknown.
    pub cpu_ns: i64,
    /// Value returned; [`NO_NS`] if none.
    pub ret: i64,
    /// Line in its file, from 1.
    pub line: u32,
    /// Number of the file in the trace.
    pub file: u32,
    /// Number of the task.
    pub task: TaskId,
    /// Number of the shape.
    pub shape: ShapeId,
    /// Target, as printed.
    pub target: Text,
    /// Its kind.
    pub kind: EventKind,
    /// Its outcome.
    pub outcome: Outcome,
    /// The kind of `dur_ns`.
    pub dur_kind: DurKind,
}

impl Event {
    /// A call with only its start known.
    #[inline]
    pub(crate) fn begun(start_ns: i64, line: u32, file: u32, task: TaskId, target: Text) -> Event {
        let (kind, outcome, dur_kind) = (EventKind::Call, Outcome::Open, DurKind::None);
        let (dur_ns, cpu_ns, ret, shape) = (NO_NS, NO_NS, NO_NS, ShapeId::default());
        Event {
            start_ns,
            dur_ns,
            cpu_ns,
            ret,
            line,
            file,
            task,
            shape,
            target,
            kind,
            outcome,
            dur_kind,
        }
    }
}

/// The fields of a call that are known at its end: all but its start, task and position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub dur_ns: i64,
    pub cpu_ns: i64,
    pub ret: i64,
    pub shape: ShapeId,
    pub target: Text,
    pub outcome: Outcome,
    pub dur_kind: DurKind,
}

/// What became of a connect that was in progress when its call returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Connected {
    /// The error; NONE if it succeeded.
    pub errno: Text,
    /// The row that reports it.
    pub by: u32,
}

/// The fields of a call that stay the same in repeated calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Name of the syscall, or of the signal; for a log message, the subsystem.
    pub syscall: Text,
    /// Sub-operation.
    pub op: Text,
    /// Normalised target.
    pub target: Text,
    /// Name of the error.
    pub errno: Text,
    /// Its outcome.
    pub outcome: Outcome,
}
