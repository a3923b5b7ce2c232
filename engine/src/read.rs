//! Captures to a trace: cells of a file are read on all cores, and put together in order while the next ones are read.
//!
//! ```text
//! cells of the file   |0|1|2|3|4|5|6|7|…      each: bytes → lines, texts numbered within the cell
//! batch n+1           on all cores, at the same time as
//! batch n             assembled, one line after the other: halves joined, ids to tasks
//! ```
//! So the result does not depend on the number of threads.

use crate::assemble::{Assembler, Place};
use crate::clock::bounded_ns;
use crate::merge;
use crate::trace::{Capture, Trace};
use parsers::input::{self, Seekable, Source, Stream};
use parsers::line::Ended;
use parsers::{Extra, Format, Head, Kind, Line, LineReader, Lines, NO_NS, Parsed, Text};
use rayon::prelude::*;
use std::io;
use std::path::Path;
use std::sync::Mutex;

/// Why a capture cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// The file cannot be opened or read.
    Unreadable {
        /// As the user named it.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// No format fits.
    Unrecognised {
        /// As the user named it.
        path: String,
        /// The formats that were tried.
        tried: Vec<&'static str>,
    },
    /// Nothing but blanks in it.
    Empty {
        /// As the user named it.
        path: String,
    },
    /// The user asked for a format that does not exist.
    UnknownFormat {
        /// The name.
        name: String,
        /// Those that do.
        known: Vec<&'static str>,
    },
}

/// Told now and then: bytes read, and bytes in all, 0 if unknown.
pub type Progress<'a> = &'a mut (dyn FnMut(u64, u64) + Send);

/// As much of a capture as is looked at to recognise it.
const HEAD_BYTES: usize = 1 << 18;

/// Read captures, each a list of files that belong together.
///
/// # Errors
/// See [`ReadError`]. A bad line is never an error.
pub fn read(captures: &[Vec<String>], format: Option<&str>, progress: Progress<'_>) -> Result<Trace, ReadError> {
    let format = format.map(known_format).transpose()?;
    let mut trace = Trace::default();
    for files in captures {
        match files.as_slice() {
            [] => {}
            [path] => one_file(&mut trace, path, format, progress)?,
            files => merge::files(&mut trace, files, format, progress)?,
        }
    }
    trace.index();
    Ok(trace)
}

fn known_format(name: &str) -> Result<&'static dyn Format, ReadError> {
    parsers::by_name(name).ok_or_else(|| ReadError::UnknownFormat {
        name: name.to_owned(),
        known: parsers::FORMATS.iter().map(|format| format.name()).collect(),
    })
}

/// An error of the system, with the path it is about.
pub(crate) fn unreadable(path: &str) -> impl Fn(io::Error) -> ReadError + '_ {
    move |source| ReadError::Unreadable { path: path.to_owned(), source }
}

/// The format of a capture that begins with this text, and its reader.
pub(crate) fn reader_for(
    path: &str,
    head: Head<'_>,
    format: Option<&'static dyn Format>,
) -> Result<(&'static str, Box<dyn LineReader>), ReadError> {
    if head.complete && head.bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ReadError::Empty { path: path.to_owned() });
    }
    let plain = parsers::without_quotes(head.bytes);
    let head = Head { bytes: plain.as_deref().unwrap_or(head.bytes), ..head };
    let tried = || parsers::FORMATS.iter().map(|format| format.name()).collect();
    let format = format
        .or_else(|| parsers::recognise(head))
        .ok_or_else(|| ReadError::Unrecognised { path: path.to_owned(), tried: tried() })?;
    let reader = format.reader(head);
    Ok((format.name(), if plain.is_some() { parsers::quoted(reader) } else { reader }))
}

/// A capture of which nothing is read yet.
pub(crate) fn new_capture(trace: &Trace, files: &[String], format: &'static str, reader: &dyn LineReader) -> Capture {
    let tasks = trace.tasks.len() as u32;
    let rows = trace.events.len();
    Capture {
        path: files.first().cloned().unwrap_or_default(),
        files: files.to_vec(),
        run: 1,
        runs: 1,
        first_line: 1,
        first_file: trace.captures.iter().map(|capture| capture.files.len() as u32).sum(),
        format,
        facts: reader.facts(),
        bytes: 0,
        accounting: vec![0; Kind::ALL.len()],
        first_lines: vec![0; Kind::ALL.len()],
        lost_events: 0,
        tasks: tasks..tasks,
        rows: rows..rows,
        first_ns: NO_NS,
        last_ns: NO_NS,
        cut: false,
        backward_steps: 0,
        unseen_children: 0,
        is_order_inferred: false,
        summary: Vec::new(),
    }
}

