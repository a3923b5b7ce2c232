//! The stamps at the start of a line.
//!
//! ```text
//! In:   Mar  5 19:43:34 host kernel: [    1.486287] md: stopping all md devices.
//! Out:  since new year 5_514_214 s; text `host kernel: [    1.486287] md: stopping all md devices.`
//! ```

use super::date::{self, DateOrder};
use super::month_names::{month, weekday};
use crate::capture_facts::{Clock, LEAP_YEAR_NS};
use crate::scan;

/// The resolution of stamps without seconds.
pub(super) const MINUTE_NS: i64 = 60_000_000_000;

/// What a stamp counts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StampBase {
    /// The kernel's start.
    Boot,
    /// 1970.
    Epoch,
    /// The first of January of an unknown year.
    Year,
    /// Midnight.
    Day,
    /// The previous line.
    Previous,
}

impl StampBase {
    /// The clock of a capture whose stamps count from this.
    pub(crate) fn clock(self) -> Clock {
        match self {
            StampBase::Boot => Clock::SinceStart,
            StampBase::Year => Clock::SinceNewYear,
            StampBase::Epoch => Clock::Epoch,
            StampBase::Day => Clock::TimeOfDay,
            StampBase::Previous => Clock::SincePrevious,
        }
    }
}

/// All of them.
pub(super) const STAMP_BASES: [StampBase; 5] = [
    StampBase::Boot,
    StampBase::Epoch,
    StampBase::Year,
    StampBase::Day,
    StampBase::Previous,
];

/// One stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LogStamp {
    /// What it counts from.
    pub base: StampBase,
    /// The time since then.
    pub ns: i64,
    /// Digits after the point.
    pub digits: usize,
}

/// The form of the text after the stamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MessageForm {
    /// A message without a tag in a fixed place.
    Plain,
    /// Host, tag and message, as syslog writes them.
    Syslog,
    /// Host and tag if they look like that.
    Unsure,
    /// Host, program, process, id, data, message (RFC 5424).
    Structured,
}

/// The prefix of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LogPrefix<'a> {
    /// The stamps, the outer one first.
    pub stamps: [Option<LogStamp>; 3],
    /// The form of the text.
    pub form: MessageForm,
    /// The text after the stamps.
    pub text: &'a [u8],
    /// Whether only logs of a kernel or of syslog begin like this.
    pub is_sure: bool,
    /// The rest of a record, before and after its message.
    pub record: [&'a [u8]; 2],
}

impl LogPrefix<'_> {
    /// The stamp that counts from this.
    pub fn at(&self, base: StampBase) -> Option<LogStamp> {
        self.stamps
            .iter()
            .flatten()
            .copied()
            .find(|stamp| stamp.base == base)
    }

    pub fn add(&mut self, stamp: LogStamp) {
        if let Some(free) = self.stamps.iter_mut().find(|place| place.is_none()) {
            *free = Some(stamp);
        }
    }
}

/// The first stamp of a line and the text after it; `None` if the line does not begin with a stamp.
pub(crate) fn first(line: &[u8]) -> Option<LogPrefix<'_>> {
    if line.first() == Some(&b'[') {
        bracketed(line, DateOrder::default())
    } else {
        bare(line, DateOrder::default())
    }
}

pub(super) fn one(
    base: StampBase,
    taken: (i64, usize),
    form: MessageForm,
    is_sure: bool,
    text: &[u8],
) -> LogPrefix<'_> {
    let stamp = LogStamp {
        base,
        ns: taken.0,
        digits: taken.1,
    };
    LogPrefix {
        stamps: [Some(stamp), None, None],
        form,
        text,
        is_sure,
        record: [b""; 2],
    }
}

/// A stamp in brackets: of the kernel, of dmesg, or of any program.
pub(super) fn bracketed(text: &[u8], order: DateOrder) -> Option<LogPrefix<'_>> {
    let inside = scan::skip_blanks(text.strip_prefix(b"[")?);
    let mut prefix = in_brackets(inside, order)?;
    let rest = scan::skip_blanks(prefix.text);
    let rest = match rest.strip_prefix(b"<") {
        Some(delta) => delta.get(memchr::memchr(b'>', delta)? + 1..)?,
        None => rest,
    };
    let rest = rest.strip_prefix(b"]")?;
    prefix.text = rest.strip_prefix(b" ").unwrap_or(rest);
    Some(prefix)
}

