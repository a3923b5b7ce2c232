//! Prunes tasks and tables that cannot reach the caller's threshold of time on the critical path.
//!
//! ```text
//! rule            reads by process, at least 5 % of the window: 500 ms
//! time in reads   pid 7: 2 s | pid 8: 10 ms | … | 9000 others: 1 ms each      only the rows of pid 7 are built
//! ```
//! Upper bounds of the rows' times come from [`path::critical_path::time_index`] before the rows are built. A row is
//! pruned only if it stays below the threshold even together with all rows that may be merged with it. Rows that reach
//! the threshold do not change.
//!
//! With `summarize` on 2 cores this saves 0.75 s of 2.0 s for a capture of 400 MB, and 0.3 to 0.5 s of 1.2 s for one of
//! 100 MB with distinct paths.

use crate::table_support::context::TableContext;
use crate::table_support::limits::{MAX_GROUPS, MAX_PROCESSES};
use crate::table_support::shape_index::ShapeIndex;
use crate::table_support::threshold::{CostScope, Threshold};
use parsers::Text;
use parsers::syscalls::{Action, Class, action_of};
use path::critical_path::time_index::TimeIndex;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cmp::Reverse;
use trace::store::index::{ShapeId, TaskId, TiVec, ti_vec};

/// How rows of different processes are merged where there are too many; see [`crate::table_support::grouping`].
#[derive(Clone, Copy)]
pub enum Joins {
    /// Rows are not merged.
    Never,
    /// Rows of the same program are merged.
    Few,
    /// Rows of the same program are merged, and only the costliest processes have rows. The value is the maximum number
    /// of rows per program of a process; `None` means one row per syscall.
    Costliest(Option<usize>),
}

/// The calls and gaps that contribute to the time of a table's rows.
#[derive(Clone, Copy)]
pub struct Cost {
    /// Selects calls by action and class.
    pub calls: fn(Action, Class) -> bool,
    /// Whether gaps contribute too.
    pub gaps: bool,
    /// Upper bound of the scope of one row.
    pub of: CostScope,
    /// How rows are merged.
    pub joins: Joins,
    /// Whether a row with a program covers only calls of that program.
    pub of_program: bool,
    /// Whether rows are independent of other tasks.
    pub apart: bool,
}

impl Cost {
    /// One row per process and program.
    pub const OF_PROCESS: Cost = Cost {
        calls: |_, _| true,
        gaps: false,
        of: CostScope::Process,
        joins: Joins::Few,
        of_program: true,
        apart: true,
    };

    /// One row per task, with the time of all programs that it ran.
    pub const OF_TASK: Cost = Cost {
        of: CostScope::Task,
        joins: Joins::Never,
        of_program: false,
        ..Cost::OF_PROCESS
    };
}

/// The part of a table that may reach a threshold.
pub enum Pruning {
    /// Possibly every row.
    All,
    /// No row.
    Nothing,
    /// Only rows of these tasks, by task number.
    Tasks(Vec<bool>),
}

/// Computes which part of the table may reach the threshold.
pub fn prune(context: &TableContext<'_>, cost: &Cost, threshold: &Threshold) -> Pruning {
    let time_index = context.time_index();
    let is_such: Vec<bool> = time_index
        .parts()
        .iter()
        .map(|&(name, class)| (cost.calls)(action_of(name), class))
        .collect();
    let least_ns = threshold.least().max(1);
    if time_index.max_ns(&is_such, cost.gaps) < least_ns {
        return Pruning::Nothing;
    }
    let (within, may_narrow) = within(context, time_index, cost, threshold, &is_such);
    let found = match within {
        CostScope::Call => context.attribution.has_call_of(least_ns),
        CostScope::Target => max_target_ns(context, cost) >= least_ns,
        _ => {
            let tasks = by_unit(context, time_index, cost, threshold, (within, &is_such));
            match (tasks.contains(&true), may_narrow) {
                (true, true) => return Pruning::Tasks(tasks),
                (found, _) => found,
            }
        }
    };
    if found {
        Pruning::All
    } else {
        Pruning::Nothing
    }
}

