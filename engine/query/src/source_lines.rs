//! Lines of a capture, read again on request: evidence for findings, arguments of events.

use parsers::input::{self, Source};
use std::io;
use std::path::Path;
use trace::store::event::EventKind;
use trace::store::file_chunks::FileChunks;
use trace::store::table::{TextColumn, Values};
use trace::store::trace::Trace;

/// A quoted line is cut here; nobody reads more, and a line may have hundreds of megabytes.
const MAX_BYTES: usize = 4096;

/// The text of these lines (from 1) of a file, in the requested order. Missing lines are empty.
///
/// With its cells, only those of these lines are read.
///
/// # Errors
/// If the file cannot be read again: standard input, or a file that is gone.
pub fn quote(path: &str, lines: &[u64], cells: Option<&FileChunks>) -> io::Result<Vec<String>> {
    let mut wanted: Vec<(u64, usize)> = lines
        .iter()
        .copied()
        .zip(0..)
        .filter(|&(line, _)| line > 0)
        .collect();
    wanted.sort_unstable();
    let mut found = vec![String::new(); lines.len()];
    match (open(path)?, cells) {
        (
            Source::File(file),
            Some(FileChunks {
                cell_bytes,
                lines_before,
            }),
        ) => {
            let file = file.with_cell_bytes(*cell_bytes);
            let cell_of = |line: u64| {
                lines_before
                    .partition_point(|&before| u64::from(before) < line)
                    .checked_sub(1)
            };
            for wanted in wanted.chunk_by(|one, other| cell_of(one.0) == cell_of(other.0)) {
                let Some(cell) = cell_of(wanted[0].0) else {
                    continue;
                };
                let mut bytes = Vec::new();
                file.read_cell(cell, &mut bytes)?;
                let mut once = Some(bytes);
                find(
                    wanted,
                    u64::from(lines_before[cell]),
                    || Ok(once.take()),
                    &mut found,
                )?;
            }
        }
        (source, _) => find(&wanted, 0, chunks(source), &mut found)?,
    }
    Ok(found)
}

/// Find lines in chunks of text. The first chunk starts after this many lines.
fn find(
    wanted: &[(u64, usize)],
    before: u64,
    mut chunks: impl FnMut() -> io::Result<Option<Vec<u8>>>,
    found: &mut [String],
) -> io::Result<()> {
    let mut wanted = wanted.iter().copied().peekable();
    let mut number = before;
    while wanted.peek().is_some() {
        let Some(bytes) = chunks()? else { break };
        let here = memchr::memchr_iter(b'\n', &bytes).count() as u64
            + u64::from(bytes.last().is_some_and(|&byte| byte != b'\n'));
        if wanted.peek().is_some_and(|&(line, _)| line > number + here) {
            number += here;
            continue;
        }
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            number += 1;
            while let Some((_, place)) = wanted.next_if(|&(wanted, _)| wanted <= number) {
                found[place] = text_of(line);
            }
        }
    }
    Ok(())
}

/// The first thing that `look` finds in the lines of a file; it gets their texts without the line end, and their numbers.
///
/// # Errors
/// If the file cannot be read again.
pub fn first<T>(
    path: &str,
    mut look: impl FnMut(&[u8], u64) -> Option<T>,
) -> io::Result<Option<T>> {
    let mut number = 0;
    let mut chunks = chunks(open(path)?);
    while let Some(bytes) = chunks()? {
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            number += 1;
            let found = look(without_end(line), number);
            if found.is_some() {
                return Ok(found);
            }
        }
    }
    Ok(None)
}

/// Reads lines of a file in ascending order, so that many can be quoted in one pass.
pub struct SourceLines {
    path: String,
    chunks: Chunks,
    bytes: Vec<u8>,
    at: usize,
    number: u64,
}

impl SourceLines {
    /// Begin at the first line.
    ///
    /// # Errors
    /// If the file cannot be read again.
    pub fn open(path: &str) -> io::Result<SourceLines> {
        Ok(SourceLines {
            path: path.to_owned(),
            chunks: chunks(open(path)?),
            bytes: Vec::new(),
            at: 0,
            number: 0,
        })
    }

    /// The text of a line, from 1; empty if it does not exist. Going back reads from the start again.
    ///
    /// # Errors
    /// Those of reading.
    pub fn line(&mut self, wanted: u64) -> io::Result<String> {
        if wanted <= self.number {
            *self = SourceLines::open(&self.path)?;
        }
        loop {
            while self.at < self.bytes.len() {
                let rest = &self.bytes[self.at..];
                let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
                self.at += len;
                self.number += 1;
                if self.number == wanted {
                    return Ok(text_of(&rest[..len]));
                }
            }
            let Some(bytes) = (self.chunks)()? else {
                return Ok(String::new());
            };
            (self.bytes, self.at) = (bytes, 0);
        }
    }
}

