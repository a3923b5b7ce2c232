//! A thread that keeps the pages of the file from filling the memory.

use super::file;
use crate::limits::limits;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Both cores of a small machine touch some 10 MiB of new pages meanwhile.
const PERIOD: Duration = Duration::from_millis(5);

/// Times between two calls that ask the heap for what is free: it looks at all of its pages for that. They become longer
/// as long as it has little to give back.
const BETWEEN_CALLS: Range<Duration> = Duration::from_secs(1)..Duration::from_secs(32);

/// Begin to look at the pages now and then, until no block is left.
pub(super) fn begin() {
    // Without the thread the pages stay until the system needs the memory.
    let _ = std::thread::Builder::new()
        .name("spill".to_owned())
        .spawn(watch);
}

fn watch() {
    let Ok(statm) = statm() else { return };
    let mut heap = Heap::new();
    while file::is_watched() {
        let (limits, used) = (limits(), Used::now(&statm));
        let is_much = used.total > limits.total / 8 * 7;
        let is_near = used.of_files > limits.pages / 2;
        // If the heap takes all that there is, few pages have to stay: answers would wait for each of them again and again.
        if used.of_files > limits.pages || (is_much && is_near) {
            file::trim();
        }
        if is_much {
            heap.shrink(limits.total / 16);
        }
        std::thread::sleep(PERIOD);
    }
}

/// Asks the heap now and then for what is free. That takes longer than pages may wait, so it has a thread.
struct Heap {
    last_call: Instant,
    until_next: Duration,
    /// Returns how much it was.
    at_work: Option<JoinHandle<usize>>,
}

impl Heap {
    fn new() -> Heap {
        Heap {
            last_call: Instant::now(),
            until_next: BETWEEN_CALLS.start,
            at_work: None,
        }
    }

    /// Asks it, unless that was a short time ago. `much` is what makes the next call worth while.
    fn shrink(&mut self, much: usize) {
        if let Some(ended) = self.at_work.take_if(|thread| thread.is_finished()) {
            let gave_much = ended.join().unwrap_or(0) > much;
            self.until_next = if gave_much {
                BETWEEN_CALLS.start
            } else {
                (self.until_next * 2).min(BETWEEN_CALLS.end)
            };
            self.last_call = Instant::now();
        }
        if self.at_work.is_none() && self.last_call.elapsed() >= self.until_next {
            let thread = std::thread::Builder::new().name("heap".to_owned());
            self.at_work = thread.spawn(give_back_heap).ok();
        }
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

    fn in_heap(self) -> usize {
        self.total.saturating_sub(self.of_files)
    }
}

/// Return free memory of the heap to the system, and say how much that was. GNU's library keeps large blocks that were freed, for the next ones.
#[cfg(target_env = "gnu")]
fn give_back_heap() -> usize {
    let Ok(statm) = statm() else { return 0 };
    let before = Used::now(&statm).in_heap();
    // SAFETY: it may be called at any time, by any thread.
    unsafe { libc::malloc_trim(0) };
    before.saturating_sub(Used::now(&statm).in_heap())
}

#[cfg(not(target_env = "gnu"))]
fn give_back_heap() -> usize {
    0
}
