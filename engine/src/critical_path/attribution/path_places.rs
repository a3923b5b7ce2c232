//! Which events of a task have time on the path, because most have none where many tasks work at the same time.
//!
//! ```text
//! task 1   |call|call|call|call|call|call|
//! task 2   |call|call|call|call|call|call|
//! path          =====          ===========      task 1: places 1 and 4 …; of one task alone: all
//! ```
//! The rows of such tasks are far apart in the event table, so each row that is skipped saves several cache
//! misses.

use crate::critical_path::attribution::Attribution;
use crate::store::trace::Trace;
use rayon::prelude::*;
use std::ops::Range;

/// A task has a list if at most one of so many of its events is on the path. Lists then take at most one byte per event.
const EVENTS_PER_PLACE: usize = 4;

/// Indexes among the rows of a task, in order, by task. `None`: all of them.
#[derive(Debug, Default)]
pub(super) struct PathPlaces(Vec<Option<Box<[u32]>>>);

impl PathPlaces {
    /// Finds the places. Valid after the last stretch is added.
    pub(super) fn new(trace: &Trace, attribution: &Attribution) -> PathPlaces {
        let tasks = 0..trace.tasks.len() as u32;
        PathPlaces(tasks.into_par_iter().map(|task| few_places(trace, attribution, task)).collect())
    }

    /// The places of a task with so many rows.
    pub(super) fn of(&self, task: u32, rows: usize) -> Places<'_> {
        match self.0.get(task as usize).and_then(Option::as_deref) {
            Some(few) => Places::Few(few.iter()),
            None => Places::All(0..rows),
        }
    }
}

fn few_places(trace: &Trace, attribution: &Attribution, task: u32) -> Option<Box<[u32]>> {
    let rows = trace.rows_of(task);
    let on_path = (0u32..).zip(rows).filter(|&(_, &row)| attribution.is_on_path(row)).map(|(at, _)| at);
    let most = rows.len() / EVENTS_PER_PLACE;
    let few: Vec<u32> = on_path.take(most + 1).collect();
    (few.len() <= most).then(|| few.into_boxed_slice())
}

/// The places of a task, in order.
pub enum Places<'a> {
    /// All rows.
    All(Range<usize>),
    /// These.
    Few(std::slice::Iter<'a, u32>),
}

impl Iterator for Places<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        match self {
            Places::All(range) => range.next(),
            Places::Few(few) => few.next().map(|&at| at as usize),
        }
    }
}
