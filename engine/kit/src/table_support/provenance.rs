//! The events that a table row covers.

use path::partition::scope::Scope;
use trace::store::index::{ShapeId, TaskId};
use trace::store::trace::Trace;

/// The events that a table row covers.
#[derive(Clone, Debug, PartialEq)]
pub enum Provenance {
    /// These calls, in any order.
    Rows(Vec<u32>),
    /// The calls of these tasks with these shapes (numbers of `EventTable::shape`) within a
    /// range of rows. Used where a list of rows would be too long.
    Shapes {
        /// The tasks.
        tasks: Vec<TaskId>,
        /// Shape numbers, sorted.
        shapes: Vec<ShapeId>,
        /// Lower bound of the rows.
        first_row: u32,
        /// Upper bound of the rows, inclusive.
        last_row: u32,
    },
    /// All calls of a task from `first_row` to `last_row`, both included, and the gaps between them.
    Stretch {
        /// The task.
        task: TaskId,
        /// First call.
        first_row: u32,
        /// Last call.
        last_row: u32,
    },
    /// Several stretches: task, first call, last call.
    Stretches(Vec<(TaskId, u32, u32)>),
    /// The gaps after these calls.
    Gaps(Vec<u32>),
    /// All events of a capture that start within these intervals, which are sorted and disjoint, in any task.
    Times {
        /// The capture.
        capture: u32,
        /// Start and end of each interval.
        times: Vec<(i64, i64)>,
    },
    /// Pieces of the partition.
    Pieces(Scope),
}

