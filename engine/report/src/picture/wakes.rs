//! The wake-ups that the critical path passes through.

use crate::picture::path_rows::PathRows;
use parsers::Text;
use path::critical_path::segment::{Segment, What};
use path::critical_path::walk::{Waited, WalkListener};
use path::waits::edge::Edge;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use trace::store::index::TaskId;

/// A wait on the critical path that another task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Its end: the task and moment that ended it, the kind of evidence, the confidence.
    pub edge: Edge,
    /// The task that waited.
    pub waiter: TaskId,
    /// The time of the wait that is on the path.
    pub dur_ns: i64,
}

/// Listens to a walk: collects its segments, and the longest of its waits.
pub struct PathListener<'trace> {
    /// The segments.
    pub rows: PathRows<'trace>,
    /// Time on the path by task.
    pub on_path_ns: Vec<i64>,
    /// Of logs: the silences by the source of the message before them.
    pub silent_ns: FxHashMap<Text, i64>,
    /// Waits that last at this moment of the walk.
    open: Vec<(TaskId, Edge)>,
    wakes: Vec<Wake>,
    max_wakes: usize,
    /// Number of all waits.
    pub wakes_total: u64,
}

impl<'trace> PathListener<'trace> {
    /// Nothing collected yet.
    pub fn new(rows: PathRows<'trace>, tasks: usize, max_wakes: usize) -> PathListener<'trace> {
        PathListener {
            rows,
            on_path_ns: vec![0; tasks],
            silent_ns: FxHashMap::default(),
            open: Vec::new(),
            wakes: Vec::new(),
            max_wakes,
            wakes_total: 0,
        }
    }

    /// The longest waits, in order of their ends.
    pub fn wakes(&mut self) -> Vec<Wake> {
        self.retain();
        self.wakes
            .sort_by_key(|wake| (wake.edge.at_ns, wake.waiter, wake.edge.task));
        std::mem::take(&mut self.wakes)
    }

    fn retain(&mut self) {
        if self.max_wakes < self.wakes.len() {
            self.wakes
                .select_nth_unstable_by_key(self.max_wakes, |wake| {
                    (Reverse(wake.dur_ns), wake.edge.at_ns, wake.waiter)
                });
            self.wakes.truncate(self.max_wakes);
        }
    }
}

impl WalkListener for PathListener<'_> {
    fn charged(&mut self, segment: Segment) {
        if let Some(sum) = self.on_path_ns.get_mut(segment.task.index()) {
            *sum += segment.dur_ns();
        }
        if let What::Silence(row) = segment.what {
            *self.silent_ns.entry(self.rows.source_of(row)).or_default() += segment.dur_ns();
        }
        self.rows.push(&segment);
    }

    fn begins(&mut self, waiter: TaskId, edge: &Edge) {
        self.open.push((waiter, *edge));
    }

    fn ends(&mut self, waited: &Waited) {
        let Some((waiter, edge)) = self.open.pop() else {
            return;
        };
        self.wakes_total += 1;
        self.wakes.push(Wake {
            edge,
            waiter,
            dur_ns: waited.dur_ns,
        });
        if self.wakes.len() >= 2 * self.max_wakes.max(1) {
            self.retain();
        }
    }
}
