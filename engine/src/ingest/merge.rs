//! Files that belong together (`strace -ff`): one trace, in the order of their stamps.
//!
//! Each file is in order. The next line comes from the file with the earliest next line. Lines without a stamp follow
//! the line before them directly. If stamps are not related to wall time, one file follows the other. With many files,
//! little is read ahead, and no file stays open.

mod order;

use crate::ingest::assemble::{Assembler, LinePlace};
use crate::ingest::capture::{Progress, ReadError, in_trace, new_capture, reader_for, unreadable};
use crate::ingest::merge::order::{Next, Order};
use crate::parallel;
use crate::store::trace::Trace;
use parsers::input::{self, CHUNK_BYTES, Seekable, Stream};
use parsers::{Clock, Extra, Format, Head, LineReader, NO_ID, NO_NS, Parsed, Text};
use std::io;
use std::path::{Path, PathBuf};

/// Text read ahead of all files together, and at least of one.
const AHEAD_BYTES: usize = 64 << 20;
const MIN_AHEAD_BYTES: usize = 16 << 10;
/// As much of a file as is looked at to recognise it: a tracer wrote all of them in the same way, and there may be thousands.
const HEAD_BYTES: usize = MIN_AHEAD_BYTES;

/// So many files are looked at for the format, if there are more and these agree.
const SAMPLED_FILES: usize = 64;

/// What a file is read from.
enum MergeSource {
    /// Opened anew for each cell: there may be more files than can be open at a time.
    Plain {
        path: PathBuf,
        cell: usize,
        cells: usize,
        cell_bytes: u64,
    },
    Stream(Stream),
}

/// Where a file is read at.
struct Cursor {
    reader: Box<dyn LineReader>,
    source: MergeSource,
    bytes: Vec<u8>,
    parsed: Parsed,
    map: Vec<Text>,
    next: usize,
    line: u32,
    read_bytes: u64,
    /// The thread in the file's name.
    tid: i32,
    last_byte: u8,
    /// Whether the last line that was taken seems to be whole.
    ends_whole: bool,
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
    let (name, cursors) = opened(paths, format)?;
    let read: Vec<String> = cursors.iter().map(|(path, _)| path.clone()).collect();
    let mut cursors: Vec<Cursor> = cursors.into_iter().map(|(_, cursor)| cursor).collect();
    let Some(first) = cursors.first() else { return Ok(()) };
    let mut capture = new_capture(trace, &read, name, first.reader.as_ref());
    let is_named = cursors.iter().all(|cursor| cursor.tid != NO_ID);
    // One counter covers all files of a run, so the differences of one file cannot be summed. Those of all files can,
    // if durations and names show which file has the next line.
    let counts_differences = capture.facts.clock == Clock::SincePrevious && cursors.len() > 1;
    capture.is_order_inferred = counts_differences && is_named && capture.facts.has_durations;
    if counts_differences && !capture.is_order_inferred {
        capture.facts.clock = Clock::None;
    }
    if is_named {
        (capture.facts.has_ids, capture.facts.ids_optional) = (true, false);
    }
    let mut assembler = Assembler::new(trace, capture);
    merged(&mut assembler, &mut cursors, progress).map_err(|(file, error)| unreadable(&read[file])(error))?;
    let cut = cursors.iter().any(Cursor::is_cut);
    assembler.finish(cut, cursors.iter().map(|cursor| cursor.read_bytes).sum());
    Ok(())
}

