//! Memory for the columns of a segment, in one mapping. It is populated at once if the segment will be full.
//!
//! Without that, the system maps page by page on first access, about 500 page faults per segment. Rows are so cheap to
//! fill that this was a tenth of the reading time. Large pages do not help: in a virtual machine whose host has to
//! allocate them first, they cost ten times as much.

use crate::store::event::SEGMENT_ROWS;
use crate::store::scratch::{Scratch, Stored};
use spill::Block;
use std::io;
use std::ops::{Index, IndexMut};
use std::sync::{Arc, OnceLock};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Words between two columns. The segment's size is a power of two: without them, all values of a row would compete for
/// the same few lines of the cache.
const WORDS_APART: usize = 5 * 16;

/// A column of four bytes.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Column {
    pub rows: [u32; SEGMENT_ROWS],
    apart: [u32; WORDS_APART],
}

impl Index<usize> for Column {
    type Output = u32;

    #[inline(always)]
    fn index(&self, at: usize) -> &u32 {
        &self.rows[at]
    }
}

impl IndexMut<usize> for Column {
    #[inline(always)]
    fn index_mut(&mut self, at: usize) -> &mut u32 {
        &mut self.rows[at]
    }
}

/// The columns of fixed width.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Columns {
    pub since_ns: Column,
    pub dur_ns: Column,
    pub ret: Column,
    pub line: Column,
    pub task: Column,
    pub shape: Column,
    pub target: Column,
    pub flags: [u8; SEGMENT_ROWS],
}

/// The columns of four bytes, in their order in memory.
#[derive(Clone, Copy)]
pub(super) enum Word {
    Since,
    Dur,
    Ret,
    Line,
    Task,
    Shape,
    Target,
}

impl Word {
    const COUNT: usize = 7;

    /// Where a row's value is within the columns, in bytes.
    fn offset(self, at: usize) -> usize {
        self as usize * size_of::<Column>() + at * size_of::<u32>()
    }
}

impl Columns {
    #[inline(always)]
    fn word(&self, word: Word) -> &Column {
        match word {
            Word::Since => &self.since_ns,
            Word::Dur => &self.dur_ns,
            Word::Ret => &self.ret,
            Word::Line => &self.line,
            Word::Task => &self.task,
            Word::Shape => &self.shape,
            Word::Target => &self.target,
        }
    }

    #[inline(always)]
    fn word_mut(&mut self, word: Word) -> &mut Column {
        match word {
            Word::Since => &mut self.since_ns,
            Word::Dur => &mut self.dur_ns,
            Word::Ret => &mut self.ret,
            Word::Line => &mut self.line,
            Word::Task => &mut self.task,
            Word::Shape => &mut self.shape,
            Word::Target => &mut self.target,
        }
    }
}

/// Columns, initially zero: in memory, or in a scratch file.
pub(super) enum Room {
    Memory(Block),
    Stored {
        bytes: Stored,
        /// A copy in memory, for callers that read many rows.
        loaded: OnceLock<Block>,
    },
}

fn allocated(fills: bool) -> Block {
    Block::zeroed(size_of::<Columns>(), fills)
}

#[inline]
fn columns_of(memory: &Block) -> &Columns {
    match Columns::ref_from_bytes(memory) {
        Ok(columns) => columns,
        Err(_) => unreachable!("it has that length and begins with a page"),
    }
}

impl Room {
    /// Allocate memory for all rows now, or for each page on first access: a small trace has one segment.
    /// Aborts the program when there is no memory, as a vector does.
    pub(super) fn new(fills: bool) -> Room {
        Room::Memory(allocated(fills))
    }

    /// All columns. They are loaded if they are in a file.
    #[inline]
    pub(super) fn columns(&self) -> &Columns {
        match self {
            Room::Memory(memory) => columns_of(memory),
            Room::Stored { bytes, loaded } => columns_of(loaded.get_or_init(|| {
                let mut memory = allocated(true);
                bytes.read(0, &mut memory);
                memory
            })),
        }
    }

    /// All columns, to be changed. Rows are added to columns in memory only.
    #[inline]
    pub(super) fn columns_mut(&mut self) -> &mut Columns {
        let Room::Memory(memory) = self else {
            unreachable!("it is full")
        };
        match Columns::mut_from_bytes(memory) {
            Ok(columns) => columns,
            Err(_) => unreachable!("it has that length and begins with a page"),
        }
    }

    #[inline]
    fn in_memory(&self) -> Option<&Columns> {
        match self {
            Room::Memory(memory) => Some(columns_of(memory)),
            Room::Stored { loaded, .. } => loaded.get().map(columns_of),
        }
    }

    /// A value of a row. Nothing is loaded for it.
    #[inline(always)]
    pub(super) fn word(&self, word: Word, at: usize) -> u32 {
        self.in_memory().map_or_else(
            || self.stored_word(word, at),
            |columns| columns.word(word)[at],
        )
    }

    #[cold]
    fn stored_word(&self, word: Word, at: usize) -> u32 {
        let mut value = 0;
        if let Room::Stored { bytes, .. } = self {
            bytes.read(word.offset(at), value.as_mut_bytes());
        }
        value
    }

    /// The flags of a row.
    #[inline(always)]
    pub(super) fn flags(&self, at: usize) -> u8 {
        self.in_memory()
            .map_or_else(|| self.stored_flags(at), |columns| columns.flags[at])
    }

    #[cold]
    fn stored_flags(&self, at: usize) -> u8 {
        let mut value = 0;
        if let Room::Stored { bytes, .. } = self {
            bytes.read(Word::COUNT * size_of::<Column>() + at, value.as_mut_bytes());
        }
        value
    }

    #[inline]
    pub(super) fn set_word(&mut self, word: Word, at: usize, value: u32) {
        match self {
            Room::Memory(_) => self.columns_mut().word_mut(word)[at] = value,
            Room::Stored { bytes, loaded } => {
                bytes.write(word.offset(at), value.as_bytes());
                loaded.take();
            }
        }
    }

    #[inline]
    pub(super) fn set_flags(&mut self, at: usize, flags: u8) {
        match self {
            Room::Memory(_) => self.columns_mut().flags[at] = flags,
            Room::Stored { bytes, loaded } => {
                bytes.write(Word::COUNT * size_of::<Column>() + at, flags.as_bytes());
                loaded.take();
            }
        }
    }

    /// Move the columns to a file.
    pub(super) fn store(&mut self, scratch: &Arc<Scratch>) -> io::Result<()> {
        if let Room::Memory(memory) = self {
            *self = Room::Stored {
                bytes: Stored::new(scratch, memory)?,
                loaded: OnceLock::new(),
            };
        }
        Ok(())
    }

    /// Free the copy in memory.
    pub(super) fn unload(&mut self) {
        if let Room::Stored { loaded, .. } = self {
            loaded.take();
        }
    }
}
