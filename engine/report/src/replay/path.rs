//! The critical path of a replay: back from the end of the window, through what decided each moment.

use crate::replay::run::Run;
use crate::replay::scenario::{Replayed, Replays, Scenario};
use path::critical_path::window::Window;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use trace::store::index::TaskId;

/// Replays a window; `None` if it has no end.
pub(super) fn replayed(replays: &Replays<'_>, scenario: &Scenario) -> Option<Replayed> {
    let root = replays
        .window
        .root
        .filter(|root| root.index() < replays.trace.tasks.len())?;
    let mut run = Run::new(replays, scenario);
    run.advance(root, replays.window.end_ns);
    let exclusive_ns = exclusive_ns(&run, root, replays.window);
    Some(Replayed {
        wall_ns: exclusive_ns.iter().map(|&(_, ns)| ns).sum(),
        exclusive_ns,
    })
}

/// Time by task; it sums to the length of the replayed window.
fn exclusive_ns(run: &Run<'_>, root: TaskId, window: &Window) -> Vec<(TaskId, i64)> {
    let mut sums: FxHashMap<TaskId, i64> = FxHashMap::default();
    let (mut task, mut at_ns) = (root, window.end_ns);
    let mut now_ns = run.replayed_ns(root, at_ns);
    let mut steps_left = run.max_steps();
    while steps_left > 0 && now_ns > window.start_ns {
        steps_left -= 1;
        let (to_task, to_ns, arrives_ns) = before(run, task, at_ns);
        if to_task == TaskId::NONE {
            break;
        }
        let arrives_ns = arrives_ns.clamp(window.start_ns, now_ns);
        *sums.entry(task).or_default() += now_ns - arrives_ns;
        (task, at_ns, now_ns) = (to_task, to_ns, arrives_ns);
    }
    // The rest belongs to the task that was there first.
    *sums.entry(task).or_default() += now_ns - window.start_ns;
    let mut sums: Vec<(TaskId, i64)> = sums.into_iter().filter(|&(_, ns)| ns != 0).collect();
    sums.sort_unstable_by_key(|&(task, ns)| (Reverse(ns), task));
    sums
}

/// Where the path is before a captured moment of a task: task, captured and replayed moment.
fn before(run: &Run<'_>, task: TaskId, at_ns: i64) -> (TaskId, i64, i64) {
    let (cursor, lane) = (run.cursor(task), run.lane(task));
    let place = cursor.ended(at_ns);
    let Some(entry) = place
        .checked_sub(1)
        .and_then(|last| cursor.entries.get(last))
    else {
        let created_ns = cursor.birth_ns - (lane.birth_ns - lane.created_ns);
        return (lane.creator, lane.created_ns, created_ns);
    };
    match entry.decided_by {
        Some((other, other_ns)) if other != task => {
            (other, other_ns, run.replayed_ns(other, other_ns))
        }
        // Just before the entry: the moment at which it begins, unless entries have no length.
        _ => (
            task,
            entry.captured_ns.0.min(at_ns - 1),
            entry.replayed_ns.0,
        ),
    }
}
