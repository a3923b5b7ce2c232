//! Waits for children, by waiter and child program, and whether the capture shows the work of the child.
//!
//! ```text
//! shell    |fork|------------ wait4 = 12 -------------|      resolved if 12 was traced; otherwise the wait is charged
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::call_stats::CallStats;
use kit::table_support::context::TableContext;
use kit::table_support::kit::{TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::shape_index::ShapeIndex;
use parsers::facts::WaitedChild;
use parsers::syscalls::Wait;
use parsers::{NO_ID, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::parallel;
use trace::store::index::TaskId;
use trace::store::lives_by_id::LivesById;
use trace::store::spans::Span;

table! {
    children "Waits for children, by waiter and program of the child.";
    times: Lives;
    costs: Cost { calls: |action, _| action.wait() == Some(Wait::Child), ..Cost::OF_TASK };
    row {
        of: OfTask { program "Program of the waiter." },
        syscall: Text "The system call that waits.",
        child_program: Text "Program of the children, if the capture shows it.",
        children: Count "Number of different children returned by the waits.",
        child_pid: MaybeId "Process id of the child, if there is only one.",
        resolved: Flag "Whether the capture shows what ended these waits.",
        shown: Flag "Whether the capture shows any child alive during the waits.",
        sum: CallSums {
            calls "Number of waits.",
            exclusive_ns "Critical-path time of the waits that no child in the capture explains.",
            bytes "Bytes moved: always 0.",
        },
    }
}

/// Program of the child if known, whether the trace shows its end, and whether the trace shows a child at all.
type Key = (Option<Text>, bool, bool);
/// Tasks by the pid of their creator.
type ByPid = FxHashMap<(u32, i32), Vec<TaskId>>;
/// Maximum number of children of a process that are checked for one wait.
const MAX_TRIES: usize = 64;

struct Waits {
    sum: CallStats,
    rows: Vec<u32>,
    children: FxHashSet<i32>,
}

/// Builds the table of waits for children by waiter and child program.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = ShapeIndex::new(context, |action, _| {
        (action.wait() == Some(Wait::Child)).then_some(())
    });
    let end = context.trace.tasks.next_key();
    let lives = LivesById::new(&context.trace.tasks, TaskId::new(0)..end);
    let mut by_creator = ByPid::default();
    for (number, task) in context
        .trace
        .tasks
        .iter_enumerated()
        .filter(|(_, task)| !task.is_thread)
    {
        if let Some(creator) = context.trace.tasks.get(task.creator) {
            by_creator
                .entry((task.capture, creator.pid))
                .or_default()
                .push(number);
        }
    }
    let tasks: Vec<TaskId> = context.tasks().collect();
    let mut all: Vec<(TaskId, Key, Waits)> = parallel::flat_map(&tasks, |&task| {
        of_task(context, &kinds, (&lives, &by_creator), task)
            .into_iter()
            .map(move |(key, waits)| (task, key, waits))
    });
    all.sort_by_key(|(task, key, waits)| {
        (
            std::cmp::Reverse(waits.sum.exclusive_ns),
            waits.sum.first_row,
            *task,
            *key,
        )
    });
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    all.into_iter()
        .for_each(|(task, key, waits)| write(context, task, key, waits, &mut builder));
    builder.finish()
}

fn of_task(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<()>,
    (lives, by_creator): (&LivesById, &ByPid),
    task: TaskId,
) -> FxHashMap<Key, Waits> {
    let (trace, events) = (context.trace, &context.trace.events);
    let mut waits: FxHashMap<Key, Waits> = FxHashMap::default();
    for (at, &row) in trace.rows_of(task).iter().enumerate() {
        if kinds.of_shape(events.shape_number(row)).is_none() || !context.selection.has(row) {
            continue;
        }
        let pid = child_of(context, row);
        let span = trace.printed_span(row);
        let Span {
            start_ns, end_ns, ..
        } = span;
        let edge = context.wakers.waker(trace, task, at, span);
        let capture = trace.tasks[task].capture;
        let born = pid.and_then(|pid| lives.at(capture, pid, end_ns));
        let child = edge.map(|edge| edge.task).or(born);
        let program = child
            .and_then(|child| context.selection.program_index.name_of(child))
            .map(|program| program.path);
        let of_waiter = by_creator
            .get(&(capture, trace.tasks[task].pid))
            .map_or(&[][..], Vec::as_slice);
        let shown = child.is_some()
            || of_waiter.iter().rev().take(MAX_TRIES).any(|&child| {
                let child = &trace.tasks[child];
                child.birth_ns < end_ns && child.end_ns() > start_ns
            });
        let here = waits
            .entry((program, edge.is_some(), shown))
            .or_insert_with(|| Waits {
                sum: CallStats::new(row),
                rows: Vec::new(),
                children: FxHashSet::default(),
            });
        here.sum.add(context, row);
        here.children.extend(pid);
        // Waits that return immediately are frequent and cost nothing.
        if context.exclusive_ns(row) > 0 {
            here.rows.push(row);
        }
    }
    waits
}

/// The child that a wait returned.
fn child_of(context: &TableContext<'_>, row: u32) -> Option<i32> {
    let events = &context.trace.events;
    let waited = events.facts.get::<WaitedChild>(row).copied();
    waited
        .or_else(|| i32::try_from(events.ret(row)).ok())
        .filter(|&pid| pid > 0 && pid != NO_ID)
}

fn write(
    context: &TableContext<'_>,
    task: TaskId,
    (program, resolved, shown): Key,
    waits: Waits,
    builder: &mut TableBuilder<'_>,
) {
    let shape = context.trace.events.shape(waits.sum.longest_row);
    let one = waits
        .children
        .iter()
        .copied()
        .next()
        .filter(|_| waits.children.len() == 1);
    let row = TableRow {
        of: TaskAt {
            task,
            row: waits.sum.first_row,
        },
        syscall: shape.syscall,
        child_program: program.unwrap_or(Text::NONE),
        children: waits.children.len() as i64,
        child_pid: one.map(i64::from),
        resolved,
        shown,
        sum: waits.sum,
    };
    builder.add(row, Provenance::Rows(waits.rows));
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{build, task};

    #[test]
    fn time_of_an_untraced_child_is_charged_to_the_waiter() {
        let shell = task(1)
            .exec(0, 1, "/bin/sh")
            .wait4(2, 50, 7)
            .fork(50, 51, 2)
            .wait4(51, 80, 2)
            .exit(90);
        let plans = vec![
            shell,
            task(2)
                .exec(51, 52, "/bin/ls")
                .call("read", 52, 79)
                .exit(80),
        ];
        let columns = [
            "child_program",
            "child_pid",
            "resolved",
            "calls",
            "exclusive_ns",
        ];
        assert_eq!(
            rows(&build(plans), super::build, &columns),
            ["- 7 false 1 48", "/bin/ls 2 true 1 0"]
        );
    }
}
