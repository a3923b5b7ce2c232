//! Cells of files, read ahead of the merge by other cores.
//!
//! ```text
//! merge    |takes the lines of a.0, b.0 …       |takes a.1 …      |reads b.1 itself: nobody has begun it
//! core 2   |reads a.1       |reads a.2       |reads c.0
//! ```
//! The merge requests cells in the order in which it expects to need them. It gets each one, whichever core reads it, so the
//! result does not depend on the number of cores.

use parsers::input::Seekable;
use parsers::{LineReader, Parsed};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The memory of chunks with longer text is not used again.
const MAX_SPARE_BYTES: usize = 1 << 20;

/// A file that is merged with others.
pub(super) struct MergeFile {
    pub(super) path: PathBuf,
    pub(super) reader: Box<dyn LineReader>,
}

/// A cell of a file, in the grid that the file is divided into.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) file: usize,
    pub(super) number: usize,
    pub(super) bytes: u64,
}

/// A part of a file, read: its lines have texts of their own.
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) parsed: Parsed,
    pub(super) bytes: usize,
    pub(super) last_byte: Option<u8>,
}

impl Chunk {
    /// Read these lines.
    pub(super) fn read(&mut self, reader: &dyn LineReader, text: &[u8]) {
        self.parsed.read(reader, text);
        (self.bytes, self.last_byte) = (text.len(), text.last().copied());
    }
}

type ReadCell = io::Result<Chunk>;

/// The cells that the merge has requested.
pub(super) struct ReadAhead<'files> {
    files: &'files [MergeFile],
    format: &'static str,
    state: Mutex<AheadState>,
    changed: Condvar,
}

#[derive(Default)]
struct AheadState {
    /// Nobody has begun them.
    wanted: VecDeque<Cell>,
    /// By file and number.
    ready: FxHashMap<(usize, usize), ReadCell>,
    /// Chunks whose lines were taken: their memory is used again.
    spare: Vec<Chunk>,
    /// No more cells will be needed, or a core panicked.
    ended: bool,
}

impl<'files> ReadAhead<'files> {
    pub(super) fn new(files: &'files [MergeFile], format: &'static str) -> ReadAhead<'files> {
        ReadAhead {
            files,
            format,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Merge, while other cores read ahead.
    pub(super) fn while_reading<R>(&self, merge: impl FnOnce() -> R) -> R {
        std::thread::scope(|scope| {
            for _ in 1..rayon::current_num_threads() {
                scope.spawn(|| self.read_wanted());
            }
            let _end = EndOnDrop(self);
            merge()
        })
    }

    fn read_wanted(&self) {
        let _end = EndOnDrop(self);
        let mut text = Vec::new();
        let mut state = self.locked();
        while !state.ended {
            state = match state.wanted.pop_front() {
                Some(cell) => self.read_and_keep(state, cell, &mut text),
                None => self.wait(state),
            };
        }
    }

    /// A cell will be needed, after all others that are wanted.
    pub(super) fn want(&self, cell: Cell) {
        self.locked().wanted.push_back(cell);
        self.changed.notify_all();
    }

    /// The lines of a cell that was wanted. Until another core has read it, this one reads others that are wanted.
    pub(super) fn take(&self, cell: Cell, text: &mut Vec<u8>) -> ReadCell {
        let mut state = self.locked();
        loop {
            if let Some(chunk) = state.ready.remove(&(cell.file, cell.number)) {
                return chunk;
            }
            let own = state
                .wanted
                .iter()
                .position(|other| (other.file, other.number) == (cell.file, cell.number))
                .and_then(|at| state.wanted.remove(at));
            state = match own.or_else(|| state.wanted.pop_front()) {
                Some(cell) => self.read_and_keep(state, cell, text),
                None if state.ended => return Err(io::Error::other("a core has stopped")),
                None => self.wait(state),
            };
        }
    }

    /// The lines of a part of a file that is read in order.
    pub(super) fn read(&self, file: usize, text: &[u8]) -> Chunk {
        let mut chunk = self.spare(&mut self.locked());
        chunk.read(self.files[file].reader.as_ref(), text);
        chunk
    }

    /// All lines of a chunk were taken.
    pub(super) fn give_back(&self, chunk: Chunk) {
        // The memory of a huge line is not kept.
        if chunk.bytes <= MAX_SPARE_BYTES {
            self.locked().spare.push(chunk);
        }
    }

    /// A chunk whose memory may have been used before.
    fn spare(&self, state: &mut AheadState) -> Chunk {
        state.spare.pop().unwrap_or_else(|| Chunk {
            parsed: Parsed::of_capture(self.format),
            ..Chunk::default()
        })
    }

    fn read_and_keep<'lock>(
        &'lock self,
        mut state: MutexGuard<'lock, AheadState>,
        cell: Cell,
        text: &mut Vec<u8>,
    ) -> MutexGuard<'lock, AheadState> {
        let mut chunk = self.spare(&mut state);
        drop(state);
        let MergeFile { path, reader } = &self.files[cell.file];
        let file = Seekable::open(path).map(|file| file.with_cell_bytes(cell.bytes));
        let read = file
            .and_then(|file| file.read_cell(cell.number, text))
            .map(|_| {
                chunk.read(reader.as_ref(), text);
                chunk
            });
        let mut state = self.locked();
        state.ready.insert((cell.file, cell.number), read);
        self.changed.notify_all();
        state
    }

    fn wait<'lock>(&self, state: MutexGuard<'lock, AheadState>) -> MutexGuard<'lock, AheadState> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn locked(&self) -> MutexGuard<'_, AheadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The others must not wait for a core that panicked, nor for a merge that is over.
struct EndOnDrop<'ahead, 'files>(&'ahead ReadAhead<'files>);

impl Drop for EndOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.locked().ended = true;
        self.0.changed.notify_all();
    }
}