/// Name of the format, and the files with their paths.
type Opened = (&'static str, Vec<(String, Cursor)>);

/// The files that have something in them, and the format of most that are recognised.
fn opened(paths: &[String], format: Option<&'static dyn Format>) -> Result<Opened, ReadError> {
    let ahead_bytes = (AHEAD_BYTES / paths.len().max(1)).clamp(MIN_AHEAD_BYTES, CHUNK_BYTES);
    let format = format.or_else(|| format_of_most(paths));
    let (mut recognised, mut strange) = (Vec::new(), Vec::new());
    // What is read ahead of each file is read here; of most files that is all.
    let opened: Vec<_> = parallel::map(paths, |path| Cursor::open(path, format, ahead_bytes));
    for (number, opened) in opened.into_iter().enumerate() {
        match opened {
            Ok((format, cursor)) => recognised.push((format, number, cursor)),
            // A thread that was killed before its first call leaves an empty file.
            Err(ReadError::Empty { .. }) if paths.len() > 1 => {}
            Err(error @ ReadError::Unrecognised { .. }) => strange.push((number, error)),
            Err(error) => return Err(error),
        }
    }
    let Some(name) = most_common(recognised.iter().map(|(format, ..)| *format)) else {
        let empty = || ReadError::Empty { path: paths.first().cloned().unwrap_or_default() };
        return Err(strange.into_iter().next().map_or_else(empty, |(_, error)| error));
    };
    // One line of a thread may be too little to be recognised, or look like that of a log, but its run is known by the
    // other files.
    let (own, others): (Vec<_>, Vec<_>) = recognised.into_iter().partition(|(format, ..)| *format == name);
    let mut cursors: Vec<(usize, Cursor)> = own.into_iter().map(|(_, number, cursor)| (number, cursor)).collect();
    let others = others.into_iter().map(|(_, number, _)| number);
    for number in strange.into_iter().map(|(number, _)| number).chain(others) {
        let (_, cursor) = Cursor::open(&paths[number], parsers::by_name(name), ahead_bytes)?;
        cursors.push((number, cursor));
    }
    cursors.sort_by_key(|&(number, _)| number);
    Ok((name, cursors.into_iter().map(|(number, cursor)| (paths[number].clone(), cursor)).collect()))
}

/// The format of files, if they are many and all that are sampled have it: nobody mixes formats in thousands of files, and to
/// try all formats takes as long as to read a short file.
fn format_of_most(paths: &[String]) -> Option<&'static dyn Format> {
    if paths.len() <= SAMPLED_FILES {
        return None;
    }
    let sampled: Vec<&String> = paths.iter().step_by(paths.len().div_ceil(SAMPLED_FILES)).collect();
    let formats = parallel::map(&sampled, |path| format_of(path).ok().flatten());
    let first = formats.iter().flatten().next()?;
    let agree = formats.iter().all(|format| format.is_none_or(|format| format == *first));
    parsers::by_name(first).filter(|_| agree)
}

/// The most frequent name; in a tie, the first one.
fn most_common<'name>(names: impl Iterator<Item = &'name str> + Clone) -> Option<&'name str> {
    let count = |name: &str| names.clone().filter(|other| *other == name).count();
    let mut seen: Vec<&str> = Vec::new();
    names.clone().for_each(|name| {
        if !seen.contains(&name) {
            seen.push(name)
        }
    });
    seen.into_iter().rev().max_by_key(|name| count(name))
}

/// Whether files are parts of one capture: lines of `strace -ff` bear no id, as the file's name does.
///
/// Files that cannot be read are reported later, when they are read.
pub fn are_parts(paths: &[String]) -> bool {
    let first = paths.iter().find_map(|path| match Cursor::open(path, None, MIN_AHEAD_BYTES) {
        Err(ReadError::Empty { .. }) => None,
        opened => Some(opened),
    });
    !matches!(first, Some(Ok((_, cursor))) if cursor.reader.facts().has_ids && !cursor.reader.facts().ids_optional)
}

