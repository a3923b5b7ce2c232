//! Sorts pieces by group in parallel.
//!
//! ```text
//! chosen    b a b | c b a            cut into chunks, each numbered separately: b 0, a 1 | c 0, b 1, a 2
//! groups    b, a, c                  in order of their first pieces
//! order     b b b a a c              each chunk knows the position of its part of each group
//! ```

use crate::partition::pieces::Pieces;
use crate::partition::scope::{GroupKey, KEYS, differs_within_bucket};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use trace::parallel;
use trace::store::index::TaskId;
use trace::store::trace::Trace;
use zerocopy::{FromBytes, IntoBytes};

/// Number of pieces that one core numbers at a time. It is small enough for group numbers to fit into `u16`.
const AT_ONCE: usize = 1 << 15;

/// If fewer pieces are chosen per bucket, only the buckets of these are numbered: most of a trace with very many programs
/// are of others.
const PIECES_OF_BUCKET: usize = 4;

/// Numbers of the task keys and of the bucket keys, and the target. Unused components are 0.
type GroupNumbers = [u32; 3];

/// A chunk of pieces, with group numbers local to the chunk.
#[derive(Default)]
struct OrderedChunk {
    numbers: Vec<u16>,
    groups: Vec<GroupNumbers>,
    sizes: Vec<u32>,
    /// The global number of each local group.
    places: Vec<u32>,
    /// Whether the pieces of each group are contiguous.
    is_sorted: bool,
}

/// A list of piece numbers.
#[derive(Debug, PartialEq)]
pub(super) enum PieceNumbers {
    /// All pieces; the value is their count.
    All(usize),
    /// These pieces.
    These(Vec<u32>),
}

impl PieceNumbers {
    pub(super) fn len(&self) -> usize {
        match self {
            PieceNumbers::All(len) => *len,
            PieceNumbers::These(numbers) => numbers.len(),
        }
    }

    /// The piece numbers at these positions.
    pub(super) fn at(&self, places: Range<usize>) -> impl Iterator<Item = u32> {
        places.map(|place| match self {
            PieceNumbers::All(_) => place as u32,
            PieceNumbers::These(numbers) => numbers[place],
        })
    }
}

/// Sorts the pieces by group. Also returns the bounds of the groups, which are ordered by their first pieces.
pub(super) fn in_groups(
    trace: &Trace,
    pieces: &Pieces,
    chosen: PieceNumbers,
    keys: &[GroupKey],
) -> (PieceNumbers, Vec<usize>) {
    if chosen.len() == 0 {
        return (chosen, vec![0]);
    }
    let buckets = pieces.buckets(trace);
    let keyed = |is_one: fn(GroupKey) -> bool| keys.iter().copied().filter(move |&key| is_one(key));
    let of_task = |task: u32| {
        let task = TaskId::new(task);
        values(
            keyed(|key| matches!(key, GroupKey::Pid | GroupKey::Tid))
                .map(|key| key.of_task(trace, task)),
        )
    };
    let of_bucket = |bucket: u32| {
        let piece = &pieces.all[buckets.first(bucket) as usize];
        values(keyed(|key| !differs_within_bucket(key)).map(|key| key.of(trace, piece)))
    };
    let task_of = |at: u32| pieces.all[at as usize].task.raw();
    let (tasks, all_buckets) = (trace.tasks.len(), buckets.len());
    if !keys.iter().any(|&key| differs_within_bucket(key)) {
        let all: Box<dyn Iterator<Item = u32>> = match chosen.len() < PIECES_OF_BUCKET * all_buckets
        {
            true => Box::new(chosen.at(0..chosen.len()).map(|at| buckets.of(at))),
            false => Box::new(0..all_buckets as u32),
        };
        let of_buckets = match keys {
            [only] => alike(all_buckets, all, |bucket| {
                only.of(trace, &pieces.all[buckets.first(bucket) as usize])
            }),
            _ => alike(all_buckets, all, of_bucket),
        };
        return in_order_of_numbers(chosen, |at| of_buckets[buckets.of(at) as usize]);
    }
    // Where few pieces are chosen of a trace with very many tasks and programs, only theirs are numbered.
    let (of_tasks, of_buckets) = if chosen.len() < tasks.max(all_buckets) {
        let chosen = || chosen.at(0..chosen.len());
        (
            alike(tasks, chosen().map(task_of), of_task),
            alike(all_buckets, chosen().map(|at| buckets.of(at)), of_bucket),
        )
    } else {
        (
            alike(tasks, 0..tasks as u32, of_task),
            alike(all_buckets, 0..all_buckets as u32, of_bucket),
        )
    };
    let by_target = keys.contains(&GroupKey::Target);
    let group_of = |at: u32| {
        let target = if by_target {
            pieces.all[at as usize].target.0
        } else {
            0
        };
        [
            of_tasks[task_of(at) as usize],
            of_buckets[buckets.of(at) as usize],
            target,
        ]
    };
    in_order(chosen, group_of, AT_ONCE)
}

