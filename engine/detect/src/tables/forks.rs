//! Forks: the cost of creating processes and threads, and their lifetimes.
//!
//! ```text
//! shell    |fork|-- wait4 --|fork|-- wait4 --|fork| …     processes: created 900, mean life 2 ms
//! server   |clone|clone|clone| …                          threads: created 900, exited 900, 2 at once
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::call_stats::CallStats;
use kit::table_support::context::TableContext;
use kit::table_support::families::{PathTimes, ends, life, overlap};
use kit::table_support::grouping::median;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::shape_index::processes;
use parsers::NO_NS;
use parsers::facts::WaitedChild;
use trace::store::event::NONE;
use trace::store::grouped::Grouped;
use trace::store::index::{TaskId, ti_vec};
use trace::store::tasks::Task;
use trace::store::trace::{Capture, Trace};

table! {
    forks "Processes and threads that a process creates.";
    times: Lives;
    row {
        of: OfTask { program "Program of the creator." },
        kind: Words "processes or threads.",
        syscall: Text "The system call that took longest to create one.",
        created: Count "Number of processes or threads created.",
        gone: Count "Number of them that exited in the capture.",
        reaped: Count "Number of them that a wait of their creator returned.",
        programs: Count "Number of them that executed a program.",
        at_once: Number "Maximum number alive at the same time.",
        mean_life_ns: Ns (Same) "Mean lifetime of those that exited.",
        p90_life_ns: Ns (Same) "90th percentile of the lifetime of those that exited.",
        mean_calls: Number "Mean number of calls made by each of them.",
        calls: Count "Number of calls that created them.",
        total_ns: Ns "Sum of the durations of these calls.",
        p50_ns: Ns (Same) "Median duration of these calls.",
        max_ns: Ns (Max) "Longest duration.",
        calls_exclusive_ns: Ns "Critical-path time in these calls.",
        path: PathTime { exclusive_ns "Critical-path time in these calls and in the processes or threads created." },
        lines: Lines {
            first_line "Line of the first of these calls.",
            last_line "Line of the last of these calls.",
        },
    }
}

/// Number of waits after the creation of a task that are searched for the one that returned it.
const MAX_WAITS_AFTER: usize = 1024;

/// The tasks that one process created.
struct Created<'all> {
    tasks: &'all [TaskId],
    /// The calls that created them.
    calls: Vec<u32>,
}

/// Builds the table of processes and threads by creating process.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut creators = ti_vec![NONE; context.trace.tasks.len()];
    for process in &processes(context) {
        process
            .iter()
            .for_each(|&task| creators[task] = process[0].raw());
    }
    // Processes have even keys, threads odd ones.
    let key = |task: &Task| {
        let creator = creators
            .get(task.creator)
            .filter(|&&creator| creator != NONE && !task.adopted)?;
        Some(2 * creator + u32::from(task.is_thread))
    };
    let created: Grouped<u32, TaskId> =
        Grouped::new(2 * creators.len(), context.trace.tasks.iter().map(key));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    let times = if created.members().is_empty() {
        None
    } else {
        Some(PathTimes::new(context))
    };
    for (key, tasks) in (0..)
        .zip(created.groups())
        .filter(|(_, tasks)| !tasks.is_empty())
    {
        let calls = tasks
            .iter()
            .map(|&task| context.trace.tasks[task].created_by);
        let mut calls: Vec<u32> = calls
            .filter(|&row| row < context.trace.events.len() && context.selection.has(row))
            .collect();
        calls.sort_unstable();
        calls.dedup();
        if let Some(times) = times.as_ref().filter(|_| !calls.is_empty()) {
            write(
                context,
                times,
                (TaskId::new(key / 2), key % 2 == 1),
                &Created { tasks, calls },
                &mut builder,
            );
        }
    }
    builder.finish()
}

