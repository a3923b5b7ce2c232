//! Floors: from how much time on the path on rows of a table matter to who asks.
//!
//! ```text
//! rule            reads by process, from 5 % of the window on: 500 ms
//! time in reads   pid 7: 2 s | pid 8: 10 ms | … | 9000 others: 1 ms each      only the rows of pid 7 are made
//! ```
//! What rows can have at most is known from [`crate::critical_path::time_index`] before they are made. A row that is left out has less than
//! the threshold, with all that may be taken together with it, so nobody misses it; each row that reaches the threshold is as it
//! would be without one.

use crate::critical_path::time_index::{ProgramTime, TimeIndex};
use crate::store::classes;
use crate::table_support::context::TableContext;
use crate::table_support::limits::{MAX_GROUPS, MAX_PROCESSES};
use crate::table_support::shape_index::ShapeIndex;
use crate::table_support::threshold::{CostScope, Threshold};
use parsers::Text;
use parsers::syscalls::{Action, Class, action_of};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// How rows of processes become one row where they are many; see [`crate::table_support::grouping`].
#[derive(Clone, Copy)]
pub enum Joins {
    /// They do not.
    Never,
    /// Those of one program do.
    Few,
    /// Those of one program do, but only the costliest processes have rows: each program of theirs at most so many, or else
    /// one for each syscall.
    Costliest(Option<usize>),
}

/// What rows of a table have the time of.
#[derive(Clone, Copy)]
pub struct Cost {
    /// Of which calls, by what they do and their class.
    pub calls: fn(Action, Class) -> bool,
    /// Whether of gaps too.
    pub gaps: bool,
    /// Of what one row is at most.
    pub of: CostScope,
    /// How rows become few.
    pub joins: Joins,
    /// Whether a row that is told by its program has only calls of that program.
    pub of_program: bool,
    /// Whether rows do not depend on what other tasks do.
    pub apart: bool,
}

/// What reaches a threshold.
pub enum Pruning {
    /// Maybe everything.
    All,
    /// No row does.
    Nothing,
    /// Only rows of these tasks do.
    Tasks(Vec<bool>),
}

/// What may reach the threshold in a table.
pub fn prune(context: &TableContext<'_>, cost: &Cost, threshold: &Threshold) -> Pruning {
    let spent = context.time_index();
    let is_such: Vec<bool> = spent.parts().iter().map(|&(name, class)| (cost.calls)(action_of(name), class)).collect();
    let least_ns = threshold.least().max(1);
    if spent.max_ns(&is_such, cost.gaps) < least_ns {
        return Pruning::Nothing;
    }
    let (within, may_narrow) = within(context, spent, cost, threshold, &is_such);
    let found = match within {
        CostScope::Call => context.attribution.has_call_of(least_ns),
        CostScope::Target => most_of_a_target(context, cost) >= least_ns,
        _ => {
            let tasks = by_unit(context, spent, cost, threshold, (within, &is_such));
            match (tasks.contains(&true), may_narrow) {
                (true, true) => return Pruning::Tasks(tasks),
                (found, _) => found,
            }
        }
    };
    if found { Pruning::All } else { Pruning::Nothing }
}

/// What is compared with the threshold, and whether tasks may be left out one by one.
fn within(
    context: &TableContext<'_>,
    spent: &TimeIndex,
    cost: &Cost,
    threshold: &Threshold,
    is_such: &[bool],
) -> (CostScope, bool) {
    let mut within = cost.of.max(threshold.within);
    let mut may_narrow = cost.apart;
    match cost.joins {
        Joins::Never => {}
        // Which rows of a program are taken together depends on those of others, but not what they have together.
        Joins::Few => {
            may_narrow &= threshold.within >= CostScope::Program;
            within = within.max(CostScope::Program);
        }
        Joins::Costliest(rows) => {
            if most_rows(context, spent, rows.unwrap_or_else(|| syscalls(spent, is_such))) > MAX_GROUPS {
                within = within.max(CostScope::Program);
            }
            may_narrow &= within < CostScope::Program;
        }
    }
    if within == CostScope::Program && !cost.of_program {
        within = CostScope::Capture;
    }
    (within, may_narrow)
}