/// The arguments of a call as printed: from the parenthesis after its name to the result, or as far as the
/// line goes.
pub fn args_of<'line>(line: &'line str, syscall: &str) -> &'line str {
    let opened = format!("{syscall}(");
    let Some(from) = line.find(&opened).map(|at| at + opened.len()) else {
        return "";
    };
    let rest = &line[from..];
    let is_end = |&(at, _): &(usize, &str)| {
        let behind = rest[at + 1..].trim_start();
        behind.is_empty()
            || ["= ", "Err#", "ERR#", "argc = ", "(", "<"]
                .iter()
                .any(|sign| behind.starts_with(sign))
    };
    let end = rest.rmatch_indices(')').find(is_end).map(|(at, _)| at);
    rest[..end.unwrap_or(rest.len())].trim_end_matches(" <unfinished ...>")
}

fn text_of(line: &[u8]) -> String {
    let line = without_end(line);
    String::from_utf8_lossy(&line[..line.len().min(MAX_BYTES)]).into_owned()
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

type Chunks = Box<dyn FnMut() -> io::Result<Option<Vec<u8>>> + Send>;

fn open(path: &str) -> io::Result<Source> {
    input::open_again(Path::new(path))
}

fn chunks(source: Source) -> Chunks {
    match source {
        Source::File(file) => {
            let mut cells = 0..file.cells();
            Box::new(move || {
                let Some(cell) = cells.next() else {
                    return Ok(None);
                };
                let mut bytes = Vec::new();
                file.read_cell(cell, &mut bytes)?;
                Ok(Some(bytes))
            })
        }
        Source::Stream(mut stream) => {
            Box::new(move || Ok(stream.next_chunk()?.map(|chunk| chunk.bytes)))
        }
    }
}

/// The arguments of events as their files have them; read again, in one pass where rows are in the order of their lines.
#[derive(Default)]
pub struct Arguments {
    files: rustc_hash::FxHashMap<u32, Option<SourceLines>>,
}

impl Arguments {
    /// The arguments of these rows. Missing for rows that are not calls, or if the file cannot be read again.
    pub fn column(&mut self, trace: &Trace, rows: &[u32]) -> Values {
        let mut column = TextColumn::default();
        for &row in rows {
            column.push(self.of_row(trace, row).as_deref());
        }
        column.finish()
    }

    /// The arguments of one row.
    pub fn of_row(&mut self, trace: &Trace, row: u32) -> Option<String> {
        let event = trace.events.event(row);
        if event.kind != EventKind::Call {
            return None;
        }
        let path = || {
            trace
                .captures
                .iter()
                .flat_map(|capture| &capture.files)
                .nth(event.file as usize)
        };
        let lines = self
            .files
            .entry(event.file)
            .or_insert_with(|| path().and_then(|path| SourceLines::open(path).ok()));
        let line = lines.as_mut()?.line(u64::from(event.line)).ok()?;
        Some(
            args_of(
                &line,
                &trace.events.texts.string(trace.events.shape(row).syscall),
            )
            .to_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsers::input::Seekable;

    #[test]
    fn lines_are_found_by_their_cells_as_without_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lines").display().to_string();
        let text = "one\n\n\ra longer one, over several cells\nshort\r\n\n\nand one without an end";
        std::fs::write(&path, text).expect("a file");
        let numbers: Vec<u64> = [9, 0, 3, 3].into_iter().chain(1..9).collect();
        let expected = quote(&path, &numbers, None).expect("it is readable");
        assert_eq!(expected[2], "\ra longer one, over several cells");
        for cell_bytes in 1..40 {
            let file = Seekable::open(Path::new(&path))
                .expect("a file")
                .with_cell_bytes(cell_bytes);
            let (mut bytes, mut lines_before, mut line) = (Vec::new(), Vec::new(), 0);
            for cell in 0..file.cells() {
                lines_before.push(line);
                file.read_cell(cell, &mut bytes).expect("a cell");
                line += bytes.split_inclusive(|&byte| byte == b'\n').count() as u32;
            }
            let cells = FileChunks {
                cell_bytes,
                lines_before,
            };
            assert_eq!(
                quote(&path, &numbers, Some(&cells)).expect("it is readable"),
                expected,
                "{cell_bytes}"
            );
        }
    }

    #[test]
    fn arguments_end_where_the_result_begins() {
        let cases = [
            (
                r#"7 1.5 read(3</a(b)>, "= 1) = 2", 9) = 9 <0.1>"#,
                "read",
                r#"3</a(b)>, "= 1) = 2", 9"#,
            ),
            ("7 1.5 wait4(-1,  <unfinished ...>", "wait4", "-1, "),
            (
                "8:\t 4.5\tioctl(3, TCGETA, 0x8)\t\tErr#25 ENOTTY",
                "ioctl",
                "3, TCGETA, 0x8",
            ),
            ("exit(0x0)\t\t", "exit", "0x0"),
            ("7 +++ exited with 0 +++", "exit_group", ""),
        ];
        for (line, syscall, expected) in cases {
            assert_eq!(args_of(line, syscall), expected, "{line}");
        }
    }
}
