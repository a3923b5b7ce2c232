//! The columns before a line's body: ids and times.

use crate::line::NO_ID;
use crate::truss_common::{ends_column, id, prefixes_inside, time_columns};
use crate::{quoting, scan};

/// A line, split into its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FreebsdSplit<'a> {
    /// The first id, [`NO_ID`] if there is none. The layout decides whether it is a process or a thread.
    pub first: i32,
    /// The second id: a thread; [`NO_ID`] if there is none.
    pub second: i32,
    /// The time columns; [`FreebsdSplit::columns`] is their number.
    pub times_ns: [i64; 2],
    /// The number of time columns.
    pub columns: usize,
    /// The rest, without blanks at either end.
    pub body: &'a [u8],
}

impl FreebsdSplit<'_> {
    /// Whether there is an id.
    pub fn prefixed(&self) -> bool {
        self.first != NO_ID
    }
}

/// Split a line that has up to `columns` time columns.
pub(super) fn split(line: &[u8], columns: usize) -> FreebsdSplit<'_> {
    let text = scan::skip_blanks(quoting::unquoted(line));
    let (first, second, rest) = prefix(text).unwrap_or((NO_ID, NO_ID, text));
    after_prefix(first, second, rest, columns)
}

/// The same for a line whose prefix follows output of the program: the text from each prefix inside.
pub(super) fn split_inside(line: &[u8], columns: usize) -> impl Iterator<Item = FreebsdSplit<'_>> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b' ';
    prefixes_inside(line, b':', is_part).filter_map(move |inside| {
        let (first, second, rest) = prefix(scan::skip_blanks(inside))?;
        Some(after_prefix(first, second, rest, columns))
    })
}

fn after_prefix(first: i32, second: i32, text: &[u8], max: usize) -> FreebsdSplit<'_> {
    let (times_ns, columns, rest) = time_columns(text, max, stamp);
    FreebsdSplit {
        first,
        second,
        times_ns,
        columns,
        body: scan::trim(rest),
    }
}

/// `  812: `, `100123: `, `  812 100123: `.
fn prefix(text: &[u8]) -> Option<(i32, i32, &[u8])> {
    let (first, rest) = id(text)?;
    let (second, rest) = match rest.first() {
        Some(b' ' | b'\t') => id(scan::skip_blanks(rest))?,
        _ => (NO_ID, rest),
    };
    let rest = rest.strip_prefix(b":")?;
    ends_column(rest).then_some((first, second, rest))
}

/// Seconds with exactly nine decimals, and a blank or nothing after them.
fn stamp(text: &[u8]) -> Option<(i64, &[u8])> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (ns, places, rest) = scan::seconds(digits)?;
    // If the clock was set back, the fraction of a negative time counts forward from its whole seconds: -1.999999000 is
    // -1 us.
    let fraction_ns = ns % 1_000_000_000;
    let signed_ns = match negative {
        true if ns == fraction_ns => -ns,
        true => 2 * fraction_ns - ns,
        false => ns,
    };
    (places == 9 && ends_column(rest)).then_some((signed_ns, rest))
}
