//! Spins: the same look in vain again and again, without a pause.
//!
//! ```text
//! read EAGAIN | read EAGAIN | read EAGAIN | read 5 bytes        3 looks in vain, then the answer changes
//! ```

use super::looks::{Looks, ProbeKey};
use crate::store::event::{EventKind, NONE};
use crate::table_support::context::TableContext;
use crate::waits::wait_kinds::wait_of_row;
use parsers::syscalls::Wait;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Calls of a turn, the look included; more are work.
const CALLS_A_TURN: usize = 4;
/// Two failures in a row are an accident of the search order; three are a habit.
const LOOKS: i64 = 3;

/// Looks in vain of a task, one close behind the other.
#[derive(Clone, Copy)]
pub(crate) struct Spin {
    /// The task.
    pub task: u32,
    /// What it looks at.
    pub key: ProbeKey,
    /// How often in vain.
    pub looks: i64,
    /// Whether another look had another answer at last.
    pub changed: bool,
    /// The first look.
    pub first_row: u32,
    /// The last look.
    pub last_row: u32,
    last_at: usize,
}

/// The longest spin of each task at each thing.
pub(crate) fn spins(context: &TableContext<'_>) -> Vec<Spin> {
    let looks = Looks::new(context, &[]);
    let tasks: Vec<u32> = context.tasks().collect();
    tasks.par_iter().flat_map_iter(|&task| of_task(context, &looks, task)).collect()
}

fn of_task(context: &TableContext<'_>, looks: &Looks, task: u32) -> Vec<Spin> {
    let events = &context.trace.events;
    let mut longest: FxHashMap<ProbeKey, Spin> = FxHashMap::default();
    let mut keep = |spin: Option<Spin>| {
        let is_search = |spin: &Spin| context.wakers.is_step_of_search(context.trace, task, spin.first_row);
        let Some(spin) = spin.filter(|spin| spin.looks >= LOOKS && !is_search(spin)) else { return };
        let known = longest.entry(spin.key).or_insert(spin);
        if spin.looks > known.looks {
            *known = spin;
        }
    };
    let mut now: Option<Spin> = None;
    let (rows, shapes) = (context.trace.rows_of(task), context.trace.shapes_of(task));
    let mut next = 0;
    while let (Some(&row), Some(&shape)) = (rows.get(next), shapes.get(next)) {
        let at = next;
        next += 1;
        let near = now.as_ref().is_some_and(|spin| at - spin.last_at <= CALLS_A_TURN);
        if !near && !looks.may_fail(shape) {
            keep(now.take());
            // Nearly all rows are no looks, and nothing is near them.
            next += shapes[next..].iter().take_while(|&&shape| !looks.may_fail(shape)).count();
            continue;
        }
        if events.kind(row) != EventKind::Call || !context.selection.has(row) {
            continue;
        }
        match looks.looked(context, row, false).filter(|looked| looked.child == NONE) {
            Some(looked) => match &mut now {
                Some(spin) if near && spin.key == looked.key => {
                    (spin.last_row, spin.last_at) = (row, at);
                    spin.looks += i64::from(looked.failed);
                    spin.changed = !looked.failed;
                    if spin.changed {
                        keep(now.take());
                    }
                }
                Some(_) if near && !looked.failed => {}
                _ => {
                    keep(now.take());
                    let (key, first_row) = (looked.key, row);
                    let new = Spin { task, key, looks: 1, changed: false, first_row, last_row: row, last_at: at };
                    now = looked.failed.then_some(new);
                }
            },
            None if matches!(wait_of_row(events, row), None | Some(Wait::Read)) => {}
            None => keep(now.take()),
        }
    }
    keep(now);
    let mut found: Vec<Spin> = longest.into_values().collect();
    found.sort_unstable_by_key(|spin| spin.first_row);
    found
}
