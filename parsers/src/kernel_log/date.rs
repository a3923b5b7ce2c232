//! Dates and times of day at the start of a text.

use super::month_names::month;
use crate::scan;

const NS_PER_S: i64 = 1_000_000_000;

/// The order of the numbers of a date, by the first of them. A single date often allows several: the whole file decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum DateOrder {
    /// `21/11/28`, `11-28`.
    #[default]
    Year,
    /// `28/11/2021`, `28/11/21`, `28.11.`
    Day,
    /// `11/28/2021`, `11/28/21`, `11-28`.
    Month,
}

impl DateOrder {
    /// All of them, the most common one first.
    pub(super) const ALL: [DateOrder; 3] = [DateOrder::Year, DateOrder::Day, DateOrder::Month];
}

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
pub(crate) fn since_new_year(month: i64, day: i64, time_ns: i64) -> Option<i64> {
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

/// `05/Mar/2021:19:43:34 +0100`, `05-Mar-2021 19:43:34.123`, `5 Mar 2021 19:43:34`, `5. Mar 2021 19:43:34`.
pub(super) fn day_month_year(text: &[u8]) -> Option<TakenTime<'_>> {
    let (day, _, rest) = up_to(text, 2)?;
    let rest = rest
        .strip_prefix(b".")
        .filter(|rest| rest.starts_with(b" "))
        .unwrap_or(rest);
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

/// A number of one digit up to `count`, and how many it has.
fn up_to(text: &[u8], count: usize) -> Option<(i64, usize, &[u8])> {
    let (value, rest) = scan::number(text)?;
    let length = text.len() - rest.len();
    (1..=count)
        .contains(&length)
        .then_some((value, length, rest))
}

/// A date of three numbers in the order of the file, or of two without a year, and a time of day: `17/06/09 20:10:40`,
/// `28-11-2026, 8:10:40 PM`, `28.11. 20:10:40`, `20171223-22:15:29:606`, `081109 203615`. Also a date without separators
/// and a time without any. Nanoseconds since 1970 or, without a year, since the first of January.
pub(super) fn numeric(text: &[u8], order: DateOrder) -> Option<(TakenTime<'_>, bool)> {
    if let Some(taken) = packed(text) {
        return Some((taken, true));
    }
    let (first, first_digits, rest) = up_to(text, 4)?;
    let separator = *rest
        .first()
        .filter(|byte| matches!(byte, b'-' | b'/' | b'.'))?;
    let (second, _, rest) = up_to(rest.get(1..)?, 2)?;
    let third = rest
        .strip_prefix(&[separator])
        .and_then(|rest| up_to(rest, 4));
    let Some((third, third_digits, rest)) = third else {
        let rest = rest.strip_prefix(b".").unwrap_or(rest);
        return without_year(first, second, rest, order)
            .filter(|_| first_digits <= 2)
            .map(|taken| (taken, false));
    };
    let (year, month, day) = match (first_digits, third_digits, order) {
        (4, 1 | 2, _) => (first, second, third),
        (1 | 2, 4, DateOrder::Month) => (third, first, second),
        (1 | 2, 4, _) => (third, second, first),
        (2, 2, DateOrder::Year) => (full_year(first), second, third),
        (1 | 2, 2, DateOrder::Day) => (full_year(third), second, first),
        (1 | 2, 2, DateOrder::Month) => (full_year(third), first, second),
        _ => return None,
    };
    let time = after_date(rest)?;
    let ((time_ns, count, rest), zone_ns) = match pointed_clock(time) {
        Some((taken, zone_ns)) => (taken, zone_ns),
        None => {
            let (time_ns, count, rest) = clock(time)?;
            let (zone_ns, rest) = zone(rest);
            ((time_ns, count, rest), zone_ns)
        }
    };
    let ns = since_epoch(year, month, day, time_ns)? - zone_ns;
    Some(((ns, count, rest), true))
}

/// `20.10.40.123456-300`, as Db2 prints it: the offset from UTC is in minutes. Returns the time and the offset.
fn pointed_clock(text: &[u8]) -> Option<(TakenTime<'_>, i64)> {
    let (hours, rest) = digits(text, 2)?;
    let (minutes, rest) = digits(rest.strip_prefix(b".")?, 2)?;
    let (seconds, rest) = digits(rest.strip_prefix(b".")?, 2)?;
    if rest.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let (fraction_ns, count, rest) = fraction(rest);
    let time_ns = of_day(hours, minutes, seconds)? + fraction_ns;
    let (zone_ns, rest) = minutes_offset(rest).unwrap_or_else(|| zone(rest));
    Some(((time_ns, count, rest), zone_ns))
}

/// `+060`, `-300`: three digits, no more.
fn minutes_offset(text: &[u8]) -> Option<(i64, &[u8])> {
    let sign = match text.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (minutes, count, rest) = up_to(text.get(1..)?, 3)?;
    (count == 3).then_some((sign * minutes * 60 * NS_PER_S, rest))
}

/// `11-28 20:10:40`, or with the day first.
fn without_year(first: i64, second: i64, rest: &[u8], order: DateOrder) -> Option<TakenTime<'_>> {
    let (month, day) = if order == DateOrder::Day {
        (second, first)
    } else {
        (first, second)
    };
    let (time_ns, count, rest) = clock(rest.strip_prefix(b" ")?)?;
    Some((since_new_year(month, day, time_ns)?, count, rest))
}

