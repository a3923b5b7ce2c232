//! Groups the pieces of the partition that differ only in task and target. There are few buckets however many pieces
//! there are, so a property or group key is evaluated once per bucket instead of once per piece.
//!
//! ```text
//! pieces     7 cc1 read a | 7 cc1 user | 8 cc1 read b | 9 ld read a        by tasks 7, 8 and 9
//! buckets    cc1 read 0, cc1 user 1, ld read 2
//! of pieces  0            | 1          | 0            | 2
//! ```

use crate::critical_path::segment::Tag;
use crate::partition::piece::Piece;
use crate::partition::scope::{
    GroupKey, GroupQuery, KEYS, ScopeFilter, differs_within_bucket, values_of,
};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use parsers::Text;
use parsers::syscalls::Class;
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::hash::BuildHasher;
use trace::store::trace::Trace;

/// Number of pieces that one core processes at a time.
const AT_ONCE: usize = 1 << 14;
/// If a larger part of all pieces is chosen, all are looked through instead of sorting the chosen ones.
const MOST_TO_SORT: usize = 16;

/// Number of large buckets per group of the answer. Their sums are a lower bound for its smallest group.
const BUCKETS_OF_GROUP: usize = 4;

/// The time of a group and its first piece, the largest first.
type Sum = (Reverse<i64>, u32);

/// The key of a bucket: all properties of a piece except task and target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct BucketKey {
    capture: u32,
    program: Text,
    class: Class,
    name: (Text, Text),
    resolved: bool,
    tag: Tag,
}

/// The sum of the pieces that share a key. Where a trace has very many programs, there is a bucket for every few pieces.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Number of the first of them.
    first: u32,
    exclusive_ns: i64,
}

/// The buckets of a partition.
#[derive(Debug, Default)]
pub(crate) struct Buckets {
    all: Vec<Bucket>,
    of_pieces: Vec<u32>,
    /// The time of each program.
    of_programs: FxHashMap<Text, i64>,
    /// The pieces by bucket, and where those of each bucket start.
    by_bucket: Vec<u32>,
    offsets: Vec<u32>,
}

/// Numbers buckets by their keys.
struct BucketNumbers {
    /// Numbers of buckets. Their keys are in `keys`.
    places: HashTable<u32>,
    keys: Vec<BucketKey>,
    buckets: Vec<Bucket>,
}

pub(crate) fn bucket_key(trace: &Trace, piece: &Piece) -> BucketKey {
    let capture = trace.tasks[piece.task].capture;
    let Piece {
        program,
        class,
        resolved,
        tag,
        ..
    } = *piece;
    BucketKey {
        capture,
        program,
        class,
        name: piece.name(trace),
        resolved,
        tag,
    }
}

/// Sorts piece numbers by bucket, stably, and returns where each bucket starts.
fn sorted_by_bucket(of_pieces: &[u32], buckets: usize) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0; buckets + 1];
    of_pieces
        .iter()
        .for_each(|&bucket| offsets[bucket as usize + 1] += 1);
    for at in 1..offsets.len() {
        offsets[at] += offsets[at - 1];
    }
    let mut next = offsets.clone();
    let mut sorted = vec![0; of_pieces.len()];
    for (piece, &bucket) in (0u32..).zip(of_pieces) {
        let place = &mut next[bucket as usize];
        sorted[*place as usize] = piece;
        *place += 1;
    }
    (sorted, offsets)
}

impl BucketNumbers {
    /// No buckets, with places for so many.
    fn new(capacity: usize) -> BucketNumbers {
        BucketNumbers {
            places: HashTable::with_capacity(capacity),
            keys: Vec::new(),
            buckets: Vec::new(),
        }
    }

    /// The buckets of these pieces, numbered from 0 on.
    fn of_chunk(
        trace: &Trace,
        pieces: &[Piece],
        (first, numbers): (usize, &mut [u32]),
    ) -> BucketNumbers {
        let mut chunk = BucketNumbers::new(numbers.len());
        for (at, number) in (first..).zip(numbers) {
            let piece = &pieces[at];
            let bucket = Bucket {
                first: at as u32,
                exclusive_ns: piece.exclusive_ns,
            };
            *number = chunk.add(bucket_key(trace, piece), bucket);
        }
        BucketNumbers {
            places: HashTable::new(),
            ..chunk
        }
    }