/// The values of the keys of an item. Unused components are 0.
fn values(each: impl Iterator<Item = u32>) -> [u32; KEYS] {
    let mut values = [0; KEYS];
    values
        .iter_mut()
        .zip(each)
        .for_each(|(place, value)| *place = value);
    values
}

/// Numbers these of `len` items so that items with equal values get the same number.
fn alike<V: Eq + Hash>(
    len: usize,
    items: impl Iterator<Item = u32>,
    values_of: impl Fn(u32) -> V,
) -> Vec<u32> {
    let mut known: FxHashMap<V, u32> = FxHashMap::default();
    let mut numbers = vec![u32::MAX; len];
    for item in items {
        let number = &mut numbers[item as usize];
        if *number == u32::MAX {
            let next = known.len() as u32;
            *number = *known.entry(values_of(item)).or_insert(next);
        }
    }
    numbers
}

/// The same where groups are numbered from 0 on, and there are few compared with the pieces.
fn in_order_of_numbers(
    chosen: PieceNumbers,
    number_of: impl Fn(u32) -> u32,
) -> (PieceNumbers, Vec<usize>) {
    let (mut places, mut sizes): (Vec<u32>, Vec<usize>) = (Vec::new(), Vec::new());
    let all = || chosen.at(0..chosen.len());
    for number in all().map(&number_of) {
        if number as usize >= places.len() {
            places.resize(number as usize + 1, u32::MAX);
        }
        let place = &mut places[number as usize];
        if *place == u32::MAX {
            *place = sizes.len() as u32;
            sizes.push(0);
        }
        sizes[*place as usize] += 1;
    }
    let bounds = bounds(&sizes);
    let (mut next, mut order) = (bounds.clone(), vec![0; chosen.len()]);
    for at in all() {
        let next = &mut next[places[number_of(at) as usize] as usize];
        order[*next] = at;
        *next += 1;
    }
    (PieceNumbers::These(order), bounds)
}

/// Where each group begins, and the end of the last one.
fn bounds(sizes: &[usize]) -> Vec<usize> {
    let mut bounds = vec![0];
    bounds.extend(sizes.iter().scan(0, |end, size| {
        *end += size;
        Some(*end)
    }));
    bounds
}

fn in_order(
    chosen: PieceNumbers,
    group_of: impl Fn(u32) -> GroupNumbers + Sync,
    at_once: usize,
) -> (PieceNumbers, Vec<usize>) {
    let places = places(&chosen, at_once);
    let mut chunks: Vec<OrderedChunk> = parallel::map(&places, |places| {
        numbered(chosen.at(places.clone()).map(&group_of))
    });
    let (sizes, is_sorted) = numbered_alike(&mut chunks);
    let bounds = bounds(&sizes);
    if is_sorted {
        return (chosen, bounds);
    }
    (
        PieceNumbers::These(ordered(&chosen, &places, &chunks, &bounds)),
        bounds,
    )
}

/// Splits the positions into ranges of `at_once`.
fn places(chosen: &PieceNumbers, at_once: usize) -> Vec<Range<usize>> {
    (0..chosen.len())
        .step_by(at_once)
        .map(|from| from..chosen.len().min(from + at_once))
        .collect()
}

fn numbered(groups: impl Iterator<Item = GroupNumbers>) -> OrderedChunk {
    let mut chunk = OrderedChunk {
        is_sorted: true,
        ..OrderedChunk::default()
    };
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

/// Assigns global numbers to the groups of all chunks. Returns the size of each group, and whether the pieces are
/// already sorted.
fn numbered_alike(chunks: &mut [OrderedChunk]) -> (Vec<usize>, bool) {
    let mut known: FxHashMap<GroupNumbers, u32> = FxHashMap::default();
    let (mut sizes, mut is_sorted) = (Vec::new(), true);
    for chunk in chunks {
        is_sorted &= chunk.is_sorted;
        for (local, (group, &size)) in chunk.groups.iter().zip(&chunk.sizes).enumerate() {
            let number = *known.entry(*group).or_insert(sizes.len() as u32);
            // The first group may continue the last group of the previous chunk.
            is_sorted &= number as usize == sizes.len()
                || (local == 0 && number as usize + 1 == sizes.len());
            if number as usize == sizes.len() {
                sizes.push(0);
            }
            sizes[number as usize] += size as usize;
            chunk.places.push(number);
        }
    }
    (sizes, is_sorted)
}

/// The pieces sorted by group. The sort is stable.
fn ordered(
    chosen: &PieceNumbers,
    places: &[Range<usize>],
    chunks: &[OrderedChunk],
    bounds: &[usize],
) -> Vec<u32> {
    let mut next: Vec<u32> = bounds.iter().map(|&bound| bound as u32).collect();
    let starts = chunks.iter().map(|chunk| {
        chunk
            .places
            .iter()
            .zip(&chunk.sizes)
            .map(|(&place, size)| {
                let next = &mut next[place as usize];
                std::mem::replace(next, *next + size)
            })
            .collect()
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
        fn in_order_equals_one_pass(symbols in prop::collection::vec(0u32..6, 0..60), at_once in 1usize..9) {
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
