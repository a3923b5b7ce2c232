//! The source of the bytes: files, compressed files, streams.
//!
//! In:   a path, or `-` for standard input
//! Out:  whole lines, either in cells (any order, all cores) or in chunks (sequential)
//!
//! ```text
//! plain file          Seekable   |cell 0|cell 1|cell 2|…    a line belongs to the cell it starts in
//! gz, bz2, xz, zst    Stream     own thread: decompress → chunks of whole lines, up to four ahead
//! pipe, terminal      Stream     own thread: read       → the same
//! UTF-16              Stream     own thread: decode     → the same
//! folded lines        Stream     own thread: join       → the same
//! perf.data           Stream     the calls as text
//! page of a build     Stream     own thread: rewrite    → the same
//! date above message  Stream     own thread: join       → the same
//! ```
//! The first bytes of a file decide what it is, never its name.

mod call_text;
mod dated;
mod decode;
mod file;
mod joined;
mod kept;
mod magic;
mod page;
mod stream;
mod unfold;
mod utf16;

pub use file::Seekable;
pub use stream::{Chunk, Stream};

use crate::perf_file::{self, CallChoice, is_perf_data};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Size of a cell or a chunk, unless a line is longer.
pub const CHUNK_BYTES: usize = 1 << 20;

/// A capture, opened.
pub enum Source {
    /// It can be read at any offset.
    File(Seekable),
    /// It can be read once, from the beginning.
    Stream(Stream),
}

/// Open a file, or standard input if the path is `-`. Folded lines are put together.
///
/// Errors of opening; a directory; text with the byte order mark of UTF-32. The content of a stream is not known yet,
/// so its errors come with its first chunk.
pub fn open(path: &Path) -> io::Result<Source> {
    if path.as_os_str() == "-" {
        standard_input()
    } else {
        source_of(File::open(path)?, Seekable::is_folded)
    }
}

/// Open a file of many that a tracer wrote for its threads: its lines are as they were written.
///
/// Errors as for [`open`].
pub fn open_written(path: &Path) -> io::Result<Source> {
    if path.as_os_str() == "-" {
        standard_input()
    } else {
        source_of(File::open(path)?, |_| Ok(false))
    }
}

/// Where standard input began when it was read first, if it is a file.
static INPUT_START: Mutex<Option<u64>> = Mutex::new(None);

/// Standard input as a file, so that input redirected from a plain file is read in cells.
#[cfg(unix)]
fn standard_input() -> io::Result<Source> {
    let mut file = redirected()?;
    let is_file = file.metadata()?.is_file();
    let start = if is_file {
        Some(file.stream_position()?)
    } else {
        None
    };
    *INPUT_START.lock().unwrap_or_else(PoisonError::into_inner) = start;
    if is_file {
        return source_of(file, Seekable::is_folded);
    }
    Stream::new(kept::Kept::new(file)).map(Source::Stream)
}

#[cfg(unix)]
fn redirected() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(not(unix))]
fn redirected() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn standard_input() -> io::Result<Source> {
    Stream::new(kept::Kept::new(io::stdin())).map(Source::Stream)
}

/// Open a file that was read before. Of standard input, a file can be read again, and else what was short enough to be kept.
///
/// # Errors
/// Those of [`open`]; standard input that was too long.
pub fn open_again(path: &Path) -> io::Result<Source> {
    if path.as_os_str() != "-" {
        return open(path);
    }
    let start = *INPUT_START.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(start) = start {
        let mut file = redirected()?;
        file.seek(SeekFrom::Start(start))?;
        return source_of(file, Seekable::is_folded);
    }
    let bytes = kept::bytes().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "standard input cannot be read a second time",
        )
    })?;
    Stream::new(Cursor::new(bytes)).map(Source::Stream)
}

/// A file, read as it is unless it is compressed, in another encoding, or folded.
fn source_of(file: File, is_folded: impl Fn(&Seekable) -> io::Result<bool>) -> io::Result<Source> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "it is a directory; name the files in it",
        ));
    }
    if !metadata.is_file() {
        return Stream::new(file).map(Source::Stream);
    }
    let file = Seekable::from_file(file)?;
    let head = file.head()?;
    if is_perf_data(&head) {
        return calls_of(file, &head);
    }
    // Files whose content the kernel generates (/proc) report a length of zero.
    let is_to_decode = magic::Compression::of(&head).is_some() || utf16::mark(&head).is_some();
    if is_to_decode || is_folded(&file)? || (file.is_empty() && !head.is_empty()) {
        return Stream::new(file.into_file()?).map(Source::Stream);
    }
    file.after_mark(&head).map(Source::File)
}

/// The calls of perf.data as text. A file without calls is read as it is: what it is instead is said elsewhere.
fn calls_of(file: Seekable, head: &[u8]) -> io::Result<Source> {
    let mut file = file.into_file()?;
    let has_calls = perf_file::has_event(BufReader::new(&mut file), "sys_enter").unwrap_or(false);
    file.rewind()?;
    if !has_calls {
        return Seekable::from_file(file)?
            .after_mark(head)
            .map(Source::File);
    }
    let mut text = Vec::new();
    perf_file::write_calls(BufReader::new(file), CallChoice::default(), &mut text)?;
    Stream::new(Cursor::new(text)).map(Source::Stream)
}
