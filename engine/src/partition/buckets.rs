//! Buckets: what pieces of the partition have together that only differ in their tasks and targets. They are few, however many
//! pieces there are: what holds for a cell, and in which group it belongs, is found out once for all of its pieces.
//!
//! ```text
//! pieces     7 cc1 read a | 7 cc1 user | 8 cc1 read b | 9 ld read a        of tasks 7, 8 and 9
//! cells      cc1 read 0, cc1 user 1, ld read 2
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

/// Pieces that are looked at by one core at a time.
const AT_ONCE: usize = 1 << 14;

/// What a cell is told by: all but task and target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct BucketKey {
    capture: u32,
    program: Text,
    class: Class,
    name: (Text, Text),
    resolved: bool,
    tag: Tag,
}

/// The pieces of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    /// One of them.
    pub piece: Piece,
    pub exclusive_ns: i64,
}

/// The cells of a partition.
#[derive(Debug, Default)]
pub(crate) struct Buckets {
    all: Vec<Bucket>,
    of_pieces: Vec<u32>,
}

/// The cells of some pieces.
#[derive(Default)]
struct BucketChunk {
    places: FxHashMap<BucketKey, u32>,
    cells: Vec<Bucket>,
}

pub(crate) fn bucket_key(trace: &Trace, piece: &Piece) -> BucketKey {
    let capture = trace.tasks[piece.task as usize].capture;
    let Piece { program, class, resolved, tag, .. } = *piece;
    BucketKey { capture, program, class, name: piece.name(trace), resolved, tag }
}

impl BucketChunk {
    /// Number the cells of these pieces by themselves.
    fn new(trace: &Trace, pieces: &[Piece], numbers: &mut [u32]) -> BucketChunk {
        let mut chunk = BucketChunk::default();
        for (piece, number) in pieces.iter().zip(numbers) {
            *number = chunk.number(bucket_key(trace, piece), piece);
            chunk.cells[*number as usize].exclusive_ns += piece.exclusive_ns;
        }
        chunk
    }

    fn number(&mut self, place: BucketKey, piece: &Piece) -> u32 {
        *self.places.entry(place).or_insert_with(|| {
            self.cells.push(Bucket { piece: *piece, exclusive_ns: 0 });
            self.cells.len() as u32 - 1
        })
    }
}

impl Buckets {
    /// Number them, in the order of their first pieces, and add up.
    pub(crate) fn new(trace: &Trace, pieces: &[Piece]) -> Buckets {
        let mut of_pieces = vec![0; pieces.len()];
        let parts = pieces.par_chunks(AT_ONCE).zip(of_pieces.par_chunks_mut(AT_ONCE));
        let chunks: Vec<BucketChunk> = parts.map(|(some, numbers)| BucketChunk::new(trace, some, numbers)).collect();
        let mut all = BucketChunk::default();
        let numbers = chunks.iter().map(|chunk| {
            let number = |cell: &Bucket| {
                let number = all.number(bucket_key(trace, &cell.piece), &cell.piece);
                all.cells[number as usize].exclusive_ns += cell.exclusive_ns;
                number
            };
            chunk.cells.iter().map(number).collect()
        });
        let numbers: Vec<Vec<u32>> = numbers.collect();
        let parts = of_pieces.par_chunks_mut(AT_ONCE).zip(numbers);
        parts.for_each(|(some, numbers)| some.iter_mut().for_each(|number| *number = numbers[*number as usize]));
        Buckets { all: all.cells, of_pieces }
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[Bucket] {
        &self.all
    }

    /// The number of the cell of a piece.
    #[inline]
    pub(crate) fn of(&self, piece: u32) -> u32 {
        self.of_pieces[piece as usize]
    }

    /// Of each cell whether its pieces may be part of a group that is large enough, by what is asked.
    pub(super) fn reaching(&self, trace: &Trace, query: &GroupQuery, within: &ScopeFilter) -> Vec<bool> {
        let keys = || query.by.iter().flatten().filter(|&&key| !differs_within_bucket(key));
        let group = |cell: &Bucket| keys().map(|key| key.of(trace, &cell.piece)).collect::<Vec<u32>>();
        let mut groups: FxHashMap<Vec<u32>, i64> = FxHashMap::default();
        let is_chosen = |cell: &Bucket| within.may_have(trace, &cell.piece, differs_within_bucket);
        for cell in self.all.iter().filter(|cell| is_chosen(cell)) {
            *groups.entry(group(cell)).or_insert(0) += cell.exclusive_ns;
        }
        let reaches = |cell: &Bucket| groups.get(&group(cell)).is_some_and(|&ns| ns >= query.at_least_ns);
        self.all.iter().map(|cell| is_chosen(cell) && reaches(cell)).collect()
    }
}
