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
use crate::partition::scope::{GroupQuery, ScopeFilter, differs_within_bucket};
use crate::store::trace::Trace;
use parsers::Text;
use parsers::syscalls::Class;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Number of pieces that one core processes at a time.
const AT_ONCE: usize = 1 << 14;

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
        Buckets { all: all.buckets, of_pieces }
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

    /// Whether the pieces of each bucket may belong to a group that reaches the query's minimum.
    pub(super) fn reaching(&self, trace: &Trace, query: &GroupQuery, within: &ScopeFilter) -> Vec<bool> {
        let keys = || query.by.iter().flatten().filter(|&&key| !differs_within_bucket(key));
        let group = |bucket: &Bucket| keys().map(|key| key.of(trace, &bucket.piece)).collect::<Vec<u32>>();
        let mut groups: FxHashMap<Vec<u32>, i64> = FxHashMap::default();
        let is_chosen = |bucket: &Bucket| within.may_have(trace, &bucket.piece, differs_within_bucket);
        for bucket in self.all.iter().filter(|bucket| is_chosen(bucket)) {
            *groups.entry(group(bucket)).or_insert(0) += bucket.exclusive_ns;
        }
        let reaches = |bucket: &Bucket| groups.get(&group(bucket)).is_some_and(|&ns| ns >= query.at_least_ns);
        self.all.iter().map(|bucket| is_chosen(bucket) && reaches(bucket)).collect()
    }
}
