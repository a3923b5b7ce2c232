//! The common case: one length and one kind for each call and for each gap after a call, packed into 32 bits.
//!
//! ```text
//! bits   31 .. 25   24 ................ 0
//!        kind       length                  kind 0: nothing yet; all ones: longer than that, and kept apart
//! ```
//! The path has no more long stretches than fit into its windows, so they are few.

use crate::critical_path::attribution::{Charge, place_of};
use crate::critical_path::segment::{Segment, Tag};
use parsers::syscalls::Class;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use trace::store::index::ShapeId;
use zerocopy::{FromBytes, IntoBytes};

const LENGTH_BITS: u32 = 25;
/// Lengths from here on are kept apart: 33 ms.
const LONG: u32 = (1 << LENGTH_BITS) - 1;
/// Places that a core makes ready at a time.
const CELLS_AT_ONCE: usize = 1 << 16;
const TAGS: u32 = Tag::ALL.len() as u32;
const _: () = assert!(
    2 * Class::ALL.len() as u32 * TAGS < 1 << (u32::BITS - LENGTH_BITS),
    "kinds fit"
);

/// What stretches are: a class, whether it is known what ended them, and a tag. 0 is nothing yet.
#[inline]
fn kind_of(class: Class, resolved: bool, tag: Tag) -> u32 {
    1 + (2 * class as u32 + u32::from(resolved)) * TAGS + tag as u32
}

fn class_of(kind: u32) -> Option<(Class, bool, Tag)> {
    let (class, tag) = (kind.checked_sub(1)? / TAGS, kind.checked_sub(1)? % TAGS);
    Some((
        *Class::ALL.get(class as usize / 2)?,
        class % 2 == 1,
        *Tag::ALL.get(tag as usize)?,
    ))
}

#[inline]
fn place(row: u32, is_gap: bool) -> usize {
    2 * row as usize + usize::from(is_gap)
}

/// Stretches in which each call and each gap has a single kind.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// For each row: the cell of the call, and the cell of the gap after it.
    cells: Vec<u32>,
    /// By place in `cells`.
    long: FxHashMap<usize, i64>,
}

impl Packed {
    /// Nothing yet. The places are written to, for a page that is first read is given twice: full of zeros that all share,
    /// and then, when it is written to, one of its own, and every core has to be notified.
    pub(super) fn new(rows: usize) -> Packed {
        let mut cells = vec![0; 2 * rows];
        cells
            .par_chunks_mut(CELLS_AT_ONCE)
            .for_each(|cells| std::hint::black_box(cells).fill(0));
        Packed {
            cells,
            long: FxHashMap::default(),
        }
    }

    /// Add a stretch, if what its place has is of the same kind.
    pub(super) fn takes(&mut self, segment: &Segment) -> bool {
        let (row, is_gap) = place_of(segment.what);
        let (at, kind) = (
            place(row, is_gap),
            kind_of(segment.class, segment.resolved, segment.tag),
        );
        let Some(&cell) = self
            .cells
            .get(at)
            .filter(|&&cell| cell == 0 || cell >> LENGTH_BITS == kind)
        else {
            return false;
        };
        let sum_ns = self.length(at, cell).saturating_add(segment.dur_ns());
        let short = u32::try_from(sum_ns).ok().filter(|&sum| sum < LONG);
        if short.is_none() {
            self.long.insert(at, sum_ns);
        }
        self.cells[at] = kind << LENGTH_BITS | short.unwrap_or(LONG);
        true
    }

    #[inline]
    fn length(&self, at: usize, cell: u32) -> i64 {
        match cell & LONG {
            LONG => self.long.get(&at).copied().unwrap_or(0),
            ns => i64::from(ns),
        }
    }

    /// Whether a call or the gap after it has something.
    #[inline]
    pub(super) fn has_some(&self, row: u32) -> bool {
        self.cells(row) != [0, 0]
    }

    /// How long, 0 if there is nothing.
    #[inline]
    pub(super) fn ns(&self, row: u32, is_gap: bool) -> i64 {
        let at = place(row, is_gap);
        self.cells.get(at).map_or(0, |&cell| self.length(at, cell))
    }

    /// The cells of a call and of the gap after it.
    #[inline]
    pub(super) fn cells(&self, row: u32) -> [u32; 2] {
        let at = place(row, false);
        self.cells
            .get(at..at + 2)
            .map_or([0, 0], |cells| [cells[0], cells[1]])
    }

