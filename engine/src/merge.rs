//! Files that belong together (`strace -ff`): one trace, in the order of their stamps.
//!
//! Each file is in order by itself; the file whose next line is the oldest gives the next line. Lines without a stamp
//! come right after the line before them. Where the stamps say nothing about wall time, one file follows the other.

use crate::assemble::{Assembler, Place};
use crate::read::{Progress, ReadError, in_trace, new_capture, reader_for, unreadable};
use crate::trace::Trace;
use parsers::input::{self, Source};
use parsers::{Clock, Format, Head, LineReader, NO_ID, NO_NS, Parsed, Text};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

/// Where a file is read at.
struct Cursor {
    reader: Box<dyn LineReader>,
    source: Source,
    cell: usize,
    bytes: Vec<u8>,
    parsed: Parsed,
    map: Vec<Text>,
    next: usize,
    line: u32,
    read_bytes: u64,
    /// The thread that the file's name tells.
    tid: i32,
    last_byte: u8,
}

/// Read files as one capture.
///
/// # Errors
/// If a file cannot be read, or none is recognised.
pub(crate) fn files(
    trace: &mut Trace,
    paths: &[String],
    format: Option<&'static dyn Format>,
    progress: Progress<'_>,
) -> Result<(), ReadError> {
    let mut cursors = Vec::new();
    let mut name = "";
    for path in paths {
        match Cursor::open(path, format) {
            Ok((format, cursor)) => {
                name = format;
                cursors.push((path.clone(), cursor));
            }
            // A thread that was killed before its first call leaves an empty file.
            Err(ReadError::Empty { .. }) if paths.len() > 1 => {}
            Err(error) => return Err(error),
        }
    }
    let Some((_, first)) = cursors.first() else {
        return Err(ReadError::Empty { path: paths.first().cloned().unwrap_or_default() });
    };
    let read: Vec<String> = cursors.iter().map(|(path, _)| path.clone()).collect();
    let mut capture = new_capture(trace, &read, name, first.reader.as_ref());
    // One counter runs over all files of a run, so the differences of one file cannot be added up.
    if capture.facts.clock == Clock::SincePrevious {
        capture.facts.clock = Clock::None;
    }
    if cursors.iter().all(|(_, cursor)| cursor.tid != NO_ID) {
        (capture.facts.has_ids, capture.facts.ids_optional) = (true, false);
    }
    let mut assembler = Assembler::new(trace, capture);
    let mut cursors: Vec<Cursor> = cursors.into_iter().map(|(_, cursor)| cursor).collect();
    merged(&mut assembler, &mut cursors, progress).map_err(|(file, error)| unreadable(&read[file])(error))?;
    let cut = cursors.iter().any(Cursor::is_cut);
    assembler.finish(cut, cursors.iter().map(|cursor| cursor.read_bytes).sum());
    Ok(())
}

/// Whether files are parts of one capture: lines of `strace -ff` bear no id, as the file's name does.
///
/// Files that cannot be read are left to the reading, which says why.
pub fn are_parts(paths: &[String]) -> bool {
    let first = paths.iter().find_map(|path| match Cursor::open(path, None) {
        Err(ReadError::Empty { .. }) => None,
        opened => Some(opened),
    });
    !matches!(first, Some(Ok((_, cursor))) if cursor.reader.facts().has_ids && !cursor.reader.facts().ids_optional)
}

type FileError = (usize, std::io::Error);

fn merged(assembler: &mut Assembler<'_>, cursors: &mut [Cursor], progress: Progress<'_>) -> Result<(), FileError> {
    let mut heap: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    for (file, cursor) in cursors.iter_mut().enumerate() {
        if let Some(stamp_ns) = cursor.peek(assembler, file).map_err(|error| (file, error))? {
            heap.push(Reverse((stamp_ns, file)));
        }
    }
    let mut steps = 0u64;
    while let Some(Reverse((stamp_ns, file))) = heap.pop() {
        let cursor = &mut cursors[file];
        cursor.take(assembler, file, stamp_ns);
        if let Some(next_ns) = cursor.peek(assembler, file).map_err(|error| (file, error))? {
            heap.push(Reverse((if next_ns == NO_NS { stamp_ns } else { next_ns }, file)));
        }
        steps += 1;
        if steps.is_multiple_of(1 << 16) {
            progress(cursors.iter().map(|cursor| cursor.read_bytes).sum(), 0);
        }
    }
    Ok(())
}

