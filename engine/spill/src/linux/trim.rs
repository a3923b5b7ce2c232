//! A thread that keeps the pages of the file from filling the memory.

use super::file;
use crate::limits::limits;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Both cores of a small machine touch some 10 MiB of new pages meanwhile.
const PERIOD: Duration = Duration::from_millis(5);

/// Periods between two times that the heap gives back what is free: it looks at all of its pages for that. They become
/// longer as long as it has little to give back.
const PERIODS_OF_HEAP: Range<u32> = 200..6400;

/// Begin to look at the pages now and then, until no block is left.
pub(super) fn begin() {
    // Without the thread the pages stay until the system needs the memory.
    let _ = std::thread::Builder::new()
        .name("spill".to_owned())
        .spawn(watch);
}

fn watch() {
    let Ok(statm) = statm() else { return };
    let (mut since_heap, mut between) = (PERIODS_OF_HEAP.start, PERIODS_OF_HEAP.start);
    while file::is_watched() {
        let (limits, used) = (limits(), Used::now(&statm));
        let is_much = used.total > limits.total / 8 * 7;
        if used.of_files > limits.pages || is_much {
            file::trim();
        }
        since_heap += 1;
        if is_much && since_heap > between {
            give_back_heap();
            let freed = used.total.saturating_sub(Used::now(&statm).total);
            let gave_much = freed > limits.total / 16;
            between = if gave_much {
                PERIODS_OF_HEAP.start
            } else {
                (between * 2).min(PERIODS_OF_HEAP.end)
            };
            since_heap = 0;
        }
        std::thread::sleep(PERIOD);
    }
}

/// The system's counts of the pages of this process.
pub(super) fn statm() -> io::Result<File> {
    File::open("/proc/self/statm")
}

/// What the process has in memory, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Used {
    total: usize,
    pub(super) of_files: usize,
}

impl Used {
    /// As the system counts now; all that there is if it does not say.
    pub(super) fn now(statm: &File) -> Used {
        let mut text = [0; 128];
        let read = statm.read_at(&mut text, 0).unwrap_or(0);
        let text = std::str::from_utf8(&text[..read]).unwrap_or("");
        let mut pages = text.split(' ').skip(1).map(|pages| pages.parse().ok());
        let mut bytes = || {
            pages
                .next()
                .flatten()
                .map_or(usize::MAX, |pages: usize| pages * file::page_bytes())
        };
        let (total, of_files) = (bytes(), bytes());
        Used { total, of_files }
    }
}

/// Return free memory of the heap to the system. GNU's library keeps large blocks that were freed, for the next ones.
#[cfg(target_env = "gnu")]
fn give_back_heap() {
    // SAFETY: it may be called at any time, by any thread.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(target_env = "gnu"))]
fn give_back_heap() {}
