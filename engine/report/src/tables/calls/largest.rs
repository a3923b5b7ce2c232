//! Where the largest groups are, before groups are made: there may be nearly as many groups as calls.
//!
//! ```text
//! calls     a 5 | b 1 | a 4 | c 2 | d 1           groups share cells by their hashes
//! cells     {a} 9 | {b, c} 3 | {d} 1              no group is larger than its cell
//! largest   of the groups of the largest cells; cells below the last one of them cannot have a larger one
//! ```

use super::{CallKey, CallOrder, Group, Sums};
use parsers::{NO_NS, Outcome};
use query::event_rows;
use rustc_hash::FxHasher;
use std::hash::{BuildHasher, BuildHasherDefault};
use trace::parallel;
use trace::store::index::{ShapeId, TiSlice};
use trace::store::trace::Trace;

/// Number of cells.
const CELLS: usize = 1 << 20;
/// Each core has cells of its own, of 12 MB.
const MAX_CORES: usize = 8;
/// With fewer targets or shapes, groups take less time than cells.
const MIN_TEXTS: usize = 1 << 16;
/// So many times the requested number of groups are made of the largest cells first.
const CELLS_PER_GROUP: usize = 4;

/// Upper bounds of the order of a cell's groups: a number, then calls.
type Bounds = (i64, u32);

/// Some cells.
pub(super) struct Cells {
    keys: usize,
    has: Vec<bool>,
}

/// The upper bounds of all cells.
pub(super) struct CellBounds {
    keys: usize,
    values: Vec<i64>,
    calls: Vec<u32>,
}

/// Whether there may be too many groups to make all of them.
pub(super) fn may_be_many(trace: &Trace, keys: &[CallKey]) -> bool {
    let groups = |key: &CallKey| match key {
        CallKey::Target => trace.events.texts.len(),
        CallKey::Shape | CallKey::NormalizedTarget => trace.events.shapes().len(),
        _ => 0,
    };
    keys.iter()
        .map(groups)
        .max()
        .is_some_and(|most| most >= MIN_TEXTS)
}

fn cell_of(keys: usize, group: &Group) -> usize {
    let hasher = BuildHasherDefault::<FxHasher>::default();
    (hasher.hash_one(&group[..keys]) >> 32) as usize % CELLS
}

impl Cells {
    pub(super) fn has(&self, group: &Group) -> bool {
        self.has[cell_of(self.keys, group)]
    }
}

impl CellBounds {
    /// The bounds, from the group of each call of some rows, with a function that looks at each.
    pub(super) fn new(
        trace: &Trace,
        keys: usize,
        value: impl Fn(u32) -> i64 + Sync,
        is_sum: bool,
        each: impl Fn(std::ops::Range<u32>, &mut dyn FnMut(u32, &Group)) + Sync,
    ) -> CellBounds {
        let none = || CellBounds {
            keys,
            values: vec![0; CELLS],
            calls: vec![0; CELLS],
        };
        let found = parallel::map(&event_rows::parts(trace, MAX_CORES), |rows| {
            let mut bounds = none();
            each(rows.clone(), &mut |row, group| {
                bounds.add(cell_of(keys, group), (value(row), 1), is_sum)
            });
            bounds
        });
        let mut found = found.into_iter();
        let mut all = found.next().unwrap_or_else(none);
        for part in found {
            (0..CELLS).for_each(|cell| all.add(cell, part.of(cell), is_sum));
        }
        all
    }

    fn add(&mut self, cell: usize, (value, calls): Bounds, is_sum: bool) {
        let known = &mut self.values[cell];
        *known = if is_sum {
            known.saturating_add(value)
        } else {
            value.max(*known)
        };
        self.calls[cell] = self.calls[cell].saturating_add(calls);
    }

    fn of(&self, cell: usize) -> Bounds {
        (self.values[cell], self.calls[cell])
    }

    /// The largest cells: several for each requested group.
    pub(super) fn largest(&self, most: usize) -> Cells {
        let wanted = most.saturating_mul(CELLS_PER_GROUP).clamp(1, CELLS);
        let mut order: Vec<Bounds> = (0..CELLS).map(|cell| self.of(cell)).collect();
        let (_, &mut least, _) =
            order.select_nth_unstable_by(wanted - 1, |one, other| other.cmp(one));
        self.reaching(least)
    }

    /// The cells that may have a group of this size.
    pub(super) fn reaching(&self, least: Bounds) -> Cells {
        let has = (0..CELLS)
            .map(|cell| self.calls[cell] > 0 && self.of(cell) >= least)
            .collect();
        Cells {
            keys: self.keys,
            has,
        }
    }
}

impl Cells {
    /// Whether these have all cells of others.
    pub(super) fn contains(&self, others: &Cells) -> bool {
        self.has
            .iter()
            .zip(&others.has)
            .all(|(&has, &other)| has || !other)
    }
}

/// What a call adds to the upper bound of its group, and whether the bound is the sum of all calls instead of the largest.
pub(super) fn bound_of<'a>(
    order: CallOrder,
    trace: &'a Trace,
    moves: &'a TiSlice<ShapeId, bool>,
    within_call_ns: impl Fn(u32) -> i64 + Sync + 'a,
) -> (Box<dyn Fn(u32) -> i64 + Sync + 'a>, bool) {
    let events = &trace.events;
    let dur_ns = |row: u32| {
        Some(events.dur_ns(row))
            .filter(|&ns| ns != NO_NS)
            .unwrap_or(0)
            .max(0)
    };
    match order {
        CallOrder::Total => (Box::new(dur_ns), true),
        CallOrder::Calls => (Box::new(|_| 1), true),
        CallOrder::Failed => (
            Box::new(|row| i64::from(events.outcome(row) == Outcome::Failed)),
            true,
        ),
        CallOrder::Exclusive => (Box::new(within_call_ns), true),
        CallOrder::Bytes => {
            let moved =
                |row: u32| moves[events.shape_number(row)] && events.outcome(row) == Outcome::Ok;
            (
                Box::new(move |row| {
                    if moved(row) {
                        events.ret(row).max(0)
                    } else {
                        0
                    }
                }),
                true,
            )
        }
        // None of them is above the longest duration.
        CallOrder::Mean | CallOrder::P50 | CallOrder::P90 | CallOrder::P99 | CallOrder::Max => {
            (Box::new(dur_ns), false)
        }
    }
}

/// The size of a group, to compare it with bounds.
pub(super) fn size_of(order: CallOrder, sums: &Sums) -> Bounds {
    (
        order.of(sums),
        u32::try_from(sums.calls).unwrap_or(u32::MAX),
    )
}
