//! Searches: a name is looked up in one directory after another.
//!
//! ```text
//! stat /usr/sbin/cc ENOENT | stat /usr/bin/cc ok       no task waits for /usr/sbin/cc to appear
//! ```

use crate::waits::condition::Check;
use crate::waits::wakers::Wakers;
use parsers::syscalls::Action;
use parsers::{Outcome, Text};
use trace::store::heuristics::MAX_CALLS_BETWEEN_STEPS;
use trace::store::index::TaskId;
use trace::store::paths::{is_same_path, split};
use trace::store::trace::Trace;

/// Maximum number of steps of a search.
const STEPS: usize = 64;
/// Maximum number of concurrent children. One of them may be the program that was searched.
const CHILDREN: usize = 64;

/// Whether a failed lookup is a step of a search that continued at once and succeeded: the same name was found in
/// another directory, or run from there. `at` is the index of the lookup among the rows of its task.
pub(in crate::waits) fn is_step(wakers: &Wakers, trace: &Trace, task: TaskId, at: usize) -> bool {
    let events = &trace.events;
    let Some((&row, behind)) = trace.rows_of(task).get(at..).and_then(<[u32]>::split_first) else {
        return false;
    };
    let is_path =
        wakers.shapes.of(trace, row).check == Check::Missing && events.target(row).is_some();
    let sought = events.texts.bytes(events.target(row));
    let is_elsewhere = |path: Text| {
        let path = events.texts.bytes(path);
        split(path).1 == split(sought).1 && !is_same_path(path, sought)
    };
    if !is_path || split(sought).1.is_empty() {
        return false;
    }
    let (mut between, mut steps) = (0, 0);
    for &row in behind {
        let known = wakers.shapes.of(trace, row);
        let tries = known.check == Check::Missing || events.action(row) == Action::Execs;
        let finds = matches!(known.check, Check::Found | Check::Opened)
            || tries && known.outcome == Outcome::Ok;
        match (finds || tries) && is_elsewhere(events.target(row)) {
            true if finds => return true,
            true => (between, steps) = (0, steps + 1),
            false => between += 1,
        }
        if known.creates && runs(wakers, trace, task, row).any(is_elsewhere) {
            return true;
        }
        if known.wait.is_some() || between > MAX_CALLS_BETWEEN_STEPS || steps > STEPS {
            return false;
        }
    }
    false
}

/// The programs run by the child that this call created.
fn runs<'a>(
    wakers: &'a Wakers,
    trace: &'a Trace,
    task: TaskId,
    row: u32,
) -> impl Iterator<Item = Text> + 'a {
    let made = wakers.children.made_by(trace, task);
    let start_ns = trace.events.start_ns(row);
    let from = made.partition_point(|&child| trace.tasks[child].end_ns() < start_ns);
    let children = made[from..]
        .iter()
        .take(CHILDREN)
        .map(|&child| &trace.tasks[child]);
    let child = children
        .into_iter()
        .find(move |child| child.created_by == row);
    child
        .into_iter()
        .flat_map(|child| child.programs.iter().map(|program| program.path))
}
