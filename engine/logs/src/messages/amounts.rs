//! Durations as people print them: `7.6 s`, `1532 ms`, `1min 30s`, `2m3.5s`, `3 minutes 2 seconds`, `00:01:30`.

use std::ops::Range;

const NS_PER_S: i64 = 1_000_000_000;
/// Longest duration that a message of a log may state: a year.
const MAX_NS: f64 = 366.0 * 86_400.0 * 1e9;

/// A duration in a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Amount {
    /// Its length.
    pub dur_ns: i64,
    /// Where it is in the text, with its unit.
    pub at: Range<usize>,
}

/// Names of units, longest first where one begins another, with their length and whether a blank may precede them.
#[rustfmt::skip]
const UNITS: &[(&str, i64, bool)] = &[
    ("nanoseconds", 1, true), ("nanosecond", 1, true), ("nsecs", 1, true), ("nsec", 1, true), ("ns", 1, true),
    ("microseconds", 1_000, true), ("microsecond", 1_000, true), ("usecs", 1_000, true), ("usec", 1_000, true),
    ("us", 1_000, true), ("µs", 1_000, true), ("μs", 1_000, true),
    ("milliseconds", 1_000_000, true), ("millisecond", 1_000_000, true), ("millis", 1_000_000, true),
    ("msecs", 1_000_000, true), ("msec", 1_000_000, true), ("ms", 1_000_000, true),
    ("seconds", NS_PER_S, true), ("second", NS_PER_S, true), ("secs", NS_PER_S, true), ("sec", NS_PER_S, true),
    ("s", NS_PER_S, true),
    ("minutes", 60 * NS_PER_S, true), ("minute", 60 * NS_PER_S, true), ("mins", 60 * NS_PER_S, true),
    // A single letter after a blank may be metres, or a name.
    ("min", 60 * NS_PER_S, true), ("m", 60 * NS_PER_S, false),
    ("hours", 3600 * NS_PER_S, true), ("hour", 3600 * NS_PER_S, true), ("hrs", 3600 * NS_PER_S, true),
    ("hr", 3600 * NS_PER_S, true), ("h", 3600 * NS_PER_S, false),
    ("days", 86_400 * NS_PER_S, true), ("day", 86_400 * NS_PER_S, true), ("d", 86_400 * NS_PER_S, false),
];

/// All durations in a text, in order.
pub(super) fn amounts(text: &str) -> Vec<Amount> {
    let (bytes, mut found, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let number_end = at
            + bytes[at..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit() || is_point(byte))
                .count();
        match amount(text, at)
            .or_else(|| named(text, at))
            .filter(|_| is_start(&bytes[..at]))
        {
            Some(amount) => {
                at = amount.at.end;
                found.push(amount);
            }
            None => at = number_end.max(at + 1),
        }
    }
    found
}

fn is_point(byte: &u8) -> bool {
    matches!(byte, b'.' | b',' | b':')
}

/// A number that continues a word or another number (`v1`, `#3`, `-5`, `10.0.0.1`) is not a duration.
fn is_start(before: &[u8]) -> bool {
    !before.last().is_some_and(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'#' | b'_' | b'/' | b'+')
    })
}

fn amount(text: &str, start: usize) -> Option<Amount> {
    let mut total_ns = 0i64;
    let (mut end, mut at, mut below_ns) = (start, start, i64::MAX);
    while let Some((value, rest)) = number(text.get(at..)?) {
        let Some((unit_ns, rest)) = unit(rest).filter(|(unit_ns, _)| *unit_ns < below_ns) else {
            break;
        };
        let part_ns = value * unit_ns as f64;
        if part_ns > MAX_NS {
            return None;
        }
        total_ns += part_ns.round() as i64;
        (below_ns, end) = (unit_ns, text.len() - rest.len());
        let rest = rest
            .strip_prefix(" and ")
            .or_else(|| rest.strip_prefix(", "))
            .unwrap_or(rest);
        at = text.len() - rest.strip_prefix(' ').unwrap_or(rest).len();
    }
    if end == start {
        return clock(text, start);
    }
    // `12 s/op` is a rate, `5 s%` is nothing.
    let is_over = !text[end..]
        .starts_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '/' | '%' | '_'));
    is_over.then_some(Amount {
        dur_ns: total_ns,
        at: start..end,
    })
}

/// Names of durations in seconds, by definition of the programs that print them: MySQL, nginx.
const IN_SECONDS: &[&str] = &[
    "query_time",
    "lock_time",
    "request_time",
    "upstream_response_time",
];

/// `duration_ms=3290`, `"elapsedSeconds": 1.5`, `Query_time: 12.3`: the name contains the unit, or implies it.
fn named(text: &str, start: usize) -> Option<Amount> {
    let before = text.get(..start)?;
    let before = before
        .strip_suffix('"')
        .unwrap_or(before)
        .trim_end()
        .strip_suffix(['=', ':'])?;
    let before = before.strip_suffix('"').unwrap_or(before);
    let printed = before.get(
        before
            .trim_end_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
            .len()..,
    )?;
    let name = printed.to_lowercase();
    let unit_ns = match split_unit(&name) {
        _ if IN_SECONDS.contains(&name.as_str()) => NS_PER_S,
        // A unit begins a word of its own: `items=12` are not milliseconds.
        Some((rest, ns))
            if printed[rest.len()..]
                .starts_with(|first: char| first == '_' || first.is_uppercase()) =>
        {
            ns
        }
        _ => return None,
    };
    let (value, rest) = number(text.get(start..)?)?;
    let is_over = !rest.starts_with(|letter: char| {
        letter.is_alphanumeric() || matches!(letter, '/' | '%' | '_' | ':')
    });
    let dur_ns = value * unit_ns as f64;
    (is_over && dur_ns <= MAX_NS).then(|| Amount {
        dur_ns: dur_ns.round() as i64,
        at: start..text.len() - rest.len(),
    })
}

