//! Where the wall time went: the stretches of the path summed by task, program, class and call. They add up to the window.

use crate::critical_path::attribution::{Attribution, Charge};
use crate::critical_path::walk::{Segment, Tag, What};
use crate::critical_path::window::Window;
use crate::partition::buckets::{Buckets, bucket_key};
pub(crate) use crate::partition::sums::{PieceSums, twins};
use crate::partition::{group_by, sums};
use crate::query::selection::ProgramIndex;
use crate::store::events::{EventKind, NONE};
use crate::store::table::{Table, TextColumn, Values, some_ints};
use crate::store::trace::Trace;
use crate::waits::wakers::Wakers;
use parsers::syscalls::Class;
use parsers::{NO_ID, NO_NS, Text};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The sums of what a task spent in one program on calls that differ in their outcome at most, or between its calls. There
/// may be one for every second event, so it is small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub task: u32,
    pub program: Text,
    /// The number of a shape that the calls have, but for the outcome; [`NONE`] of what lies between calls.
    shape: u32,
    pub class: Class,
    pub resolved: bool,
    pub tag: Tag,
    /// Whether it is the silence behind messages.
    is_message: bool,
    /// The target as printed while there is only one, else the normalised one.
    pub target: Text,
    pub exclusive_ns: i64,
    pub calls: u32,
    /// First and last of the rows counted; [`NONE`] and 0 without one.
    pub first_row: u32,
    pub last_row: u32,
}

impl Piece {
    /// The syscall and the sub-operation; of a message, its subsystem. None between calls.
    pub fn name(&self, trace: &Trace) -> (Text, Text) {
        match trace.events.shapes().get(self.shape as usize) {
            Some(shape) if self.is_message => named(What::Silence(NONE), shape.syscall, shape.op),
            Some(shape) => (shape.syscall, shape.op),
            None => (Text::NONE, Text::NONE),
        }
    }

    /// The same, with the target that its calls have in common.
    pub fn of_several_targets(self, trace: &Trace) -> Piece {
        Piece { target: self.common_target(trace), ..self }
    }

    /// Add another one of the same kind, whatever its target is.
    fn take(&mut self, trace: &Trace, other: &Piece) {
        let common = if self.shape == other.shape { self.common_target(trace) } else { Text::NONE };
        self.target = if self.target == other.target { self.target } else { common };
        self.exclusive_ns += other.exclusive_ns;
        self.calls = self.calls.saturating_add(other.calls);
        (self.first_row, self.last_row) = (self.first_row.min(other.first_row), self.last_row.max(other.last_row));
    }

    /// The target that all of its calls have in common.
    pub fn common_target(&self, trace: &Trace) -> Text {
        trace.events.shapes().get(self.shape as usize).map_or(Text::NONE, |shape| shape.target)
    }
}

/// The partition as it is added up: its finest pieces, those of each task together.
#[derive(Debug)]
pub struct Pieces {
    pub(crate) all: Vec<Piece>,
    /// Where the pieces of each task begin.
    offsets: Vec<u32>,
    wall_ns: FxHashMap<u32, i64>,
    cells: OnceLock<Buckets>,
    times: Times,
}

impl Pieces {
    /// Add up the path.
    pub fn new(trace: &Trace, programs: &ProgramIndex, attribution: &Attribution, windows: &[Window]) -> Pieces {
        let mut pieces = Pieces::none(windows);
        sums::of_tasks(trace, programs, attribution, |some| pieces.push(&some));
        pieces.all.shrink_to_fit();
        pieces
    }

    /// Pieces of each task, by its number.
    pub(crate) fn of_tasks(each: &[Vec<Piece>], windows: &[Window]) -> Pieces {
        let mut pieces = Pieces::none(windows);
        each.iter().for_each(|some| pieces.push(some));
        pieces
    }

    fn none(windows: &[Window]) -> Pieces {
        let mut wall_ns: FxHashMap<u32, i64> = FxHashMap::default();
        for window in windows {
            *wall_ns.entry(window.capture).or_default() += window.wall_ns();
        }
        Pieces { all: Vec::new(), offsets: vec![0], wall_ns, cells: OnceLock::new(), times: Times::default() }
    }

    /// Add the pieces of the next task.
    fn push(&mut self, pieces: &[Piece]) {
        self.times.push(pieces);
        self.all.extend_from_slice(pieces);
        self.offsets.push(self.all.len() as u32);
    }

    /// The sums of pieces that only differ in their tasks and targets.
    pub(crate) fn cells(&self, trace: &Trace) -> &Buckets {
        self.cells.get_or_init(|| Buckets::new(trace, &self.all))
    }

    /// Where the pieces of a task are in `all`.
    pub(crate) fn of_task(&self, task: u32) -> std::ops::Range<u32> {
        let bound = |at: u32| self.offsets.get(at as usize).copied().unwrap_or(0);
        bound(task)..bound(task + 1)
    }

    /// The pieces of a task.
    pub(crate) fn of(&self, task: u32) -> &[Piece] {
        let range = self.of_task(task);
        self.all.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }

    /// Length of the windows of a capture; of all captures.
    pub(crate) fn wall_ns(&self, capture: Option<u32>) -> i64 {
        match capture {
            Some(capture) => self.wall_ns.get(&capture).copied().unwrap_or(0),
            None => self.wall_ns.values().sum(),
        }
    }

    /// Time on the path charged to each task, by its number.
    pub fn exclusive_by_task(&self) -> &[i64] {
        &self.times.by_task
    }

    /// Time on the path of each class, by its number.
    pub(crate) fn exclusive_by_class(&self) -> &[i64] {
        &self.times.by_class
    }

