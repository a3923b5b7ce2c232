//! Numbers grouped by a key, in two lists for all groups. A list of its own for each group would cost an allocation each.
//!
//! ```text
//! keys      1 0 1 2 0        of the numbers 0 to 4
//! members   1 4 | 0 2 | 3    offsets 0 2 4 5
//! ```

use crate::store::index::Number;
use std::marker::PhantomData;
use std::ops::Range;

/// Numbers by key. The numbers of each key are in ascending order.
#[derive(Clone, Debug)]
pub struct Grouped<Key, Member> {
    offsets: Vec<u32>,
    members: Vec<Member>,
    by: PhantomData<Key>,
}

impl<Key: Number, Member: Number> Grouped<Key, Member> {
    /// Group the numbers from 0 on, each by its key, which is below `count`. Those without a key are left out.
    pub fn new(count: usize, keys: impl Iterator<Item = Option<Key>> + Clone) -> Self {
        let mut offsets = vec![0u32; count + 1];
        keys.clone()
            .flatten()
            .for_each(|key| offsets[key.number() as usize + 1] += 1);
        for at in 1..offsets.len() {
            offsets[at] += offsets[at - 1];
        }
        let mut members = vec![Member::from_number(0); *offsets.last().unwrap_or(&0) as usize];
        let mut next = offsets.clone();
        for (number, key) in (0u32..).zip(keys) {
            if let Some(place) = key.and_then(|key| next.get_mut(key.number() as usize)) {
                members[*place as usize] = Member::from_number(number);
                *place += 1;
            }
        }
        Grouped {
            offsets,
            members,
            by: PhantomData,
        }
    }

    /// The numbers of a key.
    #[inline]
    pub fn of(&self, key: Key) -> &[Member] {
        &self.members[self.range(key)]
    }

    /// The numbers of each key, key by key.
    pub fn groups(&self) -> impl Iterator<Item = &[Member]> {
        self.offsets
            .windows(2)
            .map(|bounds| &self.members[bounds[0] as usize..bounds[1] as usize])
    }

    /// The range of the numbers of a key in [`Grouped::members`].
    #[inline]
    pub fn range(&self, key: Key) -> Range<usize> {
        let key = key.number() as usize;
        let bounds = self.offsets.get(key).zip(self.offsets.get(key + 1));
        bounds.map_or(0..0, |(&from, &to)| from as usize..to as usize)
    }

    /// The numbers of all keys, one key after the other.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Put the numbers of each key in another order, stably.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl Fn(Member) -> K) {
        for bounds in self.offsets.windows(2) {
            self.members[bounds[0] as usize..bounds[1] as usize].sort_by_key(|&number| key(number));
        }
    }
}

impl<Key, Member> Default for Grouped<Key, Member> {
    fn default() -> Self {
        Grouped {
            offsets: Vec::new(),
            members: Vec::new(),
            by: PhantomData,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_key_are_in_order() {
        let keys = [Some(1), Some(0), Some(1), None, Some(2), Some(0)];
        let mut grouped = Grouped::<u32, u32>::new(4, keys.into_iter());
        assert_eq!(
            [0, 1, 2, 3, 9].map(|key| grouped.of(key).to_vec()),
            [vec![1, 5], vec![0, 2], vec![4], vec![], vec![]]
        );
        grouped.sort_by_key(std::cmp::Reverse);
        assert_eq!(grouped.members(), [5, 1, 2, 0, 4]);
    }
}
