//! How much stays in memory.

use std::sync::atomic::{AtomicUsize, Ordering};

const MIB: usize = 1 << 20;

/// What the program and its libraries are, which are files, too.
#[cfg(target_os = "linux")]
const PROGRAM_BYTES: usize = 48 * MIB;

/// How much stays in memory, in bytes.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// All of the program.
    pub(crate) total: usize,
    /// Large blocks of any kind.
    pub(crate) blocks: usize,
    /// What callers ask a [`crate::Block`] for. It is used in order, so a file costs it least.
    pub(crate) ordered: usize,
    /// Pages of files.
    pub(crate) pages: usize,
}

#[cfg(target_os = "linux")]
impl Limits {
    /// For a program that may use this much in all: what is neither a large block nor a page of the file takes the rest.
    pub(crate) fn of(total: usize) -> Limits {
        Limits {
            total,
            blocks: total / 5 * 2,
            ordered: total / 5,
            pages: PROGRAM_BYTES + total / 8,
        }
    }
}

/// Two gigabytes: what most laptops and build machines have to spare.
pub const DEFAULT_TOTAL: usize = 2048 * MIB;

static TOTAL: AtomicUsize = AtomicUsize::new(DEFAULT_TOTAL);

/// Set how much memory the program may use. Blocks that exist stay where they are.
pub fn limit(total: usize) {
    TOTAL.store(total, Ordering::Relaxed);
}

/// The limits that hold now.
#[cfg(target_os = "linux")]
pub(crate) fn limits() -> Limits {
    Limits::of(TOTAL.load(Ordering::Relaxed))
}