fn one_file(
    trace: &mut Trace,
    path: &str,
    format: Option<&'static dyn Format>,
    progress: Progress<'_>,
) -> Result<(), ReadError> {
    match input::open(Path::new(path)).map_err(unreadable(path))? {
        Source::File(file) => from_cells(trace, path, &file, format, progress),
        Source::Stream(stream) => from_stream(trace, path, stream, format, progress),
    }
}

/// A cell, read.
#[derive(Default)]
struct Cell {
    bytes: Vec<u8>,
    lines: Lines,
    /// Who read it: its texts have that one's numbers.
    worker: usize,
    failed: Option<io::Error>,
}

fn batch_size() -> usize {
    rayon::current_num_threads() * 4
}

/// Those who read cells, each remembering what it read before.
struct Workers<'reader> {
    reader: &'reader dyn LineReader,
    memories: Vec<Parsed>,
}

impl<'reader> Workers<'reader> {
    fn new(reader: &'reader dyn LineReader) -> Workers<'reader> {
        let mut memories = Vec::new();
        memories.resize_with(rayon::current_num_threads(), Parsed::default);
        Workers { reader, memories }
    }

    /// Read cells on all cores. Each worker takes the next one that is left, so its own come in order.
    fn read(&mut self, cells: &mut [Cell], load: impl Fn(usize, &mut Vec<u8>) -> io::Result<()> + Sync) {
        let (left, reader) = (Mutex::new(cells.iter_mut().enumerate()), self.reader);
        let next = || left.lock().ok().and_then(|mut left| left.next());
        self.memories.par_iter_mut().enumerate().with_max_len(1).for_each(|(worker, parsed)| {
            while let Some((at, cell)) = next() {
                cell.failed = load(at, &mut cell.bytes).err();
                cell.worker = worker;
                parsed.read_on(reader, &cell.bytes, &mut cell.lines);
            }
        });
    }
}

fn from_cells(
    trace: &mut Trace,
    path: &str,
    file: &Seekable,
    format: Option<&'static dyn Format>,
    progress: Progress<'_>,
) -> Result<(), ReadError> {
    let mut first = Vec::new();
    file.read_cell(0, &mut first).map_err(unreadable(path))?;
    let head = &first[..first.len().min(HEAD_BYTES)];
    let (name, reader) = reader_for(path, Head { bytes: head, complete: file.cells() <= 1 }, format)?;
    let capture = new_capture(trace, &[path.to_owned()], name, reader.as_ref());
    let mut run = Run::new(Assembler::new(trace, capture));
    let mut workers = Workers::new(reader.as_ref());
    let cells: Vec<usize> = (0..file.cells()).collect();
    let mut fill = |batch: &mut Vec<Cell>, numbers: &[usize]| {
        batch.resize_with(numbers.len(), Cell::default);
        workers.read(batch, |at, bytes| file.read_cell(numbers[at], bytes).map(|_| ()));
    };
    let (mut now, mut next) = (Vec::new(), Vec::new());
    for numbers in cells.chunks(batch_size()).map(Some).chain([None]) {
        rayon::join(|| fill(&mut next, numbers.unwrap_or(&[])), || run.batch(&now));
        std::mem::swap(&mut now, &mut next);
        progress(run.bytes, file.len());
    }
    run.finish(path, false)
}

fn from_stream(
    trace: &mut Trace,
    path: &str,
    mut stream: Stream,
    format: Option<&'static dyn Format>,
    progress: Progress<'_>,
) -> Result<(), ReadError> {
    let first = stream.next_chunk().map_err(unreadable(path))?;
    let complete = first.as_ref().is_none_or(|chunk| chunk.last);
    let first = first.map_or_else(Vec::new, |chunk| chunk.bytes);
    let head = &first[..first.len().min(HEAD_BYTES)];
    let (name, reader) = reader_for(path, Head { bytes: head, complete }, format)?;
    let capture = new_capture(trace, &[path.to_owned()], name, reader.as_ref());
    let mut run = Run::new(Assembler::new(trace, capture));
    let mut workers = Workers::new(reader.as_ref());
    let mut now = vec![Cell { bytes: first, ..Cell::default() }];
    workers.read(&mut now, |_, _| Ok(()));
    while !now.is_empty() {
        let mut fill = || -> io::Result<Vec<Cell>> {
            let mut cells = Vec::new();
            while cells.len() < batch_size() {
                let Some(chunk) = stream.next_chunk()? else { break };
                cells.push(Cell { bytes: chunk.bytes, ..Cell::default() });
            }
            workers.read(&mut cells, |_, _| Ok(()));
            Ok(cells)
        };
        let (next, ()) = rayon::join(&mut fill, || run.batch(&now));
        now = next.map_err(unreadable(path))?;
        progress(run.bytes, 0);
    }
    let cut = stream.is_cut();
    run.finish(path, cut)
}

/// Assembling, batch by batch.
struct Run<'trace> {
    assembler: Assembler<'trace>,
    /// The texts in the trace of those of each worker.
    maps: Vec<Vec<Text>>,
    line: u32,
    bytes: u64,
    /// Where the tracer's present run begins.
    run_start: u64,
    last_byte: u8,
    failed: Option<io::Error>,
}

