//! Files that belong together (`strace -ff`): one trace, in the order of their stamps.
//!
//! Each file is in order. The next line comes from the file with the earliest next line. Lines without a stamp follow
//! the line before them directly. If stamps are not related to wall time, one file follows the other. With many files,
//! little is read ahead, and no file stays open.

mod ahead;
mod cursor;
mod order;

use crate::ingest::assemble::Assembler;
use crate::ingest::capture::{Progress, ReadError, new_capture, reader_for, unreadable};
use crate::ingest::merge::ahead::{MergeFile, ReadAhead};
use crate::ingest::merge::cursor::{Cursor, Cursors, FirstLine, MergeSource};
use crate::ingest::merge::order::Order;
use crate::parallel;
use crate::store::trace::Trace;
use parsers::input::{self, Source};
use parsers::{Clock, Format, Head, Line, LineKind, LineReader, NO_ID, NO_NS, Parsed};
use std::io;
use std::path::{Path, PathBuf};

/// As much of a file as is looked at to recognise it: a tracer wrote all of them in the same way, and there may be thousands.
const HEAD_BYTES: usize = 16 << 10;

/// So many files are looked at for the format, if there are more and these agree.
const SAMPLED_FILES: usize = 64;

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
    let (name, opened) = opened(paths, format)?;
    let read: Vec<String> = opened.iter().map(|(path, _)| path.clone()).collect();
    let (files, mut cursors): (Vec<MergeFile>, Vec<Cursor>) =
        opened.into_iter().map(|(_, opened)| opened).unzip();
    // A thread whose only call never returned has no duration, and shows nothing of the tracer's options.
    let has_durations = |file: &&MergeFile| file.reader.facts().has_durations;
    let Some(typical) = files.iter().find(has_durations).or(files.first()) else {
        return Ok(());
    };
    let mut capture = new_capture(trace, &read, name, typical.reader.as_ref(), None);
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
    let ahead = ReadAhead::new(&files, name);
    let merged = ahead
        .while_reading(|| merged(&mut assembler, Cursors::new(&mut cursors, &ahead), progress));
    merged.map_err(|(file, error)| unreadable(&read[file])(error))?;
    let cut = cursors.iter().any(Cursor::is_cut);
    assembler.finish(cut, cursors.iter().map(|cursor| cursor.read_bytes).sum());
    Ok(())
}

/// A file, and where it is read at.
type OpenFile = (MergeFile, Cursor);
/// Name of the format, and the files with their paths.
type Opened = (&'static str, Vec<(String, OpenFile)>);

/// The files that have something in them, and the format of most that are recognised.
fn opened(paths: &[String], format: Option<&'static dyn Format>) -> Result<Opened, ReadError> {
    let expected = match format {
        Some(format) => Expected::Certain(format),
        None => format_of_most(paths).map_or(Expected::Nothing, Expected::Likely),
    };
    let (mut recognised, mut strange) = (Vec::new(), Vec::new());
    let opened: Vec<_> = parallel::map(paths, |path| open(path, expected));
    for (number, opened) in opened.into_iter().enumerate() {
        match opened {
            Ok((format, file)) => recognised.push((format, number, file)),
            // A thread that was killed before its first call leaves an empty file.
            Err(ReadError::Empty { .. }) if paths.len() > 1 => {}
            Err(error @ ReadError::Unrecognised { .. }) => strange.push((number, error)),
            Err(error) => return Err(error),
        }
    }
    let Some(name) = most_common(recognised.iter().map(|(format, ..)| *format)) else {
        return Err(strange.into_iter().next().map_or_else(
            || ReadError::Empty {
                path: paths.first().cloned().unwrap_or_default(),
            },
            |(_, error)| error,
        ));
    };
    // One line of a thread may be too little to be recognised, or look like that of a log, but its run is known by the
    // other files.
    let (own, others): (Vec<_>, Vec<_>) = recognised
        .into_iter()
        .partition(|(format, ..)| *format == name);
    let mut files: Vec<(usize, OpenFile)> = own
        .into_iter()
        .map(|(_, number, file)| (number, file))
        .collect();
    let others = others.into_iter().map(|(_, number, _)| number);
    for number in strange.into_iter().map(|(number, _)| number).chain(others) {
        let certain = parsers::by_name(name).map_or(Expected::Nothing, Expected::Certain);
        files.push((number, open(&paths[number], certain)?.1));
    }
    files.sort_by_key(|&(number, _)| number);
    Ok((
        name,
        files
            .into_iter()
            .map(|(number, file)| (paths[number].clone(), file))
            .collect(),
    ))
}

/// The format of files, if they are many and all that are sampled have it: nobody mixes formats in thousands of files, and to
/// try all formats takes as long as to read a short file.
fn format_of_most(paths: &[String]) -> Option<&'static dyn Format> {
    if paths.len() <= SAMPLED_FILES {
        return None;
    }
    let sampled: Vec<&String> = paths
        .iter()
        .step_by(paths.len().div_ceil(SAMPLED_FILES))
        .collect();
    let formats = parallel::map(&sampled, |path| format_of(path).ok().flatten());
    let first = formats.iter().flatten().next()?;
    let agree = formats
        .iter()
        .all(|format| format.is_none_or(|format| format == *first));
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
    let first = paths
        .iter()
        .find_map(|path| match open(path, Expected::Nothing) {
            Err(ReadError::Empty { .. }) => None,
            opened => Some(opened),
        });
    !matches!(first, Some(Ok((_, (file, _)))) if file.reader.facts().has_ids && !file.reader.facts().ids_optional)
}