/// Years of two digits, as POSIX reads them.
fn full_year(year: i64) -> i64 {
    const FIRST_OF_1900S: i64 = 69;
    if year >= FIRST_OF_1900S {
        1900 + year
    } else {
        2000 + year
    }
}

/// The text after what separates a date from its time.
fn after_date(text: &[u8]) -> Option<&[u8]> {
    if let Some(rest) = text.strip_prefix(b", ") {
        return Some(rest);
    }
    text.split_first()
        .filter(|(byte, _)| matches!(byte, b' ' | b'T' | b'-' | b':' | b'_' | b'\t'))
        .map(|(_, rest)| rest)
}

/// `20171223-22:15:29:606`, `20171223 221529`, `20171223T221529.606Z`, `081109 203615`.
fn packed(text: &[u8]) -> Option<TakenTime<'_>> {
    const WITH_CENTURY: usize = 8;
    const WITHOUT_CENTURY: usize = 6;
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length != WITH_CENTURY && length != WITHOUT_CENTURY {
        return None;
    }
    let (year, rest) = digits(text, length - 4)?;
    let year = if length == WITH_CENTURY {
        year
    } else {
        full_year(year)
    };
    let (month, rest) = digits(rest, 2)?;
    let (day, rest) = digits(rest, 2)?;
    let rest = after_date(rest)?;
    let (time_ns, count, rest) = clock(rest)
        .filter(|_| length == WITH_CENTURY)
        .or_else(|| packed_clock(rest))?;
    let (zone_ns, rest) = zone(rest);
    Some((
        since_epoch(year, month, day, time_ns)? - zone_ns,
        count,
        rest,
    ))
}

/// `203615`, with a fraction or none.
fn packed_clock(text: &[u8]) -> Option<TakenTime<'_>> {
    let (hours, rest) = digits(text, 2)?;
    let (minutes, rest) = digits(rest, 2)?;
    let (seconds, rest) = digits(rest, 2)?;
    if rest.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let (fraction_ns, count, rest) = fraction(rest);
    Some((of_day(hours, minutes, seconds)? + fraction_ns, count, rest))
}

fn of_day(hours: i64, minutes: i64, seconds: i64) -> Option<i64> {
    (hours <= 23 && minutes <= 59 && seconds <= 60)
        .then_some((hours * 3600 + minutes * 60 + seconds) * NS_PER_S)
}

/// A time of day after a date, which need not be padded: `8:10:40 PM`, `20:10:40,123`, `22:15:29:606`.
pub(super) fn clock(text: &[u8]) -> Option<TakenTime<'_>> {
    let (hours, _, rest) = up_to(text, 2)?;
    let (minutes, _, rest) = up_to(rest.strip_prefix(b":")?, 2)?;
    let (seconds, _, rest) = up_to(rest.strip_prefix(b":")?, 2)?;
    let (fraction_ns, count, rest) = milliseconds(rest).unwrap_or_else(|| fraction(rest));
    let (hours, rest) = match half_of_day(rest) {
        Some((is_afternoon, rest)) if (1..=12).contains(&hours) => {
            (hours % 12 + if is_afternoon { 12 } else { 0 }, rest)
        }
        _ => (hours, rest),
    };
    Some((of_day(hours, minutes, seconds)? + fraction_ns, count, rest))
}

/// `:606`, a number of milliseconds.
fn milliseconds(text: &[u8]) -> Option<TakenTime<'_>> {
    let (value, _, rest) = up_to(text.strip_prefix(b":")?, 3)?;
    Some((value * scan::tick_ns(3), 3, rest))
}

/// `.123456`, `,123`; none if no digit follows.
fn fraction(text: &[u8]) -> TakenTime<'_> {
    const MAX_DIGITS: usize = 9;
    let after_mark = text.strip_prefix(b".").or_else(|| text.strip_prefix(b","));
    after_mark
        .and_then(|rest| up_to(rest, MAX_DIGITS))
        .map_or((0, 0, text), |(value, count, rest)| {
            (value * scan::tick_ns(count), count, rest)
        })
}

/// ` PM`, `pm`, after a narrow blank, too: whether it is the afternoon.
fn half_of_day(text: &[u8]) -> Option<(bool, &[u8])> {
    const BLANKS: [&[u8]; 3] = [b" ", b"\xc2\xa0", b"\xe2\x80\xaf"];
    let text = BLANKS
        .iter()
        .find_map(|blank| text.strip_prefix(*blank))
        .unwrap_or(text);
    let (half, rest) = text.split_at_checked(2)?;
    let is_over = rest
        .first()
        .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let is_afternoon = half.eq_ignore_ascii_case(b"pm");
    (is_over && (is_afternoon || half.eq_ignore_ascii_case(b"am"))).then_some((is_afternoon, rest))
}

/// A number since 1970, in seconds; if it is too large for that, in milliseconds, microseconds or nanoseconds.
pub(super) fn since_1970(text: &[u8]) -> Option<TakenTime<'_>> {
    const MIN: i64 = 500_000_000;
    let (whole, rest) = scan::number(text)?;
    if rest.starts_with(b".") {
        let (ns, count, rest) = scan::seconds(text)?;
        let is_time = (MIN..MIN * 10).contains(&whole);
        return is_time.then_some((ns, count, rest));
    }
    let digits = (0..4)
        .map(|step| step * 3)
        .find(|&digits| (MIN..MIN * 10).contains(&(whole / 10i64.pow(digits))))?;
    Some((
        whole.checked_mul(10i64.pow(9 - digits))?,
        digits as usize,
        rest,
    ))
}
