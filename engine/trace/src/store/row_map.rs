//! Values of some rows, by row.
//!
//! ```text
//! rows     0 . 2 . . 5 …       a bit for each row that has a value, and for each word of bits how many are before it, so
//! ranks    0   1     2         that the place of a row's value is found without a search
//! ```

use crate::store::event::NONE;
use crate::store::index::Number;

/// A set of rows. Each of them has a rank: how many others are before it.
#[derive(Debug, Default)]
pub struct RankedRows {
    bits: Vec<u64>,
    before: Vec<u32>,
    count: u32,
}

impl RankedRows {
    /// These rows, each below `rows`; others are left out.
    pub fn new(rows: u32, such: impl Iterator<Item = u32>) -> RankedRows {
        let mut bits = vec![0u64; (rows as usize).div_ceil(64)];
        for row in such {
            if let Some(bits) = bits.get_mut(row as usize / 64) {
                *bits |= 1 << (row % 64);
            }
        }
        let mut count = 0;
        let before = bits.iter().map(|bits| {
            let before = count;
            count += bits.count_ones();
            before
        });
        let before = before.collect();
        RankedRows {
            bits,
            before,
            count,
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether it contains a row.
    #[inline]
    pub fn has(&self, row: u32) -> bool {
        self.bits
            .get(row as usize / 64)
            .is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }

    /// The rank of a row of the set.
    #[inline]
    pub fn rank(&self, row: u32) -> Option<u32> {
        let (word, bit) = (row as usize / 64, row % 64);
        let bits = self.bits.get(word).filter(|bits| *bits >> bit & 1 == 1)?;
        Some(self.before.get(word)? + (bits & ((1 << bit) - 1)).count_ones())
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = u32> {
        let words = (0u32..).zip(&self.bits).filter(|(_, bits)| **bits != 0);
        words.flat_map(|(word, &bits)| {
            (0..64)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| 64 * word + bit)
        })
    }
}

/// A number for each of some rows.
#[derive(Debug)]
pub struct RowMap<Value> {
    rows: RankedRows,
    values: Vec<Value>,
}

impl<Value: Number> RowMap<Value> {
    /// These pairs of a row, below `rows`, and its value. The last pair of a row counts.
    pub fn new(rows: u32, pairs: impl Iterator<Item = (u32, Value)> + Clone) -> Self {
        let rows = RankedRows::new(rows, pairs.clone().map(|(row, _)| row));
        let mut values = vec![Value::from_number(NONE); rows.len()];
        for (row, value) in pairs {
            if let Some(place) = rows
                .rank(row)
                .and_then(|rank| values.get_mut(rank as usize))
            {
                *place = value;
            }
        }
        RowMap { rows, values }
    }

    /// The value of a row.
    #[inline]
    pub fn get(&self, row: u32) -> Option<Value> {
        self.values.get(self.rows.rank(row)? as usize).copied()
    }

    /// The rows that have a value, in order.
    pub fn rows(&self) -> impl Iterator<Item = u32> {
        self.rows.rows()
    }
}

impl<Value> Default for RowMap<Value> {
    fn default() -> Self {
        RowMap {
            rows: RankedRows::default(),
            values: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_its_last_value() {
        let pairs = [(130, 1), (0, 2), (64, 3), (63, 4), (130, 5), (500, 6)];
        let map = RowMap::new(200, pairs.into_iter());
        assert_eq!(
            [0, 1, 63, 64, 130, 199, 500, NONE].map(|row| map.get(row)),
            { [Some(2), None, Some(4), Some(3), Some(5), None, None, None] }
        );
        assert_eq!(map.rows().collect::<Vec<_>>(), [0, 63, 64, 130]);
    }
}