/// The format of a file by its first lines; `None` if no format fits or the file is empty.
///
/// # Errors
/// If the file cannot be read.
pub fn format_of(path: &str) -> Result<Option<&'static str>, ReadError> {
    match open(path, Expected::Nothing) {
        Ok((name, _)) => Ok(Some(name)),
        Err(ReadError::Empty { .. } | ReadError::Unrecognised { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

type FileError = (usize, std::io::Error);

fn merged(
    assembler: &mut Assembler<'_>,
    mut cursors: Cursors<'_>,
    progress: Progress<'_>,
) -> Result<(), FileError> {
    let tids = cursors.tids();
    let mut order = Order::new(&tids, assembler.counts_differences());
    for file in 0..tids.len() {
        order.put(file, Some(cursors.first(file, assembler)), NO_NS);
    }
    let mut steps = 0u64;
    while let Some((file, mut stamp_ns)) = order.next_file() {
        loop {
            steps += 1;
            if steps.is_multiple_of(1 << 16) {
                progress(cursors.read_bytes(), 0);
                if spill::failure().is_some() {
                    return Ok(());
                }
            }
            let next = cursors
                .take(file, stamp_ns, assembler, &mut order)
                .map_err(|error| (file, error))?;
            match order.goes_on(file, next, stamp_ns) {
                Some(next_ns) => stamp_ns = next_ns,
                None => {
                    order.put(file, next, stamp_ns);
                    break;
                }
            }
        }
    }
    Ok(())
}

/// What is known of the format of a file.
#[derive(Clone, Copy)]
enum Expected {
    Nothing,
    /// Other files of the capture have it.
    Likely(&'static dyn Format),
    Certain(&'static dyn Format),
}

/// Open a file; the name of its format.
fn open(path: &str, expected: Expected) -> Result<(&'static str, OpenFile), ReadError> {
    let (source, text, is_all) = source(path).map_err(unreadable(path))?;
    let bytes = first_lines(&text);
    let head = Head {
        bytes,
        complete: is_all && bytes.len() == text.len(),
    };
    let (name, reader, first) = match expected {
        Expected::Nothing => reader_and_first_line(path, head, None)?,
        Expected::Certain(format) => reader_and_first_line(path, head, Some(format))?,
        Expected::Likely(format) => match reader_and_first_line(path, head, Some(format))? {
            // It may be of another tool.
            (.., first) if !first.is_understood() => reader_and_first_line(path, head, None)?,
            read => read,
        },
    };
    let tid = path
        .rsplit('.')
        .next()
        .and_then(|end| end.parse().ok())
        .filter(|&tid: &i32| tid > 0)
        .unwrap_or(NO_ID);
    let cursor = Cursor::new(source.after(text), first, tid);
    Ok((
        name,
        (
            MergeFile {
                path: PathBuf::from(path),
                reader,
            },
            cursor,
        ),
    ))
}

/// What a file is read from, its first lines, and whether these are all.
fn source(path: &str) -> io::Result<(MergeSource, Vec<u8>, bool)> {
    let mut stream = match input::open_written(Path::new(path))? {
        Source::File(file) if path != "-" => {
            let (mut text, file) = (Vec::new(), file.with_cell_bytes(HEAD_BYTES as u64));
            file.read_cell(0, &mut text)?;
            return Ok((MergeSource::Plain(file.len()), text, file.cells() <= 1));
        }
        Source::File(file) => file.into_stream()?,
        Source::Stream(stream) => stream,
    };
    let chunk = stream.next_chunk()?;
    let is_all = chunk.as_ref().is_none_or(|chunk| chunk.last);
    let text = chunk.map_or_else(Vec::new, |chunk| chunk.bytes);
    Ok((MergeSource::Stream(stream, Vec::new()), text, is_all))
}

/// The whole lines at the beginning that fit into [`HEAD_BYTES`]; the first one may be longer.
fn first_lines(text: &[u8]) -> &[u8] {
    let within = text.get(..HEAD_BYTES).unwrap_or(text);
    let end = memchr::memrchr(b'\n', within).or_else(|| memchr::memchr(b'\n', text));
    if within.len() == text.len() {
        text
    } else {
        end.map_or(text, |end| &text[..=end])
    }
}

/// Name of the format of a file, its reader, and its first line.
fn reader_and_first_line(
    path: &str,
    head: Head<'_>,
    format: Option<&'static dyn Format>,
) -> Result<(&'static str, Box<dyn LineReader>, FirstLine), ReadError> {
    let (name, reader) = reader_for(path, head, format, None)?;
    let end = memchr::memchr(b'\n', head.bytes).map_or(head.bytes.len(), |lf| lf + 1);
    let mut parsed = Parsed::of_capture(name);
    parsed.read(reader.as_ref(), &head.bytes[..end]);
    let line = parsed
        .lines
        .first()
        .copied()
        .unwrap_or(Line::of(LineKind::Blank));
    Ok((name, reader, FirstLine::new(&line, parsed.extra(&line))))
}
