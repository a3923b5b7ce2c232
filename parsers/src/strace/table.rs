//! The tables of `-c` and `-C`.
//!
//! The cells are words in the order of the title, whatever their width: a number that is wider than its column moves the
//! rest of the row. Numbers have the decimal mark and the separators of the user's locale.

use crate::format::{Head, Parsed};
use crate::line::{Extra, Line, LineKind, NO_NS};
use crate::scan;
use crate::syscalls;
use memchr::memmem;

/// Longest row, in words. `-U` selects up to nine columns.
const MAX_CELLS: usize = 12;
/// Digits after the decimal mark of a share, and at least those of a sum of seconds.
const SHARE_DIGITS: usize = 2;

/// What a column contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TableColumn {
    /// The share of the time.
    Share,
    /// The sum of the time.
    Seconds,
    Calls,
    /// Empty if no call failed.
    Errors,
    Name,
    /// A mean, a minimum or a maximum.
    Other,
}

/// The columns of a table, in order. `-U` selects and orders them.
pub struct SummaryColumns {
    columns: Vec<TableColumn>,
}

impl SummaryColumns {
    /// The columns of the first table in a head.
    pub fn of(head: Head<'_>) -> Option<SummaryColumns> {
        let title = head.lines().find(|line| is_title(line))?;
        SummaryColumns::read(title)
    }

    /// The columns without `-U`.
    fn usual() -> SummaryColumns {
        use TableColumn::{Calls, Errors, Name, Other, Seconds, Share};
        SummaryColumns {
            columns: vec![Share, Seconds, Other, Calls, Errors, Name],
        }
    }

    fn read(title: &[u8]) -> Option<SummaryColumns> {
        let column = |word: &[u8]| match word {
            // `% time` is one column.
            b"%" => None,
            b"time" => Some(TableColumn::Share),
            b"seconds" => Some(TableColumn::Seconds),
            b"calls" => Some(TableColumn::Calls),
            b"errors" => Some(TableColumn::Errors),
            b"syscall" => Some(TableColumn::Name),
            _ => Some(TableColumn::Other),
        };
        let columns: Vec<TableColumn> = words(title).filter_map(column).collect();
        let has = |wanted| columns.contains(&wanted);
        (has(TableColumn::Name) && has(TableColumn::Calls) && columns.len() <= MAX_CELLS)
            .then_some(SummaryColumns { columns })
    }

    fn row<'a>(&self, line: &'a [u8]) -> Option<Row<'a>> {
        let cells = Cells::of(line)?;
        let has_errors = self.columns.contains(&TableColumn::Errors);
        let is_total = cells.list().contains(&&b"total"[..]);
        // The sum of a table has no mean, and a row without errors has no number of them.
        let (misses_errors, misses_mean) = match self.columns.len().checked_sub(cells.count)? {
            0 => (false, false),
            1 => (has_errors && !is_total, is_total),
            2 if is_total => (true, true),
            _ => return None,
        };
        let mut row = Row::default();
        let mut words = cells.list().iter();
        for column in &self.columns {
            match column {
                TableColumn::Errors if misses_errors => continue,
                TableColumn::Other if misses_mean => continue,
                _ => row.add(*column, words.next()?)?,
            }
        }
        row.is_named().then_some(row)
    }
}

/// The words of a line.
struct Cells<'a> {
    words: [&'a [u8]; MAX_CELLS],
    count: usize,
}

impl<'a> Cells<'a> {
    fn of(line: &'a [u8]) -> Option<Cells<'a>> {
        let mut cells = Cells {
            words: [b""; MAX_CELLS],
            count: 0,
        };
        for word in words(line) {
            *cells.words.get_mut(cells.count)? = word;
            cells.count += 1;
        }
        Some(cells)
    }

    fn list(&self) -> &[&'a [u8]] {
        self.words.get(..self.count).unwrap_or(&[])
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| matches!(byte, b' ' | b'\t' | b'\r'))
        .filter(|word| !word.is_empty())
}

/// A row of a table.
struct Row<'a> {
    name: &'a [u8],
    calls: u64,
    failed: u64,
    total_ns: i64,
}

impl Default for Row<'_> {
    fn default() -> Self {
        Row {
            name: b"",
            calls: 0,
            failed: 0,
            total_ns: NO_NS,
        }
    }
}

impl<'a> Row<'a> {
    fn add(&mut self, column: TableColumn, cell: &'a [u8]) -> Option<()> {
        match column {
            TableColumn::Share => return is_share(cell).then_some(()),
            TableColumn::Seconds => self.total_ns = decimal(cell)?.0,
            TableColumn::Calls => self.calls = whole_number(cell)?,
            TableColumn::Errors => self.failed = whole_number(cell)?,
            TableColumn::Name => self.name = cell,
            // A mean is whole, other columns of `-U` have decimals.
            TableColumn::Other => return decimal(cell).map(|_| ()),
        }
        Some(())
    }

    fn is_named(&self) -> bool {
        let is_name = |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'?');
        self.name.first().is_some_and(is_name) || self.name.starts_with(b"SYS_")
    }
}

