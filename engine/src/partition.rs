//! Where the wall time went: the stretches of the path summed by task, program, class and call. They add up to the window.

use crate::cells::Cells;
use crate::charges::{Charge, Charges};
use crate::events::{EventKind, NONE};
use crate::fold;
use crate::path::{Segment, Tag, What};
use crate::select::ProgramIndex;
use crate::table::{Table, TextColumn, Values, some_ints};
use crate::trace::Trace;
use crate::wakers::Wakers;
use crate::window::Window;
use parsers::syscalls::Class;
use parsers::{NO_ID, NO_NS, Text};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// What pieces of the path have in common that are charged together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Group {
    pub task: u32,
    pub program: Text,
    pub class: Class,
    pub syscall: Text,
    pub op: Text,
    /// Normalised.
    pub target: Text,
    pub resolved: bool,
    pub tag: Tag,
}

/// The sums of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub group: Group,
    /// The target as printed while there is only one, else the normalised one.
    pub target: Text,
    pub exclusive_ns: i64,
    pub calls: u32,
    /// First and last of the rows counted; [`NONE`] and 0 without one.
    pub first_row: u32,
    pub last_row: u32,
}

/// The partition as it is added up: its finest pieces, those of each task together.
#[derive(Debug)]
pub struct Pieces {
    pub(crate) all: Vec<Piece>,
    /// Where the pieces of each task begin.
    offsets: Vec<u32>,
    wall_ns: FxHashMap<u32, i64>,
    cells: OnceLock<Cells>,
}

impl Pieces {
    /// Add up the path.
    pub fn new(trace: &Trace, programs: &ProgramIndex, charges: &Charges, windows: &[Window]) -> Pieces {
        let tasks = 0..trace.tasks.len() as u32;
        let of_task = |sums: &mut Sums, task| sums.of_task(trace, programs, charges, task, |_| true);
        let each: Vec<Vec<Piece>> = tasks.into_par_iter().map_init(Sums::default, of_task).collect();
        Pieces::of(&each, windows)
    }

    /// Pieces of each task, by its number.
    pub(crate) fn of(each: &[Vec<Piece>], windows: &[Window]) -> Pieces {
        let mut offsets = vec![0u32];
        offsets.extend(each.iter().scan(0, |end, pieces| {
            *end += pieces.len() as u32;
            Some(*end)
        }));
        let mut wall_ns: FxHashMap<u32, i64> = FxHashMap::default();
        for window in windows {
            *wall_ns.entry(window.capture).or_default() += window.wall_ns();
        }
        Pieces { all: each.concat(), offsets, wall_ns, cells: OnceLock::new() }
    }

    /// The sums of pieces that only differ in their tasks and targets.
    pub(crate) fn cells(&self, trace: &Trace) -> &Cells {
        self.cells.get_or_init(|| Cells::new(trace, &self.all))
    }

    /// Where the pieces of a task are in `all`.
    pub(crate) fn of_task(&self, task: u32) -> std::ops::Range<u32> {
        let bound = |at: u32| self.offsets.get(at as usize).copied().unwrap_or(0);
        bound(task)..bound(task + 1)
    }

    /// Length of the windows of a capture; of all captures.
    pub(crate) fn wall_ns(&self, capture: Option<u32>) -> i64 {
        match capture {
            Some(capture) => self.wall_ns.get(&capture).copied().unwrap_or(0),
            None => self.wall_ns.values().sum(),
        }
    }

    /// Time on the path charged to each task, by its number.
    pub fn exclusive_by_task(&self) -> Vec<i64> {
        let tasks = 0..self.offsets.len().saturating_sub(1) as u32;
        let exclusive_ns = |task| {
            let range = self.of_task(task);
            self.all[range.start as usize..range.end as usize].iter().map(|piece| piece.exclusive_ns).sum()
        };
        tasks.map(exclusive_ns).collect()
    }
}

/// The pieces of a task while they are added up.
#[derive(Default)]
pub(crate) struct Sums {
    /// Places of pieces by program, shape, and what the time was spent on.
    places: FxHashMap<(Text, u32, u32), u32>,
    groups: FxHashMap<Group, u32>,
}