    /// Adds to the sum of the bucket with this key. Returns its number.
    fn add(&mut self, key: BucketKey, bucket: Bucket) -> u32 {
        let (keys, next) = (&self.keys, self.keys.len() as u32);
        let is_same = |&number: &u32| keys[number as usize] == key;
        let hash_of = |&number: &u32| FxBuildHasher.hash_one(keys[number as usize]);
        match self
            .places
            .entry(FxBuildHasher.hash_one(key), is_same, hash_of)
        {
            Entry::Occupied(known) => {
                self.buckets[*known.get() as usize].exclusive_ns += bucket.exclusive_ns;
                *known.get()
            }
            Entry::Vacant(place) => {
                place.insert(next);
                self.keys.push(key);
                self.buckets.push(bucket);
                next
            }
        }
    }
}

impl Buckets {
    /// Numbers the buckets in order of their first pieces, and sums the time of each.
    pub(crate) fn new(trace: &Trace, pieces: &[Piece]) -> Buckets {
        let mut of_pieces = vec![0; pieces.len()];
        let parts = of_pieces.par_chunks_mut(AT_ONCE).enumerate();
        let chunks: Vec<BucketNumbers> = parts
            .map(|(at, numbers)| BucketNumbers::of_chunk(trace, pieces, (at * AT_ONCE, numbers)))
            .collect();
        let mut all = BucketNumbers::new(chunks.iter().map(|chunk| chunk.buckets.len()).sum());
        let numbers = chunks.into_iter().map(|chunk| {
            let buckets = chunk.keys.into_iter().zip(chunk.buckets);
            buckets.map(|(key, bucket)| all.add(key, bucket)).collect()
        });
        let numbers: Vec<Vec<u32>> = numbers.collect();
        let parts = of_pieces.par_chunks_mut(AT_ONCE).zip(numbers);
        parts.for_each(|(some, numbers)| {
            some.iter_mut()
                .for_each(|number| *number = numbers[*number as usize])
        });
        let mut of_programs = FxHashMap::default();
        for bucket in &all.buckets {
            *of_programs
                .entry(pieces[bucket.first as usize].program)
                .or_insert(0) += bucket.exclusive_ns;
        }
        let (by_bucket, offsets) = sorted_by_bucket(&of_pieces, all.buckets.len());
        Buckets {
            all: all.buckets,
            of_pieces,
            of_programs,
            by_bucket,
            offsets,
        }
    }

    /// How many buckets there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The number of the first piece of a bucket.
    pub(super) fn first(&self, bucket: u32) -> u32 {
        self.all[bucket as usize].first
    }

    /// For each bucket, whether a condition holds for its first piece.
    pub(super) fn such(
        &self,
        pieces: &[Piece],
        is_such: impl Fn(&Piece) -> bool + Sync,
    ) -> Vec<bool> {
        self.all
            .par_iter()
            .map(|bucket| is_such(&pieces[bucket.first as usize]))
            .collect()
    }

    /// The bucket number of a piece.
    #[inline]
    pub(crate) fn of(&self, piece: u32) -> u32 {
        self.of_pieces[piece as usize]
    }

    /// The pieces of the chosen buckets, in order.
    pub(super) fn pieces_of(&self, chosen: &[bool]) -> Vec<u32> {
        let part = |at: usize| self.offsets[at] as usize..self.offsets[at + 1] as usize;
        let parts = || {
            chosen
                .iter()
                .enumerate()
                .filter(|(_, chosen)| **chosen)
                .map(|(at, _)| part(at))
        };
        let number: usize = parts().map(|part| part.len()).sum();
        if number > self.of_pieces.len() / MOST_TO_SORT {
            let all = (0..self.of_pieces.len() as u32).into_par_iter();
            return all.filter(|&at| chosen[self.of(at) as usize]).collect();
        }
        let mut numbers = Vec::with_capacity(number);
        parts().for_each(|part| numbers.extend_from_slice(&self.by_bucket[part]));
        numbers.par_sort_unstable();
        numbers
    }

