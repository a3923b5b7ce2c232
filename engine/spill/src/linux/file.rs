//! The files without a name, and the blocks in them.
//!
//! A block is a range of a file of its own. What grows has a longer range than it needs, so that it grows without a
//! copy: its file has holes, and takes no space for them.
//!
//! ```text
//! of fixed size   |block|block|- freed -|block|
//! growing         |block|- - - - - - - - -|block|- - - - - - - - -|
//! ```
//! They are two files because the system reads ahead of a page that is not in memory: in the first it finds the next
//! blocks, in the other it would fill pages of holes with zeros.

use crate::Failure;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MremapFlags, ProtFlags, madvise, mmap, mmap_anonymous, mremap, munmap,
};
use std::alloc::{Layout, handle_alloc_error};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file, if there is one, and where its next block begins.
struct Part {
    file: Option<Arc<File>>,
    end: u64,
}

impl Part {
    const NONE: Part = Part { file: None, end: 0 };
}

/// A block in a file.
struct Place {
    /// Whether it is in the file of blocks that grow.
    grows: bool,
    offset: u64,
    bytes: usize,
    /// Bytes of the file up to the next block.
    range: usize,
    /// The process whose file it is in: a fork has the blocks of its parent, but a file of its own.
    owner: u32,
}

struct SpillFile {
    fixed: Part,
    growing: Part,
    /// The process that made them. A fork must not write where its parent does.
    owner: u32,
    /// Of all blocks, by address.
    blocks: BTreeMap<usize, Place>,
    /// Blocks that have a range, and are not among those yet.
    pending: usize,
    bytes: u64,
    failure: Option<Failure>,
    is_watched: bool,
}

static SPILL: Mutex<SpillFile> = Mutex::new(SpillFile {
    fixed: Part::NONE,
    growing: Part::NONE,
    owner: 0,
    blocks: BTreeMap::new(),
    pending: 0,
    bytes: 0,
    failure: None,
    is_watched: false,
});

/// The number of blocks. Nothing is locked as long as there is none.
static BLOCKS: AtomicUsize = AtomicUsize::new(0);

fn spill() -> MutexGuard<'static, SpillFile> {
    SPILL.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// The folder for large temporary files: `TMPDIR`, or else the one that is on a disk on most systems.
fn folder() -> PathBuf {
    match std::env::var_os("TMPDIR") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ if std::path::Path::new("/var/tmp").is_dir() => "/var/tmp".into(),
        _ => std::env::temp_dir(),
    }
}

fn errno(error: &std::io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}

fn new_part() -> Result<Part, i32> {
    let file = tempfile::tempfile_in(folder()).map_err(|error| errno(&error))?;
    Ok(Part {
        file: Some(Arc::new(file)),
        end: 0,
    })
}

impl SpillFile {
    fn fails(&mut self, errno: i32) {
        let bytes = self.bytes;
        self.failure.get_or_insert_with(|| Failure {
            folder: folder(),
            errno,
            bytes,
        });
    }

    /// Begin files, if there are none that can be used. What is freed may not be zero on all disks, so its space is used
    /// again only in new files.
    fn begin(&mut self) -> Result<(), i32> {
        let process = std::process::id();
        let is_used = self.pending > 0 || !self.blocks.is_empty();
        if self.fixed.file.is_some() && self.owner == process && is_used {
            return Ok(());
        }
        let (fixed, growing) = (new_part()?, new_part()?);
        // A fork has no thread that watches.
        self.is_watched &= self.owner == process;
        (self.fixed, self.growing, self.owner) = (fixed, growing, process);
        Ok(())
    }

    /// A range of the file for a block that may grow to so many times its size.
    fn range(&mut self, bytes: usize, growth: usize) -> Result<Place, i32> {
        self.begin()?;
        let range = bytes.saturating_mul(growth);
        let grows = growth > 1;
        let part = if grows {
            &mut self.growing
        } else {
            &mut self.fixed
        };
        let offset = part.end;
        part.end += range as u64;
        self.pending += 1;
        Ok(Place {
            grows,
            offset,
            bytes,
            range,
            owner: self.owner,
        })
    }

