//! Descriptor sweeps: a task closes or marks one descriptor after the other, and most of them are not open.
//!
//! ```text
//! close 3 EBADF | close 4 = 0 | close 5 EBADF | … close 1023 EBADF       a sweep of 1021 calls
//! close 65533 EBADF | close 65534 EBADF | close 65535 EBADF              three lines of a longer one
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::grouping::{self, CallGroup};
use kit::table_support::kit::table;
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::shape_index::{ShapeIndex, processes};
use parsers::syscalls::Action;
use parsers::{Outcome, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::parallel;
use trace::store::heuristics::{MIN_HIGH_FDS, MIN_SWEEP_CALLS};
use trace::store::index::TaskId;

table! {
    fd_sweeps "Calls on all possible descriptors, by process and syscall.";
    times: Calls;
    costs: Cost { calls: |action, _| sweeps(action), ..Cost::OF_PROCESS };
    row {
        group: OfProcesses,
        syscall: Text "Name of the system call.",
        sweeps: Count "Number of sweeps: eight or more calls in a row, most of them on descriptors that are not open.",
        longest: Number (Max) "Number of calls in the longest sweep.",
        highest: MaybeNumber "The highest descriptor, if its number shows that most of the sweep is not in the capture.",
        implied: Count "Number of calls, or of the descriptors up to the highest one if that is larger.",
        sum: CallSums,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unopened,
    Done,
    /// Any other call, which ends a sweep.
    Other,
}

/// Whether a syscall closes or marks a descriptor.
fn sweeps(action: Action) -> bool {
    matches!(action, Action::Closes | Action::ControlsFile)
}

/// Builds the table of sweeps by process and syscall.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = ShapeIndex::new(context, |action, shape| {
        let bad = shape.outcome == Outcome::Failed
            && context.trace.events.texts.bytes(shape.errno) == b"EBADF";
        Some(match (sweeps(action), bad) {
            (true, true) => Kind::Unopened,
            (true, false) => Kind::Done,
            _ => Kind::Other,
        })
    });
    let groups = parallel::flat_map(&processes(context), |tasks| {
        of_process(context, &kinds, tasks)
    });
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for group in grouping::limit_groups(context, groups, |&syscall| syscall) {
        write(context, &group, &mut builder);
    }
    builder.finish()
}

/// Consecutive calls of one syscall, and how many of them failed because the descriptor was not open.
#[derive(Default)]
struct Run {
    program: Text,
    syscall: Text,
    rows: Vec<u32>,
    unopened: usize,
    /// Minimum number of failed calls of a sweep.
    min_calls: usize,
}

fn of_process(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Kind>,
    tasks: &[TaskId],
) -> Vec<CallGroup<Text>> {
    let mut groups: FxHashMap<(Text, Text), CallGroup<Text>> = FxHashMap::default();
    for &task in tasks {
        let is_high = context
            .trace
            .events
            .high_fds
            .get(&task)
            .is_some_and(|high| high.highest > 0);
        let min_calls = if is_high {
            MIN_HIGH_FDS as usize
        } else {
            MIN_SWEEP_CALLS
        };
        let mut run = Run {
            min_calls,
            ..Run::default()
        };
        for (row, kind) in kinds.calls(context, task) {
            if kind == Kind::Other {
                end(context, tasks[0], &mut run, &mut groups);
                continue;
            }
            let syscall = context.trace.events.shape(row).syscall;
            if run.syscall != syscall {
                end(context, tasks[0], &mut run, &mut groups);
                run.syscall = syscall;
            }
            run.rows.push(row);
            run.unopened += usize::from(kind == Kind::Unopened);
        }
        end(context, tasks[0], &mut run, &mut groups);
    }
    groups.into_values().collect()
}

