//! Systems where all blocks are in the heap.

use crate::Failure;
use memmap2::{MmapMut, MmapOptions};
use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut};

/// The allocator of the system.
pub use std::alloc::System as Allocator;

/// Bytes at the beginning of a page, initially zero.
pub struct Block(MmapMut);

impl Block {
    /// A block of this size. If all of it will be used, its memory is requested at once. Aborts the program when there is
    /// no memory, as a vector does.
    pub fn zeroed(bytes: usize, is_used: bool) -> Block {
        let mut options = MmapOptions::new();
        options.len(bytes);
        if is_used {
            options.populate();
        }
        let memory = options.map_anon();
        Block(memory.unwrap_or_else(|_| handle_alloc_error(Layout::new::<u8>())))
    }
}

impl Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Block {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// None.
pub fn failure() -> Option<Failure> {
    None
}

/// There is none.
pub fn forget_failure() {}

/// 0.
pub fn spilled_bytes() -> u64 {
    0
}
