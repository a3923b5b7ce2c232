//! A file cut into cells of equal size, each of which knows its own lines.
//!
//! ```text
//! cell     |0-------------|1-------------|2-------------|
//! line     aaaaaabbbbbbbbbbbbbcccccccccccccccccccccccccddd
//! lines    a, b           | c            | d
//! ```
//!
//! A line belongs to the cell in which it starts, so a cell needs to look at itself, at the byte before it, and at the
//! end of its last line. A line of a thousand cells costs each of the others one look at itself.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{CHUNK_BYTES, MARK_BYTES, mark_length};

/// How much is read at once to find where a line starts.
const LOOK_BYTES: usize = 4 << 10;

/// A file that can be read at any place, by several threads at once.
pub struct Seekable {
    file: File,
    /// Where the text starts, behind the mark of UTF-8.
    start: u64,
    len: u64,
    cell_bytes: u64,
    #[cfg(not(unix))]
    turn: std::sync::Mutex<()>,
}

impl Seekable {
    /// Open a plain file.
    ///
    /// # Errors
    /// Those of the system; `InvalidData` for UTF-16.
    pub fn open(path: &Path) -> io::Result<Seekable> {
        Seekable::from_file(File::open(path)?)
    }

    /// Read a file that is open already, all of it. What is appended from now on is left out.
    ///
    /// # Errors
    /// As for [`Seekable::open`].
    pub fn from_file(file: File) -> io::Result<Seekable> {
        let len = file.metadata()?.len();
        let mut plain = Seekable {
            file,
            start: 0,
            len,
            cell_bytes: CHUNK_BYTES as u64,
            #[cfg(not(unix))]
            turn: std::sync::Mutex::new(()),
        };
        let mut mark = Vec::new();
        plain.append(0, (MARK_BYTES as u64).min(len), &mut mark)?;
        plain.start = mark_length(&mark)? as u64;
        Ok(plain)
    }

    /// The same file in cells of another size.
    #[must_use]
    pub fn with_cells_of(mut self, bytes: usize) -> Seekable {
        self.cell_bytes = bytes.max(1) as u64;
        self
    }

    /// Its length at opening, in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there was nothing in it at opening.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of cells of the grid.
    pub fn cells(&self) -> usize {
        usize::try_from(self.len.div_ceil(self.cell_bytes)).unwrap_or(usize::MAX)
    }

    /// The lines that start in a cell, whole; none if no line does. Says where the first one starts.
    ///
    /// What `into` held is gone, its memory is used again.
    ///
    /// # Errors
    /// Those of reading.
    pub fn read_cell(&self, cell: usize, into: &mut Vec<u8>) -> io::Result<u64> {
        let from = (cell as u64).saturating_mul(self.cell_bytes).min(self.len);
        let to = from.saturating_add(self.cell_bytes).min(self.len);
        let Some(first) = self.first_start(from, to, into)? else {
            into.clear();
            return Ok(from);
        };
        // Only what the vector grows by is filled with zeros, so it is not emptied first.
        let want = (to - first) as usize;
        into.truncate(want);
        into.resize(want, 0);
        let got = self.fill(first, into)?;
        into.truncate(got);
        if got == want {
            self.finish_line(to, into)?;
        }
        Ok(first)
    }

    /// Where the first line starts in `from..to`.
    fn first_start(&self, from: u64, to: u64, look: &mut Vec<u8>) -> io::Result<Option<u64>> {
        if from <= self.start {
            return Ok((self.start < to).then_some(self.start));
        }
        // The LF before a line may lie in the cell before; the one at the very end starts a line of the next.
        let mut at = from - 1;
        while at < to - 1 {
            let want = (to - 1 - at).min(LOOK_BYTES as u64) as usize;
            look.truncate(want);
            look.resize(want, 0);
            let got = self.fill(at, look)?;
            if let Some(found) = memchr::memchr(b'\n', look.get(..got).unwrap_or_default()) {
                return Ok(Some(at + found as u64 + 1));
            }
            if got < want {
                break;
            }
            at += got as u64;
        }
        Ok(None)
    }

    /// Append the rest of the last line, which goes on at `at`.
    fn finish_line(&self, mut at: u64, into: &mut Vec<u8>) -> io::Result<()> {
        let mut step = LOOK_BYTES as u64;
        while at < self.len && into.last() != Some(&b'\n') {
            let had = into.len();
            let got = self.append(at, step.min(self.len - at), into)?;
            if got == 0 {
                break;
            }
            if let Some(end) = memchr::memchr(b'\n', into.get(had..).unwrap_or_default()) {
                into.truncate(had + end + 1);
                break;
            }
            at += got;
            step = (step * 2).min(CHUNK_BYTES as u64);
        }
        Ok(())
    }

    fn append(&self, at: u64, bytes: u64, into: &mut Vec<u8>) -> io::Result<u64> {
        let had = into.len();
        into.resize(had + bytes as usize, 0);
        let got = self.fill(at, into.get_mut(had..).unwrap_or_default())?;
        into.truncate(had + got);
        Ok(got as u64)
    }

    /// Read until `into` is full or the file, which may have shrunk, is at its end.
    fn fill(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match self.read_at(rest, at + done as u64) {
                Ok(0) => break,
                Ok(got) => done += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    #[cfg(unix)]
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, into, at)
    }

    #[cfg(not(unix))]
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        use std::io::{Read, Seek, SeekFrom};
        let _turn = self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&self.file).seek(SeekFrom::Start(at))?;
        (&self.file).read(into)
    }
}
