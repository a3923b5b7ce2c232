//! An unnamed temporary file, for rows that are not in use.
//!
//! ```text
//! segments       |0|1|2|3|4|5|
//! in the file    |0|1|2|3|        the rows of the last ones change most, and are in memory
//! ```
//! So a converter needs as much memory for a large capture as for a small one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The file. Rows are read and written rarely, and by one core most of the time, so a lock costs little.
pub struct Scratch(Mutex<Contents>);

struct Contents {
    file: File,
    bytes: u64,
    failed: Option<io::Error>,
}

impl Contents {
    fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.bytes;
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(at)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)
    }

    fn read(&mut self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read_exact(into)
    }
}

impl Scratch {
    /// An empty file in this folder.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn new(folder: &Path) -> io::Result<Arc<Scratch>> {
        let file = tempfile::tempfile_in(folder)?;
        Ok(Arc::new(Scratch(Mutex::new(Contents {
            file,
            bytes: 0,
            failed: None,
        }))))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Contents) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keep an error for [`Scratch::failed`].
    pub(crate) fn fails(&self, error: io::Error) {
        self.with(|contents| {
            contents.failed.get_or_insert(error);
        });
    }

    /// The first error, once. What was read since may be wrong.
    pub fn failed(&self) -> Option<io::Error> {
        self.with(|contents| contents.failed.take())
    }
}

/// Bytes in the file. [`Scratch::failed`] returns errors.
pub(crate) struct Stored {
    scratch: Arc<Scratch>,
    at: u64,
}

impl Stored {
    /// Add these bytes to the file.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn new(scratch: &Arc<Scratch>, bytes: &[u8]) -> io::Result<Stored> {
        let at = scratch.with(|contents| contents.append(bytes))?;
        Ok(Stored {
            scratch: Arc::clone(scratch),
            at,
        })
    }

    /// Replace some of them.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        let written = self
            .scratch
            .with(|contents| contents.write(self.at + offset as u64, bytes));
        written.unwrap_or_else(|error| self.scratch.fails(error));
    }

    /// Read some of them.
    pub(crate) fn read(&self, offset: usize, into: &mut [u8]) {
        let read = self
            .scratch
            .with(|contents| contents.read(self.at + offset as u64, into));
        read.unwrap_or_else(|error| self.scratch.fails(error));
    }
}