impl<'trace> Run<'trace> {
    fn new(assembler: Assembler<'trace>) -> Run<'trace> {
        Run { assembler, maps: Vec::new(), line: 0, bytes: 0, run_start: 0, last_byte: b'\n', failed: None }
    }

    fn batch(&mut self, cells: &[Cell]) {
        for cell in cells {
            self.cell(cell);
        }
    }

    fn cell(&mut self, cell: &Cell) {
        if let Some(error) = &cell.failed {
            self.failed.get_or_insert_with(|| io::Error::new(error.kind(), error.to_string()));
        }
        self.last_byte = cell.bytes.last().copied().unwrap_or(self.last_byte);
        if cell.worker >= self.maps.len() {
            self.maps.resize(cell.worker + 1, Vec::new());
        }
        let map = &mut self.maps[cell.worker];
        if cell.lines.texts.afresh {
            map.clear();
        }
        self.assembler.map_texts(cell.lines.texts.iter(), map);
        self.assembler.hear(cell.worker, cell.lines.forgot);
        // Lines and bytes of the cell before the last run that begins in it: each byte is counted once.
        let (mut lines, mut bytes) = (0, 0);
        for (number, line) in cell.lines.list.iter().enumerate() {
            self.line = self.line.saturating_add(1);
            let extra = cell.lines.extra(line);
            if self.assembler.begins_run(line, extra) {
                bytes += bytes_of_lines(cell.bytes.get(bytes..).unwrap_or(b""), number - lines);
                lines = number;
                let before = self.bytes + bytes as u64;
                self.assembler.next_run(extra, self.line, before - self.run_start);
                self.run_start = before;
            }
            let file = self.assembler.first_file();
            let stamp_ns = self.assembler.stamp(file, line);
            let (line, extra) = in_trace(line, extra, map);
            self.assembler.line(&line, extra, stamp_ns, Place { file, line: self.line });
        }
        self.bytes += cell.bytes.len() as u64;
    }

    fn finish(self, path: &str, cut: bool) -> Result<(), ReadError> {
        if let Some(error) = self.failed {
            return Err(unreadable(path)(error));
        }
        if !self.assembler.has_understood() {
            return Err(ReadError::Unrecognised { path: path.to_owned(), tried: vec![self.assembler.format()] });
        }
        self.assembler.finish(cut || self.last_byte != b'\n', self.bytes - self.run_start);
        Ok(())
    }
}

/// Length of the first lines of a text.
fn bytes_of_lines(text: &[u8], lines: usize) -> usize {
    let last = lines.checked_sub(1).and_then(|last| memchr::memchr_iter(b'\n', text).nth(last));
    last.map_or(0, |lf| lf + 1)
}

/// A line and its extra with the texts of the trace.
pub(crate) fn in_trace(line: &Line, extra: Option<&Extra>, map: &[Text]) -> (Line, Option<Extra>) {
    let first = Text::first_free();
    let text = |text: Text| match text.0.checked_sub(first) {
        None => text,
        Some(at) => map.get(at as usize).copied().unwrap_or(Text::NONE),
    };
    let mapped = Line {
        dur_ns: bounded_ns(line.dur_ns),
        name: text(line.name),
        op: text(line.op),
        target: text(line.target),
        errno: text(line.errno),
        ..*line
    };
    let ended = |ended: &Ended| match *ended {
        Ended::Killed(signal) => Ended::Killed(text(signal)),
        exited => exited,
    };
    let extra = extra.map(|extra| match extra {
        Extra::Exec { path, argv } => Extra::Exec { path: text(*path), argv: text(*argv) },
        Extra::Waited { child, ended: how } => Extra::Waited { child: *child, ended: how.as_ref().map(ended) },
        Extra::Signal { from, ended: how } => Extra::Signal { from: *from, ended: how.as_ref().map(ended) },
        Extra::End(how) => Extra::End(ended(how)),
        Extra::GroupEnd(how) => Extra::GroupEnd(ended(how)),
        Extra::Program(name) => Extra::Program(text(*name)),
        Extra::Moved(address) => Extra::Moved(text(*address)),
        Extra::Made(path) => Extra::Made(text(*path)),
        other => other.clone(),
    });
    (mapped, extra)
}