fn in_brackets(text: &[u8], order: DateOrder) -> Option<LogPrefix<'_>> {
    if let Some(delta) = text.strip_prefix(b"+") {
        let (ns, digits, rest) = scan::seconds(delta)?;
        return Some(one(
            StampBase::Previous,
            (ns, digits),
            MessageForm::Plain,
            digits == 6,
            rest,
        ));
    }
    if let Some(delta) = text.strip_prefix(b"<") {
        let (ns, digits, rest) = scan::seconds(scan::skip_blanks(delta))?;
        let rest = scan::skip_blanks(rest).strip_prefix(b">")?;
        return Some(one(
            StampBase::Previous,
            (ns, digits),
            MessageForm::Plain,
            digits == 6,
            rest,
        ));
    }
    if let Some((ns, digits, rest)) = date::iso(text) {
        return Some(one(
            StampBase::Epoch,
            (ns, digits),
            MessageForm::Plain,
            false,
            rest,
        ));
    }
    if let Some(prefix) = numeric(text, order) {
        return Some(prefix);
    }
    if let Some((ns, digits, rest)) = date::time(text) {
        return Some(one(
            StampBase::Day,
            (ns, digits),
            MessageForm::Plain,
            false,
            rest,
        ));
    }
    if let Some((taken, rest)) = with_unit(text) {
        return Some(one(StampBase::Boot, taken, MessageForm::Plain, false, rest));
    }
    if let Some((ns, digits, rest)) = scan::seconds(text).filter(|found| found.1 > 0) {
        // No machine runs for thirty years.
        let base = if ns >= MIN_EPOCH_NS {
            StampBase::Epoch
        } else {
            StampBase::Boot
        };
        // Monotonic stamps of the journal are followed by host and tag.
        let form = if base == StampBase::Boot {
            MessageForm::Unsure
        } else {
            MessageForm::Plain
        };
        return Some(one(base, (ns, digits), form, digits == 6, rest));
    }
    if let Some(day) = weekday(text) {
        let (ns, digits, rest) = ctime(day)?;
        return Some(one(
            StampBase::Epoch,
            (ns, digits),
            MessageForm::Plain,
            true,
            rest,
        ));
    }
    minute(text).map(|(ns, rest)| one(StampBase::Previous, (ns, 0), MessageForm::Plain, true, rest))
}

/// `0.012s`, `12ms`, `31s`: the time since a program's start, with its unit, as Java prints it (`-Xlog`).
fn with_unit(text: &[u8]) -> Option<((i64, usize), &[u8])> {
    const UNITS: [(&[u8], usize); 4] = [(b"s]", 0), (b"ms]", 3), (b"us]", 6), (b"ns]", 9)];
    let (ns, digits, rest) = scan::seconds(text)?;
    let (_, places) = UNITS.iter().find(|(unit, _)| rest.starts_with(unit))?;
    let digits = (digits + places).min(9);
    let rest = rest.get(memchr::memchr(b']', rest)?..)?;
    Some(((ns / 10i64.pow(*places as u32), digits), rest))
}

/// From this on (late 1985), seconds count from 1970.
const MIN_EPOCH_NS: i64 = 500_000_000_000_000_000;

/// `Mar  5 19:43:34 2009`, without its weekday.
fn ctime(text: &[u8]) -> Option<date::TakenTime<'_>> {
    let (month, rest) = month(text)?;
    let (day, rest) = date::day(rest)?;
    let (time_ns, digits, rest) = date::time(rest.strip_prefix(b" ")?)?;
    let (year, rest) = scan::number(rest.strip_prefix(b" ")?)?;
    Some((date::since_epoch(year, month, day, time_ns)?, digits, rest))
}

/// `Mar05 19:43`, the first line of a minute of `dmesg -e`: the time since the previous line has a resolution of a
/// minute. Returned as the negative time to the end of the year.
fn minute(text: &[u8]) -> Option<(i64, &[u8])> {
    let (month, rest) = month(text)?;
    let (day, rest) = date::day(rest)?;
    let (hours, rest) = scan::number(rest.strip_prefix(b" ")?)?;
    let (minutes, rest) = scan::number(rest.strip_prefix(b":")?)?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    let since_ns = date::since_new_year(month, day, (hours * 60 + minutes) * MINUTE_NS)?;
    Some((since_ns - LEAP_YEAR_NS, rest))
}

/// A stamp without brackets, followed by a separator.
pub(super) fn bare(text: &[u8], order: DateOrder) -> Option<LogPrefix<'_>> {
    let mut prefix = dated(text, order).or_else(|| {
        let (ns, digits, rest) = date::time(text)?;
        Some(one(
            StampBase::Day,
            (ns, digits),
            MessageForm::Plain,
            false,
            rest,
        ))
    })?;
    prefix.text = match prefix.text.split_first() {
        None => b"",
        Some((b' ' | b'\t', rest)) => rest,
        Some((b':' | b'|' | b';' | b',', rest)) => scan::skip_blanks(rest),
        Some(_) => return None,
    };
    Some(prefix)
}

/// A date of numbers only, in the order of the file.
fn numeric(text: &[u8], order: DateOrder) -> Option<LogPrefix<'_>> {
    let ((ns, digits, rest), has_year) = date::numeric(text, order)?;
    let base = if has_year {
        StampBase::Epoch
    } else {
        StampBase::Year
    };
    Some(one(base, (ns, digits), MessageForm::Plain, false, rest))
}

