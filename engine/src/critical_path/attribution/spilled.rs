//! The stretches that are unlike most, by event and by task.
//!
//! ```text
//! rows      0 . 2 . . 5 …        a bit for each row that has some, and for each word of bits how many are before it,
//! ranks     0   1     2          so that the rank of a row is found without a search
//! ```

use crate::critical_path::attribution::place_of;
use crate::critical_path::segment::Segment;
use crate::store::event::NONE;
use crate::store::grouped::Grouped;

/// Stretches in the order in which they came, with an index.
#[derive(Debug, Default)]
pub(super) struct Spilled {
    segments: Vec<Segment>,
    has_some: Vec<u64>,
    before: Vec<u32>,
    /// By rank of their row. Those of no row come last.
    by_row: Grouped,
    by_task: Grouped,
}

impl Spilled {
    pub(super) fn push(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    /// Make the index, after the last stretch.
    pub(super) fn order(&mut self, rows: u32, tasks: usize) {
        self.has_some = vec![0; (rows as usize).div_ceil(64)];
        for segment in &self.segments {
            let (row, _) = place_of(segment.what);
            if let Some(bits) = self.has_some.get_mut(row as usize / 64) {
                *bits |= 1 << (row % 64);
            }
        }
        let mut all = 0;
        let before = self.has_some.iter().map(|bits| {
            let before = all;
            all += bits.count_ones();
            before
        });
        self.before = before.collect();
        let ranks = self.segments.iter().map(|segment| Some(self.rank(place_of(segment.what).0).unwrap_or(all)));
        let by_row = Grouped::new(all as usize + 1, ranks);
        self.by_task = Grouped::new(tasks, self.segments.iter().map(|segment| Some(segment.task)));
        self.by_row = by_row;
    }

    /// Whether a row has some. What belongs to no row may always have some.
    #[inline]
    pub(super) fn has_some(&self, row: u32) -> bool {
        self.has_some.get(row as usize / 64).is_none_or(|bits| bits >> (row % 64) & 1 == 1)
    }

    /// How many of the rows that have some are before this one, if it has some.
    fn rank(&self, row: u32) -> Option<u32> {
        let (word, bit) = (row as usize / 64, row % 64);
        let bits = self.has_some.get(word).filter(|bits| *bits >> bit & 1 == 1)?;
        Some(self.before.get(word)? + (bits & ((1 << bit) - 1)).count_ones())
    }

    /// Those of a row, in the order in which they came; [`NONE`] is the time before a task's first event.
    pub(super) fn of_row(&self, row: u32) -> impl Iterator<Item = &Segment> {
        let rank = if row == NONE { self.last_rank() } else { self.rank(row) };
        let places = rank.map_or(&[][..], |rank| self.by_row.of(rank));
        places.iter().filter_map(|&place| self.get(place))
    }

    fn last_rank(&self) -> Option<u32> {
        Some(self.before.last().map_or(0, |before| before + self.has_some.last().map_or(0, |bits| bits.count_ones())))
    }

    /// The rows that have some, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> {
        (0u32..).zip(&self.has_some).filter(|(_, bits)| **bits != 0).flat_map(|(word, &bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| 64 * word + bit)
        })
    }

    /// The places of those of a task.
    pub(super) fn places_of_task(&self, task: u32) -> &[u32] {
        self.by_task.of(task)
    }

    /// The stretch at a place.
    pub(super) fn get(&self, place: u32) -> Option<&Segment> {
        self.segments.get(place as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.segments.len()
    }
}
