//! Cells: what pieces of the partition have together that only differ in their tasks and targets. They are few, however many
//! pieces there are, and tell which pieces cannot be part of a large group.

use crate::fold::{Filter, Key, Query};
use crate::partition::{Piece, Pieces};
use crate::path::Tag;
use crate::trace::Trace;
use parsers::Text;
use parsers::syscalls::Class;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Pieces that are looked at by one core at a time.
const AT_ONCE: usize = 1 << 14;

/// What a cell is told by: all but task and target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Place {
    capture: u32,
    program: Text,
    class: Class,
    name: (Text, Text),
    resolved: bool,
    tag: Tag,
}

/// The cells of a partition.
#[derive(Debug)]
pub(crate) struct Cells {
    /// A piece of each, and the sum.
    sums: FxHashMap<Place, (Piece, i64)>,
}

pub(crate) fn place(trace: &Trace, piece: &Piece) -> Place {
    let capture = trace.tasks[piece.task as usize].capture;
    let Piece { program, class, resolved, tag, .. } = *piece;
    Place { capture, program, class, name: piece.name(trace), resolved, tag }
}

fn differs_within_cells(key: Key) -> bool {
    matches!(key, Key::Pid | Key::Tid | Key::Target)
}

impl Cells {
    /// Add up.
    pub(crate) fn new(trace: &Trace, pieces: &[Piece]) -> Cells {
        let of_some = |pieces: &[Piece]| {
            let mut sums: FxHashMap<Place, (Piece, i64)> = FxHashMap::default();
            for piece in pieces {
                sums.entry(place(trace, piece)).or_insert((*piece, 0)).1 += piece.exclusive_ns;
            }
            sums
        };
        let together = |mut sums: FxHashMap<Place, (Piece, i64)>, others: FxHashMap<Place, (Piece, i64)>| {
            for (place, (piece, ns)) in others {
                sums.entry(place).or_insert((piece, 0)).1 += ns;
            }
            sums
        };
        Cells { sums: pieces.par_chunks(AT_ONCE).map(of_some).reduce(FxHashMap::default, together) }
    }

    /// The cells whose pieces may be part of a group that is large enough, by what is asked.
    fn reaching(&self, trace: &Trace, query: &Query, within: &Filter) -> FxHashSet<Place> {
        let keys = || query.by.iter().flatten().filter(|&&key| !differs_within_cells(key));
        let group = |piece: &Piece| keys().map(|key| key.of(trace, piece)).collect::<Vec<u32>>();
        let mut groups: FxHashMap<Vec<u32>, i64> = FxHashMap::default();
        let chosen = || self.sums.iter().filter(|(_, (piece, _))| within.may_have(trace, piece, differs_within_cells));
        for (_, (piece, ns)) in chosen() {
            *groups.entry(group(piece)).or_insert(0) += ns;
        }
        let reaches = |piece: &Piece| groups.get(&group(piece)).is_some_and(|&ns| ns >= query.at_least_ns);
        chosen().filter(|(_, (piece, _))| reaches(piece)).map(|(place, _)| *place).collect()
    }
}

/// Tasks of which a piece may be part of a group that is large enough.
fn tasks_reaching(trace: &Trace, pieces: &Pieces, query: &Query) -> Vec<u32> {
    let keys: Vec<Key> = query.by.iter().flatten().copied().filter(|&key| key.is_of_task()).collect();
    let all = 0..trace.tasks.len() as u32;
    if !keys.iter().any(|key| matches!(key, Key::Pid | Key::Tid)) {
        return all.collect();
    }
    let group = |task: u32| Key::OF_TASK.map(|key| if keys.contains(&key) { key.of_task(trace, task) } else { 0 });
    let mut groups: FxHashMap<[u32; Key::OF_TASK.len()], i64> = FxHashMap::default();
    for (task, &ns) in (0u32..).zip(pieces.exclusive_by_task()) {
        *groups.entry(group(task)).or_insert(0) += ns;
    }
    all.filter(|&task| groups.get(&group(task)).is_some_and(|&ns| ns >= query.at_least_ns)).collect()
}

/// Time of all pieces that are chosen, as far as it follows from their classes and from their syscalls.
pub(crate) fn most_ns(trace: &Trace, pieces: &Pieces, within: &Filter) -> i64 {
    let of_classes = |classes: &[u32]| -> i64 {
        let named = |(class, _): &(u32, &i64)| classes.contains(class);
        (0u32..).zip(pieces.exclusive_by_class()).filter(named).map(|(_, ns)| ns).sum()
    };
    let of_syscalls = |syscalls: &[u32]| -> i64 {
        let shapes = trace.events.shapes().iter().zip(pieces.exclusive_by_shape());
        shapes.filter(|(shape, _)| syscalls.contains(&shape.syscall.0)).map(|(_, ns)| ns).sum()
    };
    let classes_ns = within.only(Key::Class).map_or(i64::MAX, of_classes);
    // What lies between calls has none.
    let syscalls = within.only(Key::Syscall).filter(|syscalls| !syscalls.contains(&Text::NONE.0));
    classes_ns.min(syscalls.map_or(i64::MAX, of_syscalls))
}

/// Places of the pieces, in order, that may be part of a group that is large enough.
pub(crate) fn reaching(trace: &Trace, pieces: &Pieces, query: &Query, within: &Filter) -> Vec<u32> {
    if most_ns(trace, pieces, within) < query.at_least_ns {
        return Vec::new();
    }
    let tasks = tasks_reaching(trace, pieces, query);
    if tasks.is_empty() {
        return Vec::new();
    }
    let cells = pieces.cells(trace).reaching(trace, query, within);
    if cells.is_empty() {
        return Vec::new();
    }
    let of_task = |task| pieces.of_task(task).filter(|&at| cells.contains(&place(trace, &pieces.all[at as usize])));
    tasks.into_par_iter().flat_map_iter(of_task).collect()
}
