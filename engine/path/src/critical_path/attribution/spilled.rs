//! The stretches that are unlike most, by event and by task.

use crate::critical_path::attribution::place_of;
use crate::critical_path::segment::Segment;
use trace::store::event::NONE;
use trace::store::grouped::Grouped;
use trace::store::index::TaskId;
use trace::store::row_map::RankedRows;

/// Stretches in their original order, with an index.
#[derive(Debug, Default)]
pub(super) struct Spilled {
    segments: Vec<Segment>,
    /// The rows that have some.
    rows: RankedRows,
    /// Places of the stretches by rank of their row. Those of no row come last.
    by_row: Grouped<u32, u32>,
    by_task: Grouped<TaskId, u32>,
}

impl Spilled {
    pub(super) fn push(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    /// Make the index, after the last stretch.
    pub(super) fn index(&mut self, rows: u32, tasks: usize) {
        let rows_of = || self.segments.iter().map(|segment| place_of(segment.what).0);
        let rows = RankedRows::new(rows, rows_of());
        let ranks = rows_of().map(|row| Some(rows.rank(row).unwrap_or(rows.len() as u32)));
        let by_row = Grouped::new(rows.len() + 1, ranks);
        self.by_task = Grouped::new(
            tasks,
            self.segments.iter().map(|segment| Some(segment.task)),
        );
        (self.rows, self.by_row) = (rows, by_row);
    }

    /// Whether a row has some. The time before a task's first event, which belongs to no row, may always be some.
    #[inline]
    pub(super) fn has_some(&self, row: u32) -> bool {
        row == NONE || self.rows.has(row)
    }

    /// The stretches of a row, in their original order.
    pub(super) fn of_row(&self, row: u32) -> impl Iterator<Item = &Segment> {
        let rank = if row == NONE {
            Some(self.rows.len() as u32)
        } else {
            self.rows.rank(row)
        };
        rank.map_or(&[][..], |rank| self.by_row.of(rank))
            .iter()
            .filter_map(|&place| self.get(place))
    }

    /// The rows that have some, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> {
        self.rows.rows()
    }

    /// The places of the stretches of a task.
    pub(super) fn places_of_task(&self, task: TaskId) -> &[u32] {
        self.by_task.of(task)
    }

    /// The stretch at a place.
    pub(super) fn get(&self, place: u32) -> Option<&Segment> {
        self.segments.get(place as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.segments.len()
    }
}
