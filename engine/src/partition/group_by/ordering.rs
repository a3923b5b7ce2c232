//! Pieces in order of their groups, found on all cores.
//!
//! ```text
//! chosen    b a b | c b a            cut into chunks, each numbered by itself: b 0, a 1 | c 0, b 1, a 2
//! groups    b, a, c                  in the order of their first pieces
//! order     b b b a a c              each chunk knows where its part of each group goes
//! ```

use crate::partition::buckets::Bucket;
use crate::partition::pieces::Pieces;
use crate::partition::scope::{GroupKey, differs_within_bucket};
use crate::store::trace::Trace;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use zerocopy::{FromBytes, IntoBytes};

/// Pieces that one core numbers at a time: few enough for short numbers, which are many.
const AT_ONCE: usize = 1 << 15;

/// The number of what a group has of tasks, that of what it has of cells, and its target; what is not asked for is 0.
type GroupNumbers = [u32; 3];

/// Some pieces, and the numbers of their groups among those of all of these.
#[derive(Default)]
struct OrderedChunk {
    numbers: Vec<u16>,
    groups: Vec<GroupNumbers>,
    sizes: Vec<u32>,
    /// The numbers of these groups among those of all chunks.
    places: Vec<u32>,
    /// Whether the pieces of each group follow each other.
    is_sorted: bool,
}

/// Pieces by their numbers.
#[derive(Debug, PartialEq)]
pub(super) enum PieceNumbers {
    /// All, of which there are so many.
    All(usize),
    /// These.
    These(Vec<u32>),
}

impl PieceNumbers {
    pub(super) fn len(&self) -> usize {
        match self {
            PieceNumbers::All(len) => *len,
            PieceNumbers::These(numbers) => numbers.len(),
        }
    }

    /// Those at some places.
    pub(super) fn at(&self, places: Range<usize>) -> impl Iterator<Item = u32> {
        places.map(|place| match self {
            PieceNumbers::All(_) => place as u32,
            PieceNumbers::These(numbers) => numbers[place],
        })
    }
}

/// Pieces in order of their groups, and where each group begins. Groups stand in the order of their first pieces.
pub(super) fn in_groups(
    trace: &Trace,
    pieces: &Pieces,
    chosen: PieceNumbers,
    keys: &[GroupKey],
) -> (PieceNumbers, Vec<usize>) {
    let cells = pieces.cells(trace);
    let keyed = |is_one: fn(GroupKey) -> bool| keys.iter().copied().filter(move |&key| is_one(key));
    let is_of_task = |key| matches!(key, GroupKey::Pid | GroupKey::Tid);
    let of_task = |task: u32| keyed(is_of_task).map(|key| key.of_task(trace, task)).collect();
    let of_tasks = alike((0..trace.tasks.len() as u32).map(of_task));
    let of_cell =
        |cell: &Bucket| keyed(|key| !differs_within_bucket(key)).map(|key| key.of(trace, &cell.piece)).collect();
    let of_cells = alike(cells.all().iter().map(of_cell));
    let by_target = keys.contains(&GroupKey::Target);
    let group_of = |at: u32| {
        let piece = &pieces.all[at as usize];
        let target = if by_target { piece.target.0 } else { 0 };
        [of_tasks[piece.task as usize], of_cells[cells.of(at) as usize], target]
    };
    in_order(chosen, group_of, AT_ONCE)
}

/// A number for each of these, the same where they are alike.
fn alike(all: impl Iterator<Item = Vec<u32>>) -> Vec<u32> {
    let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    all.map(|one| {
        let next = numbers.len() as u32;
        *numbers.entry(one).or_insert(next)
    })
    .collect()
}

fn in_order(
    chosen: PieceNumbers,
    group_of: impl Fn(u32) -> GroupNumbers + Sync,
    at_once: usize,
) -> (PieceNumbers, Vec<usize>) {
    let places = places(&chosen, at_once);
    let chunk = |places: &Range<usize>| numbered(chosen.at(places.clone()).map(&group_of));
    let mut chunks: Vec<OrderedChunk> = places.par_iter().map(chunk).collect();
    let (sizes, is_sorted) = numbered_alike(&mut chunks);
    let mut bounds = vec![0];
    bounds.extend(sizes.iter().scan(0, |end, size| {
        *end += size;
        Some(*end)
    }));
    if is_sorted {
        return (chosen, bounds);
    }
    (PieceNumbers::These(ordered(&chosen, &places, &chunks, &bounds)), bounds)
}

/// The places of all, so many at a time.
fn places(chosen: &PieceNumbers, at_once: usize) -> Vec<Range<usize>> {
    (0..chosen.len()).step_by(at_once).map(|from| from..chosen.len().min(from + at_once)).collect()
}

