//! Captures to a trace: cells of a file are read on all cores, and put together in order while the next ones are read.
//!
//! ```text
//! cells of the file   |0|1|2|3|4|5|6|7|…      read on all cores: bytes → lines, texts as each core numbers them
//! trace               |0|1|2|3|…              assembled, one line after the other: halves joined, ids to tasks
//! ```
//! So the result does not depend on the number of threads. Who does what when, see `relay.rs`.

use crate::ingest::assemble::Assembler;
use crate::ingest::capture::{Progress, ReadError, in_trace, new_capture, reader_for, unreadable};
use crate::ingest::clock::bounded_ns;
use crate::ingest::merge;
use crate::ingest::pipeline::{PipelineSteps, run_pipeline};
use crate::store::file_chunks::FileChunks;
use crate::store::recent_lines::LinePlace;
use crate::store::scratch::Scratch;
use crate::store::trace::{RecordedFacts, Trace};
use parsers::input::{self, Seekable, Source, Stream};
use parsers::{
    CachedLines, ChunkLines, Content, Extra, Format, Head, Line, LineReader, LineRef, Parsed, Text,
};
use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(test)]
mod tests;

/// As much of a capture as is looked at to recognise it.
const HEAD_BYTES: usize = 1 << 18;
/// The same if its first line is longer. A line may contain all that a program writes at once.
const LONG_HEAD_BYTES: usize = 1 << 29;
/// Longer lines are recognised by both ends.
const LONG_LINE_BYTES: usize = 1 << 16;
/// Size of a cell: its text and its lines fit into the cache of a core.
const CELL_BYTES: u64 = 1 << 17;
/// Number of bytes between two reports of progress.
const PROGRESS_BYTES: u64 = 1 << 22;

/// Read captures, each a list of files that belong together.
///
/// # Errors
/// See [`ReadError`]. A bad line is never an error.
pub fn read(
    captures: &[Vec<String>],
    format: Option<&str>,
    progress: Progress<'_>,
) -> Result<Trace, ReadError> {
    read_recorded(captures, &[], format, progress)
}

/// The same, with what the programs that made the captures stored about them: `None` for a capture made otherwise.
///
/// # Errors
/// See [`ReadError`].
pub fn read_recorded(
    captures: &[Vec<String>],
    recorded: &[Option<RecordedFacts>],
    format: Option<&str>,
    progress: Progress<'_>,
) -> Result<Trace, ReadError> {
    let mut trace = Trace::default();
    read_into(&mut trace, captures, recorded, format, progress)?;
    trace.index();
    Ok(trace)
}

/// Read captures for their rows only, with nearly all rows in an unnamed temporary file in this folder. No question
/// can be asked about the trace: it has the rows, the tasks and the captures.
///
/// # Errors
/// See [`ReadError`]; also if the rows cannot be written to the folder.
pub fn read_rows(
    captures: &[Vec<String>],
    recorded: &[Option<RecordedFacts>],
    format: Option<&str>,
    folder: &str,
    progress: Progress<'_>,
) -> Result<(Trace, Arc<Scratch>), ReadError> {
    let scratch = Scratch::new(Path::new(folder)).map_err(unreadable(folder))?;
    let mut trace = Trace::default();
    trace.events.keep_rows_in(&scratch);
    read_into(&mut trace, captures, recorded, format, progress)?;
    trace.order_rows_only();
    match scratch.failed() {
        Some(error) => Err(unreadable(folder)(error)),
        None => Ok((trace, scratch)),
    }
}

fn read_into(
    trace: &mut Trace,
    captures: &[Vec<String>],
    recorded: &[Option<RecordedFacts>],
    format: Option<&str>,
    progress: Progress<'_>,
) -> Result<(), ReadError> {
    let format = format.map(known_format).transpose()?;
    // An earlier capture may have been too large.
    spill::forget_failure();
    for (number, files) in captures.iter().enumerate() {
        match files.as_slice() {
            [] => {}
            [path] => {
                let recorded = recorded.get(number).cloned().flatten();
                one_file(trace, path, format, recorded, progress)?;
            }
            files => merge::files(trace, files, format, progress)?,
        }
    }
    spill::failure().map_or(Ok(()), |failure| Err(ReadError::NoRoom(failure)))
}