/// The part of a row's events that belongs to one task.
#[derive(Clone, Copy)]
pub enum TaskEvents<'a> {
    /// These calls.
    Rows(&'a [u32]),
    /// The gaps after these calls.
    Gaps(&'a [u32]),
    /// Its calls with these shapes, from one row to another.
    Shapes(&'a [ShapeId], u32, u32),
    /// From one call to another, gaps included.
    Stretch(u32, u32),
    /// Events that start within these intervals.
    Times(&'a [(i64, i64)]),
}

impl Provenance {
    /// Sorts the rows by task.
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

    /// Calls `visit` with the part of each task. Rows must be sorted by task. Pieces have no events and are skipped.
    pub fn by_task<'a>(&'a self, trace: &Trace, mut visit: impl FnMut(TaskId, TaskEvents<'a>)) {
        let same_task =
            |one: &u32, other: &u32| trace.events.task(*one) == trace.events.task(*other);
        match self {
            Provenance::Rows(rows) => {
                rows.chunk_by(same_task)
                    .for_each(|rows| visit(trace.events.task(rows[0]), TaskEvents::Rows(rows)));
            }
            Provenance::Gaps(rows) => {
                rows.chunk_by(same_task)
                    .for_each(|rows| visit(trace.events.task(rows[0]), TaskEvents::Gaps(rows)));
            }
            Provenance::Shapes {
                tasks,
                shapes,
                first_row,
                last_row,
            } => {
                tasks.iter().for_each(|&task| {
                    visit(task, TaskEvents::Shapes(shapes, *first_row, *last_row))
                });
            }
            &Provenance::Stretch {
                task,
                first_row,
                last_row,
            } => visit(task, TaskEvents::Stretch(first_row, last_row)),
            Provenance::Stretches(all) => {
                all.iter().for_each(|&(task, first_row, last_row)| {
                    visit(task, TaskEvents::Stretch(first_row, last_row))
                });
            }
            Provenance::Times { capture, times } => {
                let tasks = trace
                    .captures
                    .get(*capture as usize)
                    .map(|capture| capture.task_ids());
                tasks
                    .into_iter()
                    .flatten()
                    .for_each(|task| visit(task, TaskEvents::Times(times)));
            }
            Provenance::Pieces(_) => {}
        }
    }
}

impl TaskEvents<'_> {
    /// Whether these are all calls of some shapes.
    pub(crate) fn is_by_shape(self) -> bool {
        matches!(self, TaskEvents::Shapes(..))
    }

    /// Calls `visit` with each call and each gap. A gap is identified by the call before it. Where all calls of the task
    /// would have to be looked at, only those at `places` are, which are indexes among its rows, in order.
    pub fn each(
        self,
        trace: &Trace,
        task: TaskId,
        places: impl Iterator<Item = usize>,
        mut visit: impl FnMut(u32, bool),
    ) {
        match self {
            TaskEvents::Rows(rows) => rows.iter().for_each(|&row| visit(row, false)),
            TaskEvents::Gaps(rows) => rows.iter().for_each(|&row| visit(row, true)),
            TaskEvents::Shapes(shapes, first_row, last_row) => {
                let (rows, shape_of) = (trace.rows_of(task), trace.shapes_of(task));
                let within = places.filter(|&at| (first_row..=last_row).contains(&rows[at]));
                let such = within.filter(|&at| shapes.binary_search(&shape_of[at]).is_ok());
                such.for_each(|at| visit(rows[at], false));
            }
            TaskEvents::Stretch(first_row, last_row) => {
                stretch(trace, (task, first_row, last_row), &mut visit)
            }
            TaskEvents::Times(times) => within(trace, task, times, places, &mut visit),
        }
    }
}

fn stretch(
    trace: &Trace,
    (task, first_row, last_row): (TaskId, u32, u32),
    visit: &mut impl FnMut(u32, bool),
) {
    for &row in trace.rows_from(task, first_row) {
        visit(row, false);
        if row == last_row {
            break;
        }
        visit(row, true);
    }
}

/// Calls and gaps that start within these intervals. One pass over the calls of the task, because there may be more
/// intervals than calls.
fn within(
    trace: &Trace,
    task: TaskId,
    times: &[(i64, i64)],
    places: impl Iterator<Item = usize>,
    visit: &mut impl FnMut(u32, bool),
) {
    let (events, rows) = (&trace.events, trace.rows_of(task));
    let mut times = times;
    for at in places {
        let (row, start_ns) = (rows[at], events.start_ns(rows[at]));
        times = not_before(times, start_ns);
        let Some(&(from_ns, _)) = times.first() else {
            break;
        };
        if from_ns <= start_ns {
            visit(row, false);
        }
        let end_ns = events.end_ns(row).unwrap_or(start_ns);
        // The gap after a call that began before the interval is inside it only if the next call begins there as well.
        let next_ns = rows
            .get(at + 1)
            .map_or(i64::MAX, |&next| events.start_ns(next));
        let around_end = not_before(times, end_ns).first();
        if around_end.is_some_and(|&(from_ns, _)| from_ns <= end_ns && from_ns <= next_ns) {
            visit(row, true);
        }
    }
}

/// The intervals that end after a time. It is near the first ones, mostly.
fn not_before(times: &[(i64, i64)], ns: i64) -> &[(i64, i64)] {
    let mut step = 1;
    while times.get(step - 1).is_some_and(|&(_, to_ns)| to_ns <= ns) {
        step *= 2;
    }
    let passed = step / 2;
    let rest = &times[passed..];
    &rest[rest[..rest.len().min(step - passed)].partition_point(|&(_, to_ns)| to_ns <= ns)..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trace::testing::{build, task};

    proptest! {
        #[test]
        fn times_have_what_starts_within_them(
            calls in prop::collection::vec((0i64..4, 0i64..5), 1..40),
            bounds in prop::collection::btree_set(0i64..120, 0..16),
        ) {
            let mut at = 0;
            let plan = calls.iter().fold(task(1), |plan, &(pause, dur)| {
                at += pause + dur;
                plan.call("getpid", at - dur, at)
            });
            let trace = build(vec![plan.exit(500)]);
            let bounds: Vec<i64> = bounds.into_iter().collect();
            let times: Vec<(i64, i64)> = bounds.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            let inside = |ns: i64| times.iter().any(|&(from_ns, to_ns)| (from_ns..to_ns).contains(&ns));
            let rows = trace.rows_of(TaskId::new(0));
            let expected: Vec<(u32, bool)> = rows
                .iter()
                .flat_map(|&row| {
                    let start_ns = trace.events.start_ns(row);
                    let end_ns = trace.events.end_ns(row).unwrap_or(start_ns);
                    [(row, false, start_ns), (row, true, end_ns)]
                })
                .filter(|&(.., ns)| inside(ns))
                .map(|(row, is_gap, _)| (row, is_gap))
                .collect();
            let mut found = Vec::new();
            TaskEvents::Times(&times).each(&trace, TaskId::new(0), 0..rows.len(), |row, is_gap| found.push((row, is_gap)));
            prop_assert_eq!(found, expected);
        }
    }
}