fn numbered(groups: impl Iterator<Item = GroupNumbers>) -> OrderedChunk {
    let mut chunk = OrderedChunk { is_sorted: true, ..OrderedChunk::default() };
    let mut known: FxHashMap<GroupNumbers, u16> = FxHashMap::default();
    let mut last = None;
    let numbers = groups.map(|group| {
        let number = match last {
            Some((same, number)) if same == group => number,
            _ => *known.entry(group).or_insert(chunk.groups.len() as u16),
        };
        if number as usize == chunk.groups.len() {
            chunk.groups.push(group);
            chunk.sizes.push(0);
        }
        chunk.is_sorted &= number as usize + 1 == chunk.groups.len();
        chunk.sizes[number as usize] += 1;
        last = Some((group, number));
        number
    });
    chunk.numbers = numbers.collect();
    chunk
}

/// Number the groups of all chunks alike; how large each group is, and whether all are in order as they are.
fn numbered_alike(chunks: &mut [OrderedChunk]) -> (Vec<usize>, bool) {
    let mut known: FxHashMap<GroupNumbers, u32> = FxHashMap::default();
    let (mut sizes, mut is_sorted) = (Vec::new(), true);
    for chunk in chunks {
        is_sorted &= chunk.is_sorted;
        for (local, (group, &size)) in chunk.groups.iter().zip(&chunk.sizes).enumerate() {
            let number = *known.entry(*group).or_insert(sizes.len() as u32);
            // It may go on with the last group of the chunk before.
            is_sorted &= number as usize == sizes.len() || (local == 0 && number as usize + 1 == sizes.len());
            if number as usize == sizes.len() {
                sizes.push(0);
            }
            sizes[number as usize] += size as usize;
            chunk.places.push(number);
        }
    }
    (sizes, is_sorted)
}

/// The pieces in order of their groups; those of a group stay in theirs.
fn ordered(chosen: &PieceNumbers, places: &[Range<usize>], chunks: &[OrderedChunk], bounds: &[usize]) -> Vec<u32> {
    let mut next: Vec<u32> = bounds.iter().map(|&bound| bound as u32).collect();
    let starts = chunks.iter().map(|chunk| {
        let of_group = |(&place, size): (&u32, &u32)| {
            let next = &mut next[place as usize];
            std::mem::replace(next, *next + size)
        };
        chunk.places.iter().zip(&chunk.sizes).map(of_group).collect()
    });
    let starts: Vec<Vec<u32>> = starts.collect();
    let mut order = vec![0u32; chosen.len()];
    let shared = <[AtomicU32]>::mut_from_bytes(order.as_mut_bytes()).unwrap_or_default();
    let shared: &[AtomicU32] = shared;
    let parts = places.par_iter().zip(chunks).zip(starts);
    parts.for_each(|((places, chunk), mut next)| {
        for (at, &number) in chosen.at(places.clone()).zip(&chunk.numbers) {
            let place = &mut next[number as usize];
            shared[*place as usize].store(at, Ordering::Relaxed);
            *place += 1;
        }
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_are_those_of_one_pass(symbols in prop::collection::vec(0u32..6, 0..60), at_once in 1usize..9) {
            let chosen: Vec<u32> = (0..symbols.len() as u32).map(|at| 7 * at).collect();
            let symbol_of = |at: u32| symbols[at as usize / 7];
            let group_of = |at: u32| [symbol_of(at) / 3, symbol_of(at) % 3, 0];
            let (order, bounds) = in_order(PieceNumbers::These(chosen.clone()), group_of, at_once);
            let all = in_order(PieceNumbers::All(symbols.len()), |at| group_of(7 * at), at_once);
            let mut firsts: Vec<u32> = Vec::new();
            symbols.iter().for_each(|&symbol| if !firsts.contains(&symbol) { firsts.push(symbol) });
            let of_group = |&first: &u32| chosen.iter().copied().filter(|&at| symbol_of(at) == first).collect::<Vec<u32>>();
            let order: Vec<u32> = order.at(0..order.len()).collect();
            prop_assert_eq!(&order, &firsts.iter().flat_map(of_group).collect::<Vec<u32>>());
            prop_assert_eq!(all.0.at(0..all.0.len()).map(|at| 7 * at).collect::<Vec<u32>>(), order);
            prop_assert_eq!(&all.1, &bounds);
            let sizes: Vec<usize> = firsts.iter().map(|first| of_group(first).len()).collect();
            prop_assert_eq!(bounds.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>(), sizes);
        }
    }
}
