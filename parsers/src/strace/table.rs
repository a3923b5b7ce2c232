//! The tables of `-c` and `-C`.

use crate::format::{Head, Parsed};
use crate::line::{Extra, Line, LineKind, NO_NS};
use crate::scan;
use memchr::memmem;

/// Where the cells of a table are. `-U` selects and orders them.
pub struct SummaryColumns {
    name: CellSpan,
    calls: CellSpan,
    errors: Option<CellSpan>,
    seconds: Option<CellSpan>,
}

/// First byte and end of a column; the last one has no end.
type CellSpan = (usize, Option<usize>);

impl SummaryColumns {
    /// The columns of the first table in a head, separated at the dashes of its second line.
    pub fn of(head: Head<'_>) -> Option<SummaryColumns> {
        let mut title: &[u8] = b"";
        for line in head.lines() {
            if is_rule(line) && is_head(title) {
                return SummaryColumns::read(title, line);
            }
            title = line;
        }
        None
    }

    fn read(title: &[u8], rule: &[u8]) -> Option<SummaryColumns> {
        let (mut name, mut calls, mut errors, mut seconds) = (None, None, None, None);
        let mut start = 0;
        for dashes in rule.split(|&byte| byte == b' ') {
            let end = start + dashes.len();
            let span = (start, (end < rule.len()).then_some(end));
            match cell(title, span) {
                b"syscall" => name = Some(span),
                b"calls" => calls = Some(span),
                b"errors" => errors = Some(span),
                b"seconds" => seconds = Some(span),
                _ => {}
            }
            start = end + 1;
        }
        Some(SummaryColumns {
            name: name?,
            calls: calls?,
            errors,
            seconds,
        })
    }

    fn row<'a>(&self, line: &'a [u8]) -> Option<Row<'a>> {
        let integer = |span| whole_number(cell(line, span));
        let name = cell(line, self.name);
        if !name
            .first()
            .is_some_and(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'?'))
        {
            return None;
        }
        let seconds = self.seconds.map(|span| scan::seconds(cell(line, span)));
        let total_ns = match seconds {
            None => NO_NS,
            Some(read) => read.filter(|(_, _, rest)| rest.is_empty())?.0,
        };
        let failed = match self.errors.map(|span| cell(line, span)) {
            None | Some(b"") => 0,
            Some(text) => whole_number(text)?,
        };
        Some(Row {
            name,
            calls: integer(self.calls)?,
            failed,
            total_ns,
        })
    }
}

fn cell(line: &[u8], (start, end): CellSpan) -> &[u8] {
    let end = end.unwrap_or(line.len()).min(line.len());
    scan::trim(line.get(start..end).unwrap_or(b""))
}

fn whole_number(text: &[u8]) -> Option<u64> {
    scan::number(text)
        .filter(|(_, rest)| rest.is_empty())
        .map(|(value, _)| value as u64)
}

/// A line of the table of `-c`; rows contain their numbers.
pub fn read(line: &[u8], columns: Option<&SummaryColumns>, parsed: &mut Parsed) -> Option<Line> {
    if is_head(line) || is_rule(line) {
        return Some(Line::of(LineKind::SummaryTable));
    }
    let row = columns
        .and_then(|columns| columns.row(line))
        .or_else(|| Row::usual(line))?;
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

/// `% time     seconds  usecs/call     calls    errors syscall`, in any order, or the line before a second table.
pub fn is_head(line: &[u8]) -> bool {
    let has = |word: &[u8]| memmem::find(line, word).is_some();
    let columns: [&[u8]; 4] = [b"% time", b"seconds", b"usecs/call", b"calls"];
    // Nearly all lines are calls, which the first test excludes.
    let is_head = || has(b"syscall") && columns.iter().filter(|column| has(column)).count() >= 2;
    memchr::memchr(b'(', line).is_none() && is_head()
        || line.starts_with(b"System call usage summary")
}

/// The dashes below the title.
pub fn is_rule(line: &[u8]) -> bool {
    line.starts_with(b"------ ")
        || line.len() > 20 && line.iter().all(|byte| matches!(byte, b'-' | b' '))
}

struct Row<'a> {
    name: &'a [u8],
    calls: u64,
    failed: u64,
    total_ns: i64,
}

impl<'a> Row<'a> {
    /// In the default columns, the cell of `errors` may be empty: ` 68.53    0.085212       42606         2
    /// close`.
    fn usual(line: &'a [u8]) -> Option<Row<'a>> {
        let mut words = line
            .split(|&byte| byte == b' ')
            .filter(|word| !word.is_empty());
        let mut cells: [&[u8]; 6] = [b""; 6];
        let mut count = 0;
        for word in &mut words {
            *cells.get_mut(count)? = word;
            count += 1;
        }
        let (share, name) = (*cells.first()?, *cells.get(count.checked_sub(1)?)?);
        if count < 5 || !is_share(share) || name.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let (total_ns, _, rest) = scan::seconds(cells[1])?;
        let integer = |at: usize| whole_number(cells[at]);
        let total_without_mean = count == 5 && name == b"total";
        let calls = if total_without_mean {
            integer(2)?
        } else {
            integer(3)?
        };
        let failed = if count == 6 { integer(4)? } else { 0 };
        integer(2)?;
        rest.is_empty().then_some(Row {
            name,
            calls,
            failed,
            total_ns,
        })
    }
}

/// `68.53`, `100.00`
fn is_share(text: &[u8]) -> bool {
    matches!(scan::seconds(text), Some((_, 2, b"")))
}