/// How many different syscalls there are among these kinds of calls.
fn syscalls(spent: &TimeIndex, is_such: &[bool]) -> usize {
    let such = spent.parts().iter().zip(is_such).filter(|&(_, &is_such)| is_such);
    such.map(|(part, _)| part.0).collect::<FxHashSet<Text>>().len()
}

/// How many rows the costliest processes have at most, if each of their programs has so many.
fn most_rows(context: &TableContext<'_>, spent: &TimeIndex, of_program: usize) -> usize {
    let mut programs: FxHashMap<(u32, i32), usize> = FxHashMap::default();
    for unit in spent.units() {
        *programs.entry(process_of(context, unit)).or_insert(0) += 1;
    }
    let mut programs: Vec<usize> = programs.into_values().collect();
    programs.sort_unstable_by_key(|&number| Reverse(number));
    programs.iter().take(MAX_PROCESSES).sum::<usize>() * of_program
}

/// Capture and pid: a reused pid is another process, but rules do not tell them apart.
fn process_of(context: &TableContext<'_>, unit: &ProgramTime) -> (u32, i32) {
    let task = &context.trace.tasks[unit.task as usize];
    (task.capture, task.pid)
}

/// The tasks of which a row, with what is taken together with it, may reach the threshold.
fn by_unit(
    context: &TableContext<'_>,
    spent: &TimeIndex,
    cost: &Cost,
    threshold: &Threshold,
    (within, is_such): (CostScope, &[bool]),
) -> Vec<bool> {
    let captures = |unit: &ProgramTime| context.trace.tasks[unit.task as usize].capture;
    let key = |unit: &ProgramTime| match within {
        CostScope::Call | CostScope::Target | CostScope::Task => (captures(unit), unit.task, 0),
        CostScope::Process => (captures(unit), process_of(context, unit).1 as u32, 1),
        CostScope::Program => (captures(unit), unit.program.0, 2),
        CostScope::Capture => (captures(unit), 0, 3),
    };
    let mut sums: FxHashMap<(u32, u32, u8), i64> = FxHashMap::default();
    for (unit, seen) in spent.units().iter().zip(spent.seen()) {
        let gaps_ns = if cost.gaps { seen.gaps_ns } else { 0 };
        *sums.entry(key(unit)).or_insert(0) += spent.in_calls_ns(seen, is_such) + gaps_ns;
    }
    let mut tasks = vec![false; context.trace.tasks.len()];
    for unit in spent.units() {
        let least_ns = threshold.least_of(captures(unit)).max(1);
        tasks[unit.task as usize] |= sums.get(&key(unit)).is_some_and(|&ns| ns >= least_ns);
    }
    tasks
}

/// Time of the normalised target that has most in such calls.
fn most_of_a_target(context: &TableContext<'_>, cost: &Cost) -> i64 {
    let events = &context.trace.events;
    let such = ShapeIndex::new(context, |action, shape| {
        let class = classes::class_of(shape.syscall, events.texts.bytes(shape.target));
        (cost.calls)(action, class).then_some(shape.target)
    });
    let add = |mut sums: FxHashMap<Text, i64>, (target, ns): (Text, i64)| {
        *sums.entry(target).or_insert(0) += ns;
        sums
    };
    let of_task = |sums: FxHashMap<Text, i64>, task: u32| {
        let rows = context.trace.rows_of(task).iter().zip(context.trace.shapes_of(task));
        let such = rows.filter_map(|(&row, &shape)| Some((such.of_shape(shape)?, context.exclusive_ns(row))));
        such.fold(sums, add)
    };
    let tasks = (0..context.trace.tasks.len() as u32).into_par_iter();
    let of_target = tasks.fold(FxHashMap::default, of_task);
    let of_target = of_target.reduce(FxHashMap::default, |one, other| other.into_iter().fold(one, add));
    of_target.into_values().max().unwrap_or(0)
}
