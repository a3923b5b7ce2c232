//! Durations, counted in buckets up to 1.6 % wide, so that the error of a quantile is up to 0.8 %.
//!
//! Log-linear buckets as in HdrHistogram: 64 equal steps in each power of two.

/// Counts by bucket. Most groups of calls have few values and need few buckets. A few groups have nearly all values.
#[derive(Clone, Default, Debug)]
pub struct Histogram {
    /// The added values, while there are few.
    added: u16,
    /// Bucket and count, sorted, for a small number of values.
    few: Vec<(u16, u64)>,
    /// The count of each bucket, for many values.
    many: Vec<u64>,
}

const STEPS_LOG2: u32 = 6;
/// One past the bucket of the largest value.
const BUCKETS: usize = (64 - STEPS_LOG2 as usize) << STEPS_LOG2;
/// From this many values on, all buckets are allocated: they are small compared to the input of those values.
const MANY: u16 = 1 << 12;

fn bucket(value: i64) -> u16 {
    let value = value.max(0) as u64;
    if value < 1 << STEPS_LOG2 {
        return value as u16;
    }
    let shift = 63 - value.leading_zeros() - STEPS_LOG2;
    (((shift + 1) << STEPS_LOG2) + ((value >> shift) as u32 - (1 << STEPS_LOG2))) as u16
}

/// The middle of a bucket.
fn middle(bucket: u16) -> i64 {
    let bucket = u64::from(bucket);
    if bucket < 1 << STEPS_LOG2 {
        return bucket as i64;
    }
    let shift = (bucket >> STEPS_LOG2) - 1;
    let low = ((bucket & ((1 << STEPS_LOG2) - 1)) + (1 << STEPS_LOG2)) << shift;
    (low + (1u64 << shift) / 2).min(i64::MAX as u64) as i64
}

impl Histogram {
    /// Count a value; a negative one counts as 0.
    pub fn add(&mut self, value: i64) {
        self.add_many(bucket(value), 1);
    }

    #[inline]
    fn add_many(&mut self, bucket: u16, count: u64) {
        match self.many.get_mut(usize::from(bucket)) {
            Some(known) => *known += count,
            None => self.add_to_few(bucket, count),
        }
    }

    fn add_to_few(&mut self, bucket: u16, count: u64) {
        match self.few.binary_search_by_key(&bucket, |&(known, _)| known) {
            Ok(at) => self.few[at].1 += count,
            Err(at) => self.few.insert(at, (bucket, count)),
        }
        self.added += 1;
        if self.added == MANY {
            self.many.resize(BUCKETS, 0);
            self.few
                .drain(..)
                .for_each(|(bucket, count)| self.many[usize::from(bucket)] = count);
        }
    }

    /// The non-empty buckets and their counts, in order.
    pub fn counts(&self) -> impl Iterator<Item = (u16, u64)> {
        let many = (0..)
            .zip(&self.many)
            .map(|(bucket, &count)| (bucket, count))
            .filter(|&(_, count)| count > 0);
        self.few.iter().copied().chain(many)
    }

    /// Add the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        other
            .counts()
            .for_each(|(bucket, count)| self.add_many(bucket, count));
    }

    /// The number of counted values.
    pub fn number(&self) -> u64 {
        self.counts().map(|(_, count)| count).sum()
    }

    /// The smallest value that is not exceeded by at least this share of the values, by the nearest rank; 0 if it is
    /// empty.
    pub fn quantile(&self, share: f64) -> i64 {
        let all = self.number();
        let rank = ((all as f64 * share).ceil() as u64).clamp(1, all.max(1));
        let mut seen = 0;
        let reached = self.counts().find(|&(_, count)| {
            seen += count;
            seen >= rank
        });
        reached.map_or(0, |(bucket, _)| middle(bucket))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_off_by_less_than_one_percent() {
        for scale in [1i64, 77, 12_345, 9_876_543_210] {
            let mut histogram = Histogram::default();
            (1..=1000).for_each(|value| histogram.add(value * scale));
            for (share, exact) in [(0.5, 500), (0.9, 900), (0.99, 990), (1.0, 1000)] {
                let error = (histogram.quantile(share) - exact * scale).abs() as f64;
                assert!(error <= 0.01 * (exact * scale) as f64, "{share} of {scale}");
            }
        }
        assert_eq!(usize::from(bucket(i64::MAX)), BUCKETS - 1);
        assert_eq!(Histogram::default().quantile(0.5), 0);
    }

    #[test]
    fn many_values_are_counted_as_few_ones_are() {
        let values = |from: i64, to: i64| {
            (from..to)
                .map(|at| at * at * 1_000)
                .chain([i64::MAX, 0, -7])
        };
        let of = |values: &mut dyn Iterator<Item = i64>| {
            let mut histogram = Histogram::default();
            values.for_each(|value| histogram.add(value));
            histogram
        };
        let all = of(&mut values(0, 100).chain(values(100, 20_000)));
        for (from, to) in [(0, 100), (0, 19_900)] {
            // A small one into a large one, and a large one into a small one.
            let mut merged = of(&mut values(from, to).take((to - from) as usize));
            merged.merge(&of(&mut values(to, 20_000).chain([i64::MAX, 0, -7])));
            assert_eq!(
                merged.counts().collect::<Vec<_>>(),
                all.counts().collect::<Vec<_>>()
            );
        }
        assert_eq!(
            (all.number(), all.few.len(), all.many.len()),
            (20_006, 0, BUCKETS)
        );
        assert_eq!(
            (all.quantile(1.0), all.quantile(0.0001)),
            (middle(BUCKETS as u16 - 1), 0)
        );
    }
}
