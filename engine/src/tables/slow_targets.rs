//! Slow targets: what a process works on that takes most of its time in calls of one kind.
//!
//! ```text
//! stat    /a 1 ms | /b 1 ms | /nfs/home 900 ms | /c 1 ms          /nfs/home is slow: 900 ms against 1 ms elsewhere
//! ```

use crate::members::Members;
use crate::sheet::{Found, Sheet, Sum};
use crate::view::View;
use parsers::{NO_NS, Text};
use rustc_hash::FxHashMap;

/// Calls of one process on one target, and on all targets of their kind.
struct Target {
    sum: Sum,
    rows: Vec<u32>,
}

/// Targets that had calls, by process, syscall and sub-operation.
pub fn found(view: &View<'_>) -> Found {
    let mut sheet = Sheet::new(view, "slow_targets");
    for task in view.tasks() {
        of_task(view, task, &mut sheet);
    }
    sheet.finish()
}

fn of_task(view: &View<'_>, task: u32, sheet: &mut Sheet<'_>) {
    let events = &view.trace.events;
    let mut kinds: FxHashMap<(Text, Text), FxHashMap<Text, Target>> = FxHashMap::default();
    for row in view.calls_of(task) {
        let (shape, target) = (events.shape(row), events.target(row));
        if target.is_some() && events.dur_ns(row) != NO_NS {
            let new = || Target { sum: Sum::new(row), rows: Vec::new() };
            let here = kinds.entry((shape.syscall, shape.op)).or_default().entry(target).or_insert_with(new);
            here.sum.add(view, row);
            here.rows.push(row);
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().filter(|(_, targets)| targets.len() > 1).collect();
    kinds.sort_unstable_by_key(|&(kind, _)| kind);
    for ((syscall, op), targets) in kinds {
        let total_ns: i64 = targets.values().map(|target| target.sum.total_ns).sum();
        let calls: i64 = targets.values().map(|target| target.sum.calls).sum();
        let slowest = targets.into_iter().max_by_key(|(name, target)| (target.sum.total_ns, *name));
        let Some((name, target)) = slowest else { continue };
        sheet.who(task, target.sum.first_row);
        sheet.text("syscall", syscall);
        sheet.text("op", op);
        sheet.text("target", name);
        let others = (calls - target.sum.calls).max(1);
        sheet.int("others", calls - target.sum.calls);
        sheet.int("others_mean_ns", (total_ns - target.sum.total_ns) / others);
        sheet.sum(&target.sum);
        sheet.members(Members::Rows(target.rows));
    }
}