/// Ends a run. It is a sweep if most of its calls failed.
fn end(
    context: &TableContext<'_>,
    task: TaskId,
    run: &mut Run,
    groups: &mut FxHashMap<(Text, Text), CallGroup<Text>>,
) {
    if run.unopened >= run.min_calls && run.unopened * 2 > run.rows.len() {
        let owner = run
            .rows
            .first()
            .map_or(task, |&row| context.trace.events.task(row));
        run.program = run
            .rows
            .first()
            .map_or(Text::NONE, |&row| context.program(owner, row));
        let group = groups
            .entry((run.program, run.syscall))
            .or_insert_with(|| CallGroup::of_one(task, run.program, run.syscall, Vec::new()));
        group.rows.extend(&run.rows);
        group.counts = [
            group.counts[0] + 1,
            group.counts[1].max(run.rows.len() as i64),
        ];
    }
    run.rows.clear();
    (run.unopened, run.syscall) = (0, Text::NONE);
}

fn write(context: &TableContext<'_>, group: &CallGroup<Text>, builder: &mut TableBuilder<'_>) {
    let highest = highest(context, group);
    let row = TableRow {
        group: group.into(),
        syscall: group.key,
        sweeps: group.counts[0],
        longest: if group.processes == 1 {
            group.counts[1]
        } else {
            group.counts[1] / group.processes
        },
        highest: highest.filter(|&highest| highest > 2 * group.rows.len() as i64),
        implied: highest
            .map_or(0, |highest| highest + 1)
            .max(group.rows.len() as i64),
        sum: group.sum(context),
    };
    builder.add(row, Provenance::Rows(group.rows.clone()));
}

/// The highest descriptor of the tasks that made these calls, if its number proves a sweep.
fn highest(context: &TableContext<'_>, group: &CallGroup<Text>) -> Option<i64> {
    let events = &context.trace.events;
    let tasks: FxHashSet<TaskId> = group.rows.iter().map(|&row| events.task(row)).collect();
    let highest = tasks
        .iter()
        .filter_map(|task| events.high_fds.get(task))
        .map(|high| i64::from(high.highest));
    highest.filter(|&highest| highest > 0).max()
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    fn closes(plan: TaskPlan, from: i64, count: i64, open_every: i64) -> TaskPlan {
        (0..count).fold(plan, |plan, number| {
            let plan = plan.call("close", from + number * 3, from + number * 3 + 1);
            if number % open_every == 0 {
                plan.returns(0)
            } else {
                plan.fails("EBADF")
            }
        })
    }

    #[test]
    fn closing_consecutive_descriptors_is_a_sweep() {
        let plan = closes(task(1), 0, 100, 10).call("getpid", 400, 401);
        let plan = closes(plan, 500, 50, 25).exit(9999);
        let columns = ["syscall", "sweeps", "longest", "calls", "failed"];
        assert_eq!(
            rows(&build(vec![plan]), super::build, &columns),
            ["close 2 100 150 138"]
        );
    }

    #[test]
    fn high_descriptors_prove_a_sweep_by_themselves() {
        let columns = ["calls", "highest", "implied"];
        let proven = |fds: &[i32]| {
            let mut trace = build(vec![closes(task(1), 0, 4, 9).exit(9999)]);
            fds.iter()
                .for_each(|&fd| trace.events.not_open(0.into(), fd));
            rows(&trace, super::build, &columns)
        };
        assert!(proven(&[]).is_empty());
        assert_eq!(proven(&[65_533, 65_534, 65_535]), ["4 65535 65536"]);
        assert!(proven(&[5, 6, 7]).is_empty());
        assert!(proven(&[9_000, 9_000, 32_767]).is_empty());
    }

    #[test]
    fn closing_open_descriptors_or_single_failures_are_not_sweeps() {
        let open = closes(task(1), 0, 100, 1).exit(9999);
        assert!(rows(&build(vec![open]), super::build, &["calls"]).is_empty());
        let slips = (0..50i64).fold(task(1), |plan, at| {
            plan.call("read", at * 10, at * 10 + 1)
                .call("close", at * 10 + 2, at * 10 + 3)
                .fails("EBADF")
        });
        assert!(rows(&build(vec![slips.exit(9999)]), super::build, &["calls"]).is_empty());
    }
}