impl Cursor {
    fn open(path: &str, format: Option<&'static dyn Format>) -> Result<(&'static str, Cursor), ReadError> {
        let mut source = input::open(Path::new(path)).map_err(unreadable(path))?;
        let mut bytes = Vec::new();
        let complete = fill(&mut source, 0, &mut bytes).map_err(unreadable(path))?;
        let (name, reader) = reader_for(path, Head { bytes: &bytes, complete }, format)?;
        let tid =
            path.rsplit('.').next().and_then(|end| end.parse().ok()).filter(|&tid: &i32| tid > 0).unwrap_or(NO_ID);
        let mut cursor = Cursor {
            reader,
            source,
            cell: 1,
            bytes,
            parsed: Parsed::default(),
            map: Vec::new(),
            next: 0,
            line: 0,
            read_bytes: 0,
            tid,
            last_byte: b'\n',
        };
        cursor.parse();
        Ok((name, cursor))
    }

    fn is_cut(&self) -> bool {
        self.last_byte != b'\n' || matches!(&self.source, Source::Stream(stream) if stream.is_cut())
    }

    fn parse(&mut self) {
        self.parsed.read(self.reader.as_ref(), &self.bytes);
        self.read_bytes += self.bytes.len() as u64;
        self.last_byte = self.bytes.last().copied().unwrap_or(self.last_byte);
        self.next = 0;
        self.map.clear();
        // The text of the cell is read; with thousands of files it would be most of the memory.
        self.bytes = Vec::new();
    }

    /// The stamp of the next line; `None` at the end of the file.
    fn peek(&mut self, assembler: &mut Assembler<'_>, file: usize) -> std::io::Result<Option<i64>> {
        while self.next >= self.parsed.lines.len() {
            let mut bytes = std::mem::take(&mut self.bytes);
            let ended = fill(&mut self.source, self.cell, &mut bytes)?;
            if bytes.is_empty() && ended {
                return Ok(None);
            }
            (self.bytes, self.cell) = (bytes, self.cell + 1);
            self.parse();
        }
        if self.next == 0 {
            self.map.clear();
            assembler.map_texts(self.parsed.texts.added(), &mut self.map);
        }
        Ok(Some(assembler.stamp(assembler.first_file() + file as u32, &self.parsed.lines[self.next])))
    }

    fn take(&mut self, assembler: &mut Assembler<'_>, file: usize, stamp_ns: i64) {
        let line = &self.parsed.lines[self.next];
        let (mut line, extra) = in_trace(line, self.parsed.extra(line), &self.map);
        self.line = self.line.saturating_add(1);
        self.next += 1;
        if line.tid == NO_ID {
            line.tid = self.tid;
        }
        let stamp_ns = if line.stamp_ns == NO_NS { NO_NS } else { stamp_ns };
        let at = Place { file: assembler.first_file() + file as u32, line: self.line };
        assembler.line(&line, extra, stamp_ns, at);
    }
}

/// The lines of a cell; whether the source ends with them.
fn fill(source: &mut Source, cell: usize, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    match source {
        Source::File(file) => {
            if cell < file.cells() {
                file.read_cell(cell, bytes)?;
            } else {
                bytes.clear();
            }
            Ok(cell + 1 >= file.cells())
        }
        Source::Stream(stream) => match stream.next_chunk()? {
            Some(chunk) => {
                *bytes = chunk.bytes;
                Ok(chunk.last)
            }
            None => {
                bytes.clear();
                Ok(true)
            }
        },
    }
}
