//! What a row of a table is about, event by event.

use crate::partition::scope::Scope;
use crate::store::trace::Trace;

/// The events behind a row of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Provenance {
    /// These calls, in any order.
    Rows(Vec<u32>),
    /// The calls of these tasks with these shapes (numbers of [`crate::store::event::EventTable::shape`], in order), from one
    /// row to another: for what would be too many to list.
    Shapes {
        /// The tasks.
        tasks: Vec<u32>,
        /// Sorted.
        shapes: Vec<u32>,
        /// First row that may be one of them.
        first_row: u32,
        /// Last row that may be one of them.
        last_row: u32,
    },
    /// All calls of a task that start from one call to another, both included, and the gaps behind all but the last.
    Stretch {
        /// The task.
        task: u32,
        /// Its first call.
        first_row: u32,
        /// Its last call.
        last_row: u32,
    },
    /// Several of them: task, first call, last call.
    Stretches(Vec<(u32, u32, u32)>),
    /// The gaps behind these calls.
    Gaps(Vec<u32>),
    /// All that begins in a capture between these moments, which are in order and apart: whoever worked then.
    Times {
        /// The capture.
        capture: u32,
        /// From, to.
        times: Vec<(i64, i64)>,
    },
    /// Pieces of the partition.
    Pieces(Scope),
}

/// The part of members that one task has.
#[derive(Clone, Copy)]
pub(crate) enum TaskEvents<'a> {
    /// These calls.
    Rows(&'a [u32]),
    /// The gaps behind these calls.
    Gaps(&'a [u32]),
    /// Its calls with these shapes, from one row to another.
    Shapes(&'a [u32], u32, u32),
    /// From one call to another.
    Stretch(u32, u32),
    /// What begins at these times.
    Times(&'a [(i64, i64)]),
}

impl Provenance {
    /// The same with the rows of each task together.
    pub fn sorted(self, trace: &Trace) -> Provenance {
        let sorted = |mut rows: Vec<u32>| {
            rows.sort_unstable_by_key(|&row| (trace.events.task(row), row));
            rows
        };
        match self {
            Provenance::Rows(rows) => Provenance::Rows(sorted(rows)),
            Provenance::Gaps(rows) => Provenance::Gaps(sorted(rows)),
            others => others,
        }
    }

    /// The part of each task, where rows are sorted. Pieces are not known by their events.
    pub(crate) fn by_task<'a>(&'a self, trace: &Trace, mut tell: impl FnMut(u32, TaskEvents<'a>)) {
        let same_task = |one: &u32, other: &u32| trace.events.task(*one) == trace.events.task(*other);
        match self {
            Provenance::Rows(rows) => {
                rows.chunk_by(same_task).for_each(|rows| tell(trace.events.task(rows[0]), TaskEvents::Rows(rows)));
            }
            Provenance::Gaps(rows) => {
                rows.chunk_by(same_task).for_each(|rows| tell(trace.events.task(rows[0]), TaskEvents::Gaps(rows)));
            }
            Provenance::Shapes { tasks, shapes, first_row, last_row } => {
                tasks.iter().for_each(|&task| tell(task, TaskEvents::Shapes(shapes, *first_row, *last_row)));
            }
            &Provenance::Stretch { task, first_row, last_row } => tell(task, TaskEvents::Stretch(first_row, last_row)),
            Provenance::Stretches(all) => {
                all.iter()
                    .for_each(|&(task, first_row, last_row)| tell(task, TaskEvents::Stretch(first_row, last_row)));
            }
            Provenance::Times { capture, times } => {
                let tasks = trace.captures.get(*capture as usize).map(|capture| capture.tasks.clone());
                tasks.into_iter().flatten().for_each(|task| tell(task, TaskEvents::Times(times)));
            }
            Provenance::Pieces(_) => {}
        }
    }
}

impl TaskEvents<'_> {
    /// Each call, and each gap by the call before it.
    pub(crate) fn each(self, trace: &Trace, task: u32, mut tell: impl FnMut(u32, bool)) {
        match self {
            TaskEvents::Rows(rows) => rows.iter().for_each(|&row| tell(row, false)),
            TaskEvents::Gaps(rows) => rows.iter().for_each(|&row| tell(row, true)),
            TaskEvents::Shapes(shapes, first_row, last_row) => {
                for &row in trace.rows_of(task).iter().filter(|row| (first_row..=last_row).contains(row)) {
                    if shapes.binary_search(&trace.events.shape_number(row)).is_ok() {
                        tell(row, false);
                    }
                }
            }
            TaskEvents::Stretch(first_row, last_row) => stretch(trace, (task, first_row, last_row), &mut tell),
            TaskEvents::Times(times) => within(trace, task, times, &mut tell),
        }
    }
}

fn stretch(trace: &Trace, (task, first_row, last_row): (u32, u32, u32), tell: &mut impl FnMut(u32, bool)) {
    for &row in trace.rows_from(task, first_row) {
        tell(row, false);
        if row == last_row {
            break;
        }
        tell(row, true);
    }
}

/// Calls that begin, and gaps that begin, at these times.
fn within(trace: &Trace, task: u32, times: &[(i64, i64)], tell: &mut impl FnMut(u32, bool)) {
    let (events, rows) = (&trace.events, trace.rows_of(task));
    for &(from_ns, to_ns) in times {
        // One call that began earlier may have its gap inside.
        let first = rows.partition_point(|&row| events.start_ns(row) < from_ns).saturating_sub(1);
        for &row in rows[first..].iter().take_while(|&&row| events.start_ns(row) < to_ns) {
            let end_ns = events.end_ns(row).unwrap_or(events.start_ns(row));
            if events.start_ns(row) >= from_ns {
                tell(row, false);
            }
            if (from_ns..to_ns).contains(&end_ns) {
                tell(row, true);
            }
        }
    }
}
