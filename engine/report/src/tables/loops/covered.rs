//! Which symbols belong to a stretch that was found.

use std::ops::Range;

/// A set of indexes, a bit each.
pub(super) struct Covered {
    words: Vec<u64>,
}

impl Covered {
    /// The empty set of indexes below `len`.
    pub(super) fn new(len: usize) -> Covered {
        Covered {
            words: vec![0; len.div_ceil(64)],
        }
    }

    /// Whether an index is in the set.
    pub(super) fn has(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 != 0
    }

    /// Whether one of a range is.
    pub(super) fn has_any(&self, range: Range<usize>) -> bool {
        words_of(range).any(|(word, mask)| self.words[word] & mask != 0)
    }

    /// How many of a range are.
    pub(super) fn count(&self, range: Range<usize>) -> u32 {
        words_of(range)
            .map(|(word, mask)| (self.words[word] & mask).count_ones())
            .sum()
    }

    /// Add a range.
    pub(super) fn add(&mut self, range: Range<usize>) {
        words_of(range).for_each(|(word, mask)| self.words[word] |= mask);
    }
}

/// The words that a range extends over, each with the bits of it that are in the range.
fn words_of(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let words = range.start / 64..if range.is_empty() {
        range.start / 64
    } else {
        range.end.div_ceil(64)
    };
    words.map(move |word| {
        let from = u64::MAX << range.start.saturating_sub(word * 64);
        let until = u64::MAX >> ((word + 1) * 64).saturating_sub(range.end);
        (word, from & until)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_to_a_list_of_flags() {
        let mut random = 1u64;
        let mut next = |below: usize| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        let (mut covered, mut flags) = (Covered::new(300), [false; 300]);
        for _ in 0..40 {
            let start = next(300);
            let range = start..start + next((301 - start).min(90));
            covered.add(range.clone());
            flags[range].fill(true);
            for _ in 0..50 {
                let start = next(300);
                let range = start..start + next(301 - start);
                let own = &flags[range.clone()];
                assert_eq!(
                    covered.has_any(range.clone()),
                    own.contains(&true),
                    "{range:?}"
                );
                assert_eq!(
                    covered.count(range) as usize,
                    own.iter().filter(|&&flag| flag).count()
                );
                assert_eq!(covered.has(start), flags[start]);
            }
        }
    }
}
