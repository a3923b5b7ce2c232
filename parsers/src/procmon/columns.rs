//! The columns of a CSV of Process Monitor: their names, and the fields of a line.
//!
//! ```text
//! In:   "9:53:32.8219063 AM","app.exe","4711","Process Create","C:\b.exe","SUCCESS","PID: 12, Command line: ""b"" -v"
//! Out:  seven fields, the last one: PID: 12, Command line: "b" -v
//! ```

use super::clock;
use crate::line::NO_ID;
use crate::scan;
use std::borrow::Cow;

/// The text of a field, without its quotes.
pub type ProcmonField<'a> = Cow<'a, [u8]>;

/// The columns that are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Column {
    /// When the operation began.
    Time,
    /// The name of the process.
    Name,
    /// The process.
    Pid,
    /// What the process did.
    Operation,
    /// To what.
    Path,
    /// How it ended.
    Result,
    /// Details, by name.
    Detail,
    /// How long it took.
    Duration,
}

/// Their names in the first line.
const NAMES: [(Column, &[u8]); 8] = [
    (Column::Time, b"Time of Day"),
    (Column::Name, b"Process Name"),
    (Column::Pid, b"PID"),
    (Column::Operation, b"Operation"),
    (Column::Path, b"Path"),
    (Column::Result, b"Result"),
    (Column::Detail, b"Detail"),
    (Column::Duration, b"Duration"),
];
/// Without these, a list of names is another one.
const NEEDED: [Column; 3] = [Column::Pid, Column::Operation, Column::Result];
/// The columns of a capture whose first line is missing.
const DEFAULT: [Column; 7] = [
    Column::Time,
    Column::Name,
    Column::Pid,
    Column::Operation,
    Column::Path,
    Column::Result,
    Column::Detail,
];

/// Which field each column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcmonColumns {
    fields: Vec<Option<Column>>,
}

impl Default for ProcmonColumns {
    fn default() -> ProcmonColumns {
        ProcmonColumns {
            fields: DEFAULT.into_iter().map(Some).collect(),
        }
    }
}

impl ProcmonColumns {
    /// From the line that names them.
    pub fn of_header(line: &[u8]) -> Option<ProcmonColumns> {
        let fields = fields(line)?;
        let column = |name: &ProcmonField<'_>| {
            let known = NAMES.iter().find(|(_, known)| *known == name.as_ref());
            known.map(|&(column, _)| column)
        };
        let columns = ProcmonColumns {
            fields: fields.iter().map(column).collect(),
        };
        NEEDED
            .iter()
            .all(|&column| columns.has(column))
            .then_some(columns)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Whether a column was saved.
    pub fn has(&self, column: Column) -> bool {
        self.fields.contains(&Some(column))
    }

    /// The column of a field.
    pub fn of_field(&self, number: usize) -> Option<Column> {
        self.fields.get(number).copied().flatten()
    }

    /// The text of a column; empty if it is missing.
    pub fn get<'a>(&self, column: Column, fields: &'a [ProcmonField<'_>]) -> &'a [u8] {
        let at = self.fields.iter().position(|known| *known == Some(column));
        let field = at.and_then(|at| fields.get(at));
        field.map_or(&b""[..], |field| field)
    }

    /// The number of a process or thread.
    pub fn id(&self, column: Column, fields: &[ProcmonField<'_>]) -> i32 {
        let found = scan::number(self.get(column, fields));
        let id = found.filter(|(_, rest)| rest.is_empty());
        id.and_then(|(id, _)| i32::try_from(id).ok())
            .unwrap_or(NO_ID)
    }

    /// The time of a line since midnight, and its number of digits after the point.
    pub fn time(&self, fields: &[ProcmonField<'_>]) -> Option<(i64, usize)> {
        clock::time_of_day(self.get(Column::Time, fields))
    }
}

/// The fields of a line, all of which are in quotes. Within one, a quote is doubled. Lines that were copied from the window
/// have tabs between their fields.
pub fn fields(line: &[u8]) -> Option<Vec<ProcmonField<'_>>> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if !line.starts_with(b"\"") && memchr::memchr_iter(b'\t', line).count() >= NEEDED.len() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        return Some(
            line.split(|&byte| byte == b'\t')
                .map(Cow::Borrowed)
                .collect(),
        );
    }
    let mut rest = scan::trim_end(line);
    let mut fields = Vec::new();
    loop {
        let inner = rest.strip_prefix(b"\"")?;
        let end = field_end(inner)?;
        let (text, after) = inner.split_at_checked(end)?;
        fields.push(undoubled(text));
        match after.get(1..)? {
            [] => return Some(fields),
            [b',', next @ ..] => rest = next,
            _ => return None,
        }
    }
}

/// The position of the closing quote.
fn field_end(inner: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr(b'"', inner.get(at..)?)?;
        if inner.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

fn undoubled(text: &[u8]) -> ProcmonField<'_> {
    if memchr::memchr(b'"', text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(rest.get(..=at).unwrap_or(rest));
        rest = rest.get(at + 2..).unwrap_or(b"");
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_copied_lines_are_between_tabs() {
        let line = b"7:59:52.67 AM\tapp.exe\t2124\tCloseFile\tC:\\a.ini\tSUCCESS\t\r";
        let found = fields(line).map(|fields| fields.len());
        assert_eq!(found, Some(7));
    }

    #[test]
    fn quotes_within_a_field_are_doubled() {
        let read = |line: &str| {
            let fields = fields(line.as_bytes())?;
            let texts = fields
                .iter()
                .map(|field| String::from_utf8_lossy(field).into_owned());
            Some(texts.collect::<Vec<String>>().join("|"))
        };
        assert_eq!(
            read(r#""a","b ""c"", d","""e""""#).as_deref(),
            Some(r#"a|b "c", d|"e""#)
        );
        assert_eq!(read(r#""a","b"#), None);
        assert_eq!(read(r#""a",b"#), None);
        assert_eq!(read(r#""a"b"#), None);
        assert_eq!(read(""), None);
    }
}
