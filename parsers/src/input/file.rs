//! A plain file, read in cells.
//!
//! ```text
//! cells     |      0      |      1      |      2      |      3      |
//! lines     |--a--|---b-----|----------- c -------------------|-d---|
//! read       a, b           c            nothing       d
//! ```
//! A line belongs to the cell in which it starts, so each cell can be read without the others.

use super::page;
use super::stream::FIRST_BYTES;
use super::{CHUNK_BYTES, magic, unfold};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

/// Bytes read after a cell for the rest of its last line, and per step when searching for the first line.
const PIECE_BYTES: usize = 4096;

/// A file that can be read at any offset.
pub struct Seekable {
    file: SharedFile,
    /// Start of the text: after a byte order mark, or the current position of standard input.
    start: u64,
    len: u64,
    cell_bytes: u64,
}

impl Seekable {
    /// Open a file as plain text, even if its first bytes look compressed.
    ///
    /// Errors of opening; text whose byte order mark is not that of UTF-8.
    pub fn open(path: &Path) -> io::Result<Seekable> {
        let file = Seekable::from_file(File::open(path)?)?;
        let head = file.head()?;
        file.after_mark(&head)
    }

    /// A file from its current position to its current end.
    ///
    /// If its length is not available, or it cannot be read at an offset, like a pipe.
    pub fn from_file(mut file: File) -> io::Result<Seekable> {
        let start = file.stream_position()?;
        let len = file.metadata()?.len().saturating_sub(start);
        Ok(Seekable {
            file: SharedFile::new(file),
            start,
            len,
            cell_bytes: CHUNK_BYTES as u64,
        })
    }

    /// The same with another cell size of at least one byte.
    #[doc(hidden)]
    #[must_use]
    pub fn with_cell_bytes(self, cell_bytes: u64) -> Seekable {
        Seekable {
            cell_bytes: cell_bytes.max(1),
            ..self
        }
    }

    /// The same without the byte order mark in these first bytes.
    pub(super) fn after_mark(self, head: &[u8]) -> io::Result<Seekable> {
        let mark = magic::mark_bytes(head)? as u64;
        Ok(Seekable {
            start: self.start + mark,
            len: self.len.saturating_sub(mark),
            ..self
        })
    }

    /// The first bytes, also of a file that reports a length of zero.
    pub(super) fn head(&self) -> io::Result<Vec<u8>> {
        let mut head = vec![0; magic::HEAD_BYTES];
        let have = self.read_at(&mut head, 0)?;
        head.truncate(have);
        Ok(head)
    }

    /// Whether it is short enough to have been pasted, and has folded lines at its beginning; or whether it is a page.
    pub(super) fn is_folded(&self) -> io::Result<bool> {
        if self.len > page::MAX_BYTES as u64 {
            return Ok(false);
        }
        let mut head = vec![0; clamped(FIRST_BYTES, self.len)];
        let have = self.read_at(&mut head, 0)?;
        head.truncate(have);
        Ok(self.len <= unfold::max_bytes(&head) as u64 && unfold::is_folded(&head))
    }

    /// The file, positioned at the start of the text.
    pub(super) fn into_file(self) -> io::Result<File> {
        let mut file = self.file.into_file();
        file.seek(SeekFrom::Start(self.start))?;
        Ok(file)
    }

    /// The same as a stream, from its start to its end.
    ///
    /// If it cannot be positioned at its start, or no thread can be started.
    pub fn into_stream(self) -> io::Result<super::Stream> {
        super::Stream::new(self.into_file()?)
    }

    /// Length of a cell.
    pub fn cell_bytes(&self) -> u64 {
        self.cell_bytes
    }

