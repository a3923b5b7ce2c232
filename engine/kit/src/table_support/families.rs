//! Critical path time of tasks, alone and with their descendants, and overlap of lifetimes. Shared by tables about
//! processes.

use crate::table_support::context::TableContext;
use parsers::NO_NS;
use trace::store::event::EventKind;
use trace::store::index::{TaskId, TiVec, ti_vec};
use trace::store::trace::Trace;

/// Maximum number of ancestors that are followed, which also bounds circular claims of ancestry.
const MAX_GENERATIONS: usize = 64;

/// Time on the critical path by task.
pub struct PathTimes {
    /// Time of the task itself, in calls and between them.
    pub own_ns: TiVec<TaskId, i64>,
    /// Time of the task and all its descendants.
    pub inclusive_ns: TiVec<TaskId, i64>,
}

impl PathTimes {
    /// Sums the time of each task, and of its descendants.
    pub fn new(context: &TableContext<'_>) -> PathTimes {
        let own_ns = TiVec::from(context.time_index().by_task(context.trace.tasks.len()));
        let mut inclusive_ns = ti_vec![0i64; own_ns.len()];
        for (task, &ns) in own_ns.iter_enumerated().filter(|&(_, &ns)| ns > 0) {
            for above in ancestors(context.trace, task) {
                inclusive_ns[above] += ns;
            }
        }
        PathTimes {
            own_ns,
            inclusive_ns,
        }
    }
}

/// A task, its creator, and so on.
fn ancestors(trace: &Trace, task: TaskId) -> impl Iterator<Item = TaskId> {
    let up = move |&at: &TaskId| {
        let creator = trace
            .tasks
            .get(at)
            .map_or(TaskId::NONE, |task| task.creator);
        (creator.is_some()
            && creator != task
            && creator != at
            && creator.index() < trace.tasks.len())
        .then_some(creator)
    };
    std::iter::successors(Some(task), up).take(MAX_GENERATIONS)
}

/// Whether a task equals another one or descends from it.
pub fn descends(trace: &Trace, task: TaskId, from: TaskId) -> bool {
    ancestors(trace, task).any(|above| above == from)
}

/// Time on the critical path in these events of a task and in the gaps after them.
pub fn path_ns(context: &TableContext<'_>, rows: impl Iterator<Item = u32>) -> i64 {
    rows.map(|row| context.attribution.of_row(row))
        .map(|(in_call_ns, gap_after_ns)| in_call_ns + gap_after_ns)
        .sum()
}

/// The lifetime of a task as far as it was captured.
pub fn life(trace: &Trace, task: TaskId) -> Option<(i64, i64)> {
    let known = trace
        .tasks
        .get(task)
        .filter(|task| task.birth_ns != NO_NS)?;
    Some((known.birth_ns, known.end_ns().max(known.birth_ns)))
}

/// The first and last call of a task.
pub fn ends(trace: &Trace, task: TaskId) -> Option<(u32, u32)> {
    let is_call = |row: &&u32| trace.events.kind(**row) == EventKind::Call;
    let rows = trace.rows_of(task);
    Some((
        *rows.iter().find(is_call)?,
        *rows.iter().rev().find(is_call)?,
    ))
}

/// The overlap of several lifetimes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// From the first birth to the last end.
    pub wall_ns: i64,
    /// Time with at least one task alive.
    pub any_ns: i64,
    /// Time with exactly one task alive.
    pub one_ns: i64,
    /// Maximum number of tasks alive at once.
    pub most: i64,
}

/// Computes the overlap of lifetimes. Intervals that only touch do not overlap.
pub fn overlap(lives: &[(i64, i64)]) -> Overlap {
    let mut steps: Vec<(i64, i64)> = lives
        .iter()
        .flat_map(|&(from, to)| [(from, 1), (to, -1)])
        .collect();
    steps.sort_unstable();
    let wall_ns = steps
        .last()
        .zip(steps.first())
        .map_or(0, |(last, first)| last.0 - first.0);
    let mut found = Overlap {
        wall_ns,
        any_ns: 0,
        one_ns: 0,
        most: 0,
    };
    let (mut alive, mut since_ns) = (0i64, 0i64);
    for (at_ns, step) in steps {
        let ns = at_ns - since_ns;
        found.any_ns = found.any_ns.saturating_add(if alive > 0 { ns } else { 0 });
        found.one_ns = found.one_ns.saturating_add(if alive == 1 { ns } else { 0 });
        alive += step;
        found.most = found.most.max(alive);
        since_ns = at_ns;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_lifetimes_do_not_overlap() {
        assert_eq!(
            overlap(&[(0, 10), (10, 20)]),
            Overlap {
                wall_ns: 20,
                any_ns: 20,
                one_ns: 20,
                most: 1
            }
        );
        assert_eq!(
            overlap(&[(0, 10), (5, 15), (30, 31)]),
            Overlap {
                wall_ns: 31,
                any_ns: 16,
                one_ns: 11,
                most: 2
            }
        );
    }
}
