//! Memory for traces that are larger than the memory. Large blocks go to unnamed files once there are many of them.
//!
//! ```text
//! blocks of less than 256 KiB    the heap
//! large blocks, up to a limit    the heap
//! large blocks beyond it         files without a name, mapped; their pages leave the memory when too many are in it
//! ```
//! Callers do not see where a block is. A page that is used again is mapped again by the kernel, from its
//! cache of files or from the disk.
//!
//! An allocator and mappings of files cannot be written without `unsafe`. All of it is in this crate, which has no
//! other purpose. On other systems than Linux all blocks are in the heap.

mod limits;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod others;

pub use limits::{DEFAULT_TOTAL, limit};
#[cfg(target_os = "linux")]
pub use linux::{Allocator, Block, failure, forget_failure, spilled_bytes};
#[cfg(not(target_os = "linux"))]
pub use others::{Allocator, Block, failure, forget_failure, spilled_bytes};

/// Why blocks could not go to the file. They stayed in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The folder of the file.
    pub folder: std::path::PathBuf,
    /// The number of the system's error.
    pub errno: i32,
    /// Bytes that were in the file then.
    pub bytes: u64,
}