    /// Its length when opened, without a byte order mark. Bytes appended later are not read.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        usize::try_from(self.len.div_ceil(self.cell_bytes)).unwrap_or(usize::MAX)
    }

    /// The whole lines that start in a cell, and their offset in the file. There may be none.
    ///
    /// The content of the buffer is replaced. Pass the old buffer: its bytes need not be zeroed again.
    ///
    /// Errors of reading. A file that shrank is not an error: its remaining bytes are returned.
    pub fn read_cell(&self, cell: usize, into: &mut Vec<u8>) -> io::Result<u64> {
        let from = (cell as u64).saturating_mul(self.cell_bytes).min(self.len);
        let to = from.saturating_add(self.cell_bytes).min(self.len);
        // Buffers are reused, so a buffer that held a huge line gives its memory back.
        if into.capacity() / 8 > CHUNK_BYTES {
            *into = Vec::new();
        }
        let Some(begin) = self.first_line(from, to)? else {
            into.clear();
            return Ok(self.start + to);
        };
        self.read_lines(begin, to, into)?;
        Ok(self.start + begin)
    }

    /// The first bytes of the text, for recognition: this number, or up to `max` if no line ends in them.
    ///
    /// # Errors
    /// Those of reading.
    pub fn beginning(&self, bytes: usize, max: usize) -> io::Result<Vec<u8>> {
        let mut begin = vec![0; clamped(bytes, self.len)];
        let have = self.read_at(&mut begin, 0)?;
        begin.truncate(have);
        if have == bytes && memchr::memchr(b'\n', &begin).is_none() {
            begin.resize(clamped(max, self.len), 0);
            let more = self.read_at(&mut begin[have..], have as u64)?;
            begin.truncate(have + more);
        }
        Ok(begin)
    }

    /// The start of the first line that starts between two offsets.
    fn first_line(&self, from: u64, to: u64) -> io::Result<Option<u64>> {
        let Some(mut at) = from.checked_sub(1) else {
            return Ok((to > 0).then_some(0));
        };
        let mut piece = [0; PIECE_BYTES];
        // The line after an LF in the last byte starts in the next cell.
        while at + 1 < to {
            let want = clamped(piece.len(), to - 1 - at);
            let have = self.read_at(&mut piece[..want], at)?;
            if let Some(lf) = memchr::memchr(b'\n', &piece[..have]) {
                return Ok(Some(at + lf as u64 + 1));
            }
            if have < want {
                return Ok(None);
            }
            at += have as u64;
        }
        Ok(None)
    }

    /// Read from a line's start up to the first LF that is not before `to - 1`.
    fn read_lines(&self, begin: u64, to: u64, into: &mut Vec<u8>) -> io::Result<()> {
        let inside = (to - begin) as usize;
        into.truncate(inside + PIECE_BYTES);
        let mut have = 0;
        let mut searched = inside - 1;
        let mut step = inside + PIECE_BYTES;
        loop {
            let want = clamped(step, self.len - begin - have as u64);
            into.resize(have + want, 0);
            let read = self.read_at(&mut into[have..], begin + have as u64)?;
            have += read;
            into.truncate(have);
            if let Some(lf) = into
                .get(searched..)
                .and_then(|rest| memchr::memchr(b'\n', rest))
            {
                into.truncate(searched + lf + 1);
                return Ok(());
            }
            if read == 0 || read < want {
                return Ok(());
            }
            searched = have;
            // Most lines are short, but a line of 100 MB must not take 25,000 calls.
            step = if step < CHUNK_BYTES {
                (step * 2).clamp(PIECE_BYTES, CHUNK_BYTES)
            } else {
                CHUNK_BYTES
            };
        }
    }

    /// Fill a buffer from an offset of the text; with less only at the end.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let mut have = 0;
        while let Some(rest) = into.get_mut(have..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, self.start + at + have as u64) {
                Ok(0) => break,
                Ok(read) => have += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(have)
    }
}

fn clamped(bytes: usize, rest: u64) -> usize {
    usize::try_from(rest).map_or(bytes, |rest| rest.min(bytes))
}

/// A file that several threads read at different offsets.
#[cfg(unix)]
struct SharedFile(File);

#[cfg(unix)]
impl SharedFile {
    fn new(file: File) -> SharedFile {
        SharedFile(file)
    }

    fn into_file(self) -> File {
        self.0
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, into, at)
    }
}

#[cfg(not(unix))]
struct SharedFile(std::sync::Mutex<File>);

#[cfg(not(unix))]
impl SharedFile {
    fn new(file: File) -> SharedFile {
        SharedFile(std::sync::Mutex::new(file))
    }

    fn into_file(self) -> File {
        self.0
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let mut file = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        io::Read::read(&mut *file, into)
    }
}
