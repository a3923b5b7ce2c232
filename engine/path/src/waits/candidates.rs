//! The calls of each task in blocks: the start of each block, and the calls in it that may wait for others.
//!
//! ```text
//! rows of a task   c c c c | c c w c | c c c c | w c c         blocks of 64, here of 4; w waits
//! waits                  0 |      4 |       0 |     1         a bit for each row
//! floors           birth   e         e         e              e: end of the last call before the block
//! ```
//! The walk jumps from wait to wait, and reads no call between them. The time between is charged on all cores.

use parsers::NO_NS;
use rayon::prelude::*;
use std::ops::Range;
use trace::store::heuristics::MIN_BLOCKED_WRITE_NS;
use trace::store::index::{ShapeId, TaskId, TiSlice};
use trace::store::spans::Span;
use trace::store::trace::Trace;

/// Rows of a block: the number of bits in a word.
pub(crate) const BLOCK_ROWS: usize = 64;
/// Blocks that a core builds at a time.
const BLOCKS_AT_ONCE: usize = 256;

/// Why calls of a shape must be examined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WhenToCheck {
    /// Never: they work until they are done.
    Never,
    /// Each may be the last check of a poll loop, if its task may be in one.
    Checks,
    /// Slow ones may have been blocked by others.
    Long,
    /// Others may have ended them.
    Always,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    /// When the last call before it ended. For the first block, the birth of the task.
    floor_ns: i64,
    /// When its own last call ends; [`NO_NS`] without one.
    end_ns: i64,
    /// When its first call begins.
    start_ns: i64,
    /// Rows that are always examined, and rows that check a condition.
    always: u64,
    checks: u64,
    /// Whether no call in it begins before the one before it has ended.
    is_plain: bool,
}

impl Block {
    /// A block without calls.
    const EMPTY: Block = Block {
        floor_ns: NO_NS,
        end_ns: NO_NS,
        start_ns: NO_NS,
        always: 0,
        checks: 0,
        is_plain: true,
    };
}

/// The blocks of all tasks.
#[derive(Default)]
pub struct WaitBitmap {
    blocks: Vec<Block>,
    /// Index of the first block of each task, and the total number at the end.
    offsets: Vec<u32>,
}

impl WaitBitmap {
    /// One pass over the events, on all cores. `looks` are by shape.
    pub(crate) fn new(trace: &Trace, looks: &TiSlice<ShapeId, WhenToCheck>) -> WaitBitmap {
        let mut offsets = vec![0];
        for task in trace.tasks.keys() {
            offsets.push(
                offsets[task.index()]
                    + trace.rows_of(task).len().div_ceil(BLOCK_ROWS).max(1) as u32,
            );
        }
        // Computed before all cores request them at once.
        trace.shapes_of(TaskId::new(0));
        let mut blocks = vec![Block::EMPTY; *offsets.last().unwrap_or(&0) as usize];
        let some = |(chunk, blocks): (usize, &mut [Block])| {
            find_blocks(
                trace,
                looks,
                &offsets,
                (chunk * BLOCKS_AT_ONCE) as u32,
                blocks,
            );
        };
        blocks
            .par_chunks_mut(BLOCKS_AT_ONCE)
            .enumerate()
            .for_each(some);
        let mut outline = WaitBitmap { blocks, offsets };
        outline.set_floors(trace);
        outline
    }

    fn set_floors(&mut self, trace: &Trace) {
        for (task, bounds) in trace.tasks.iter().zip(self.offsets.windows(2)) {
            let mut floor_ns = task.birth_ns;
            for block in &mut self.blocks[bounds[0] as usize..bounds[1] as usize] {
                block.floor_ns = floor_ns;
                block.is_plain &= block.start_ns == NO_NS || block.start_ns >= floor_ns;
                floor_ns = floor_ns.max(block.end_ns);
            }
        }
    }

    fn of(&self, task: TaskId) -> &[Block] {
        let bounds = self
            .offsets
            .get(task.index())
            .zip(self.offsets.get(task.index() + 1));
        bounds.map_or(&[], |(&from, &to)| &self.blocks[from as usize..to as usize])
    }

    /// When the last call before a block of a task ended.
    pub(crate) fn floor_ns(&self, task: TaskId, block: usize) -> i64 {
        self.of(task)
            .get(block)
            .map_or(NO_NS, |block| block.floor_ns)
    }

    /// Whether no call of a block overlaps the end of the previous one, so that none must be cut.
    pub(crate) fn is_plain(&self, task: TaskId, block: usize) -> bool {
        self.of(task).get(block).is_some_and(|block| block.is_plain)
    }