impl Sums {
    /// The pieces of a task, of those parts of the path that are wanted.
    pub(crate) fn of_task(
        &mut self,
        trace: &Trace,
        programs: &ProgramIndex,
        charges: &Charges,
        task: u32,
        mut has: impl FnMut(&Charge) -> bool,
    ) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        self.places.clear();
        self.groups.clear();
        charges.each(trace, task, |charge| {
            if has(charge) {
                self.add(trace, programs, charges, task, charge, &mut pieces);
            }
        });
        pieces
    }

    fn add(
        &mut self,
        trace: &Trace,
        programs: &ProgramIndex,
        charges: &Charges,
        task: u32,
        charge: &Charge,
        pieces: &mut Vec<Piece>,
    ) {
        let program = program_of(trace, programs, charges, task, charge);
        let is_call = !charge.is_gap && charge.row != NONE;
        let shape = if is_call { trace.events.shape_number(charge.row) } else { NONE };
        let place = *self.places.entry((program, shape, charge.kind())).or_insert_with(|| {
            let group = group_of(trace, task, program, charge);
            *self.groups.entry(group).or_insert_with(|| {
                let target = if is_call { trace.events.target(charge.row) } else { Text::NONE };
                pieces.push(Piece { group, target, exclusive_ns: 0, calls: 0, first_row: NONE, last_row: 0 });
                pieces.len() as u32 - 1
            })
        });
        let piece = &mut pieces[place as usize];
        piece.exclusive_ns += charge.ns;
        if is_call {
            piece.calls += 1;
            piece.first_row = piece.first_row.min(charge.row);
            piece.last_row = piece.last_row.max(charge.row);
            if piece.target != piece.group.target && trace.events.target(charge.row) != piece.target {
                piece.target = piece.group.target;
            }
        }
    }
}

/// A part of the path as a piece of its own.
pub(crate) fn piece_of(trace: &Trace, task: u32, program: Text, charge: &Charge) -> Piece {
    let group = group_of(trace, task, program, charge);
    let is_call = !charge.is_gap && charge.row != NONE;
    let target = if is_call { trace.events.target(charge.row) } else { Text::NONE };
    Piece { group, target, exclusive_ns: charge.ns, calls: 1, first_row: NONE, last_row: 0 }
}

/// The partition of the windows, the largest charge first: per capture it sums to the length of its window.
pub fn partition(trace: &Trace, wakers: &Wakers, windows: &[Window]) -> Table {
    let programs = trace.program_index();
    let pieces = Pieces::new(trace, programs, &Charges::walked(trace, wakers, windows), windows);
    fold::fold(trace, &pieces, &fold::Query::default())
}

fn group_of(trace: &Trace, task: u32, program: Text, charge: &Charge) -> Group {
    let none = Text::NONE;
    let Charge { class, resolved, tag, .. } = *charge;
    let bare = Group { task, program, class, syscall: none, op: none, target: none, resolved, tag };
    if charge.is_gap || charge.row == NONE {
        return bare;
    }
    let shape = trace.events.shape(charge.row);
    let is_message = trace.events.kind(charge.row) == EventKind::Log;
    let (syscall, op) = if is_message { (none, shape.syscall) } else { (shape.syscall, shape.op) };
    Group { syscall, op, target: shape.target, ..bare }
}

/// The program at the start of a part of the path.
pub(crate) fn program_of(
    trace: &Trace,
    programs: &ProgramIndex,
    charges: &Charges,
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
    let as_it_came = charge.place.and_then(|place| charges.other(place)).map(|segment| segment.start_ns);
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

pub(crate) fn text_column(trace: &Trace, texts: impl Iterator<Item = Text>) -> Values {
    let mut column = TextColumn::default();
    for text in texts {
        column.push(text.is_some().then(|| trace.events.texts.string(text)).as_deref());
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
    let mut charges: Vec<(u32, i64)> = segments.iter().filter_map(charged).collect();
    charges.sort_unstable();
    charges.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    charges
}
