//! Room for the columns of a segment, in one piece, asked of the system itself: all of it at once where it will be filled.
//!
//! A system that gives memory page by page, each when it is first touched, is asked half a thousand times for a segment;
//! where rows cost so little to fill, that was a tenth of reading. Large pages are no way out: in a virtual machine whose
//! host has to find them first, they cost ten times as much.

use crate::store::event::SEGMENT_ROWS;
use memmap2::{MmapMut, MmapOptions};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What each row has, in places of fixed width.
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

/// Columns full of zeros at first.
pub(super) struct Room(MmapMut);

impl Room {
    /// Room that takes memory for all rows now, or for each part when it is first touched: a small trace has one segment.
    pub(super) fn new(fills: bool) -> Room {
        let mut options = MmapOptions::new();
        options.len(size_of::<Columns>());
        if fills {
            options.populate();
        }
        Room(options.map_anon().unwrap_or_else(|error| panic!("no memory for events: {error}")))
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
