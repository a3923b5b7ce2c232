//! Linux.

mod file;
#[cfg(test)]
mod tests;
mod trim;

use crate::limits::limits;
pub use file::{failure, forget_failure, spilled_bytes};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Smaller blocks are always in the heap. They are many, and a mapping of the file has a cost of its own.
const LARGE_BYTES: usize = 1 << 18;

/// Bytes of the large blocks that are in the heap.
static IN_HEAP: AtomicUsize = AtomicUsize::new(0);
/// Bytes of the [`Block`]s that are in memory.
static ORDERED: AtomicUsize = AtomicUsize::new(0);

/// The allocator of the program: the heap, and a file for large blocks beyond the limit.
pub struct Allocator;

fn is_large(bytes: usize) -> bool {
    bytes >= LARGE_BYTES
}

fn has_room(bytes: usize) -> bool {
    let used = IN_HEAP.load(Ordering::Relaxed) + ORDERED.load(Ordering::Relaxed);
    used.saturating_add(bytes) <= limits().blocks
}

/// What was made larger once becomes larger again. Ranges of the file cost nothing.
const GROWTH: usize = 64;

/// Bytes that are copied before their pages leave the memory. Both blocks may be larger than the memory.
const COPIED_BYTES: usize = 1 << 24;

/// A block of zeros in the file, if there can be one. It may grow to so many times its size.
#[cold]
fn in_file(bytes: usize, growth: usize) -> Option<NonNull<u8>> {
    let (start, is_first) = file::map(bytes, growth)?;
    if is_first {
        trim::begin();
    }
    Some(start)
}

/// A block of zeros in the file, if it belongs there.
fn beyond_the_limit(layout: Layout) -> Option<NonNull<u8>> {
    let belongs = is_large(layout.size()) && !has_room(layout.size());
    // A mapping begins with a page.
    let fits = layout.align() <= file::page_bytes();
    (belongs && fits)
        .then(|| in_file(layout.size(), 1))
        .flatten()
}

fn count_in_heap(block: *mut u8, bytes: usize) {
    if is_large(bytes) && !block.is_null() {
        IN_HEAP.fetch_add(bytes, Ordering::Relaxed);
    }
}

fn forget_in_heap(bytes: usize) {
    if is_large(bytes) {
        IN_HEAP.fetch_sub(bytes, Ordering::Relaxed);
    }
}

// SAFETY: blocks of the heap come from `System` and go back to it with the same layout. A block of the file is a mapping
// of its own, at least as long as asked for, that begins with a page; `file::unmap` knows which blocks those are, and no
// block is in both places.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if let Some(block) = beyond_the_limit(layout) {
            return block.as_ptr();
        }
        // SAFETY: the caller's promise about the layout.
        let block = unsafe { System.alloc(layout) };
        count_in_heap(block, layout.size());
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if let Some(block) = beyond_the_limit(layout) {
            return block.as_ptr();
        }
        // SAFETY: the caller's promise about the layout.
        let block = unsafe { System.alloc_zeroed(layout) };
        count_in_heap(block, layout.size());
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_large(layout.size()) && file::unmap(block) {
            return;
        }
        forget_in_heap(layout.size());
        // SAFETY: it is not in the file, so it is from `System`, with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let grows_beyond =
            is_large(bytes) && bytes > layout.size() && !has_room(bytes - layout.size());
        let is_in_file = is_large(layout.size()) && file::has(block);
        if is_in_file
            && is_large(bytes)
            && let Some(resized) = file::resize(block, bytes)
        {
            return resized.as_ptr();
        }
        if grows_beyond || is_in_file {
            // SAFETY: the caller's promise about the block, its layout and the new size.
            return unsafe { self.moved(block, layout, bytes) };
        }
        // SAFETY: it is not in the file, so it is from `System`, with this layout.
        let moved = unsafe { System.realloc(block, layout, bytes) };
        if !moved.is_null() {
            forget_in_heap(layout.size());
            count_in_heap(moved, bytes);
        }
        moved
    }
}

impl Allocator {
    /// A new block with the content of this one, which is freed.
    ///
    /// # Safety
    /// As for [`GlobalAlloc::realloc`].
    #[cold]
    unsafe fn moved(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size is not zero, and not too large for this alignment.
        let layout_after = unsafe { Layout::from_size_align_unchecked(bytes, layout.align()) };
        let grows =
            is_large(bytes) && bytes > layout.size() && layout.align() <= file::page_bytes();
        let in_file = grows.then(|| in_file(bytes, GROWTH)).flatten();
        let moved = match in_file {
            Some(start) => start.as_ptr(),
            // SAFETY: the size is not zero.
            None => unsafe { self.alloc(layout_after) },
        };
        if !moved.is_null() {
            let copied = layout.size().min(bytes);
            for from in (0..copied).step_by(COPIED_BYTES) {
                let part = COPIED_BYTES.min(copied - from);
                // SAFETY: two different blocks, each at least this long.
                unsafe { ptr::copy_nonoverlapping(block.add(from), moved.add(from), part) };
                if part == COPIED_BYTES {
                    file::trim_part(block, from, part);
                    file::trim_part(moved, from, part);
                }
            }
            // SAFETY: the caller's promise about the block and its layout.
            unsafe { self.dealloc(block, layout) };
        }
        moved
    }
}

/// Bytes at the beginning of a page, initially zero: in memory, or in the file if there are many.
pub struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it owns its bytes, which are reachable through it only.
unsafe impl Send for Block {}
// SAFETY: a shared block is only read.
unsafe impl Sync for Block {}

impl Block {
    /// A block of this size, for use in order: a file costs that least, so blocks go there earlier than others. If all
    /// of it will be used, its memory is requested at once. Aborts the program when there is no memory, as a vector does.
    pub fn zeroed(bytes: usize, is_used: bool) -> Block {
        let ordered = ORDERED.load(Ordering::Relaxed).saturating_add(bytes);
        let stays = ordered <= limits().ordered && has_room(bytes);
        let spilled = if stays { None } else { in_file(bytes, 1) };
        let start = spilled.unwrap_or_else(|| {
            ORDERED.fetch_add(bytes, Ordering::Relaxed);
            file::in_memory(bytes, is_used)
        });
        Block { start, bytes }
    }
}

impl Deref for Block {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is this long, initially zero, and lives as long as the block.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl DerefMut for Block {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else has the block.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if !file::unmap(self.start.as_ptr()) {
            ORDERED.fetch_sub(self.bytes, Ordering::Relaxed);
            file::free(self.start, self.bytes);
        }
    }
}
