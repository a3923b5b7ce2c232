//! Durations that people typically choose: round values, and values that count as equal.

use trace::store::heuristics::{
    CHOSEN_NS, CHOSEN_PRECISION_RATIO, FINE_TICK_NS, MAX_TIMER_DELAY_NS,
};

/// The chosen duration that matches this one, exactly or up to 1 % and 20 ms above it, because a delay never ends too early.
///
/// A duration may appear too short by up to one clock tick (`tick_ns`). With a clock of whole seconds all durations are
/// round, so short ones are not recognised.
pub fn chosen_ns(ns: i64, tick_ns: i64) -> Option<i64> {
    let at = CHOSEN_NS.partition_point(|&chosen| chosen <= ns.saturating_add(tick_ns.max(0)));
    let chosen = *CHOSEN_NS.get(at.checked_sub(1)?)?;
    let is_precise = tick_ns <= FINE_TICK_NS.max(chosen / CHOSEN_PRECISION_RATIO);
    let late_ns = (chosen / CHOSEN_PRECISION_RATIO).min(MAX_TIMER_DELAY_NS.max(tick_ns));
    (is_precise && ns - chosen <= late_ns).then_some(chosen)
}

/// Rounds a duration to two significant digits. Durations that people regard as equal get the same value.
pub fn two_digits(ns: i64) -> i64 {
    let mut unit = 1;
    while ns / unit >= 100 {
        unit *= 10;
    }
    (ns + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const S: i64 = 1_000 * MS;

    #[test]
    fn slightly_longer_than_a_chosen_length_matches_it() {
        let cases = [
            (1_006 * MS, Some(S)),
            (S, Some(S)),
            (999 * MS, None),
            (5_051 * MS, None),
            (S + 11 * MS, None),
            (20 * S + 15 * MS, Some(20 * S)),
            (20 * S + 180 * MS, None),
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
    fn a_clock_of_whole_seconds_matches_only_long_lengths() {
        let of =
            [2, 3, 5, 60, 119, 120, 130].map(|seconds| chosen_ns(seconds * S, S).map(|ns| ns / S));
        assert_eq!(of, [None, None, None, None, Some(120), Some(120), None]);
        assert_eq!(chosen_ns(S, 10 * MS), Some(S));
    }

    #[test]
    fn two_digits_ignores_the_third_digit() {
        assert_eq!(
            [4_999, 5_000, 104, 99, 7, 0].map(two_digits),
            [5_000, 5_000, 100, 99, 7, 0]
        );
    }
}