fn known_format(name: &str) -> Result<&'static dyn Format, ReadError> {
    parsers::by_name(name).ok_or_else(|| ReadError::UnknownFormat {
        name: name.to_owned(),
        known: parsers::FORMATS
            .iter()
            .map(|format| format.name())
            .collect(),
    })
}

/// The part of a capture that is inspected for its format: at least one whole line, unless that is far too long. The middle
/// of long lines, which is data that a program wrote, is left out.
fn head_of(bytes: &[u8]) -> Cow<'_, [u8]> {
    let first_line = memchr::memchr(b'\n', bytes.get(..LONG_HEAD_BYTES).unwrap_or(bytes));
    let whole = first_line.map_or(LONG_HEAD_BYTES, |lf| lf + 1);
    let head = &bytes[..bytes.len().min(whole.max(HEAD_BYTES))];
    if head
        .split(|&byte| byte == b'\n')
        .all(|line| line.len() <= LONG_LINE_BYTES)
    {
        return Cow::Borrowed(head);
    }
    let mut short = Vec::new();
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        match line.len() > LONG_LINE_BYTES {
            true => short.extend(
                [
                    &line[..LONG_LINE_BYTES / 2],
                    &line[line.len() - LONG_LINE_BYTES / 2..],
                ]
                .concat(),
            ),
            false => short.extend_from_slice(line),
        }
    }
    Cow::Owned(short)
}

/// `record` runs no other tracer.
fn tracer_of(recorded: Option<&RecordedFacts>) -> Option<&'static dyn Format> {
    recorded.and_then(|_| parsers::by_name("strace"))
}

fn one_file(
    trace: &mut Trace,
    path: &str,
    format: Option<&'static dyn Format>,
    recorded: Option<RecordedFacts>,
    progress: Progress<'_>,
) -> Result<(), ReadError> {
    match input::open(Path::new(path)).map_err(unreadable(path))? {
        Source::File(file) => from_cells(trace, path, file, format, recorded, progress),
        Source::Stream(stream) => from_stream(trace, path, stream, format, recorded, progress),
    }
}

/// A cell, read.
#[derive(Default)]
struct ParsedChunk {
    number: usize,
    bytes: Vec<u8>,
    lines: ChunkLines,
    /// Who read it: its texts have that one's numbers.
    worker: usize,
    failed: Option<io::Error>,
}

fn from_cells(
    trace: &mut Trace,
    path: &str,
    file: Seekable,
    format: Option<&'static dyn Format>,
    recorded: Option<RecordedFacts>,
    progress: Progress<'_>,
) -> Result<(), ReadError> {
    // Not the first cell: a line may be as long as the file.
    let first = file
        .beginning(HEAD_BYTES, LONG_HEAD_BYTES)
        .map_err(unreadable(path))?;
    let complete = first.len() as u64 >= file.len();
    let (name, reader) = reader_for(
        path,
        Head {
            bytes: &head_of(&first),
            complete,
        },
        format,
        tracer_of(recorded.as_ref()),
    )?;
    drop(first);
    let capture = new_capture(trace, &[path.to_owned()], name, reader.as_ref(), recorded);
    let run = Run::new(Assembler::new(trace, capture));
    run.file(
        path,
        reader.as_ref(),
        &file.with_cell_bytes(CELL_BYTES),
        progress,
    )
}