/// The separators of thousands: `1,234`, `1.234`, `1'234`, and blanks that do not break, in UTF-8 and Latin-1.
const SEPARATORS: [&[u8]; 7] = [
    b",",
    b".",
    b"'",
    b"\xc2\xa0",
    b"\xe2\x80\xaf",
    b"\xe2\x80\x99",
    b"\xa0",
];
/// Decimal marks; the last one is Persian.
const DECIMAL_MARKS: [&[u8]; 3] = [b".", b",", b"\xd9\xab"];

/// `184022917`, `184,022,917`, `184.022.917`.
fn whole_number(text: &[u8]) -> Option<u64> {
    const GROUP: usize = 3;
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let first = digits(text);
    let (mut value, mut rest) = scan::number(text.get(..first)?)
        .filter(|_| first > 0)
        .map(|(value, _)| (value, &text[first..]))?;
    while !rest.is_empty() {
        let group = SEPARATORS
            .iter()
            .find_map(|separator| rest.strip_prefix(*separator))?;
        if first > GROUP || digits(group) != GROUP {
            return None;
        }
        let (thousands, _) = scan::number(group)?;
        value = value.checked_mul(1000)?.checked_add(thousands)?;
        rest = group.get(GROUP..)?;
    }
    u64::try_from(value).ok()
}

/// `20117.448120`, `20.117,448120`, in nanoseconds, and the number of digits after the mark.
fn decimal(text: &[u8]) -> Option<(i64, usize)> {
    const NS_PER_S: i64 = 1_000_000_000;
    let mark = DECIMAL_MARKS
        .iter()
        .filter_map(|mark| Some((memmem::rfind(text, mark)?, mark.len())))
        .max();
    let (whole, fraction) = match mark {
        Some((at, len)) => (text.get(..at)?, text.get(at + len..)?),
        None => (text, &b""[..]),
    };
    let whole_ns = i64::try_from(whole_number(whole)?)
        .ok()?
        .checked_mul(NS_PER_S)?;
    if mark.is_none() {
        return Some((whole_ns, 0));
    }
    let number = [b"0.", fraction].concat();
    let (fraction_ns, digits, rest) = scan::seconds(&number)?;
    rest.is_empty()
        .then_some((whole_ns.checked_add(fraction_ns)?, digits))
}

/// A line of the table of `-c`; rows contain their numbers.
pub fn read(line: &[u8], columns: Option<&SummaryColumns>, parsed: &mut Parsed) -> Option<Line> {
    if is_head(line) || is_rule(line) {
        return Some(Line::of(LineKind::SummaryTable));
    }
    // Output of the program seldom begins with a share.
    let row = columns
        .and_then(|columns| columns.row(line))
        .or_else(|| usual_row(line));
    let Some(row) = row else {
        let is_damaged = columns.is_some() && is_damaged_row(line);
        return is_damaged.then(|| Line::of(LineKind::Damaged));
    };
    let mut read = Line::of(LineKind::SummaryTable);
    if row.name != b"total" {
        read.name = parsed.texts.add(row.name);
        let (calls, failed, total_ns) = (row.calls, row.failed, row.total_ns);
        read.extra = parsed.keep(Extra::SummaryRow {
            calls,
            failed,
            total_ns,
        });
    }
    Some(read)
}

/// Whether a line is a row of a table whose title may be missing: it has the usual columns and names a call.
pub fn is_row(line: &[u8]) -> bool {
    usual_row(line).is_some_and(|row| syscalls::by_name(row.name).is_some())
}

/// A row in the columns without `-U`, whatever the title of the first table is.
fn usual_row(line: &[u8]) -> Option<Row<'_>> {
    words(line)
        .next()
        .filter(|first| is_share(first))
        .and_then(|_| SummaryColumns::usual().row(line))
}

/// A row of numbers after a share that does not have the columns: cut, or joined with other text.
fn is_damaged_row(line: &[u8]) -> bool {
    const MIN_NUMBERS: usize = 3;
    let is_number = |word: &&[u8]| is_share(word) || decimal(word).is_some();
    words(line).next().is_some_and(is_share)
        && words(line).take_while(is_number).count() >= MIN_NUMBERS
}

/// `% time     seconds  usecs/call     calls    errors syscall`, in any order, or the line before a second table.
pub fn is_head(line: &[u8]) -> bool {
    is_title(line) || line.starts_with(b"System call usage summary")
}

fn is_title(line: &[u8]) -> bool {
    let has = |word: &[u8]| memmem::find(line, word).is_some();
    let columns: [&[u8]; 4] = [b"% time", b"seconds", b"usecs/call", b"calls"];
    // Nearly all lines are calls, which the first test excludes.
    memchr::memchr(b'(', line).is_none()
        && has(b"syscall")
        && columns.iter().filter(|column| has(column)).count() >= 2
}

/// The dashes below the title.
pub fn is_rule(line: &[u8]) -> bool {
    line.starts_with(b"------ ")
        || line.len() > 20 && line.iter().all(|byte| matches!(byte, b'-' | b' '))
}

/// `68.53`, `100,00`, and what old versions print if there was no time at all.
fn is_share(text: &[u8]) -> bool {
    const MAX_BYTES: usize = "100.00".len() + 1;
    matches!(text, b"nan" | b"-nan")
        || text.len() <= MAX_BYTES
            && decimal(text).is_some_and(|(_, digits)| digits == SHARE_DIGITS)
}
