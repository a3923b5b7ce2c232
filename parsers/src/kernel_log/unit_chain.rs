//! The tree of `systemd-analyze critical-chain`: each unit with the moment when its start began, after those that it waited for.
//!
//! ```text
//! multi-user.target @24.709s
//! └─network-online.target @24.708s
//!   └─NetworkManager-wait-online.service @5.811s +17.176s
//!     └─NetworkManager.service @5.101s +702ms
//! ```
//! The latest unit comes first. A tree in which moments rise has branches beside the chain (`--fuzz`), whose units started at the
//! same time: then the moments are of no one order, and only the durations are read.

use super::stamp::{self, LogPrefix, MessageForm, StampBase};
use crate::scan;

/// Minimum number of units with a moment.
const MIN_UNITS: usize = 2;
/// Digits after the point of the smallest unit that is printed: milliseconds.
const DIGITS: usize = 3;
const NS_PER_S: i64 = 1_000_000_000;
/// Units of durations, as parts of a second.
const UNITS: [(&[u8], i64, i64); 8] = [
    (b"us", 1, 1_000_000),
    (b"ms", 1, 1_000),
    (b"s", 1, 1),
    (b"min", 60, 1),
    (b"h", 3_600, 1),
    (b"d", 86_400, 1),
    (b"w", 7 * 86_400, 1),
    (b"month", 2_629_800, 1),
];

/// A unit of the tree.
pub(super) struct ChainUnit<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// The line without its branch.
    pub text: &'a [u8],
    /// The moment, since the start of userspace.
    pub at_ns: i64,
    /// How long it took, if that is printed.
    pub took: Option<&'a [u8]>,
}

/// The unit of a line.
pub(super) fn unit(line: &[u8]) -> Option<ChainUnit<'_>> {
    let text = without_branch(scan::trim_end(line))?;
    // A page may have lost the blanks.
    let end = memchr::memchr(b' ', text).or_else(|| memchr::memrchr(b'@', text))?;
    let name = text.get(..end)?;
    let rest = scan::skip_blanks(text.get(name.len()..)?).strip_prefix(b"@")?;
    let plus = memchr::memchr(b'+', rest);
    let at_ns = duration_ns(scan::trim_end(&rest[..plus.unwrap_or(rest.len())]))?;
    let took = plus.and_then(|plus| rest.get(plus + 1..));
    let took = took.filter(|took| duration_ns(took).is_some());
    is_unit(name).then_some(ChainUnit {
        name,
        text,
        at_ns,
        took,
    })
}

/// `-.slice` begins with a dash; branches in ASCII are `|-` and `` `- ``.
fn without_branch(line: &[u8]) -> Option<&[u8]> {
    let is_start = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let text = line.get(line.iter().position(is_start)?..)?;
    let after_dash = text.strip_prefix(b"-");
    Some(
        after_dash
            .filter(|rest| !rest.starts_with(b"."))
            .unwrap_or(text),
    )
}

/// Whether lines are a tree in which moments only fall.
pub(super) fn is_chain<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let moments: Vec<i64> = lines.filter_map(|line| Some(unit(line)?.at_ns)).collect();
    moments.len() >= MIN_UNITS && moments.is_sorted_by(|later, earlier| later >= earlier)
}

/// The unit of a line, as a message at its moment.
pub(super) fn read(line: &[u8]) -> Option<LogPrefix<'_>> {
    let unit = unit(line)?;
    let taken = (unit.at_ns, DIGITS);
    Some(stamp::one(
        StampBase::Boot,
        taken,
        MessageForm::Plain,
        true,
        unit.text,
    ))
}

/// Whether a word is the name of a unit.
pub(super) fn is_unit(word: &[u8]) -> bool {
    const KINDS: [&[u8]; 11] = [
        b".service",
        b".mount",
        b".automount",
        b".device",
        b".socket",
        b".swap",
        b".target",
        b".path",
        b".timer",
        b".slice",
        b".scope",
    ];
    KINDS.iter().any(|kind| word.ends_with(kind))
}

/// `1min 30.123s`, `24ms`, `1min30.1s`: numbers with units, as nanoseconds.
pub(super) fn duration_ns(text: &[u8]) -> Option<i64> {
    let (ns, rest) = durations(text)?;
    rest.is_empty().then_some(ns)
}

/// A duration at the start of a text without blanks, and what follows it.
pub(super) fn glued_duration(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = durations(text)?;
    Some(text.split_at(text.len() - rest.len()))
}

/// The sum of the durations at the start of a text, and what follows them.
fn durations(text: &[u8]) -> Option<(i64, &[u8])> {
    let (mut total_ns, mut rest) = part(text)?;
    while let Some((ns, next)) = part(rest.strip_prefix(b" ").unwrap_or(rest)) {
        total_ns = total_ns.checked_add(ns)?;
        rest = next;
    }
    (total_ns < 100 * 366 * 86_400 * NS_PER_S).then_some((total_ns, rest))
}

/// A number and its unit: the longest one that fits.
fn part(text: &[u8]) -> Option<(i64, &[u8])> {
    let (ns, _, rest) = scan::seconds(text)?;
    let fits = UNITS.iter().filter(|(name, ..)| rest.starts_with(name));
    let (name, times, parts) = fits.max_by_key(|(name, ..)| name.len())?;
    Some((ns.checked_mul(*times)? / parts, &rest[name.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_a_moment_and_perhaps_a_duration() {
        let found = |line: &str| {
            let unit = unit(line.as_bytes())?;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            Some((text(unit.name), unit.at_ns, unit.took.map(text)))
        };
        let cases = [
            (
                "└─a.service @5.811s +17.176s",
                "a.service",
                5_811,
                Some("17.176s"),
            ),
            (
                "  `-a.service @1min 5s +1min 7.1s",
                "a.service",
                65_000,
                Some("1min 7.1s"),
            ),
            (
                "multi-user.target @24.709s",
                "multi-user.target",
                24_709,
                None,
            ),
            ("  └─-.slice @371ms", "-.slice", 371, None),
        ];
        for (line, name, at_ms, took) in cases {
            let expected = (name.to_owned(), at_ms * 1_000_000, took.map(str::to_owned));
            assert_eq!(found(line), Some(expected), "{line}");
        }
        for line in [
            "a.service failed",
            "a.service @noon",
            "└─a.service",
            "mail @5s",
            "",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn branches_beside_the_chain_have_no_order() {
        let is_chain = |text: &str| is_chain(text.as_bytes().split(|&byte| byte == b'\n'));
        assert!(is_chain(
            "a.target @9s\n└─b.service @2s +7s\n  └─c.socket @2s"
        ));
        assert!(!is_chain(
            "a.target @9s\n├─b.service @2s +7s\n└─c.service @3s +1s"
        ));
        assert!(!is_chain("a.target @9s"));
    }
}
