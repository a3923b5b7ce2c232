//! The spans of the visited tasks, looked at from the end to the start, a block at a time.
//!
//! A short task is one block. Of a longer one, a span may not begin before the end of an earlier one: where each block
//! begins, this end is worked out once. So a task of ten million calls needs some bytes per block and one block of spans, not
//! ten million spans. Where the walk goes to and fro between so many tasks that their spans are too many, blocks are dropped
//! and worked out again.

use crate::events::NONE;
use crate::trace::{Span, Trace};
use parsers::NO_NS;

const BLOCK_ROWS: usize = 64;
/// A task of so many rows is one block, until it is dropped.
const SHORT_TASK_ROWS: usize = 1024;
/// Spans that all lanes together may hold before their blocks are dropped.
const SPANS_AT_MOST: usize = 1 << 18;
/// Lanes that leave their room to others; that of more is given back.
const SPARE_AT_MOST: usize = 64;

struct Lane {
    task: u32,
    block_rows: usize,
    /// End of the last span before each block.
    floors: Vec<i64>,
    block: usize,
    /// The spans of `block` and their places among the task's rows, if they are worked out.
    spans: Vec<(usize, Span)>,
    is_filled: bool,
    /// How many spans there were at first.
    filled: usize,
}

/// The lanes of the tasks that were visited.
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    /// Places in `lanes`, by task; [`NONE`] before its first visit.
    places: Vec<u32>,
    /// Spans that were worked out for lanes that may still be looked at.
    spans: usize,
    /// The lane that was asked for last.
    place: usize,
    /// Room that a lane has left to the next one.
    spare: Vec<Vec<(usize, Span)>>,
}

impl Lanes {
    pub(super) fn new(trace: &Trace) -> Lanes {
        Lanes { lanes: Vec::new(), places: vec![NONE; trace.tasks.len()], spans: 0, place: 0, spare: Vec::new() }
    }

    /// The same for the task that was asked for last, as far as its spans are worked out.
    #[inline]
    pub(super) fn again(&mut self, at_ns: i64) -> Option<(usize, Span)> {
        let spans = &mut self.lanes.get_mut(self.place)?.spans;
        while let Some(&found) = spans.last() {
            if found.1.start_ns < at_ns {
                return Some(found);
            }
            spans.pop();
        }
        None
    }

    /// The last span of a task that begins before a moment, and its place among the task's rows.
    ///
    /// Moments asked for a task must not grow: what lies behind one is never looked at again.
    #[inline]
    pub(super) fn before(&mut self, trace: &Trace, task: u32, at_ns: i64) -> Option<(usize, Span)> {
        if self.spans > SPANS_AT_MOST {
            self.forget(trace);
        }
        let place = self.place(trace, task);
        self.place = place;
        let lane = self.lanes.get_mut(place)?;
        loop {
            if !lane.is_filled {
                if lane.spans.capacity() == 0 {
                    lane.spans = self.spare.pop().unwrap_or_default();
                }
                lane.fill(trace);
                self.spans += lane.filled;
            }
            while let Some(&found) = lane.spans.last() {
                if found.1.start_ns < at_ns {
                    return Some(found);
                }
                lane.spans.pop();
            }
            let Some(block) = lane.block_before(at_ns) else {
                self.leave(task);
                return None;
            };
            self.spans -= std::mem::take(&mut lane.filled);
            (lane.block, lane.is_filled) = (block, false);
        }
    }

    /// Nothing of a task that lies before the moment asked for last is looked at.
    pub(super) fn leave(&mut self, task: u32) {
        let place = self.places.get(task as usize).map_or(NONE, |&place| place);
        let Some(lane) = self.lanes.get_mut(place as usize) else { return };
        self.spans -= std::mem::take(&mut lane.filled);
        let mut room = std::mem::take(&mut lane.spans);
        if room.capacity() > 0 && self.spare.len() < SPARE_AT_MOST {
            room.clear();
            self.spare.push(room);
        }
    }

    fn place(&mut self, trace: &Trace, task: u32) -> usize {
        let Some(place) = self.places.get_mut(task as usize) else { return usize::MAX };
        if *place == NONE {
            *place = self.lanes.len() as u32;
            self.lanes.push(Lane::new(trace, task));
        }
        *place as usize
    }

    fn forget(&mut self, trace: &Trace) {
        for lane in self.lanes.iter_mut().filter(|lane| lane.is_filled && !lane.spans.is_empty()) {
            if lane.block_rows > BLOCK_ROWS {
                *lane = Lane::in_blocks(trace, lane.task);
            }
            (lane.spans, lane.filled, lane.is_filled) = (Vec::new(), 0, false);
        }
        self.spans = self.lanes.iter().map(|lane| lane.filled).sum();
    }
}

impl Lane {
    fn new(trace: &Trace, task: u32) -> Lane {
        if trace.rows_of(task).len() > SHORT_TASK_ROWS {
            return Lane::in_blocks(trace, task);
        }
        let (block_rows, floors) = (SHORT_TASK_ROWS, vec![birth_ns(trace, task)]);
        Lane { task, block_rows, floors, block: 0, spans: Vec::new(), is_filled: false, filled: 0 }
    }

    fn in_blocks(trace: &Trace, task: u32) -> Lane {
        let rows = trace.rows_of(task).len();
        let mut floors = Vec::with_capacity(rows / BLOCK_ROWS + 1);
        let mut floor_ns = birth_ns(trace, task);
        for from in (0..rows.max(1)).step_by(BLOCK_ROWS) {
            floors.push(floor_ns);
            let block = trace.spans_of(task, from..from + BLOCK_ROWS, floor_ns);
            floor_ns = block.last().map_or(floor_ns, |(_, span)| span.end_ns);
        }
        let (block_rows, block) = (BLOCK_ROWS, floors.len() - 1);
        Lane { task, block_rows, floors, block, spans: Vec::new(), is_filled: false, filled: 0 }
    }

    /// The last block before this one in which a span may begin before a moment.
    fn block_before(&self, at_ns: i64) -> Option<usize> {
        self.floors.get(..self.block)?.iter().rposition(|&floor_ns| floor_ns < at_ns)
    }

    fn fill(&mut self, trace: &Trace) {
        let from = self.block * self.block_rows;
        let Some(&floor_ns) = self.floors.get(self.block) else { return };
        self.spans.clear();
        self.spans.extend(trace.spans_of(self.task, from..from + self.block_rows, floor_ns));
        (self.filled, self.is_filled) = (self.spans.len(), true);
    }
}

fn birth_ns(trace: &Trace, task: u32) -> i64 {
    trace.tasks.get(task as usize).map_or(NO_NS, |task| task.birth_ns)
}