fn write(
    context: &TableContext<'_>,
    times: &PathTimes,
    (creator, threads): (TaskId, bool),
    created: &Created<'_>,
    builder: &mut TableBuilder<'_>,
) {
    let trace = context.trace;
    let mut sum = CallStats::new(created.calls[0]);
    created.calls.iter().for_each(|&row| sum.add(context, row));
    let durations = created.calls.iter().map(|&row| trace.events.dur_ns(row));
    let mut durations: Vec<i64> = durations.filter(|&dur_ns| dur_ns != NO_NS).collect();
    let task = |number: &TaskId| -> &Task { &trace.tasks[*number] };
    let exited = created
        .tasks
        .iter()
        .filter(|&number| task(number).death_ns != NO_NS);
    let lives: Vec<(i64, i64)> = exited.filter_map(|&number| life(trace, number)).collect();
    let mut lengths: Vec<i64> = lives.iter().map(|(from, to)| to - from).collect();
    lengths.sort_unstable();
    let all_lives: Vec<(i64, i64)> = created
        .tasks
        .iter()
        .filter_map(|&number| life(trace, number))
        .collect();
    let ran = created
        .tasks
        .iter()
        .filter(|&number| !task(number).programs.is_empty())
        .count();
    let children_ns: i64 = created
        .tasks
        .iter()
        .map(|&number| times.own_ns[number])
        .sum();
    let stretches = created
        .tasks
        .iter()
        .filter_map(|&number| ends(trace, number).map(|(first, last)| (number, first, last)));
    let calls = created
        .calls
        .iter()
        .map(|&row| (trace.events.task(row), row, row));
    let shape = trace.events.shape(sum.longest_row);
    // Without timestamps, only the lines show which tasks ended.
    let gone = created
        .tasks
        .iter()
        .filter(|&number| task(number).death_ns != NO_NS || task(number).ended.is_some());
    let reaps = reaps(trace, created.tasks);
    let reaped = reaps.len() as i64;
    let made: u64 = created
        .tasks
        .iter()
        .map(|number| u64::from(task(number).calls))
        .sum();
    // Without a clock, the waits for the children show how long they took; these waits contain the children's own calls.
    let has_clock = context
        .capture_of(creator)
        .is_some_and(Capture::has_wall_clock);
    let waits = if has_clock { Vec::new() } else { reaps };
    let waits_ns: i64 = waits.iter().map(|&row| context.exclusive_ns(row)).sum();
    let waits = waits
        .into_iter()
        .map(|row| (trace.events.task(row), row, row));
    let row = TableRow {
        of: TaskAt {
            task: creator,
            row: sum.first_row,
        },
        kind: Some(if threads { "threads" } else { "processes" }.to_owned()),
        syscall: shape.syscall,
        created: created.tasks.len() as i64,
        gone: gone.count() as i64,
        reaped,
        programs: ran as i64,
        at_once: overlap(&all_lives).most,
        mean_life_ns: if lengths.is_empty() {
            NO_NS
        } else {
            lengths.iter().sum::<i64>() / lengths.len() as i64
        },
        p90_life_ns: lengths
            .get(lengths.len() * 9 / 10)
            .copied()
            .unwrap_or(NO_NS),
        mean_calls: made as i64 / created.tasks.len().max(1) as i64,
        calls: sum.calls,
        total_ns: sum.total_ns,
        p50_ns: if durations.is_empty() {
            NO_NS
        } else {
            median(&mut durations)
        },
        max_ns: sum.max_ns,
        calls_exclusive_ns: sum.exclusive_ns,
        path: sum.exclusive_ns + children_ns.max(waits_ns),
        lines: LinesOf {
            first_row: sum.first_row,
            last_row: sum.last_row,
        },
    };
    builder.add(
        row,
        Provenance::Stretches(calls.chain(stretches).chain(waits).collect()),
    );
}

/// The waits of their creator's process that returned tasks. Where no end is printed, this shows it.
fn reaps(trace: &Trace, tasks: &[TaskId]) -> Vec<u32> {
    let (waited, mains) = (trace.events.facts.all::<WaitedChild>(), trace.main_tasks());
    let mut after = 0;
    let by_creator = |task: &Task| {
        let process = mains.get(task.creator)?;
        after = first_from(waited, after, task.created_by);
        let is_child = |id: i32| id == task.tid || id == task.pid;
        waited[after..]
            .iter()
            .take(MAX_WAITS_AFTER)
            .copied()
            .find(|&(row, id)| is_child(id) && mains.get(trace.events.task(row)) == Some(process))
            .map(|(row, _)| row)
    };
    tasks
        .iter()
        .map(|&number| &trace.tasks[number])
        .filter_map(by_creator)
        .collect()
}

/// The place of the first wait from a row on. It is searched near this place first: the next child was mostly created soon after
/// the last one.
fn first_from(waited: &[(u32, i32)], near: usize, from: u32) -> usize {
    let is_before = |place: usize| waited.get(place).is_some_and(|&(row, _)| row < from);
    if near > 0 && !is_before(near - 1) {
        return waited.partition_point(|&(row, _)| row < from);
    }
    let mut step = 1;
    while is_before(near + step - 1) {
        step *= 2;
    }
    let behind = &waited[near + step / 2..waited.len().min(near + step)];
    near + step / 2 + behind.partition_point(|&(row, _)| row < from)
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{build, task};

    #[test]
    fn processes_and_threads_have_separate_rows() {
        let main = task(1)
            .fork(0, 2, 2)
            .wait4(2, 10, 2)
            .fork(10, 11, 3)
            .wait4(11, 30, 3)
            .spawn("clone3", 30, 31, 4);
        let thread = task(4).of_process(1).call("read", 32, 40).exit(41);
        let plans = vec![
            main.exit(50),
            task(2).call("read", 2, 9).exit(10),
            task(3).call("read", 11, 29).exit(30),
            thread,
        ];
        let columns = [
            "kind",
            "created",
            "gone",
            "at_once",
            "mean_life_ns",
            "mean_calls",
            "total_ns",
            "p50_ns",
        ];
        let found = rows(
            &build(plans),
            super::build,
            &[&columns[..], &["exclusive_ns"]].concat(),
        );
        assert_eq!(
            found,
            ["processes 2 2 1 13 2 3 1 30", "threads 1 1 1 9 2 1 1 1"]
        );
    }
}
