//! Finds the pieces that may belong to a group that reaches the query's minimum.

use crate::partition::pieces::Pieces;
use crate::partition::scope::{GroupKey, GroupQuery, Numbers, ScopeFilter};
use parsers::Text;
use trace::parallel;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Tasks with a piece that may belong to such a group.
pub(crate) fn tasks_reaching(trace: &Trace, pieces: &Pieces, query: &GroupQuery) -> Vec<TaskId> {
    let all = trace.tasks.keys();
    if !query
        .by
        .iter()
        .flatten()
        .any(|key| matches!(key, GroupKey::Pid | GroupKey::Tid))
    {
        return all.collect();
    }
    let of_processes = pieces.exclusive_of_process_by_task(trace);
    all.filter(|&task| {
        of_processes
            .get(task.index())
            .is_some_and(|&ns| ns >= query.at_least_ns)
    })
    .collect()
}

/// Upper bound of the time of the selected pieces, derived from the totals of classes and of syscalls.
pub(crate) fn most_ns(trace: &Trace, pieces: &Pieces, within: &ScopeFilter) -> i64 {
    let of_classes = |classes: &Numbers| -> i64 {
        (0u32..)
            .zip(pieces.exclusive_by_class())
            .filter(|(class, _)| classes.contains(class))
            .map(|(_, ns)| ns)
            .sum()
    };
    let of_syscalls = |syscalls: &Numbers| -> i64 {
        let named = pieces
            .exclusive_by_syscall(trace)
            .iter()
            .filter(|(syscall, _)| syscalls.contains(&syscall.0));
        named.map(|(_, ns)| ns).sum()
    };
    let classes_ns = within.only(GroupKey::Class).map_or(i64::MAX, of_classes);
    // Time between calls has no syscall.
    let syscalls = within
        .only(GroupKey::Syscall)
        .filter(|syscalls| !syscalls.contains(&Text::NONE.0));
    classes_ns.min(syscalls.map_or(i64::MAX, of_syscalls))
}

/// Indexes of the pieces that may belong to a group that reaches the minimum, in order.
pub(crate) fn reaching(
    trace: &Trace,
    pieces: &Pieces,
    query: &GroupQuery,
    within: &ScopeFilter,
) -> Vec<u32> {
    if most_ns(trace, pieces, within) < query.at_least_ns {
        return Vec::new();
    }
    let tasks = tasks_reaching(trace, pieces, query);
    if tasks.is_empty() {
        return Vec::new();
    }
    let buckets = pieces.buckets(trace);
    let reach = buckets.reaching(trace, &pieces.all, query, within);
    if !reach.contains(&true) {
        return Vec::new();
    }
    if tasks.len() == trace.tasks.len() {
        return buckets.pieces_of(&reach);
    }
    parallel::flat_map(&tasks, |&task| {
        pieces
            .of_task(task)
            .filter(|&at| reach[buckets.of(at) as usize])
    })
}

/// Drop pieces whose targets have too little time, if a group has one target. There may be nearly as many targets as calls.
pub(crate) fn retain_large_targets(
    trace: &Trace,
    pieces: &Pieces,
    query: &GroupQuery,
    numbers: &mut Vec<u32>,
) {
    if !query
        .by
        .iter()
        .flatten()
        .any(|&key| key == GroupKey::Target)
    {
        return;
    }
    let mut of_targets_ns = vec![0i64; trace.events.texts.len()];
    for &at in &*numbers {
        let piece = &pieces.all[at as usize];
        of_targets_ns[piece.target.0 as usize] += piece.exclusive_ns;
    }
    numbers.retain(|&at| {
        of_targets_ns[pieces.all[at as usize].target.0 as usize] >= query.at_least_ns
    });
}
