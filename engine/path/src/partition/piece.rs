//! A piece of the partition.

use crate::critical_path::attribution::{Attribution, Charge};
use crate::critical_path::segment::{Tag, What, named};
use parsers::Text;
use parsers::syscalls::Class;
use trace::store::event::{EventKind, NONE};
use trace::store::index::{ShapeId, TaskId};
use trace::store::programs::ProgramIndex;
use trace::store::trace::Trace;

/// The sums of the calls of a task in one program that differ at most in their outcome, or of the time between its
/// calls. There may be one piece for every second event, so it is compact.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The task.
    pub task: TaskId,
    /// The program.
    pub program: Text,
    /// Number of a shape that the calls share, apart from the outcome; [`NONE`] for time between calls.
    pub(super) shape: ShapeId,
    /// The class of the calls.
    pub class: Class,
    /// False for a wait that nothing in the trace ended.
    pub resolved: bool,
    /// What the time was spent on.
    pub tag: Tag,
    /// Whether it is the silence after messages.
    pub(super) is_message: bool,
    /// The printed target while there is only one, otherwise the normalised target.
    pub target: Text,
    /// Time on the critical path.
    pub exclusive_ns: i64,
    /// Number of calls.
    pub calls: u32,
    /// First and last row that contribute; [`NONE`] and 0 if there are none.
    pub first_row: u32,
    /// See `first_row`.
    pub last_row: u32,
}

impl Piece {
    /// The syscall and its operation, or the subsystem of a message. Empty between calls.
    pub fn name(&self, trace: &Trace) -> (Text, Text) {
        match trace.events.shapes().get(self.shape) {
            Some(shape) if self.is_message => named(What::Silence(NONE), shape.syscall, shape.op),
            Some(shape) => (shape.syscall, shape.op),
            None => (Text::NONE, Text::NONE),
        }
    }

    /// The same piece with the target that its calls have in common.
    pub fn of_several_targets(self, trace: &Trace) -> Piece {
        Piece {
            target: self.common_target(trace),
            ..self
        }
    }

    /// Adds another piece of the same kind. The targets may differ.
    pub(super) fn take(&mut self, trace: &Trace, other: &Piece) {
        let common = if self.shape == other.shape {
            self.common_target(trace)
        } else {
            Text::NONE
        };
        self.target = if self.target == other.target {
            self.target
        } else {
            common
        };
        self.exclusive_ns = self.exclusive_ns.saturating_add(other.exclusive_ns);
        self.calls = self.calls.saturating_add(other.calls);
        (self.first_row, self.last_row) = (
            self.first_row.min(other.first_row),
            self.last_row.max(other.last_row),
        );
    }

    /// The target that all its calls have in common.
    pub fn common_target(&self, trace: &Trace) -> Text {
        trace
            .events
            .shapes()
            .get(self.shape)
            .map_or(Text::NONE, |shape| shape.target)
    }
}

/// Converts a part of the path into a piece.
pub fn piece_of(trace: &Trace, task: TaskId, program: Text, charge: &Charge) -> Piece {
    let events = &trace.events;
    let is_call = !charge.is_gap && charge.row != NONE;
    let target = if is_call {
        events.waited_target(charge.row)
    } else {
        Text::NONE
    };
    Piece {
        task,
        program,
        shape: charge.shape,
        class: charge.class,
        resolved: charge.resolved,
        tag: charge.tag,
        is_message: is_call && events.kind(charge.row) == EventKind::Log,
        target,
        exclusive_ns: charge.ns,
        calls: u32::from(is_call),
        first_row: if is_call { charge.row } else { NONE },
        last_row: if is_call { charge.row } else { 0 },
    }
}

/// The program at the start of a part of the path.
pub fn program_of(
    trace: &Trace,
    programs: &ProgramIndex,
    attribution: &Attribution,
    task: TaskId,
    charge: &Charge,
) -> Text {
    if let [only] = programs.of(task) {
        return only.path;
    }
    let of_row = |row| match (charge.is_gap, trace.events.end_ns(row)) {
        (true, Some(end_ns)) => end_ns,
        _ => trace.events.start_ns(row),
    };
    let as_it_came = charge
        .place
        .and_then(|place| attribution.other(place))
        .map(|segment| segment.start_ns);
    programs.path_at(task, as_it_came.unwrap_or_else(|| of_row(charge.row)))
}
