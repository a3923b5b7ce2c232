//! The spans of the visited tasks, looked at from the end to the start, a block at a time.
//!
//! Where a block begins, a span may not begin before the end of an earlier one; these ends are worked out once per task.
//! So a task of ten million calls needs some bytes per block and one block of spans, not ten million spans.

use crate::events::NONE;
use crate::trace::{Span, Trace};
use parsers::NO_NS;
use rustc_hash::FxHashMap;

const BLOCK_ROWS: usize = 64;
/// Spans that all lanes together may hold before their blocks are dropped.
const SPANS_AT_MOST: usize = 1 << 18;

struct Lane {
    /// End of the last span before each block.
    floors: Vec<i64>,
    block: usize,
    /// The spans of `block` and their places among the task's rows, if they are worked out.
    spans: Vec<(usize, Span)>,
    is_filled: bool,
}

/// The lanes of the tasks that were visited.
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    /// Places in `lanes`, by task.
    places: FxHashMap<u32, usize>,
    /// The task asked for last, which is mostly the next one, and its place.
    recent: (u32, usize),
    spans: usize,
}

impl Lanes {
    pub(super) fn new() -> Lanes {
        Lanes { lanes: Vec::new(), places: FxHashMap::default(), recent: (NONE, 0), spans: 0 }
    }

    /// The last span of a task that begins before a moment, and its place among the task's rows.
    ///
    /// Moments asked for a task must not grow: what lies behind one is never looked at again.
    pub(super) fn before(&mut self, trace: &Trace, task: u32, at_ns: i64) -> Option<(usize, Span)> {
        if self.spans > SPANS_AT_MOST {
            self.forget();
        }
        let place = self.place(trace, task);
        let lane = self.lanes.get_mut(place)?;
        loop {
            if !lane.is_filled {
                lane.fill(trace, task);
                self.spans += lane.spans.len();
            }
            let after = lane.spans.partition_point(|(_, span)| span.start_ns < at_ns);
            lane.spans.truncate(after);
            if let Some(&found) = lane.spans.last() {
                return Some(found);
            }
            lane.block = lane.block.checked_sub(1)?;
            lane.is_filled = false;
        }
    }

    fn place(&mut self, trace: &Trace, task: u32) -> usize {
        if self.recent.0 != task {
            let next = self.lanes.len();
            let place = *self.places.entry(task).or_insert(next);
            if place == next {
                self.lanes.push(Lane::new(trace, task));
            }
            self.recent = (task, place);
        }
        self.recent.1
    }

    fn forget(&mut self) {
        for lane in self.lanes.iter_mut().filter(|lane| lane.is_filled) {
            lane.spans = Vec::new();
            lane.is_filled = false;
        }
        self.spans = 0;
    }
}

impl Lane {
    fn new(trace: &Trace, task: u32) -> Lane {
        let rows = trace.rows_of(task).len();
        let mut floors = Vec::with_capacity(rows / BLOCK_ROWS + 1);
        let mut floor_ns = trace.tasks.get(task as usize).map_or(NO_NS, |task| task.birth_ns);
        for from in (0..rows.max(1)).step_by(BLOCK_ROWS) {
            floors.push(floor_ns);
            let block = trace.spans_of(task, from..from + BLOCK_ROWS, floor_ns);
            floor_ns = block.last().map_or(floor_ns, |(_, span)| span.end_ns);
        }
        Lane { block: floors.len() - 1, floors, spans: Vec::new(), is_filled: false }
    }

    fn fill(&mut self, trace: &Trace, task: u32) {
        let from = self.block * BLOCK_ROWS;
        self.spans.clear();
        self.spans.extend(trace.spans_of(task, from..from + BLOCK_ROWS, self.floors[self.block]));
        self.is_filled = true;
    }
}
