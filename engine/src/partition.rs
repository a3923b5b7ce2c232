//! Where the wall time went: the stretches of the path summed by task, program, class and call. They add up to the window.

use crate::events::NONE;
use crate::fold;
use crate::path::{Segment, Tag, What, walk};
use crate::select::ProgramIndex;
use crate::table::{Table, TextColumn, Values, some_ints};
use crate::trace::Trace;
use crate::wakers::Wakers;
use crate::window::Window;
use hashbrown::HashTable;
use parsers::syscalls::Class;
use parsers::{NO_ID, NO_NS, Text};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cmp::Reverse;
use std::hash::BuildHasher;

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

/// Rows that were already counted, a bit each.
struct Counted(Vec<u64>);

impl Counted {
    fn is_first(&mut self, row: u32) -> bool {
        let (word, bit) = (row as usize / 64, 1 << (row % 64));
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let is_first = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_first
    }
}

/// The partition as it is added up: its finest pieces, the largest first, and where those of each task are.
#[derive(Debug)]
pub struct Pieces {
    pub(crate) all: Vec<Piece>,
    /// Places in `all`, ordered by task and there by size.
    by_task: Vec<u32>,
    offsets: Vec<u32>,
    wall_ns: FxHashMap<u32, i64>,
}

impl Pieces {
    /// Add up the path of all windows.
    pub fn new(trace: &Trace, wakers: &Wakers, windows: &[Window]) -> Pieces {
        let mut collector = Pieces::collector(trace);
        for window in windows {
            walk(trace, wakers, window, &mut |segment| collector.add(&segment));
        }
        collector.finish(windows)
    }

    /// Add up stretches of the path one by one.
    pub fn collector(trace: &Trace) -> Collector<'_> {
        let programs = ProgramIndex::new(trace);
        Collector { trace, programs, sums: Sums::default(), counted: Counted(Vec::new()) }
    }

    /// The pieces of a task, as places in `all`.
    pub(crate) fn of_task(&self, task: u32) -> &[u32] {
        let bound = |at: u32| self.offsets.get(at as usize).map_or(0, |&offset| offset as usize);
        self.by_task.get(bound(task)..bound(task + 1)).unwrap_or_default()
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
        let exclusive_ns = |task| self.of_task(task).iter().map(|&at| self.all[at as usize].exclusive_ns).sum();
        tasks.map(exclusive_ns).collect()
    }
}

/// Adds up stretches of the path.
pub struct Collector<'trace> {
    trace: &'trace Trace,
    programs: ProgramIndex,
    sums: Sums,
    counted: Counted,
}

impl Collector<'_> {
    /// Add a stretch.
    pub fn add(&mut self, segment: &Segment) {
        let (group, target) = group_of(self.trace, &self.programs, segment);
        self.sums.add(group, target, segment, &mut self.counted);
    }

    /// The pieces; shares are of these windows.
    pub fn finish(self, windows: &[Window]) -> Pieces {
        let mut all = self.sums.pieces;
        all.sort_unstable_by_key(|piece| (Reverse(piece.exclusive_ns), piece.group));
        let mut wall_ns: FxHashMap<u32, i64> = FxHashMap::default();
        for window in windows {
            *wall_ns.entry(window.capture).or_default() += window.wall_ns();
        }
        let (by_task, offsets) = index(&all, self.trace.tasks.len());
        Pieces { all, by_task, offsets, wall_ns }
    }
}

/// A stretch of the path as a piece of its own.
pub(crate) fn piece_of(trace: &Trace, programs: &ProgramIndex, segment: &Segment) -> Piece {
    let (group, target) = group_of(trace, programs, segment);
    Piece { group, target, exclusive_ns: segment.dur_ns(), calls: 1, first_row: NONE, last_row: 0 }
}

fn index(pieces: &[Piece], tasks: usize) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0u32; tasks + 1];
    pieces.iter().for_each(|piece| offsets[piece.group.task as usize + 1] += 1);
    for task in 0..tasks {
        offsets[task + 1] += offsets[task];
    }
    let mut ends = offsets.clone();
    let mut by_task = vec![0; pieces.len()];
    for (at, piece) in (0..).zip(pieces) {
        let end = &mut ends[piece.group.task as usize];
        by_task[*end as usize] = at;
        *end += 1;
    }
    (by_task, offsets)
}

/// Pieces while they are added up; the table of their places is a third of the size of one that holds them.
#[derive(Default)]
struct Sums {
    pieces: Vec<Piece>,
    places: HashTable<u32>,
}

impl Sums {
    fn add(&mut self, group: Group, target: Text, segment: &Segment, counted: &mut Counted) {
        let piece = self.piece(group, target);
        piece.exclusive_ns += segment.dur_ns();
        if piece.target != target {
            piece.target = group.target;
        }
        if let What::Call(row) | What::Resume(row) | What::Silence(row) = segment.what {
            piece.calls += u32::from(counted.is_first(row));
            piece.first_row = piece.first_row.min(row);
            piece.last_row = piece.last_row.max(row);
        }
    }

    fn piece(&mut self, group: Group, target: Text) -> &mut Piece {
        let pieces = &mut self.pieces;
        let hash = |group: &Group| FxBuildHasher.hash_one(group);
        let place = *self
            .places
            .entry(hash(&group), |&at| pieces[at as usize].group == group, |&at| hash(&pieces[at as usize].group))
            .or_insert_with(|| pieces.len() as u32)
            .get();
        if place as usize == pieces.len() {
            pieces.push(Piece { group, target, exclusive_ns: 0, calls: 0, first_row: NONE, last_row: 0 });
        }
        &mut pieces[place as usize]
    }
}

/// The partition of the windows, the largest charge first: per capture it sums to the length of its window.
pub fn partition(trace: &Trace, wakers: &Wakers, windows: &[Window]) -> Table {
    fold::fold(trace, &Pieces::new(trace, wakers, windows), &fold::Query::default())
}

fn group_of(trace: &Trace, programs: &ProgramIndex, segment: &Segment) -> (Group, Text) {
    let program = program_of(programs, segment);
    let none = Text::NONE;
    let bare = Group {
        task: segment.task,
        program,
        class: segment.class,
        syscall: none,
        op: none,
        target: none,
        resolved: segment.resolved,
        tag: segment.tag,
    };
    let Some(row) = segment.what.row() else { return (bare, none) };
    let shape = trace.events.shape(row);
    let (syscall, op) = named(segment.what, shape.syscall, shape.op);
    (Group { syscall, op, target: shape.target, ..bare }, trace.events.target(row))
}

/// The syscall and the sub-operation; of a message, its subsystem.
pub(crate) fn named(what: What, syscall: Text, op: Text) -> (Text, Text) {
    if let What::Silence(_) = what { (Text::NONE, syscall) } else { (syscall, op) }
}

/// The program at the start of a stretch; before a task's first one, that one.
pub(crate) fn program_of(programs: &ProgramIndex, segment: &Segment) -> Text {
    let first = || programs.of(segment.task).first().copied();
    programs.at(segment.task, segment.start_ns).or_else(first).map_or(Text::NONE, |program| program.path)
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
