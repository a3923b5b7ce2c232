//! How far the walk has gone back in each task, and the calls it finds there.
//!
//! Most calls begin when the one before them has ended, and are what their rows say. Where clocks are coarse they overlap,
//! and a call is known only with those before it in its block: blocks like these are kept for a while.

use crate::waits::candidates::{BLOCK_ROWS, WaitBitmap};
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::spans::Span;
use trace::store::trace::Trace;

/// Blocks that are kept: that many tasks can hand the walk to and fro.
const KEPT: usize = 16;
/// Rows that are looked at one by one before they are searched.
const NEAR: usize = 4;

/// The tasks that the walk goes through.
pub(super) struct Cursors<'walk> {
    trace: &'walk Trace,
    outline: &'walk WaitBitmap,
    /// Rows of each task that were not gone back over.
    left: Vec<u32>,
    kept: Vec<CachedBlock>,
}

/// The spans of a block, with their places among the task's rows.
#[derive(Default)]
struct CachedBlock {
    block: Option<(TaskId, usize)>,
    spans: Vec<(usize, Span)>,
}

impl<'walk> Cursors<'walk> {
    pub(super) fn new(trace: &'walk Trace, outline: &'walk WaitBitmap) -> Cursors<'walk> {
        let left = trace
            .tasks
            .keys()
            .map(|task| trace.rows_of(task).len() as u32)
            .collect();
        let kept = std::iter::repeat_with(CachedBlock::default)
            .take(KEPT)
            .collect();
        Cursors {
            trace,
            outline,
            left,
            kept,
        }
    }

    /// The last call of a task that begins before a moment, and its place among the task's rows.
    ///
    /// Requested moments of a task must not increase: later events are never visited again.
    pub(super) fn before(&mut self, task: TaskId, at_ns: i64) -> Option<(usize, Span)> {
        let left = *self.left.get(task.index())? as usize;
        let last = left.checked_sub(1)? / BLOCK_ROWS;
        let first = self.outline.block_before(task, last, at_ns);
        let found = first.and_then(|first| {
            (0..=first)
                .rev()
                .find_map(|block| self.last_in(task, block, left, at_ns))
        });
        self.left[task.index()] = found.map_or(0, |(at, _)| at as u32 + 1);
        found
    }

    /// The call at a place among a task's rows.
    pub(super) fn span(&mut self, task: TaskId, at: usize) -> Option<Span> {
        let block = at / BLOCK_ROWS;
        if self.outline.is_plain(task, block) {
            return self.plain(task, at);
        }
        let spans = self.spans(task, block);
        let place = spans.binary_search_by_key(&at, |&(at, _)| at).ok()?;
        spans.get(place).map(|&(_, span)| span)
    }

    fn last_in(
        &mut self,
        task: TaskId,
        block: usize,
        left: usize,
        at_ns: i64,
    ) -> Option<(usize, Span)> {
        if !self.outline.is_plain(task, block) {
            let spans = self.spans(task, block);
            let before = spans.partition_point(|(_, span)| span.start_ns < at_ns);
            return spans.get(before.checked_sub(1)?).copied();
        }
        let (events, from) = (&self.trace.events, block * BLOCK_ROWS);
        let rows = self
            .trace
            .rows_of(task)
            .get(from..left.min(from + BLOCK_ROWS))?;
        let begins = |row: &u32| events.start_ns(*row) < at_ns;
        // Mostly it is one of the last.
        let near = rows
            .iter()
            .rev()
            .take(NEAR)
            .position(begins)
            .map(|behind| rows.len() - behind);
        let before = near.unwrap_or_else(|| rows.partition_point(begins));
        let place = rows[..before]
            .iter()
            .rposition(|&row| events.kind(row) == EventKind::Call)?;
        Some((from + place, self.plain(task, from + place)?))
    }

    fn plain(&self, task: TaskId, at: usize) -> Option<Span> {
        let floor_ns = self.outline.floor_ns(task, at / BLOCK_ROWS);
        self.trace
            .spans_of(task, at..at + 1, floor_ns)
            .next()
            .map(|(_, span)| span)
    }

    fn spans(&mut self, task: TaskId, block: usize) -> &[(usize, Span)] {
        let kept = &mut self.kept[task.index() % KEPT];
        if kept.block != Some((task, block)) {
            let (from, floor_ns) = (block * BLOCK_ROWS, self.outline.floor_ns(task, block));
            kept.spans.clear();
            kept.spans
                .extend(self.trace.spans_of(task, from..from + BLOCK_ROWS, floor_ns));
            kept.block = Some((task, block));
        }
        &kept.spans
    }
}