    /// The last block of a task, up to this one, that starts after calls ended before a moment.
    pub(crate) fn block_before(&self, task: TaskId, last: usize, at_ns: i64) -> Option<usize> {
        let blocks = self.of(task);
        let begins = |block: &Block| block.floor_ns < at_ns;
        if blocks.get(last).is_some_and(begins) {
            return Some(last);
        }
        blocks.get(..last)?.partition_point(begins).checked_sub(1)
    }

    /// The last of a task's rows up to `at` that must be examined, unless it ended before `floor_ns` in any case.
    pub(crate) fn last_look(
        &self,
        task: TaskId,
        at: usize,
        checks: bool,
        floor_ns: i64,
    ) -> Option<usize> {
        let blocks = self.of(task).get(..=at / BLOCK_ROWS)?;
        let mut up_to = u64::MAX >> (BLOCK_ROWS - 1 - at % BLOCK_ROWS);
        for (number, block) in blocks.iter().enumerate().rev() {
            let looks = (block.always | if checks { block.checks } else { 0 }) & up_to;
            if looks != 0 {
                return Some(number * BLOCK_ROWS + looks.ilog2() as usize);
            }
            if block.floor_ns <= floor_ns {
                break;
            }
            up_to = u64::MAX;
        }
        None
    }

    /// The rows of the calls of a task that others may have ended, in order.
    pub(crate) fn rows_looked_at<'all>(
        &'all self,
        trace: &'all Trace,
        task: TaskId,
    ) -> impl Iterator<Item = u32> {
        let blocks = self
            .of(task)
            .iter()
            .zip(trace.rows_of(task).chunks(BLOCK_ROWS));
        blocks
            .filter(|(block, _)| block.always != 0)
            .flat_map(|(block, rows)| {
                let looked_at = (0..)
                    .zip(rows)
                    .filter(|(at, _)| block.always >> at & 1 == 1);
                looked_at.map(|(_, &row)| row)
            })
    }

    /// The calls of a task that others may have ended, and their places among its rows, in order.
    pub(crate) fn looked_at<'all>(
        &'all self,
        trace: &'all Trace,
        task: TaskId,
    ) -> impl Iterator<Item = (usize, Span)> {
        self.looked_at_with(trace, task, false)
    }

    /// The same, if requested with the calls that check a condition.
    pub fn looked_at_with<'all>(
        &'all self,
        trace: &'all Trace,
        task: TaskId,
        checks: bool,
    ) -> impl Iterator<Item = (usize, Span)> {
        let looks = move |block: &Block| block.always | if checks { block.checks } else { 0 };
        self.of(task)
            .iter()
            .enumerate()
            .filter(move |(_, block)| looks(block) != 0)
            .flat_map(move |(number, block)| {
                let from = number * BLOCK_ROWS;
                let spans = trace.spans_of(task, from..from + BLOCK_ROWS, block.floor_ns);
                spans.filter(move |(at, _)| looks(block) >> (at - from) & 1 == 1)
            })
    }
}

/// Find some blocks, which have numbers from `first` on.
fn find_blocks(
    trace: &Trace,
    looks: &TiSlice<ShapeId, WhenToCheck>,
    offsets: &[u32],
    first: u32,
    blocks: &mut [Block],
) {
    let mut task = offsets.partition_point(|&offset| offset <= first) - 1;
    for (number, place) in (first..).zip(blocks) {
        while offsets[task + 1] <= number {
            task += 1;
        }
        let from = (number - offsets[task]) as usize * BLOCK_ROWS;
        *place = block(trace, looks, task.into(), from..from + BLOCK_ROWS);
    }
}

/// A block whose floor is not known yet.
fn block(
    trace: &Trace,
    looks: &TiSlice<ShapeId, WhenToCheck>,
    task: TaskId,
    rows: Range<usize>,
) -> Block {
    let mut block = Block::EMPTY;
    let shapes = trace.shapes_of(task).get(rows.start..).unwrap_or(&[]);
    let from = rows.start;
    trace.spans_of(task, rows, NO_NS).each(|at, span, is_cut| {
        let place = at - from;
        let look = shapes
            .get(place)
            .and_then(|&shape| looks.get(shape))
            .copied()
            .unwrap_or(WhenToCheck::Always);
        let is_held_up = look == WhenToCheck::Long
            && span.end_ns.saturating_sub(span.start_ns) >= MIN_BLOCKED_WRITE_NS;
        block.always |= u64::from(look == WhenToCheck::Always || is_held_up) << place;
        block.checks |= u64::from(look == WhenToCheck::Checks) << place;
        block.start_ns = if block.end_ns == NO_NS {
            span.start_ns
        } else {
            block.start_ns
        };
        block.end_ns = span.end_ns;
        block.is_plain &= !is_cut;
    });
    block
}
