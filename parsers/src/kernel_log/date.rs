//! Dates and times of day at the start of a text.

use super::month_names::month;
use crate::scan;

const NS_PER_S: i64 = 1_000_000_000;

/// Nanoseconds, digits after the point, rest.
pub(crate) type TakenTime<'a> = (i64, usize, &'a [u8]);

/// A number with exactly this number of digits.
fn digits(text: &[u8], count: usize) -> Option<(i64, &[u8])> {
    let (prefix, rest) = text.split_at_checked(count)?;
    let (value, left) = scan::number(prefix)?;
    left.is_empty().then_some((value, rest))
}

/// A day of the month, padded with a blank, a zero or not at all.
pub(super) fn day(text: &[u8]) -> Option<(i64, &[u8])> {
    let (value, rest) = scan::number(scan::skip_blanks(text))?;
    (1..=31).contains(&value).then_some((value, rest))
}

/// `19:43:34`, with a fraction after a point or comma.
pub(super) fn time(text: &[u8]) -> Option<TakenTime<'_>> {
    // The last second of a day may be a leap second, but no log has an hour 24.
    let (time_ns, count, rest) =
        scan::time_of_day(text).filter(|found| found.0 <= 86_400 * NS_PER_S)?;
    if count > 0 {
        return Some((time_ns, count, rest));
    }
    let Some(fraction) = rest.strip_prefix(b",") else {
        return Some((time_ns, 0, rest));
    };
    let Some((value, after)) = scan::number(fraction) else {
        return Some((time_ns, 0, rest));
    };
    let count = fraction.len() - after.len();
    if count > 9 {
        return None;
    }
    Some((time_ns + value * scan::tick_ns(count), count, after))
}

/// Nanoseconds since 1970, for years in which they fit into 64 bits.
pub(super) fn since_epoch(year: i64, month: i64, day: i64, time_ns: i64) -> Option<i64> {
    if !(1900..=2261).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days before a month, with years that begin in March so that the leap day is the last (Richards, 2013).
    let (shifted, from_march) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = shifted * 365 + shifted / 4 - shifted / 100
        + shifted / 400
        + (from_march * 153 + 2) / 5
        + day
        - 1;
    Some((days - 719_468) * 86_400 * NS_PER_S + time_ns)
}

/// Nanoseconds since the first of January of a leap year, for a stamp without a year.
pub(super) fn since_new_year(month: i64, day: i64, time_ns: i64) -> Option<i64> {
    Some(since_epoch(1972, month, day, time_ns)? - since_epoch(1972, 1, 1, 0)?)
}

/// `2009-03-05T19:43:34.123456+01:00`, with a blank for the `T`, a comma for the point, and any zone or none.
pub(crate) fn iso(text: &[u8]) -> Option<TakenTime<'_>> {
    let (year, rest) = digits(text, 4)?;
    let separator = *rest
        .first()
        .filter(|byte| matches!(byte, b'-' | b'/' | b'.'))?;
    let (month, rest) = digits(rest.get(1..)?, 2)?;
    let (day, rest) = digits(rest.strip_prefix(&[separator])?, 2)?;
    let rest = rest
        .strip_prefix(b"T")
        .or_else(|| rest.strip_prefix(b" "))?;
    let (time_ns, count, rest) = time(rest)?;
    let (zone_ns, rest) = zone(rest);
    Some((
        since_epoch(year, month, day, time_ns)? - zone_ns,
        count,
        rest,
    ))
}

/// `05/Mar/2021:19:43:34 +0100`, `05-Mar-2021 19:43:34.123`, `05 Mar 2021 19:43:34`.
pub(super) fn day_month_year(text: &[u8]) -> Option<TakenTime<'_>> {
    let (day, rest) = digits(text, 2)?;
    let separator = *rest
        .first()
        .filter(|byte| matches!(byte, b'/' | b'-' | b' '))?;
    let (month, rest) = month(rest.get(1..)?)?;
    let (year, rest) = digits(rest.strip_prefix(&[separator])?, 4)?;
    let (time_ns, count, rest) =
        time(rest.strip_prefix(if separator == b'/' { b":" } else { b" " })?)?;
    let (zone_ns, rest) = rest
        .strip_prefix(b" ")
        .and_then(offset)
        .unwrap_or((0, rest));
    Some((
        since_epoch(year, month, day, time_ns)? - zone_ns,
        count,
        rest,
    ))
}

/// The offset of a printed time zone from UTC. An unknown zone counts as UTC and remains in the text.
fn zone(text: &[u8]) -> (i64, &[u8]) {
    if let Some(rest) = text.strip_prefix(b"Z") {
        return (0, rest);
    }
    if let Some(rest) = text
        .strip_prefix(b" UTC")
        .or_else(|| text.strip_prefix(b" GMT"))
    {
        return (0, rest);
    }
    offset(text).unwrap_or((0, text))
}

/// `+0100`, `-05:30`.
fn offset(text: &[u8]) -> Option<(i64, &[u8])> {
    let sign = match text.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, rest) = digits(text.get(1..)?, 2)?;
    let (minutes, rest) = digits(rest.strip_prefix(b":").unwrap_or(rest), 2).unwrap_or((0, rest));
    (hours <= 15 && minutes <= 59)
        .then_some((sign * (hours * 3600 + minutes * 60) * NS_PER_S, rest))
}
