//! What stands in front of a line's body: ids and time columns.

use crate::line::NO_ID;
use crate::{quoting, scan};

/// A line cut into its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split<'a> {
    /// The first id, [`NO_ID`] if there is none; whether it is a process or a thread, the layout knows.
    pub first: i32,
    /// The second id: a thread; [`NO_ID`] if there is none.
    pub second: i32,
    /// The time columns, as many as [`Split::columns`] says.
    pub times_ns: [i64; 2],
    /// How many time columns there are.
    pub columns: usize,
    /// The rest, without blanks at either end.
    pub body: &'a [u8],
}

impl Split<'_> {
    /// Whether there is an id.
    pub fn prefixed(&self) -> bool {
        self.first != NO_ID
    }
}

/// Cut a line that has at most `columns` time columns.
pub(super) fn split(line: &[u8], columns: usize) -> Split<'_> {
    let text = scan::skip_blanks(quoting::unquoted(line));
    let (first, second, rest) = prefix(text).unwrap_or((NO_ID, NO_ID, text));
    behind(first, second, rest, columns)
}

/// The same for a line whose prefix stands behind output of the program: what begins at each prefix inside.
pub(super) fn split_inside(line: &[u8], columns: usize) -> impl Iterator<Item = Split<'_>> {
    // Long lines with many colons are not worth more than a few tries.
    memchr::memchr_iter(b':', line).take(16).filter_map(move |colon| {
        let front = line.get(..colon)?;
        let start = front.iter().rposition(|byte| !(byte.is_ascii_digit() || *byte == b' '))? + 1;
        let (first, second, rest) = prefix(scan::skip_blanks(line.get(start..)?))?;
        Some(behind(first, second, rest, columns))
    })
}

fn behind(first: i32, second: i32, text: &[u8], most: usize) -> Split<'_> {
    let (mut times_ns, mut columns, mut rest) = ([0; 2], 0, text);
    while columns < most.min(2) {
        let Some((time_ns, next)) = stamp(scan::skip_blanks(rest)) else { break };
        times_ns[columns] = time_ns;
        columns += 1;
        rest = next;
    }
    Split { first, second, times_ns, columns, body: scan::trim(rest) }
}

/// `  812: `, `100123: `, `  812 100123: `.
fn prefix(text: &[u8]) -> Option<(i32, i32, &[u8])> {
    let (first, rest) = id(text)?;
    let (second, rest) = match rest.first() {
        Some(b' ' | b'\t') => id(scan::skip_blanks(rest))?,
        _ => (NO_ID, rest),
    };
    let rest = rest.strip_prefix(b":")?;
    let ends = rest.first().is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    ends.then_some((first, second, rest))
}

fn id(text: &[u8]) -> Option<(i32, &[u8])> {
    let (value, rest) = scan::number(text)?;
    Some((i32::try_from(value).ok()?, rest))
}

/// Seconds with exactly nine decimals, and a blank or nothing behind them.
fn stamp(text: &[u8]) -> Option<(i64, &[u8])> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (ns, places, rest) = scan::seconds(digits)?;
    let ends = rest.first().is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    // The clock was set back: the fraction of a negative time counts forward from its whole seconds, -1.999999000 is -1 us.
    let fraction_ns = ns % 1_000_000_000;
    let signed_ns = match negative {
        true if ns == fraction_ns => -ns,
        true => 2 * fraction_ns - ns,
        false => ns,
    };
    (places == 9 && ends).then_some((signed_ns, rest))
}
