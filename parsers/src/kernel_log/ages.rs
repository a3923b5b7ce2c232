//! Lines with their ages: the events of a cluster, and logs that say how long ago each message was.
//!
//! ```text
//! In:   LAST SEEN   TYPE     REASON    OBJECT    MESSAGE
//!       2m15s       Normal   Pulling   pod/web   Pulling image "web:1.4"
//!       41s         Normal   Pulled    pod/web   Successfully pulled image
//! Out:  94 s between them: `Normal Pulling …`, `Normal Pulled …`
//! ```
//!
//! All ages are from one unknown moment, so a moment far enough after the oldest of them stands for it. Source: kubectl prints
//! seconds up to two minutes, minutes up to three hours and hours up to two days (`HumanDuration` of its library).

use super::stamp::{self, LogPrefix, MessageForm, StampBase};
use crate::scan;

/// The moment from which ages count back: no age is longer than a hundred years.
const NOW_NS: i64 = 100 * 366 * 86_400 * NS_PER_S;
const NS_PER_S: i64 = 1_000_000_000;
/// Units of ages in seconds, the largest first.
const UNITS: [(u8, i64); 5] = [
    (b'y', 365 * 86_400),
    (b'd', 86_400),
    (b'h', 3_600),
    (b'm', 60),
    (b's', 1),
];
/// The head of a column of ages.
const TITLE: &[u8] = b"LAST SEEN";
/// Minimum share of lines with `ago`, in percent.
const MIN_PERCENT: usize = 60;

/// The word of each line that is its age, if a head or an `ago` says so.
pub(super) fn column<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<u8> {
    let (mut all, mut old) = (0usize, 0usize);
    for line in lines {
        match memchr::memmem::find(line, TITLE) {
            Some(0) => return Some(0),
            // `kubectl get events -A` prints the namespace first.
            Some(_) if line.starts_with(b"NAMESPACE ") => return Some(1),
            _ => {}
        }
        all += 1;
        old += usize::from(is_ago(line));
    }
    (old > 0 && old * 100 >= all * MIN_PERCENT).then_some(0)
}

fn is_ago(line: &[u8]) -> bool {
    age(scan::skip_blanks(line)).is_some_and(|(_, rest)| rest.starts_with(b" ago"))
}

/// The resolution of the ages: the smallest unit of the coarsest of them, since old ones are printed without seconds.
pub(super) fn tick_ns<'a>(lines: impl Iterator<Item = &'a [u8]>, word: u8) -> i64 {
    lines
        .filter_map(|line| age(from_word(line, word)?))
        .map(|(age, _)| age.unit_s)
        .max()
        .unwrap_or(1)
        * NS_PER_S
}

fn from_word(line: &[u8], word: u8) -> Option<&[u8]> {
    let mut text = scan::skip_blanks(line);
    for _ in 0..word {
        text = scan::skip_blanks(text.get(memchr::memchr(b' ', text)?..)?);
    }
    Some(text)
}

/// The line whose age is this word.
pub(super) fn read(line: &[u8], word: u8) -> Option<LogPrefix<'_>> {
    let (age, rest) = age(from_word(line, word)?)?;
    let ns = age
        .total_s
        .checked_mul(NS_PER_S)
        .filter(|age_ns| *age_ns < NOW_NS)
        .map(|age_ns| NOW_NS - age_ns)?;
    let rest = rest.strip_prefix(b" ago").unwrap_or(rest);
    let rest = rest.strip_prefix(b":").unwrap_or(rest);
    let text = scan::skip_blanks(without_count(scan::skip_blanks(rest)));
    Some(stamp::one(
        StampBase::Boot,
        (ns, 0),
        MessageForm::Plain,
        false,
        text,
    ))
}

/// The text without `(x3 over 5m)`.
fn without_count(text: &[u8]) -> &[u8] {
    let inside = text.strip_prefix(b"(x");
    inside
        .and_then(|inside| inside.get(memchr::memchr(b')', inside)? + 1..))
        .unwrap_or(text)
}

/// An age in seconds.
struct Age {
    total_s: i64,
    /// Its smallest printed unit.
    unit_s: i64,
}

/// `2m15s`, `5d3h`: the units fall, and a word ends after them.
fn age(text: &[u8]) -> Option<(Age, &[u8])> {
    let (mut total_s, mut unit_s, mut rest, mut units) = (0i64, 0i64, text, &UNITS[..]);
    while let Some((count, after)) = scan::number(rest) {
        let at = units
            .iter()
            .position(|(unit, _)| after.first() == Some(unit))?;
        unit_s = units[at].1;
        total_s = total_s.checked_add(count.checked_mul(unit_s)?)?;
        (rest, units) = (&after[1..], &units[at + 1..]);
    }
    let is_over = rest
        .first()
        .is_none_or(|byte| matches!(byte, b' ' | b'\t' | b':'));
    (unit_s > 0 && is_over).then_some((Age { total_s, unit_s }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_count_back_from_one_moment() {
        let at = |line: &str, word: u8| {
            let prefix = read(line.as_bytes(), word)?;
            let text = String::from_utf8_lossy(prefix.text).into_owned();
            Some(((NOW_NS - prefix.stamps[0]?.ns) / NS_PER_S, text))
        };
        let cases = [
            ("2m15s   Normal  Pulling", 0, 135, "Normal  Pulling"),
            ("5d3h ago: done", 0, 5 * 86_400 + 3 * 3_600, "done"),
            ("9s (x3 over 5m) Warning BackOff", 0, 9, "Warning BackOff"),
            ("shop   41s   Normal", 1, 41, "Normal"),
        ];
        for (line, word, age_s, text) in cases {
            assert_eq!(at(line, word), Some((age_s, text.into())), "{line}");
        }
        for line in [
            "12.3s call",
            "24ms x",
            "3s5m x",
            "<unknown> Normal",
            "12 x",
            "99999999999999999y x",
        ] {
            assert_eq!(at(line, 0), None, "{line}");
        }
    }

    #[test]
    fn durations_are_ages_only_if_something_says_so() {
        let column = |text: &str| column(text.as_bytes().split(|&byte| byte == b'\n'));
        assert_eq!(column("LAST SEEN  TYPE\n41s  Normal"), Some(0));
        assert_eq!(
            column("NAMESPACE  LAST SEEN  TYPE\nshop  41s  Normal"),
            Some(1)
        );
        assert_eq!(column("5m ago starting\n4m ago done"), Some(0));
        assert_eq!(column("41s configure\n12s build"), None);
    }

    #[test]
    fn the_coarsest_age_decides_the_resolution() {
        let tick_s =
            |text: &str| tick_ns(text.as_bytes().split(|&byte| byte == b'\n'), 0) / NS_PER_S;
        assert_eq!(tick_s("LAST SEEN\n2m15s a\n9s b"), 1);
        assert_eq!(tick_s("2m15s a\n12m b"), 60);
        assert_eq!(tick_s("5d3h a\n12m b"), 3_600);
    }
}
