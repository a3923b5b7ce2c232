//! Where the bytes come from: files, compressed files, streams.
//!
//! In:   a path, or `-` for standard input
//! Out:  whole lines, either by cells (any order, all cores) or as chunks (one after the other)
//!
//! ```text
//! plain file          Seekable   |cell 0|cell 1|cell 2|…    a line belongs to the cell it starts in
//! gz, bz2, xz, zst    Stream     own thread: decompress → chunks of whole lines → at most four wait
//! pipe, terminal      Stream     own thread: read       → the same
//! UTF-16              Stream     own thread: decode     → the same
//! ```
//! What a file is, its first bytes tell, never its name.

mod decode;
mod file;
mod magic;
mod stream;
mod utf16;

pub use file::Seekable;
pub use stream::{Chunk, Stream};

use std::fs::File;
use std::io;
use std::path::Path;

/// How much a cell or a chunk holds unless a line is longer.
pub const CHUNK_BYTES: usize = 1 << 20;

/// A capture, opened.
pub enum Source {
    /// Can be read at any place.
    File(Seekable),
    /// Can be read once, from the beginning.
    Stream(Stream),
}

/// Open a file, or standard input if the path is `-`.
///
/// # Errors
/// Those of opening; a directory; text in UTF-32 by its byte order mark. What a stream holds is not known yet:
/// its errors come with its first chunk.
pub fn open(path: &Path) -> io::Result<Source> {
    if path.as_os_str() == "-" { standard_input() } else { source_of(File::open(path)?) }
}

/// Standard input as a file of its own, so that one that is redirected from a plain file is read by cells.
#[cfg(unix)]
fn standard_input() -> io::Result<Source> {
    use std::os::fd::AsFd;
    source_of(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(not(unix))]
fn standard_input() -> io::Result<Source> {
    Stream::new(io::stdin()).map(Source::Stream)
}

fn source_of(file: File) -> io::Result<Source> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory; name the files in it"));
    }
    if !metadata.is_file() {
        return Stream::new(file).map(Source::Stream);
    }
    let file = Seekable::from_file(file)?;
    let head = file.head()?;
    // Files that the kernel makes up while they are read (/proc) say that they have no length.
    let is_to_decode = magic::Compression::of(&head).is_some() || utf16::mark(&head).is_some();
    if is_to_decode || (file.is_empty() && !head.is_empty()) {
        return Stream::new(file.into_file()?).map(Source::Stream);
    }
    file.after_mark(&head).map(Source::File)
}
