//! Calls that failed for a reason outside of the program: a resource ran out, a right was missing, or a peer could not be
//! reached.
//!
//! ```text
//! open /a = 3 | open /b EMFILE | open /c EMFILE | close 3 | open /c = 3      2 calls, 2 targets, last_succeeded
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::shape_index::ShapeIndex;
use parsers::syscalls::Action;
use parsers::{Outcome, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::parallel;
use trace::store::event::Shape;
use trace::store::index::TaskId;

table! {
    error_counts "Calls that failed because a resource ran out, a right was missing or a peer could not be reached, by task, call and error.";
    times: Calls;
    row {
        of: OfTask { program "Program at the first of these calls." },
        syscall: Text "Name of the system call.",
        errno: Text "Name of the error.",
        calls: Count "Number of calls that failed with this error.",
        targets: Count "Number of different targets.",
        target: Text "Target of the first of these calls.",
        last_succeeded: Flag "Whether the task later made the last of these calls again, on the same target, and succeeded.",
        path: PathTime,
        lines: Lines,
    }
}

/// Errors that no check of arguments or paths explains.
const ERRORS: [&[u8]; 20] = [
    b"EACCES",
    b"EADDRINUSE",
    b"EADDRNOTAVAIL",
    b"ECONNREFUSED",
    b"EDQUOT",
    b"EHOSTDOWN",
    b"EHOSTUNREACH",
    b"EIO",
    b"EMFILE",
    b"ENETDOWN",
    b"ENETUNREACH",
    b"ENFILE",
    b"ENOBUFS",
    b"ENOLCK",
    b"ENOMEM",
    b"ENOSPC",
    b"EPERM",
    b"EROFS",
    b"ESTALE",
    b"EUCLEAN",
];

/// What failures of one row have in common: program, syscall and error.
type Key = (Text, Text, Text);

/// Failures with one key, in order.
#[derive(Default)]
struct Failures {
    rows: Vec<u32>,
    last_succeeded: bool,
}

/// Builds the table of failures by task, program, syscall and error.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let failing = ShapeIndex::new(context, |action, shape| {
        counts(context, action, shape).then_some(())
    });
    let tasks: Vec<TaskId> = context.tasks().collect();
    let of_tasks = parallel::map(&tasks, |&task| of_task(context, &failing, task));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (&task, groups) in tasks.iter().zip(of_tasks) {
        for (key, failures) in groups {
            write(context, task, key, failures, &mut builder);
        }
    }
    builder.finish()
}

/// Whether calls of this shape failed for a reason outside of the program.
fn counts(context: &TableContext<'_>, action: Action, shape: &Shape) -> bool {
    let errno = context.trace.events.texts.bytes(shape.errno);
    // Waits for a lock or a message end with ETIMEDOUT as requested. A transfer requests no timeout.
    let timed_out =
        errno == b"ETIMEDOUT" && (action == Action::Connects || action.transfer().is_some());
    shape.outcome == Outcome::Failed && (timed_out || ERRORS.contains(&errno))
}

fn of_task(
    context: &TableContext<'_>,
    failing: &ShapeIndex<()>,
    task: TaskId,
) -> Vec<(Key, Failures)> {
    let mut groups: FxHashMap<Key, Failures> = FxHashMap::default();
    for call in failing.by_program(context, task) {
        let shape = context.trace.events.shape(call.row);
        let key = (call.program, shape.syscall, shape.errno);
        groups.entry(key).or_default().rows.push(call.row);
    }
    find_successes(context, task, &mut groups);
    let mut groups: Vec<(Key, Failures)> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|(_, failures)| failures.rows.first().copied());
    groups
}

/// Notes which calls succeeded after their last failure.
fn find_successes(context: &TableContext<'_>, task: TaskId, groups: &mut FxHashMap<Key, Failures>) {
    let events = &context.trace.events;
    let mut last_failures: FxHashMap<u32, Key> = groups
        .iter()
        .filter_map(|(&key, failures)| Some((*failures.rows.last()?, key)))
        .collect();
    if last_failures.is_empty() {
        return;
    }
    let mut failed: FxHashMap<(Text, Text), Vec<Key>> = FxHashMap::default();
    for row in context.calls_of(task) {
        let shape = events.shape(row);
        if let Some(key) = last_failures.remove(&row) {
            let call = (shape.syscall, events.target(row));
            failed.entry(call).or_default().push(key);
        } else if shape.outcome == Outcome::Ok && !failed.is_empty() {
            for key in failed
                .remove(&(shape.syscall, events.target(row)))
                .unwrap_or_default()
            {
                groups.entry(key).or_default().last_succeeded = true;
            }
        }
    }
}

fn write(
    context: &TableContext<'_>,
    task: TaskId,
    (_, syscall, errno): Key,
    failures: Failures,
    builder: &mut TableBuilder<'_>,
) {
    let events = &context.trace.events;
    let (Some(&first_row), Some(&last_row)) = (failures.rows.first(), failures.rows.last()) else {
        return;
    };
    let targets: FxHashSet<Text> = failures
        .rows
        .iter()
        .map(|&row| events.target(row))
        .collect();
    let row = TableRow {
        of: TaskAt {
            task,
            row: first_row,
        },
        syscall,
        errno,
        calls: failures.rows.len() as i64,
        targets: targets.len() as i64,
        target: events.target(first_row),
        last_succeeded: failures.last_succeeded,
        path: failures
            .rows
            .iter()
            .map(|&row| context.exclusive_ns(row))
            .sum(),
        lines: LinesOf {
            first_row,
            last_row,
        },
    };
    builder.add(row, Provenance::Rows(failures.rows));
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    /// Calls given as `name target` or `name target ERRNO`, 10 ns apart.
    fn counts(calls: &[&str]) -> Vec<String> {
        let add = |plan: TaskPlan, (call, at): (&&str, i64)| {
            let words: Vec<&str> = call.split(' ').collect();
            let plan = plan.call(words[0], at * 10, at * 10 + 4).on(words[1]);
            match words.get(2) {
                Some(errno) => plan.fails(errno),
                None => plan.returns(3),
            }
        };
        let plan = calls.iter().zip(1..).fold(task(1), add);
        let columns = [
            "syscall",
            "errno",
            "calls",
            "targets",
            "target",
            "last_succeeded",
        ];
        rows(&build(vec![plan.exit(9999)]), super::build, &columns)
    }

    #[test]
    fn failures_are_counted_by_call_and_error() {
        let calls = [
            "open /a",
            "open /b EMFILE",
            "write /x ENOSPC",
            "open /c EMFILE",
            "open /b EMFILE",
        ];
        assert_eq!(
            counts(&calls),
            ["open EMFILE 3 2 /b false", "write ENOSPC 1 1 /x false"]
        );
    }

    #[test]
    fn only_a_later_success_on_the_same_target_counts() {
        let again = ["open /b EMFILE", "open /a", "open /b"];
        assert_eq!(counts(&again), ["open EMFILE 1 1 /b true"]);
        let before = ["open /b", "open /b EMFILE", "open /a", "stat /b"];
        assert_eq!(counts(&before), ["open EMFILE 1 1 /b false"]);
    }

    #[test]
    fn expected_errors_are_not_counted() {
        let calls = [
            "open /a ENOENT",
            "read /a EAGAIN",
            "futex /a ETIMEDOUT",
            "close /a EBADF",
        ];
        assert!(counts(&calls).is_empty());
        assert_eq!(
            counts(&["connect 10.0.0.1:80 ETIMEDOUT"]),
            ["connect ETIMEDOUT 1 1 10.0.0.1:80 false"]
        );
    }
}