/// The scope whose time is compared with the threshold, and whether single tasks may be pruned.
fn within(
    context: &TableContext<'_>,
    time_index: &TimeIndex,
    cost: &Cost,
    threshold: &Threshold,
    is_such: &[bool],
) -> (CostScope, bool) {
    let mut within = cost.of.max(threshold.within);
    let mut may_narrow = cost.apart;
    match cost.joins {
        Joins::Never => {}
        // Other tasks influence which rows of a program are merged, but not the total of these rows.
        Joins::Few => {
            may_narrow &= threshold.within >= CostScope::Program;
            within = within.max(CostScope::Program);
        }
        Joins::Costliest(rows) => {
            if max_rows(
                context,
                time_index,
                rows.unwrap_or_else(|| syscalls(time_index, is_such)),
            ) > MAX_GROUPS
            {
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

/// Number of distinct syscalls among these kinds of calls.
fn syscalls(time_index: &TimeIndex, is_such: &[bool]) -> usize {
    let such = time_index
        .parts()
        .iter()
        .zip(is_such)
        .filter(|&(_, &is_such)| is_such);
    such.map(|(part, _)| part.0)
        .collect::<FxHashSet<Text>>()
        .len()
}

/// Upper bound of the rows of the costliest processes, with `of_program` rows for each of their programs.
fn max_rows(context: &TableContext<'_>, time_index: &TimeIndex, of_program: usize) -> usize {
    let pids = context.trace.pids();
    let mut programs = vec![0usize; pids.len()];
    for pid in time_index
        .units()
        .filter_map(|unit| pids.number_of(unit.task))
    {
        programs[pid as usize] += 1;
    }
    if programs.len() > MAX_PROCESSES {
        programs.select_nth_unstable_by_key(MAX_PROCESSES, |&number| Reverse(number));
        programs.truncate(MAX_PROCESSES);
    }
    programs.iter().sum::<usize>() * of_program
}

/// The rows that may be merged with a row of this unit, as a number.
fn merged_with<'all>(
    context: &'all TableContext<'_>,
    time_index: &'all TimeIndex,
    within: CostScope,
) -> (Cow<'all, [u32]>, usize) {
    let trace = context.trace;
    let of_tasks =
        |number: &dyn Fn(TaskId) -> u32| time_index.units().map(|unit| number(unit.task)).collect();
    match within {
        CostScope::Call | CostScope::Target | CostScope::Task => {
            (of_tasks(&|task| task.raw()), trace.tasks.len())
        }
        // Rules do not distinguish processes that reuse a pid.
        CostScope::Process => (
            of_tasks(&|task| trace.pids().number_of(task).unwrap_or(0)),
            trace.pids().len(),
        ),
        CostScope::Program => {
            let (numbers, count) = time_index.programs(trace);
            (Cow::Borrowed(numbers), count)
        }
        CostScope::Capture => (
            of_tasks(&|task| trace.tasks[task].capture),
            trace.captures.len(),
        ),
    }
}

/// The tasks with a row that may reach the threshold, including the rows that may be merged with it.
fn by_unit(
    context: &TableContext<'_>,
    time_index: &TimeIndex,
    cost: &Cost,
    threshold: &Threshold,
    (within, is_such): (CostScope, &[bool]),
) -> Vec<bool> {
    let (numbers, count) = merged_with(context, time_index, within);
    let mut sums_ns = vec![0i64; count];
    for (seen, &number) in time_index.seen().zip(numbers.iter()) {
        let gaps_ns = if cost.gaps { seen.gaps_ns } else { 0 };
        sums_ns[number as usize] += time_index.in_calls_ns(seen, is_such) + gaps_ns;
    }
    let mut tasks = ti_vec![false; context.trace.tasks.len()];
    let captures = 0..context.trace.captures.len() as u32;
    let lowest_ns = captures
        .map(|capture| threshold.least_of(capture))
        .min()
        .unwrap_or(0)
        .max(1);
    for (unit, &number) in time_index.units().zip(numbers.iter()) {
        let sum_ns = sums_ns[number as usize];
        // Few reach any threshold.
        if sum_ns >= lowest_ns {
            let capture = context.trace.tasks[unit.task].capture;
            tasks[unit.task] |= sum_ns >= threshold.least_of(capture).max(1);
        }
    }
    tasks.into()
}

/// The largest time of such calls on one normalised target.
fn max_target_ns(context: &TableContext<'_>, cost: &Cost) -> i64 {
    let events = &context.trace.events;
    let parts = context.trace.shape_parts();
    let such = ShapeIndex::by_target(
        context,
        |action, _| Class::ALL.iter().any(|&class| (cost.calls)(action, class)),
        |number, action, _| (cost.calls)(action, parts.class_of(number)).then_some(()),
    );
    let of_tasks = |tasks: &[TaskId]| {
        let mut sums = ti_vec![0i64; events.shapes().len()];
        for &task in tasks {
            let (rows, shapes) = (context.trace.rows_of(task), context.trace.shapes_of(task));
            let places = context.attribution.places(context.trace, task);
            for at in places.filter(|&at| such.of_shape(shapes[at]).is_some()) {
                sums[shapes[at]] += context.exclusive_ns(rows[at]);
            }
        }
        sums
    };
    let tasks: Vec<TaskId> = context.trace.tasks.keys().collect();
    let of_core = tasks.len().div_ceil(rayon::current_num_threads()).max(1);
    let sums: Vec<TiVec<ShapeId, i64>> = tasks.par_chunks(of_core).map(of_tasks).collect();
    let mut of_target: FxHashMap<Text, i64> = FxHashMap::default();
    for (shape, ns) in sums
        .iter()
        .flat_map(|sums| sums.iter_enumerated())
        .filter(|&(_, &ns)| ns != 0)
    {
        *of_target.entry(events.shapes()[shape].target).or_insert(0) += ns;
    }
    of_target.into_values().max().unwrap_or(0)
}