fn from_stream(
    trace: &mut Trace,
    path: &str,
    mut stream: Stream,
    format: Option<&'static dyn Format>,
    recorded: Option<RecordedFacts>,
    progress: Progress<'_>,
) -> Result<(), ReadError> {
    let mut first = stream.next_chunk().map_err(unreadable(path))?;
    let complete = first.as_ref().is_none_or(|chunk| chunk.last);
    let bytes = first.as_ref().map_or(&b""[..], |chunk| &chunk.bytes);
    let head = head_of(bytes);
    let (name, reader) = reader_for(
        path,
        Head {
            bytes: &head,
            complete,
        },
        format,
        tracer_of(recorded.as_ref()),
    )?;
    let mut capture = new_capture(trace, &[path.to_owned()], name, reader.as_ref(), recorded);
    if first.as_ref().is_some_and(|chunk| chunk.was_folded) {
        capture.envelopes.names.push("folds");
    }
    let mut run = Run::new(Assembler::new(trace, capture));
    let claim = |cell: &mut ParsedChunk| match first
        .take()
        .map_or_else(|| stream.next_chunk(), |chunk| Ok(Some(chunk)))
    {
        Ok(chunk) => chunk.map(|chunk| cell.bytes = chunk.bytes).is_some(),
        Err(error) => {
            cell.bytes.clear();
            cell.failed = Some(error);
            true
        }
    };
    run.all(reader.as_ref(), claim, |_| (), &mut |bytes| {
        progress(bytes, 0)
    });
    let cut = stream.is_cut();
    run.finish(path, cut)
}

/// What numbers of a worker mean.
#[derive(Default)]
struct Known {
    /// Texts of the trace by the worker's numbers.
    texts: Vec<Text>,
    /// Bodies with the texts of the trace.
    cached: CachedLines,
}

impl Known {
    /// A line with the texts of the trace.
    fn line(&self, lines: &ChunkLines, line_ref: &LineRef) -> (Line, Option<Extra>) {
        match line_ref.content {
            Content::Cached(body) => {
                let (line, extra) = self.cached.line(line_ref, body);
                (
                    Line {
                        dur_ns: bounded_ns(line.dur_ns),
                        ..line
                    },
                    extra.cloned(),
                )
            }
            Content::Own(at) => {
                let line = &lines.own[at as usize];
                in_trace(line, lines.extra(line), &self.texts)
            }
        }
    }
}

/// Assembling, cell by cell.
struct Run<'trace> {
    assembler: Assembler<'trace>,
    /// What is known of the texts and bodies of each worker.
    known: Vec<Known>,
    line: u32,
    /// The lines before each cell.
    lines_before: Vec<u32>,
    bytes: u64,
    /// Where the tracer's present run begins.
    run_start: u64,
    last_byte: u8,
    /// Whether the last line seems to be whole, even if no line feed follows it.
    ends_whole: bool,
    failed: Option<io::Error>,
}

