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
use rayon::prelude::*;
use std::iter::Peekable;
use std::ops::Range;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// A task has a list if at most one of so many of its events is on the path. Lists then take at most one byte per event.
const EVENTS_PER_PLACE: usize = 4;

/// Tasks that a core looks at at a time.
const TASKS_AT_ONCE: usize = 256;
/// In place of an offset: all rows are meant.
const ALL: u32 = u32::MAX;

/// Indexes among the rows of a task, in order, by task.
#[derive(Debug, Default)]
pub(super) struct PathPlaces {
    /// Of all tasks that have a list, one after the other, each after its length.
    lists: Vec<u32>,
    /// Where the list of each task begins, or [`ALL`].
    offsets: Vec<u32>,
}

impl PathPlaces {
    /// Finds the places. Valid after the last stretch is added.
    pub(super) fn new(trace: &Trace, attribution: &Attribution) -> PathPlaces {
        let tasks: Vec<TaskId> = trace.tasks.keys().collect();
        let of_some = |some: &[TaskId]| {
            let mut places = PathPlaces::default();
            some.iter()
                .for_each(|&task| places.push(trace, attribution, task));
            places
        };
        let parts: Vec<PathPlaces> = tasks.par_chunks(TASKS_AT_ONCE).map(of_some).collect();
        let mut all = PathPlaces::default();
        all.lists
            .reserve_exact(parts.iter().map(|part| part.lists.len()).sum());
        all.offsets.reserve_exact(tasks.len());
        for part in parts {
            let first = all.lists.len() as u32;
            all.offsets.extend(
                part.offsets
                    .iter()
                    .map(|&offset| if offset == ALL { ALL } else { first + offset }),
            );
            all.lists.extend(part.lists);
        }
        all
    }

    /// Find the places of the next task.
    fn push(&mut self, trace: &Trace, attribution: &Attribution, task: TaskId) {
        let rows = trace.rows_of(task);
        let on_path = (0u32..)
            .zip(rows)
            .filter(|&(_, &row)| attribution.is_on_path(row))
            .map(|(at, _)| at);
        let (most, begin) = (rows.len() / EVENTS_PER_PLACE, self.lists.len());
        self.lists.push(0);
        self.lists.extend(on_path.take(most + 1));
        let found = self.lists.len() - begin - 1;
        self.lists[begin] = found as u32;
        if found > most {
            self.lists.truncate(begin);
        }
        self.offsets
            .push(if found > most { ALL } else { begin as u32 });
    }

    /// The places of a task with so many rows.
    pub(super) fn of(&self, task: TaskId, rows: usize) -> Places<'_> {
        let list = self
            .offsets
            .get(task.index())
            .and_then(|&offset| self.lists.get(offset as usize..)?.split_first());
        match list {
            Some((&length, places)) => {
                Places::Few(places.get(..length as usize).unwrap_or(&[]).iter())
            }
            None => Places::All(0..rows),
        }
    }
}

/// The places of a task, in order.
pub enum Places<'a> {
    /// All rows.
    All(Range<usize>),
    /// These.
    Few(std::slice::Iter<'a, u32>),
}

/// Whether events of a task, in order, may have time on the path. The others need not be read.
pub struct OnPath<'a>(Peekable<Places<'a>>);

impl OnPath<'_> {
    /// Whether the event at this index may have some. Indexes must not decrease from call to call.
    #[inline]
    pub fn has(&mut self, at: usize) -> bool {
        while self.0.next_if(|&other| other < at).is_some() {}
        self.0.peek() == Some(&at)
    }
}

impl<'a> Places<'a> {
    /// The same for a caller that looks up ascending indexes.
    pub fn on_path(self) -> OnPath<'a> {
        OnPath(self.peekable())
    }
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