/// A stamp with a date, or a number since 1970.
pub(super) fn dated(text: &[u8], order: DateOrder) -> Option<LogPrefix<'_>> {
    if let Some((ns, digits, rest)) = date::iso(text) {
        // dmesg writes a comma, and no host.
        let is_syslog = text.get(10) == Some(&b'T') && text.get(19) != Some(&b',');
        let is_dmesg = text.get(10) == Some(&b'T') && !is_syslog;
        let form = match (is_syslog, is_dmesg) {
            (true, _) => MessageForm::Syslog,
            (_, true) => MessageForm::Plain,
            _ => MessageForm::Unsure,
        };
        return Some(one(StampBase::Epoch, (ns, digits), form, false, rest));
    }
    if let Some((ns, digits, rest)) = date::day_month_year(text) {
        return Some(one(
            StampBase::Epoch,
            (ns, digits),
            MessageForm::Plain,
            false,
            rest,
        ));
    }
    if let Some(prefix) = numeric(text, order) {
        return Some(prefix);
    }
    if let Some(rest) = weekday(text) {
        if let Some((ns, digits, rest)) = date::iso(rest) {
            return Some(one(
                StampBase::Epoch,
                (ns, digits),
                MessageForm::Syslog,
                true,
                skip_zone(rest),
            ));
        }
        let (ns, digits, rest) = ctime(rest)?;
        return Some(one(
            StampBase::Epoch,
            (ns, digits),
            MessageForm::Unsure,
            true,
            rest,
        ));
    }
    if let Some((month, rest)) = month(text) {
        let (day, rest) = date::day(rest.strip_prefix(b" ")?)?;
        let rest = without_comma(rest).strip_prefix(b" ")?;
        if let Some((ns, digits, after)) = date::time(rest) {
            return Some(one(
                StampBase::Year,
                (date::since_new_year(month, day, ns)?, digits),
                MessageForm::Syslog,
                true,
                after,
            ));
        }
        let (year, rest) = scan::number(rest)?;
        let (ns, digits, rest) = date::clock(without_comma(rest).strip_prefix(b" ")?)?;
        return Some(one(
            StampBase::Epoch,
            (date::since_epoch(year, month, day, ns)?, digits),
            MessageForm::Syslog,
            true,
            rest,
        ));
    }
    // `- 1131566461 …`: logs of clusters mark lines without an alert with a dash.
    let number = text.strip_prefix(b"- ").unwrap_or(text);
    let (ns, digits, rest) = date::since_1970(number)?;
    Some(one(
        StampBase::Epoch,
        (ns, digits),
        MessageForm::Unsure,
        false,
        rest,
    ))
}

fn without_comma(text: &[u8]) -> &[u8] {
    text.strip_prefix(b",").unwrap_or(text)
}

/// The text without ` CET`: such names do not define the offset from UTC. UTC itself was read before.
fn skip_zone(text: &[u8]) -> &[u8] {
    let zone = text
        .strip_prefix(b" ")
        .filter(|zone| zone.first().is_some_and(u8::is_ascii_uppercase));
    let end = zone.and_then(|zone| zone.iter().position(|byte| !byte.is_ascii_uppercase()));
    match (zone, end) {
        (Some(zone), Some(end)) if end >= 3 && zone.get(end) == Some(&b' ') => {
            zone.get(end..).unwrap_or(text)
        }
        _ => text,
    }
}

/// `6,339,5140900,-;text`, from the kernel's own device: level, number, microseconds, flags.
pub(super) fn raw(text: &[u8]) -> Option<LogPrefix<'_>> {
    let (_, rest) = scan::number(text)?;
    let (_, rest) = scan::number(rest.strip_prefix(b",")?)?;
    let (micros, rest) = scan::number(rest.strip_prefix(b",")?)?;
    let rest = rest.strip_prefix(b",")?;
    let text = rest.get(memchr::memchr(b';', rest)? + 1..)?;
    Some(one(
        StampBase::Boot,
        (micros.checked_mul(1000)?, 6),
        MessageForm::Plain,
        true,
        text,
    ))
}

/// The text without `<6>` and without `kern  :info  : `, and whether it is the `<6>1 ` of RFC 5424.
pub(crate) fn skip_level(text: &[u8]) -> (&[u8], bool) {
    if let Some((_, rest)) = text.strip_prefix(b"<").and_then(scan::number)
        && let Some(rest) = rest.strip_prefix(b">")
    {
        return match rest.strip_prefix(b"1 ") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
    }
    (decoded_level(text).unwrap_or(text), false)
}

fn decoded_level(text: &[u8]) -> Option<&[u8]> {
    let word = |text: &'_ [u8]| {
        text.iter()
            .position(|byte| !byte.is_ascii_lowercase())
            .filter(|&end| end > 0)
    };
    let rest = scan::skip_blanks(text.get(word(text)?..)?).strip_prefix(b":")?;
    let rest = scan::skip_blanks(rest.get(word(rest)?..)?).strip_prefix(b":")?;
    Some(scan::skip_blanks(rest)).filter(|rest| rest.first() == Some(&b'['))
}

/// The text without the escape sequences of a terminal at its start.
pub(super) fn skip_colour(mut text: &[u8]) -> &[u8] {
    while let Some(rest) = text.strip_prefix(b"\x1b[") {
        let Some(end) = rest.iter().position(|byte| byte.is_ascii_alphabetic()) else {
            break;
        };
        text = rest.get(end + 1..).unwrap_or(b"");
    }
    text
}