/// A name in lower case without the unit that ends it, and the unit: `took_ms`, `elapsedseconds`.
pub(super) fn split_unit(name: &str) -> Option<(&str, i64)> {
    let (unit, unit_ns, _) = UNITS
        .iter()
        .filter(|unit| unit.2 && name.len() > unit.0.len() && name.ends_with(unit.0))
        .max_by_key(|unit| unit.0.len())?;
    let rest = name.strip_suffix(unit)?;
    Some((rest.strip_suffix('_').unwrap_or(rest), *unit_ns))
}

/// `7.6`, `7,6`, `1,532`, and what follows.
fn number(text: &str) -> Option<(f64, &str)> {
    let whole = leading_digits(text);
    let (head, mut rest) = text.split_at_checked(whole).filter(|_| whole > 0)?;
    let mut printed = head.to_owned();
    while let Some(group) = rest
        .strip_prefix(',')
        .filter(|group| leading_digits(group) == 3 && whole <= 3)
    {
        printed.push_str(&group[..3]);
        rest = &group[3..];
    }
    if let Some(fraction) = rest
        .strip_prefix(['.', ','])
        .filter(|fraction| leading_digits(fraction) > 0)
    {
        let end = leading_digits(fraction);
        printed.push('.');
        printed.push_str(&fraction[..end]);
        rest = &fraction[end..];
    }
    Some((printed.parse().ok()?, rest))
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The unit that a text begins with, and what follows.
fn unit(text: &str) -> Option<(i64, &str)> {
    let spaced = text.strip_prefix(' ');
    let word = spaced.unwrap_or(text);
    let end = word
        .find(|letter: char| !letter.is_alphabetic())
        .unwrap_or(word.len());
    let (_, unit_ns, _) = UNITS.iter().find(|(name, _, may_be_apart)| {
        // `255M` are megabytes.
        let is_same = match name.len() {
            1 => word[..end] == **name,
            _ => word[..end].eq_ignore_ascii_case(name),
        };
        is_same && (*may_be_apart || spaced.is_none())
    })?;
    Some((*unit_ns, &word[end..]))
}

/// Names of attributes whose value in this form is a duration. Others are times of a day: `plan=22:08:02.800`.
const CLOCK_NAMES: [&str; 6] = ["time", "elapsed", "duration", "took", "wall", "total"];

/// `00:01:30.5`: hours, minutes and seconds.
fn clock(text: &str, start: usize) -> Option<Amount> {
    if let Some(before) = text[..start].strip_suffix('=') {
        let name = before.rsplit([' ', ',', '{', '(']).next()?.to_lowercase();
        CLOCK_NAMES.iter().find(|known| name.contains(*known))?;
    }
    let whole = text.get(start..)?;
    let mut parts = whole.splitn(3, ':');
    let (hours, minutes, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let (seconds, rest) = number(rest)?;
    let fits = is_part_of_time(hours)
        && is_part_of_time(minutes)
        && seconds < 60.0
        && !rest.starts_with([':', '.', '-']);
    if !fits {
        return None;
    }
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let dur_ns = (hours * 3600 + minutes * 60) * NS_PER_S + (seconds * 1e9).round() as i64;
    (minutes < 60).then_some(Amount {
        dur_ns,
        at: start..text.len() - rest.len(),
    })
}

fn is_part_of_time(part: &str) -> bool {
    (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_print_them() {
        let cases = [
            ("7.6 s", 7_600),
            ("12.3s", 12_300),
            ("1532 ms", 1_532),
            ("1,532 ms", 1_532),
            ("7,6 s", 7_600),
            ("1min 30s", 90_000),
            ("3min 2.5s", 182_500),
            ("1h2m3s", 3_723_000),
            ("2m", 120_000),
            ("2 minutes 3 seconds", 123_000),
            ("1 hour, 2 minutes and 3 seconds", 3_723_000),
            ("120 seconds", 120_000),
            ("5321.123 msec", 5_321),
            ("00:01:30", 90_000),
            ("0:00:12.500", 12_500),
            ("1500000 usecs", 1_500),
        ];
        for (text, expected_ms) in cases {
            let found = amounts(&format!("it took {text}!"));
            let shown: Vec<(i64, usize)> = found
                .iter()
                .map(|amount| (amount.dur_ns / 1_000_000, amount.at.len()))
                .collect();
            assert_eq!(shown, [(expected_ms, text.len())], "{text}");
        }
    }

    #[test]
    fn names_contain_or_imply_the_unit() {
        let cases = [
            ("duration_ms=3290", 3_290),
            ("\"durationMs\": 3290", 3_290),
            ("elapsed_seconds: 1.5", 1_500),
            ("Query_time: 12.300000", 12_300),
            ("request_time=4.321", 4_321),
            ("took_ns=1500000000", 1_500),
        ];
        for (text, expected_ms) in cases {
            let found: Vec<i64> = amounts(text)
                .iter()
                .map(|amount| amount.dur_ns / 1_000_000)
                .collect();
            assert_eq!(found, [expected_ms], "{text}");
        }
    }

    #[test]
    fn other_numbers_are_no_durations() {
        let texts = [
            "12 MB/s",
            "3 m",
            "5%",
            "10.0.0.1 s",
            "v12s",
            "#3 s",
            "12 sheep",
            "4711",
            "12 s/op",
            "-5 s",
            "1s_x",
            "12:30",
            "class=4711",
            "status: 200",
            "items=12",
        ];
        for text in texts {
            assert_eq!(amounts(text), [], "{text}");
        }
    }
}