    fn insert(&mut self, start: NonNull<u8>, place: Place) {
        self.bytes += place.bytes as u64;
        self.blocks.insert(start.as_ptr() as usize, place);
        BLOCKS.store(self.blocks.len(), Ordering::Release);
    }

    fn remove(&mut self, start: *mut u8) -> Option<Place> {
        let place = self.blocks.remove(&(start as usize))?;
        BLOCKS.store(self.blocks.len(), Ordering::Release);
        self.bytes -= place.bytes as u64;
        Some(place)
    }

    /// The file, if it is that of a block.
    fn file_of(&self, place: &Place) -> Option<Arc<File>> {
        let is_own = place.owner == std::process::id() && place.owner == self.owner;
        let part = if place.grows {
            &self.growing
        } else {
            &self.fixed
        };
        part.file.as_ref().filter(|_| is_own).map(Arc::clone)
    }
}

/// Space for a block. The disk has it: writing to a mapping cannot fail later.
fn reserve(file: &File, offset: u64, bytes: usize) -> Result<(), i32> {
    fallocate(file, FallocateFlags::empty(), offset, bytes as u64).map_err(Errno::raw_os_error)
}

/// A mapping of a range of the file; `None` if the process has as many mappings as it may have.
fn mapped(file: &File, place: &Place) -> Option<NonNull<u8>> {
    let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
    // SAFETY: a new mapping at an address that the system chooses, of a file that only this module uses.
    let start = unsafe {
        mmap(
            ptr::null_mut(),
            place.bytes,
            access,
            flags,
            file,
            place.offset,
        )
    };
    let start = NonNull::new(start.ok()?.cast::<u8>())?;
    // A huge page would come as a whole for each byte that is used: hundreds of megabytes in a few milliseconds.
    advise(start, place.bytes, Advice::LinuxNoHugepage);
    if place.grows {
        advise(start, place.bytes, Advice::Random);
    }
    Some(start)
}

/// Tell the system how a mapping is used. It works without, more slowly.
fn advise(start: NonNull<u8>, bytes: usize, advice: Advice) {
    // SAFETY: a mapping of `mapped`, whose content none of these changes.
    let _ = unsafe { madvise(start.as_ptr().cast(), bytes, advice) };
}

/// A block of zeros in the file, and whether nobody watches it yet; `None` if that fails, see [`failure`].
pub(super) fn map(bytes: usize, growth: usize) -> Option<(NonNull<u8>, bool)> {
    let ranged = {
        let mut spill = spill();
        if spill.failure.is_some() {
            return None;
        }
        let place = spill.range(bytes.next_multiple_of(page_bytes()), growth);
        place.map(|place| (spill.file_of(&place), place))
    };
    // The disk may be slow, and others want to go on: nothing is locked meanwhile.
    let reserved = ranged.map(|(file, place)| {
        let start = file.ok_or(0).and_then(|file| {
            reserve(&file, place.offset, place.bytes)?;
            Ok(mapped(&file, &place))
        });
        (start, place)
    });
    let mut spill = spill();
    let start = reserved.and_then(|(start, place)| {
        spill.pending -= 1;
        let start = start?;
        if let Some(start) = start {
            spill.insert(start, place);
        }
        Ok(start)
    });
    match start {
        Ok(start) => {
            let start = start?;
            let was_watched = std::mem::replace(&mut spill.is_watched, true);
            Some((start, !was_watched))
        }
        Err(errno) => {
            spill.fails(errno);
            None
        }
    }
}

/// Free a block, if it is in the file.
pub(super) fn unmap(start: *mut u8) -> bool {
    if BLOCKS.load(Ordering::Acquire) == 0 {
        return false;
    }
    let (place, file) = {
        let mut spill = spill();
        let Some(place) = spill.remove(start) else {
            return false;
        };
        let file = spill.file_of(&place);
        (place, file)
    };
    // SAFETY: this mapping was made by `map`, its owner gives it up, and nobody trims it any more.
    let unmapped = unsafe { munmap(start.cast(), place.bytes) };
    debug_assert!(unmapped.is_ok(), "a mapping");
    if let Some(file) = file {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // Without holes the file only needs more of the disk.
        let _ = fallocate(&file, hole, place.offset, place.bytes as u64);
    }
    true
}