    /// Time on the path of the calls of each shape, by its number; those of shapes that differ in their outcome go to any.
    pub(crate) fn exclusive_by_shape(&self) -> &[i64] {
        &self.times.by_shape
    }
}

/// PieceSums of all pieces.
#[derive(Debug, Default)]
struct Times {
    by_task: Vec<i64>,
    by_class: [i64; Class::ALL.len()],
    /// By number of the shape; what lies between calls has none.
    by_shape: Vec<i64>,
}

impl Times {
    /// Add the pieces of the next task.
    fn push(&mut self, pieces: &[Piece]) {
        let mut sum_ns = 0;
        for piece in pieces {
            sum_ns += piece.exclusive_ns;
            self.by_class[piece.class as usize] += piece.exclusive_ns;
            let shape = piece.shape as usize;
            if piece.shape != NONE && shape >= self.by_shape.len() {
                self.by_shape.resize(shape + 1, 0);
            }
            if let Some(sum) = self.by_shape.get_mut(shape) {
                *sum += piece.exclusive_ns;
            }
        }
        self.by_task.push(sum_ns);
    }
}

/// Pieces of one task as they would be if its calls had no targets: many small ones of one call become one. It keeps the
/// target that all have in common.
pub(crate) fn without_targets(trace: &Trace, pieces: &[Piece]) -> Vec<Piece> {
    let mut places = FxHashMap::default();
    let mut all: Vec<Piece> = Vec::new();
    for piece in pieces {
        // What a message says is what it is.
        let said = if piece.is_message { piece.target } else { Text::NONE };
        let at = *places.entry((bucket_key(trace, piece), said)).or_insert(all.len());
        match all.get_mut(at) {
            Some(known) => known.take(trace, piece),
            None => all.push(*piece),
        }
    }
    all
}

/// A part of the path as a piece of its own.
pub(crate) fn piece_of(trace: &Trace, task: u32, program: Text, charge: &Charge) -> Piece {
    let events = &trace.events;
    let is_call = !charge.is_gap && charge.row != NONE;
    let (shape, target) = match is_call {
        true => (events.shape_number(charge.row), events.target(charge.row)),
        false => (NONE, Text::NONE),
    };
    Piece {
        task,
        program,
        shape,
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

/// The partition of the windows, the largest charge first: per capture it sums to the length of its window.
pub fn partition(trace: &Trace, wakers: &Wakers, windows: &[Window]) -> Table {
    let programs = trace.program_index();
    let pieces = Pieces::new(trace, programs, &Attribution::walked(trace, wakers, windows), windows);
    group_by::group_by(trace, &pieces, &group_by::GroupQuery::default())
}

/// The program at the start of a part of the path.
pub(crate) fn program_of(
    trace: &Trace,
    programs: &ProgramIndex,
    attribution: &Attribution,
    task: u32,
    charge: &Charge,
) -> Text {
    if let [only] = programs.of(task) {
        return only.path;
    }
    let of_row = |row| match (charge.is_gap, trace.events.end_ns(row)) {
        (true, Some(end_ns)) => end_ns,
        _ => trace.events.start_ns(row),
    };
    let as_it_came = charge.place.and_then(|place| attribution.other(place)).map(|segment| segment.start_ns);
    program_at(programs, task, as_it_came.unwrap_or_else(|| of_row(charge.row)))
}

/// The syscall and the sub-operation; of a message, its subsystem.
pub(crate) fn named(what: What, syscall: Text, op: Text) -> (Text, Text) {
    if let What::Silence(_) = what { (Text::NONE, syscall) } else { (syscall, op) }
}

/// The program of a task at a moment; before its first one, that one.
pub(crate) fn program_at(programs: &ProgramIndex, task: u32, at_ns: i64) -> Text {
    let first = || programs.of(task).first().copied();
    programs.at(task, at_ns).or_else(first).map_or(Text::NONE, |program| program.path)
}

pub(crate) fn ids(tasks: &[u32], of: impl Fn(u32) -> i32) -> Values {
    some_ints(tasks.iter().map(|&task| of(task)).map(|id| if id == NO_ID { NO_NS } else { i64::from(id) }))
}

/// Texts of a trace as a column. What differs as bytes may look alike as text, so both are numbered.
pub(crate) fn text_column(trace: &Trace, texts: impl Iterator<Item = Text>) -> Values {
    let mut column = TextColumn::default();
    let mut numbers: FxHashMap<Text, u32> = FxHashMap::default();
    let mut last = (Text::NONE, NONE);
    for text in texts {
        if text != last.0 {
            let number = match text.is_some() {
                true => *numbers.entry(text).or_insert_with(|| column.number(&trace.events.texts.string(text))),
                false => NONE,
            };
            last = (text, number);
        }
        column.push_number(last.1);
    }
    column.finish()
}

/// Time on the path charged to each task, by its number.
pub fn exclusive_by_task(trace: &Trace, segments: &[Segment]) -> Vec<i64> {
    let mut exclusive_ns = vec![0; trace.tasks.len()];
    segments.iter().for_each(|segment| exclusive_ns[segment.task as usize] += segment.dur_ns());
    exclusive_ns
}

/// Time on the path charged to each event that has some, in order of rows: calls with their resumption, messages.
pub fn charges(segments: &[Segment]) -> Vec<(u32, i64)> {
    let charged = |segment: &Segment| match segment.what {
        What::Call(row) | What::Resume(row) | What::Silence(row) => Some((row, segment.dur_ns())),
        What::Gap(_) | What::Spawn(_) => None,
    };
    let mut attribution: Vec<(u32, i64)> = segments.iter().filter_map(charged).collect();
    attribution.sort_unstable();
    attribution.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    attribution
}