    /// What a cell holds, without a shape.
    #[inline]
    pub(super) fn charge(&self, row: u32, is_gap: bool, cell: u32) -> Option<Charge> {
        let (class, resolved, tag) = class_of(cell >> LENGTH_BITS)?;
        let ns = self.length(place(row, is_gap), cell);
        Some(Charge {
            row,
            shape: ShapeId::NONE,
            is_gap,
            place: None,
            class,
            resolved,
            tag,
            ns,
        })
    }

    pub(super) fn charge_at(&self, row: u32, is_gap: bool) -> Option<Charge> {
        self.charge(row, is_gap, self.cells(row)[usize::from(is_gap)])
    }

    /// Whether there is a call with at least so much time.
    pub(super) fn has_call_of(&self, at_least_ns: i64) -> bool {
        self.long_ones(false, at_least_ns).next().is_some()
    }

    /// The rows followed by a gap of at least this length, in order.
    pub(super) fn long_gaps(&self, at_least_ns: i64) -> impl Iterator<Item = u32> {
        self.long_ones(true, at_least_ns)
    }

    fn long_ones(&self, of_gaps: bool, at_least_ns: i64) -> impl Iterator<Item = u32> {
        let least = u32::try_from(at_least_ns).map_or(LONG, |least| least.min(LONG));
        let cells = (0u32..).zip(self.cells.iter().skip(usize::from(of_gaps)).step_by(2));
        let long_ones = cells.filter(move |&(_, &cell)| cell & LONG >= least);
        let enough = move |row| self.ns(row, of_gaps) >= at_least_ns;
        long_ones
            .map(|(row, _)| row)
            .filter(move |&row| enough(row))
    }

    /// The places, for several cores.
    pub(super) fn places(&mut self) -> PackedPlaces<'_> {
        PackedPlaces(<[AtomicU32]>::mut_from_bytes(self.cells.as_mut_bytes()).unwrap_or_default())
    }
}

/// Cells for several cores. No two cores ever write the same row.
pub(super) struct PackedPlaces<'all>(&'all [AtomicU32]);

impl PackedPlaces<'_> {
    /// Set the length of a stretch, if its place has none yet and it is short, as nearly all are.
    #[inline]
    pub(super) fn put(&self, row: u32, is_gap: bool, class: Class, tag: Tag, ns: i64) -> bool {
        let Some(cell) = self.0.get(place(row, is_gap)) else {
            return false;
        };
        if ns as u64 >= u64::from(LONG) || cell.load(Ordering::Relaxed) != 0 {
            return false;
        }
        cell.store(
            kind_of(class, true, tag) << LENGTH_BITS | ns as u32,
            Ordering::Relaxed,
        );
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critical_path::segment::What;
    use trace::store::index::TaskId;

    #[test]
    fn lengths_of_any_size_add_up_and_keep_their_kind() {
        let ends = [
            1,
            7,
            i64::from(LONG) - 1,
            i64::from(LONG),
            i64::from(LONG) + 1,
            1 << 33,
            1 << 40,
        ];
        for end_ns in ends {
            let mut dense = Packed::new(2);
            let what = What::Gap(1);
            let one = |start_ns, end_ns, tag| Segment {
                task: TaskId::new(0),
                start_ns,
                end_ns,
                what,
                class: Class::ALL[Class::ALL.len() - 1],
                resolved: true,
                tag,
            };
            assert!(
                dense.takes(&one(0, end_ns, Tag::Lag))
                    && dense.takes(&one(end_ns, end_ns + 5, Tag::Lag))
            );
            assert!(!dense.takes(&one(0, 1, Tag::None)), "another kind");
            let charge = dense.charge_at(1, true);
            assert_eq!(
                charge.map(|charge| (charge.ns, charge.tag)),
                Some((end_ns + 5, Tag::Lag))
            );
            assert_eq!(
                [dense.ns(0, true), dense.ns(1, false), dense.ns(1, true)],
                [0, 0, end_ns + 5]
            );
            assert_eq!(dense.long_gaps(end_ns + 5).collect::<Vec<_>>(), [1]);
            assert_eq!(dense.long_gaps(end_ns + 6).count(), 0);
            assert!(!dense.has_call_of(1));
        }
    }
}
