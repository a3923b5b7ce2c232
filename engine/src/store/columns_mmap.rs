//! Memory for the columns of a segment, in one mapping. It is populated at once if the segment will be full.
//!
//! Without that, the system maps page by page on first access, about 500 page faults per segment. Rows are so cheap to
//! fill that this was a tenth of the reading time. Large pages do not help: in a virtual machine whose host has to
//! allocate them first, they cost ten times as much.

use crate::store::event::SEGMENT_ROWS;
use memmap2::{MmapMut, MmapOptions};
use std::alloc::{Layout, handle_alloc_error};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The columns of fixed width.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Columns {
    pub since_ns: [u32; SEGMENT_ROWS],
    pub dur_ns: [u32; SEGMENT_ROWS],
    pub ret: [u32; SEGMENT_ROWS],
    pub line: [u32; SEGMENT_ROWS],
    pub task: [u32; SEGMENT_ROWS],
    pub shape: [u32; SEGMENT_ROWS],
    pub target: [u32; SEGMENT_ROWS],
    pub flags: [u8; SEGMENT_ROWS],
}

/// Columns, initially zero.
pub(super) struct Room(MmapMut);

impl Room {
    /// Allocate memory for all rows now, or for each page on first access: a small trace has one segment.
    /// Aborts the program when there is no memory, as a vector does.
    pub(super) fn new(fills: bool) -> Room {
        let mut options = MmapOptions::new();
        options.len(size_of::<Columns>());
        if fills {
            options.populate();
        }
        Room(options.map_anon().unwrap_or_else(|_| handle_alloc_error(Layout::new::<Columns>())))
    }

    #[inline]
    pub(super) fn columns(&self) -> &Columns {
        match Columns::ref_from_bytes(&self.0) {
            Ok(columns) => columns,
            Err(_) => unreachable!("it has that length and begins with a page"),
        }
    }

    #[inline]
    pub(super) fn columns_mut(&mut self) -> &mut Columns {
        match Columns::mut_from_bytes(&mut self.0) {
            Ok(columns) => columns,
            Err(_) => unreachable!("it has that length and begins with a page"),
        }
    }
}