/// The format of a file by its first lines; `None` if no format fits or the file is empty.
///
/// # Errors
/// If the file cannot be read.
pub fn format_of(path: &str) -> Result<Option<&'static str>, ReadError> {
    match Cursor::open(path, None, MIN_AHEAD_BYTES) {
        Ok((name, _)) => Ok(Some(name)),
        Err(ReadError::Empty { .. } | ReadError::Unrecognised { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

type FileError = (usize, std::io::Error);

fn merged(assembler: &mut Assembler<'_>, cursors: &mut [Cursor], progress: Progress<'_>) -> Result<(), FileError> {
    let tids: Vec<i32> = cursors.iter().map(|cursor| cursor.tid).collect();
    let mut order = Order::new(&tids, assembler.counts_differences());
    for (file, cursor) in cursors.iter_mut().enumerate() {
        let next = cursor.peek(assembler, file).map_err(|error| (file, error))?;
        order.put(file, next, NO_NS);
    }
    let mut steps = 0u64;
    while let Some((file, stamp_ns)) = order.next_file() {
        let cursor = &mut cursors[file];
        cursor.take(assembler, file, stamp_ns, &mut order);
        let next = cursor.peek(assembler, file).map_err(|error| (file, error))?;
        order.put(file, next, stamp_ns);
        steps += 1;
        if steps.is_multiple_of(1 << 16) {
            progress(cursors.iter().map(|cursor| cursor.read_bytes).sum(), 0);
        }
    }
    Ok(())
}

/// The whole lines at the beginning that fit into [`HEAD_BYTES`]; the first one may be longer.
fn first_lines(bytes: &[u8]) -> &[u8] {
    let within = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    let end = memchr::memrchr(b'\n', within).or_else(|| memchr::memchr(b'\n', bytes));
    if within.len() == bytes.len() { bytes } else { end.map_or(bytes, |end| &bytes[..=end]) }
}

impl Cursor {
    fn open(
        path: &str,
        format: Option<&'static dyn Format>,
        ahead_bytes: usize,
    ) -> Result<(&'static str, Cursor), ReadError> {
        let mut source = MergeSource::open(path, ahead_bytes as u64).map_err(unreadable(path))?;
        let mut bytes = Vec::new();
        let complete = source.fill(&mut bytes).map_err(unreadable(path))?;
        let head = first_lines(&bytes);
        let complete = complete && head.len() == bytes.len();
        let (name, reader) = reader_for(path, Head { bytes: head, complete }, format)?;
        let tid =
            path.rsplit('.').next().and_then(|end| end.parse().ok()).filter(|&tid: &i32| tid > 0).unwrap_or(NO_ID);
        let mut cursor = Cursor {
            reader,
            source,
            bytes,
            parsed: Parsed::of_capture(name),
            map: Vec::new(),
            next: 0,
            line: 0,
            read_bytes: 0,
            tid,
            last_byte: b'\n',
            ends_whole: true,
        };
        cursor.parse();
        Ok((name, cursor))
    }

    fn is_cut(&self) -> bool {
        (self.last_byte != b'\n' && !self.ends_whole)
            || matches!(&self.source, MergeSource::Stream(stream) if stream.is_cut())
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

    /// What the next line is; `None` at the end of the file.
    fn peek(&mut self, assembler: &mut Assembler<'_>, file: usize) -> io::Result<Option<Next>> {
        while self.next >= self.parsed.lines.len() {
            let mut bytes = std::mem::take(&mut self.bytes);
            let ended = self.source.fill(&mut bytes)?;
            if bytes.is_empty() && ended {
                return Ok(None);
            }
            self.bytes = bytes;
            self.parse();
        }
        if self.next == 0 {
            self.map.clear();
            assembler.map_texts(self.parsed.texts.added(), &mut self.map);
        }
        let line = &self.parsed.lines[self.next];
        let stamp_ns = match assembler.counts_differences() {
            true => line.stamp_ns,
            false => assembler.stamp(assembler.first_file() + file as u32, line),
        };
        let behind = match self.parsed.extra(line) {
            Some(Extra::Superseded { by }) => Some(*by),
            _ => None,
        };
        Ok(Some(Next { stamp_ns, behind }))
    }

    fn take(&mut self, assembler: &mut Assembler<'_>, file: usize, stamp_ns: i64, order: &mut Order) {
        let line = &self.parsed.lines[self.next];
        let (mut line, extra) = in_trace(line, self.parsed.extra(line), &self.map);
        self.line = self.line.saturating_add(1);
        self.next += 1;
        if line.tid == NO_ID {
            line.tid = self.tid;
        }
        let stamp_ns = if line.stamp_ns == NO_NS { NO_NS } else { stamp_ns };
        let at = LinePlace { file: assembler.first_file() + file as u32, line: self.line };
        order.took(file, &line, extra.as_ref(), stamp_ns);
        self.ends_whole = assembler.is_whole(&line, extra.as_ref());
        assembler.line(&line, extra, stamp_ns, at);
    }
}

impl MergeSource {
    fn open(path: &str, cell_bytes: u64) -> io::Result<MergeSource> {
        Ok(match input::open(Path::new(path))? {
            input::Source::File(file) if path != "-" => {
                let cells = file.with_cell_bytes(cell_bytes).cells();
                MergeSource::Plain { path: PathBuf::from(path), cell: 0, cells, cell_bytes }
            }
            input::Source::File(file) => MergeSource::Stream(file.into_stream()?),
            input::Source::Stream(stream) => MergeSource::Stream(stream),
        })
    }

    /// The next lines; whether it ends with them.
    fn fill(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
        match self {
            MergeSource::Plain { path, cell, cells, cell_bytes } => {
                bytes.clear();
                if *cell < *cells {
                    Seekable::open(path)?.with_cell_bytes(*cell_bytes).read_cell(*cell, bytes)?;
                }
                *cell += 1;
                Ok(*cell >= *cells)
            }
            MergeSource::Stream(stream) => {
                let chunk = stream.next_chunk()?;
                let ends = chunk.as_ref().is_none_or(|chunk| chunk.last);
                *bytes = chunk.map_or_else(Vec::new, |chunk| chunk.bytes);
                Ok(ends)
            }
        }
    }
}