/// A block of the file with another size, without a copy; `None` if it has to be copied.
pub(super) fn resize(start: *mut u8, bytes: usize) -> Option<NonNull<u8>> {
    let rounded = bytes.next_multiple_of(page_bytes());
    let (file, offset, before) = {
        let spill = spill();
        let place = spill.blocks.get(&(start as usize))?;
        if rounded <= place.bytes {
            return NonNull::new(start);
        }
        if rounded > place.range {
            return None;
        }
        (spill.file_of(place)?, place.offset, place.bytes)
    };
    reserve(&file, offset + before as u64, rounded - before).ok()?;
    let mut spill = spill();
    // SAFETY: this mapping was made by `map` with this size, and its owner gives up the old address. The file is as long
    // as the new size. Who trims waits for the lock, and then has the new address.
    let moved = unsafe { mremap(start.cast(), before, rounded, MremapFlags::MAYMOVE) };
    let moved = NonNull::new(moved.ok()?.cast::<u8>())?;
    let mut place = spill.remove(start)?;
    place.bytes = rounded;
    spill.insert(moved, place);
    Some(moved)
}

/// Whether a block is in the file.
pub(super) fn has(start: *mut u8) -> bool {
    BLOCKS.load(Ordering::Acquire) > 0 && spill().blocks.contains_key(&(start as usize))
}

/// Zeros in memory. Aborts the program if there is none.
pub(super) fn in_memory(bytes: usize, is_used: bool) -> NonNull<u8> {
    let populate = if is_used {
        MapFlags::POPULATE
    } else {
        MapFlags::empty()
    };
    let flags = MapFlags::PRIVATE | populate;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address that the system chooses.
    let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, access, flags) };
    let start = start
        .ok()
        .and_then(|start| NonNull::new(start.cast::<u8>()));
    start.unwrap_or_else(|| handle_alloc_error(Layout::new::<u8>()))
}

/// Free what [`in_memory`] returned.
pub(super) fn free(start: NonNull<u8>, bytes: usize) {
    // SAFETY: this mapping was made by `in_memory` with this size, and its owner gives it up.
    let unmapped = unsafe { munmap(start.as_ptr().cast(), bytes) };
    debug_assert!(unmapped.is_ok(), "a mapping");
}

/// Let these pages leave the memory of the process, if they are of a block of the file.
pub(super) fn trim_part(start: *mut u8, from: usize, bytes: usize) {
    if !has(start) {
        return;
    }
    let from = from.next_multiple_of(page_bytes());
    // SAFETY: as in `trim`; the caller has the block, so it is not freed meanwhile.
    let _ = unsafe {
        madvise(
            start.wrapping_add(from).cast(),
            bytes,
            Advice::LinuxDontNeed,
        )
    };
}

/// Let the pages of all blocks leave the memory of the process.
pub(super) fn trim() {
    let spill = spill();
    for (&start, place) in &spill.blocks {
        // SAFETY: a mapping of a file that is shared. Its pages stay in the cache of files, and come back when they are
        // used. Linux does this at once, and does not lose what was written.
        let _ = unsafe { madvise(start as *mut _, place.bytes, Advice::LinuxDontNeed) };
    }
}

/// Whether there are blocks. If not, the next one begins a new watch.
pub(super) fn is_watched() -> bool {
    let mut spill = spill();
    spill.is_watched = !spill.blocks.is_empty();
    spill.is_watched
}

/// Bytes in the file now.
pub fn spilled_bytes() -> u64 {
    spill().bytes
}

/// Try again from now on, although it failed.
pub fn forget_failure() {
    spill().failure = None;
}

/// Why blocks cannot go to the file, if that failed: they stay in memory from then on.
pub fn failure() -> Option<Failure> {
    spill().failure.clone()
}
