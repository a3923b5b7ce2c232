//! Blocks in the file behave as those in the heap.

use super::*;
use proptest::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The file is one for all: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone(total: usize) -> MutexGuard<'static, ()> {
    let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    crate::limit(total);
    guard
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 16).expect("a small power of two")
}

/// Bytes between two that are written and read: some in each page.
const STEP: usize = 509;

/// A block of the allocator, with bytes that depend on its seed.
struct Model {
    start: *mut u8,
    bytes: usize,
    seed: u8,
}

impl Model {
    fn new(bytes: usize, seed: u8) -> Model {
        // SAFETY: the size is not zero.
        let start = unsafe { Allocator.alloc_zeroed(layout(bytes)) };
        let mut model = Model { start, bytes, seed };
        assert!(model.content().iter().step_by(STEP).all(|&byte| byte == 0));
        model.fill(0);
        model
    }

    fn content(&mut self) -> &mut [u8] {
        // SAFETY: the block is this long and initialised.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) }
    }

    fn expected(&self, at: usize) -> u8 {
        (at / 4096) as u8 ^ at as u8 ^ self.seed
    }

    fn fill(&mut self, from: usize) {
        for at in (from.next_multiple_of(STEP)..self.bytes).step_by(STEP) {
            let value = self.expected(at);
            self.content()[at] = value;
        }
    }

    fn resize(&mut self, bytes: usize) {
        let before = self.bytes;
        // SAFETY: a block of this allocator with its layout, and a size that is not zero.
        self.start = unsafe { Allocator.realloc(self.start, layout(before), bytes) };
        self.bytes = bytes.min(before);
        self.check();
        self.bytes = bytes;
        // SAFETY: the new bytes are the block's; they are written before they are read.
        unsafe {
            ptr::write_bytes(
                self.start.add(bytes.min(before)),
                0,
                bytes.saturating_sub(before),
            )
        };
        self.fill(before.min(bytes));
    }

    fn check(&mut self) {
        let wrong = (0..self.bytes)
            .step_by(STEP)
            .find(|&at| self.content()[at] != self.expected(at));
        assert_eq!(wrong, None, "of {} bytes", self.bytes);
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: a block of this allocator with its layout.
        unsafe { Allocator.dealloc(self.start, layout(self.bytes)) };
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn blocks_keep_their_content_wherever_they_are(
        total in prop_oneof![Just(0), Just(10 << 20), Just(usize::MAX)],
        steps in prop::collection::vec((0..4_usize, 1..3 * LARGE_BYTES, any::<u8>()), 1..24),
    ) {
        let _alone = alone(total);
        let mut blocks: Vec<Model> = Vec::new();
        for (action, bytes, seed) in steps {
            match action {
                0 | 1 => blocks.push(Model::new(bytes, seed)),
                2 if !blocks.is_empty() => {
                    let at = usize::from(seed) % blocks.len();
                    blocks[at].resize(bytes);
                }
                _ => file::trim(),
            }
            blocks.iter_mut().for_each(Model::check);
        }
        drop(blocks);
        prop_assert_eq!(spilled_bytes(), 0);
        prop_assert_eq!(IN_HEAP.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn large_blocks_go_to_the_file_beyond_the_limit_and_small_ones_never() {
    let _alone = alone(10 << 20);
    let first = Model::new(3 << 20, 1);
    assert_eq!(spilled_bytes(), 0, "there is room");
    let second = Model::new(2 << 20, 2);
    assert_eq!(spilled_bytes(), 2 << 20, "4 of 10 MiB are for blocks");
    let small = Model::new(LARGE_BYTES - 1, 3);
    assert_eq!(spilled_bytes(), 2 << 20);
    drop((first, second, small));
    assert_eq!(spilled_bytes(), 0);
}

#[test]
fn blocks_in_ordered_use_go_earlier() {
    let _alone = alone(10 << 20);
    let mut blocks: Vec<Block> = (0..4).map(|_| Block::zeroed(1 << 20, true)).collect();
    assert_eq!(spilled_bytes(), 2 << 20, "2 of 10 MiB are for them");
    for (value, block) in (1..).zip(&mut blocks) {
        block.fill(value);
    }
    file::trim();
    for (value, block) in (1..).zip(&blocks) {
        assert!(block.iter().all(|&byte| byte == value));
    }
    drop(blocks);
    assert_eq!((spilled_bytes(), ORDERED.load(Ordering::Relaxed)), (0, 0));
}

#[test]
fn pages_that_are_not_used_leave_the_memory() {
    let _alone = alone(0);
    let mut block = Block::zeroed(64 << 20, false);
    // From now on nobody else trims.
    crate::limit(usize::MAX);
    block.fill(7);
    let statm = trim::statm().expect("the system's file");
    let before = trim::Used::now(&statm).of_files;
    file::trim();
    let after = trim::Used::now(&statm).of_files;
    assert!(
        after + (32 << 20) < before,
        "{before} before, {after} after"
    );
    assert!(block.iter().all(|&byte| byte == 7));
}

#[test]
fn several_threads_keep_their_blocks_apart() {
    let _alone = alone(0);
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            scope.spawn(move || {
                for round in 0..40 {
                    let bytes = LARGE_BYTES + usize::from(thread) * 5000 + round * 997;
                    let mut block = Model::new(bytes, thread ^ round as u8);
                    block.resize(bytes * 3);
                    file::trim();
                    block.check();
                }
            });
        }
    });
    assert_eq!(spilled_bytes(), 0);
}
