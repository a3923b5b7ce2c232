//! Repeated metadata queries: stat, access, readlink and getcwd of one path with the same result by one process.
//!
//! ```text
//! stat /a = 0 | stat /b = 0 | stat /a = 0 | stat /a = 0        stat: 2 repeats, of 1 path
//! stat /a ENOENT | mkdir /a | stat /a = 0                      another result after a change: not a repeat
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::grouping::{self, CallGroup, Grouping};
use kit::table_support::kit::table;
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::{Cost, Joins};
use kit::table_support::shape_index::{ShapeIndex, costliest};
use parsers::Text;
use parsers::syscalls::Action;
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::index::{ShapeId, TaskId};

table! {
    metadata "Metadata queries that repeat an earlier one with the same result, by process and syscall.";
    times: Calls;
    costs: Cost {
        calls: |action, _| queries(action),
        joins: Joins::Costliest(None),
        ..Cost::OF_PROCESS
    };
    row {
        group: OfProcesses,
        syscall: Text "Name of the system call.",
        target: Text "The path with the most repeated calls.",
        most: Number "Number of repeated calls on that path.",
        paths: Count "Number of paths with repeated calls.",
        asked: Count "Number of all calls of this syscall.",
        sum: CallSums { calls "Number of repeated calls: same call, same path, same result as before." },
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Queries,
    /// Changes its target, or makes a following query of it expected.
    Changes,
    /// Changes the meaning of relative paths.
    Moves,
}

fn kind(action: Action) -> Option<Kind> {
    match action {
        // A query of a file right after it was opened is expected. It uses the descriptor, but may be printed with the
        // path.
        Action::Opens | Action::Creates | Action::Writes | Action::WritesAt | Action::Resizes => {
            Some(Kind::Changes)
        }
        Action::Makes | Action::MakesNode | Action::Links | Action::Renames => Some(Kind::Changes),
        Action::Removes | Action::RemovesDirectory | Action::ChangesAttributes => {
            Some(Kind::Changes)
        }
        Action::Stats | Action::Accesses | Action::ReadsLink | Action::ReturnsDirectory => {
            Some(Kind::Queries)
        }
        Action::ChangesDirectory => Some(Kind::Moves),
        _ => None,
    }
}

/// Whether a call queries the metadata of a file.
fn queries(action: Action) -> bool {
    matches!(kind(action), Some(Kind::Queries))
}

/// Builds the table of repeated queries by process and syscall.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = ShapeIndex::new(context, |action, _| kind(action));
    let processes = costliest(context, &kinds);
    let groups = parallel::flat_map(&processes, |tasks| of_process(context, &kinds, tasks));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for group in grouping::limit_groups(context, groups, |&syscall| syscall) {
        write(context, &group, &mut builder);
    }
    builder.finish()
}

fn of_process(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Kind>,
    tasks: &[TaskId],
) -> Vec<CallGroup<Text>> {
    let events = &context.trace.events;
    let mut answers: FxHashMap<(Text, Text), ShapeId> = FxHashMap::default();
    let mut queried: FxHashMap<(Text, Text), i64> = FxHashMap::default();
    let mut repeats: Grouping<(Text, Text)> = Grouping::default();
    let mut changed: FxHashMap<Text, u32> = FxHashMap::default();
    for (call, number) in kinds
        .calls_of(context, tasks, |_| true)
        .into_iter()
        .zip(1u32..)
    {
        let (target, shape) = (events.target(call.row), events.shape(call.row));
        match call.kind {
            // A relative path has another meaning now, and getcwd another result.
            Kind::Moves => answers.clear(),
            Kind::Changes => {
                changed.insert(target, number);
            }
            Kind::Queries => {
                *queried.entry((call.program, shape.syscall)).or_insert(0) += 1;
                let changed = !changed.is_empty() && changed.remove(&target).is_some();
                let before = answers.insert((shape.syscall, target), events.shape_number(call.row));
                if !changed && before == Some(events.shape_number(call.row)) {
                    repeats.add((call.program, shape.syscall), call.row);
                }
            }
        }
    }
    let groups = repeats
        .groups
        .into_iter()
        .map(|((program, syscall), rows)| CallGroup {
            counts: [queried.get(&(program, syscall)).copied().unwrap_or(0), 0],
            ..CallGroup::of_one(tasks[0], program, syscall, rows)
        });
    groups.collect()
}

fn write(context: &TableContext<'_>, group: &CallGroup<Text>, builder: &mut TableBuilder<'_>) {
    let mut paths: FxHashMap<Text, i64> = FxHashMap::default();
    group
        .rows
        .iter()
        .for_each(|&row| *paths.entry(context.trace.events.target(row)).or_insert(0) += 1);
    let commonest = paths
        .iter()
        .max_by_key(|&(path, count)| (count, std::cmp::Reverse(path)));
    let (target, most) = commonest.map_or((Text::NONE, 0), |(&path, &count)| (path, count));
    let row = TableRow {
        group: group.into(),
        syscall: group.key,
        target,
        most,
        paths: paths.len() as i64,
        asked: group.counts[0],
        sum: group.sum(context),
    };
    builder.add(row, Provenance::Rows(group.rows.clone()));
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    /// Calls given as `name path` or `name path ERRNO`, 10 ns apart.
    fn calls(calls: &[&str]) -> Vec<String> {
        let plan = calls
            .iter()
            .zip(1i64..)
            .fold(task(1), |plan: TaskPlan, (call, at)| {
                let mut words = call.split(' ');
                let plan = plan
                    .call(words.next().unwrap_or(""), at * 10, at * 10 + 4)
                    .on(words.next().unwrap_or(""));
                words.next().map_or_else(
                    || plan.clone().returns(0),
                    |errno| plan.clone().fails(errno),
                )
            });
        let columns = [
            "syscall", "target", "most", "paths", "asked", "calls", "failed",
        ];
        rows(&build(vec![plan.exit(9999)]), super::build, &columns)
    }

    #[test]
    fn the_same_query_with_the_same_result_is_a_repeat() {
        assert_eq!(
            calls(&["stat /a", "stat /b", "stat /a", "stat /a"]),
            ["stat /a 2 1 4 2 0"]
        );
        assert_eq!(
            calls(&["access /x ENOENT", "access /x ENOENT", "lstat /x ENOENT"]),
            ["access /x 1 1 2 1 1"]
        );
        assert_eq!(
            calls(&["getcwd", "getcwd", "getcwd"]),
            ["getcwd - 2 1 3 2 0"]
        );
    }

    #[test]
    fn a_query_after_a_change_is_not_a_repeat() {
        let cases: [&[&str]; 6] = [
            &["stat /a ENOENT", "mkdir /a", "stat /a"],
            &["stat /a", "write /a", "stat /a"],
            &["stat a", "chdir /b", "stat a"],
            &["stat /a", "unlink /a", "stat /a ENOENT"],
            &["stat /a", "access /a", "stat /b"],
            &["openat /a", "newfstatat /a", "openat /a", "newfstatat /a"],
        ];
        cases
            .iter()
            .for_each(|case| assert!(calls(case).is_empty(), "{case:?}"));
    }
}