impl<'trace> Run<'trace> {
    fn new(assembler: Assembler<'trace>) -> Run<'trace> {
        let (known, lines_before) = (Vec::new(), Vec::new());
        Run {
            assembler,
            known,
            line: 0,
            lines_before,
            bytes: 0,
            run_start: 0,
            last_byte: b'\n',
            ends_whole: true,
            failed: None,
        }
    }

    /// Take in a file.
    fn file(
        mut self,
        path: &str,
        reader: &dyn LineReader,
        file: &Seekable,
        progress: Progress<'_>,
    ) -> Result<(), ReadError> {
        let mut numbers = 0..file.cells();
        let claim = |cell: &mut ParsedChunk| {
            numbers
                .next()
                .inspect(|&number| cell.number = number)
                .is_some()
        };
        let load = |cell: &mut ParsedChunk| {
            cell.failed = file.read_cell(cell.number, &mut cell.bytes).err()
        };
        self.all(reader, claim, load, &mut |bytes| {
            progress(bytes, file.len())
        });
        let lines_before = std::mem::take(&mut self.lines_before);
        self.assembler.keep_cells(
            path,
            FileChunks {
                cell_bytes: file.cell_bytes(),
                lines_before,
            },
        );
        self.finish(path, false)
    }

    /// Process all cells that can be claimed, each loaded and read by some core, and report their number of bytes.
    fn all(
        &mut self,
        reader: &dyn LineReader,
        mut claim: impl FnMut(&mut ParsedChunk) -> bool + Send,
        load: impl Fn(&mut ParsedChunk) + Sync,
        report: &mut dyn FnMut(u64),
    ) {
        // Each core remembers the bodies that it has read.
        let mut memories = Vec::new();
        memories.resize_with(rayon::current_num_threads(), || {
            Parsed::of_capture(self.assembler.format())
        });
        let (done, mut reported) = (AtomicU64::new(0), 0);
        let steps = PipelineSteps {
            claim: |cell: &mut ParsedChunk| spill::failure().is_none() && claim(cell),
            read: |worker, parsed: &mut Parsed, cell: &mut ParsedChunk| {
                load(cell);
                cell.worker = worker;
                parsed.read_next(reader, &cell.bytes, &mut cell.lines);
            },
            take: |cell: &ParsedChunk| {
                self.cell(cell);
                done.store(self.bytes, Ordering::Relaxed);
            },
            watch: || {
                let bytes = done.load(Ordering::Relaxed);
                if bytes >= reported + PROGRESS_BYTES {
                    reported = bytes;
                    report(bytes);
                }
            },
        };
        run_pipeline(&mut memories, steps);
        report(self.bytes);
    }

    fn cell(&mut self, cell: &ParsedChunk) {
        if let Some(error) = &cell.failed {
            self.failed
                .get_or_insert_with(|| io::Error::new(error.kind(), error.to_string()));
        }
        self.lines_before.push(self.line);
        self.last_byte = cell.bytes.last().copied().unwrap_or(self.last_byte);
        if cell.worker >= self.known.len() {
            self.known.resize_with(cell.worker + 1, Known::default);
        }
        let known = &mut self.known[cell.worker];
        if cell.lines.texts.afresh {
            known.texts.clear();
        }
        self.assembler
            .map_texts(cell.lines.texts.iter(), &mut known.texts);
        known.cached.add_chunk(&cell.lines, |line, extra| {
            in_trace(line, extra, &known.texts)
        });
        self.assembler
            .set_reader(cell.worker, cell.lines.cache_cleared);
        // Lines and bytes of the cell before the last run that begins in it: each byte is counted once.
        let (mut lines, mut bytes) = (0, 0);
        let mut rest = cell.lines.refs.as_slice();
        loop {
            let before = LinePlace {
                file: self.assembler.first_file(),
                line: self.line,
            };
            let plain = self.assembler.fast_path_lines(rest, before);
            self.line = self.line.saturating_add(plain as u32);
            let Some((line_ref, others)) = rest[plain..].split_first() else {
                break;
            };
            self.line = self.line.saturating_add(1);
            let number = cell.lines.refs.len() - others.len() - 1;
            rest = others;
            let (line, extra) = known.line(&cell.lines, line_ref);
            if self.assembler.begins_run(&line, extra.as_ref()) {
                bytes += bytes_of_lines(cell.bytes.get(bytes..).unwrap_or(b""), number - lines);
                lines = number;
                let before = self.bytes + bytes as u64;
                self.assembler
                    .next_run(extra.as_ref(), self.line, before - self.run_start);
                self.run_start = before;
            }
            let at = LinePlace {
                file: self.assembler.first_file(),
                line: self.line,
            };
            let stamp_ns = self.assembler.stamp(at.file, &line);
            self.assembler.line(&line, extra, stamp_ns, at);
        }
        if let Some(last) = cell.lines.refs.last() {
            let (line, extra) = known.line(&cell.lines, last);
            self.ends_whole = self.assembler.is_whole(&line, extra.as_ref());
            self.assembler.ends_with(&line);
        }
        self.bytes += cell.bytes.len() as u64;
    }

    fn finish(self, path: &str, cut: bool) -> Result<(), ReadError> {
        if let Some(error) = self.failed {
            return Err(unreadable(path)(error));
        }
        if let Some(failure) = spill::failure() {
            return Err(ReadError::NoRoom(failure));
        }
        if !self.assembler.has_understood() && !self.assembler.may_be_empty() {
            return Err(ReadError::Unrecognised {
                path: path.to_owned(),
                tried: vec![self.assembler.format()],
            });
        }
        self.assembler.finish(
            cut || (self.last_byte != b'\n' && !self.ends_whole),
            self.bytes - self.run_start,
        );
        Ok(())
    }
}

/// Length of the first lines of a text.
fn bytes_of_lines(text: &[u8], lines: usize) -> usize {
    let last = lines
        .checked_sub(1)
        .and_then(|last| memchr::memchr_iter(b'\n', text).nth(last));
    last.map_or(0, |lf| lf + 1)
}
