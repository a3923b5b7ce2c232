//! Lengths of time that people choose: what is round, and what counts as the same length.

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;

/// Lengths that people write into programs, from one that chance does not hit every day.
#[rustfmt::skip]
const CHOSEN_NS: &[i64] = &[
    50 * MS, 100 * MS, 200 * MS, 250 * MS, 300 * MS, 400 * MS, 500 * MS, 750 * MS,
    S, 3 * S / 2, 2 * S, 5 * S / 2, 3 * S, 4 * S, 5 * S, 6 * S, 8 * S, 10 * S, 12 * S, 15 * S, 20 * S, 25 * S, 30 * S,
    40 * S, 45 * S, 60 * S, 75 * S, 90 * S, 120 * S, 150 * S, 180 * S, 240 * S, 300 * S, 600 * S, 900 * S, 1200 * S,
    1800 * S, 3600 * S,
];

/// The shortest length that is taken for a chosen one.
pub(super) const MIN_NS: i64 = 50 * MS;

/// Coarser clocks tell only of lengths of a hundred ticks whether somebody chose them.
const FINE_TICK_NS: i64 = MS;

/// The length that somebody chose, if this one is it or lies at most 1 % behind it: a delay is never over too early.
///
/// The tick is that of the clock: by so much a length may seem too short. By a clock of whole seconds all lengths are
/// round, so that says nothing of short ones.
pub(super) fn chosen_ns(ns: i64, tick_ns: i64) -> Option<i64> {
    let at = CHOSEN_NS.partition_point(|&chosen| chosen <= ns.saturating_add(tick_ns.max(0)));
    let chosen = *CHOSEN_NS.get(at.checked_sub(1)?)?;
    let is_told = tick_ns <= FINE_TICK_NS.max(chosen / 100);
    (is_told && ns - chosen <= chosen / 100).then_some(chosen)
}

/// A length to two digits: lengths that are equal for people have the same.
pub(super) fn two_digits(ns: i64) -> i64 {
    let mut unit = 1;
    while ns / unit >= 100 {
        unit *= 10;
    }
    (ns + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_little_longer_than_a_chosen_length_is_that_length() {
        let cases = [
            (1_006 * MS, Some(S)),
            (S, Some(S)),
            (999 * MS, None),
            (5_051 * MS, None),
            (S + 11 * MS, None),
            (49 * MS, None),
            (0, None),
            (i64::MAX, None),
        ];
        for (ns, expected) in cases {
            assert_eq!(chosen_ns(ns, 1), expected, "{ns}");
        }
        assert_eq!(chosen_ns(999 * MS, MS), Some(S));
    }

    #[test]
    fn a_clock_of_whole_seconds_makes_no_length_round() {
        let of = [2, 3, 5, 60, 119, 120, 130].map(|seconds| chosen_ns(seconds * S, S).map(|ns| ns / S));
        assert_eq!(of, [None, None, None, None, Some(120), Some(120), None]);
        assert_eq!(chosen_ns(S, 10 * MS), Some(S));
    }

    #[test]
    fn lengths_that_differ_in_the_third_digit_are_the_same() {
        assert_eq!([4_999, 5_000, 104, 99, 7, 0].map(two_digits), [5_000, 5_000, 100, 99, 7, 0]);
    }
}
