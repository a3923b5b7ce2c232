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
use crate::partition::scope::{GroupKey, GroupQuery, ScopeFilter, differs_within_bucket};
use crate::store::trace::Trace;
use parsers::Text;
use parsers::syscalls::Class;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Number of pieces that one core processes at a time.
const AT_ONCE: usize = 1 << 14;
/// If a larger part of all pieces is chosen, all are looked through instead of sorting the chosen ones.
const MOST_TO_SORT: usize = 16;

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

/// The sum of the pieces that share a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    /// The first of them.
    pub piece: Piece,
    pub exclusive_ns: i64,
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

/// The buckets of a chunk of pieces.
#[derive(Default)]
struct BucketChunk {
    places: FxHashMap<BucketKey, u32>,
    buckets: Vec<Bucket>,
}

pub(crate) fn bucket_key(trace: &Trace, piece: &Piece) -> BucketKey {
    let capture = trace.tasks[piece.task as usize].capture;
    let Piece { program, class, resolved, tag, .. } = *piece;
    BucketKey { capture, program, class, name: piece.name(trace), resolved, tag }
}

/// Sorts piece numbers by bucket, stably, and returns where each bucket starts.
fn sorted_by_bucket(of_pieces: &[u32], buckets: usize) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0; buckets + 1];
    of_pieces.iter().for_each(|&bucket| offsets[bucket as usize + 1] += 1);
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

impl BucketChunk {
    /// Numbers the buckets of these pieces, starting at 0.
    fn new(trace: &Trace, pieces: &[Piece], numbers: &mut [u32]) -> BucketChunk {
        let mut chunk = BucketChunk::default();
        for (piece, number) in pieces.iter().zip(numbers) {
            *number = chunk.number(bucket_key(trace, piece), piece);
            chunk.buckets[*number as usize].exclusive_ns += piece.exclusive_ns;
        }
        chunk
    }

    fn number(&mut self, place: BucketKey, piece: &Piece) -> u32 {
        *self.places.entry(place).or_insert_with(|| {
            self.buckets.push(Bucket { piece: *piece, exclusive_ns: 0 });
            self.buckets.len() as u32 - 1
        })
    }
}

impl Buckets {
    /// Numbers the buckets in order of their first pieces, and sums the time of each.
    pub(crate) fn new(trace: &Trace, pieces: &[Piece]) -> Buckets {
        let mut of_pieces = vec![0; pieces.len()];
        let parts = pieces.par_chunks(AT_ONCE).zip(of_pieces.par_chunks_mut(AT_ONCE));
        let chunks: Vec<BucketChunk> = parts.map(|(some, numbers)| BucketChunk::new(trace, some, numbers)).collect();
        let mut all = BucketChunk::default();
        let numbers = chunks.iter().map(|chunk| {
            let number = |bucket: &Bucket| {
                let number = all.number(bucket_key(trace, &bucket.piece), &bucket.piece);
                all.buckets[number as usize].exclusive_ns += bucket.exclusive_ns;
                number
            };
            chunk.buckets.iter().map(number).collect()
        });
        let numbers: Vec<Vec<u32>> = numbers.collect();
        let parts = of_pieces.par_chunks_mut(AT_ONCE).zip(numbers);
        parts.for_each(|(some, numbers)| some.iter_mut().for_each(|number| *number = numbers[*number as usize]));
        let mut of_programs = FxHashMap::default();
        for bucket in &all.buckets {
            *of_programs.entry(bucket.piece.program).or_insert(0) += bucket.exclusive_ns;
        }
        let (by_bucket, offsets) = sorted_by_bucket(&of_pieces, all.buckets.len());
        Buckets { all: all.buckets, of_pieces, of_programs, by_bucket, offsets }
    }

    /// All buckets.
    pub(crate) fn all(&self) -> &[Bucket] {
        &self.all
    }

    /// The bucket number of a piece.
    #[inline]
    pub(crate) fn of(&self, piece: u32) -> u32 {
        self.of_pieces[piece as usize]
    }

    /// The pieces of the chosen buckets, in order.
    pub(super) fn pieces_of(&self, chosen: &[bool]) -> Vec<u32> {
        let part = |at: usize| self.offsets[at] as usize..self.offsets[at + 1] as usize;
        let parts = || chosen.iter().enumerate().filter(|(_, chosen)| **chosen).map(|(at, _)| part(at));
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

    /// Whether the pieces of each bucket may belong to a group that reaches the query's minimum.
    pub(super) fn reaching(&self, trace: &Trace, query: &GroupQuery, within: &ScopeFilter) -> Vec<bool> {
        let keys = || query.by.iter().flatten().filter(|&&key| !differs_within_bucket(key));
        let group = |bucket: &Bucket| keys().map(|key| key.of(trace, &bucket.piece)).collect::<Vec<u32>>();
        let mut groups: FxHashMap<Vec<u32>, i64> = FxHashMap::default();
        let has_program = keys().any(|&key| key == GroupKey::Program);
        // Few programs reach the minimum, and they are known before groups are made.
        let may_reach = |bucket: &Bucket| {
            !has_program || self.of_programs.get(&bucket.piece.program).is_some_and(|&ns| ns >= query.at_least_ns)
        };
        let is_chosen =
            |bucket: &Bucket| may_reach(bucket) && within.may_have(trace, &bucket.piece, differs_within_bucket);
        let chosen: Vec<bool> = self.all.iter().map(is_chosen).collect();
        for (bucket, _) in self.all.iter().zip(&chosen).filter(|(_, chosen)| **chosen) {
            *groups.entry(group(bucket)).or_insert(0) += bucket.exclusive_ns;
        }
        let reaches = |bucket: &Bucket| groups.get(&group(bucket)).is_some_and(|&ns| ns >= query.at_least_ns);
        self.all.iter().zip(chosen).map(|(bucket, chosen)| chosen && reaches(bucket)).collect()
    }
}