    /// Narrows a choice to the buckets of the `most` largest groups. All pieces of a bucket have the same values of these keys.
    pub(super) fn keep_largest_groups(
        &self,
        trace: &Trace,
        pieces: &[Piece],
        keys: &[GroupKey],
        most: usize,
        chosen: &mut [bool],
    ) {
        let group = |bucket: &Bucket| values_of(keys, trace, &pieces[bucket.first as usize]);
        let such = |chosen: &[bool]| {
            self.all
                .iter()
                .zip(chosen)
                .filter(|(_, chosen)| **chosen)
                .map(|(bucket, _)| *bucket)
                .collect()
        };
        let least_ns = least_of_largest(such(chosen), most, group);
        if keys.contains(&GroupKey::Program) {
            let may_reach =
                |bucket: &Bucket| self.of_program(&pieces[bucket.first as usize]) >= least_ns;
            chosen
                .iter_mut()
                .zip(&self.all)
                .for_each(|(chosen, bucket)| *chosen &= *chosen && may_reach(bucket));
        }
        let mut sums = sums_of_groups(such(chosen), group);
        if most < sums.len() {
            let mut order: Vec<Sum> = sums.values().copied().collect();
            order.select_nth_unstable(most);
            let largest: FxHashSet<Sum> = order[..most].iter().copied().collect();
            sums.retain(|_, sum| largest.contains(sum));
        }
        chosen
            .iter_mut()
            .zip(&self.all)
            .for_each(|(chosen, bucket)| *chosen &= *chosen && sums.contains_key(&group(bucket)));
    }

    /// The time of the program of a piece.
    fn of_program(&self, piece: &Piece) -> i64 {
        self.of_programs.get(&piece.program).copied().unwrap_or(0)
    }

    /// Whether the pieces of each bucket may belong to a group that reaches the query's minimum.
    pub(super) fn reaching(
        &self,
        trace: &Trace,
        pieces: &[Piece],
        query: &GroupQuery,
        within: &ScopeFilter,
    ) -> Vec<bool> {
        let keys = || {
            query
                .by
                .iter()
                .flatten()
                .filter(|&&key| !differs_within_bucket(key))
        };
        let group = |bucket: &Bucket| {
            keys()
                .map(|key| key.of(trace, &pieces[bucket.first as usize]))
                .collect::<Vec<u32>>()
        };
        let mut groups: FxHashMap<Vec<u32>, i64> = FxHashMap::default();
        let has_program = keys().any(|&key| key == GroupKey::Program);
        // Few programs reach the minimum, and they are known before groups are made.
        let may_reach = |piece: &Piece| !has_program || self.of_program(piece) >= query.at_least_ns;
        let chosen = self.such(pieces, |piece| {
            may_reach(piece) && within.may_have(trace, piece, differs_within_bucket)
        });
        for (bucket, _) in self.all.iter().zip(&chosen).filter(|(_, chosen)| **chosen) {
            *groups.entry(group(bucket)).or_insert(0) += bucket.exclusive_ns;
        }
        let reaches = |bucket: &Bucket| {
            groups
                .get(&group(bucket))
                .is_some_and(|&ns| ns >= query.at_least_ns)
        };
        self.all
            .iter()
            .zip(chosen)
            .map(|(bucket, chosen)| chosen && reaches(bucket))
            .collect()
    }
}

/// The `most` largest groups of these buckets have at least this time each; 0 if that is unknown.
fn least_of_largest(
    mut buckets: Vec<Bucket>,
    most: usize,
    group: impl Fn(&Bucket) -> [u32; KEYS],
) -> i64 {
    let looked_at = most.saturating_mul(BUCKETS_OF_GROUP);
    if looked_at < buckets.len() {
        buckets.select_nth_unstable_by_key(looked_at, |bucket| Reverse(bucket.exclusive_ns));
        buckets.truncate(looked_at);
    }
    let mut largest: Vec<Sum> = sums_of_groups(buckets, group).into_values().collect();
    match most.checked_sub(1).filter(|&last| last < largest.len()) {
        Some(last) => largest.select_nth_unstable(last).1.0.0,
        None => 0,
    }
}

/// The sums of groups, and the number of the first piece of each.
fn sums_of_groups(
    buckets: Vec<Bucket>,
    group: impl Fn(&Bucket) -> [u32; KEYS],
) -> FxHashMap<[u32; KEYS], Sum> {
    let mut sums: FxHashMap<[u32; KEYS], Sum> = FxHashMap::default();
    for bucket in buckets {
        let (Reverse(sum_ns), first) = sums
            .entry(group(&bucket))
            .or_insert((Reverse(0), bucket.first));
        *sum_ns = sum_ns.saturating_add(bucket.exclusive_ns);
        *first = bucket.first.min(*first);
    }
    sums
}
