//! Repeated questions about files: stat, access, readlink and getcwd of the same path with the same answer by one process.
//!
//! ```text
//! stat /a = 0 | stat /b = 0 | stat /a = 0 | stat /a = 0        stat: 2 repeats, of 1 path
//! stat /a ENOENT | mkdir /a | stat /a = 0                      another answer, and a change in between: none
//! ```

use crate::table_support::builder::{BuiltTable, TableBuilder};
use crate::table_support::context::TableContext;
use crate::table_support::grouping::{self, CallGroup, Grouping};
use crate::table_support::provenance::Provenance;
use crate::table_support::shape_index::{ShapeIndex, costliest};
use parsers::Text;
use parsers::syscalls::Action;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy)]
enum Kind {
    Asks,
    /// Changes what it works on, or what is asked about next.
    Changes,
    /// Changes what paths mean.
    Moves,
}

fn kind(action: Action) -> Option<Kind> {
    match action {
        // What is asked about a file that was just opened is asked by its descriptor, if not always by that name.
        Action::Opens | Action::Creates | Action::Writes | Action::WritesAt | Action::Resizes => Some(Kind::Changes),
        Action::Makes | Action::MakesNode | Action::Links | Action::Renames => Some(Kind::Changes),
        Action::Removes | Action::RemovesDirectory | Action::ChangesAttributes => Some(Kind::Changes),
        Action::Stats | Action::Accesses | Action::ReadsLink | Action::ReturnsDirectory => Some(Kind::Asks),
        Action::ChangesDirectory => Some(Kind::Moves),
        _ => None,
    }
}

/// Whether a call asks about a file.
pub(super) fn asks(action: Action) -> bool {
    matches!(kind(action), Some(Kind::Asks))
}

/// Repeats by process and syscall.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = ShapeIndex::new(context, |action, _| kind(action));
    let processes = costliest(context, &kinds);
    let groups = processes.par_iter().flat_map_iter(|tasks| of_process(context, &kinds, tasks)).collect();
    let mut sheet = TableBuilder::new(context, "metadata");
    for group in grouping::limit_groups(context, groups, |&syscall| syscall) {
        write(context, &group, &mut sheet);
    }
    sheet.finish()
}

fn of_process(context: &TableContext<'_>, kinds: &ShapeIndex<Kind>, tasks: &[u32]) -> Vec<CallGroup<Text>> {
    let events = &context.trace.events;
    let mut answers: FxHashMap<(Text, Text), u32> = FxHashMap::default();
    let mut asked: FxHashMap<(Text, Text), i64> = FxHashMap::default();
    let mut repeats: Grouping<(Text, Text)> = Grouping::default();
    let mut changed: FxHashMap<Text, u32> = FxHashMap::default();
    for (call, number) in kinds.calls_of(context, tasks, |_| true).into_iter().zip(1u32..) {
        let (target, shape) = (events.target(call.row), events.shape(call.row));
        match call.kind {
            // A relative path means something else now, and so does the answer to getcwd.
            Kind::Moves => answers.clear(),
            Kind::Changes => {
                changed.insert(target, number);
            }
            Kind::Asks => {
                *asked.entry((call.program, shape.syscall)).or_insert(0) += 1;
                let changed = !changed.is_empty() && changed.remove(&target).is_some();
                let before = answers.insert((shape.syscall, target), events.shape_number(call.row));
                if !changed && before == Some(events.shape_number(call.row)) {
                    repeats.add((call.program, shape.syscall), call.row);
                }
            }
        }
    }
    let groups = repeats.groups.into_iter().map(|((program, syscall), rows)| CallGroup {
        counts: [asked.get(&(program, syscall)).copied().unwrap_or(0), 0],
        ..CallGroup::of_one(tasks[0], program, syscall, rows)
    });
    groups.collect()
}

fn write(context: &TableContext<'_>, group: &CallGroup<Text>, sheet: &mut TableBuilder<'_>) {
    let mut paths: FxHashMap<Text, i64> = FxHashMap::default();
    group.rows.iter().for_each(|&row| *paths.entry(context.trace.events.target(row)).or_insert(0) += 1);
    let most = paths.iter().max_by_key(|&(path, count)| (count, std::cmp::Reverse(path)));
    let (target, most) = most.map_or((Text::NONE, 0), |(&path, &count)| (path, count));
    sheet.group_columns(group);
    sheet.text("syscall", group.key);
    sheet.text("target", target);
    sheet.int("most", most);
    sheet.int("paths", paths.len() as i64);
    sheet.int("asked", group.counts[0]);
    sheet.sum(&group.sum(context));
    sheet.members(Provenance::Rows(group.rows.clone()));
}

#[cfg(test)]
mod tests {
    use crate::testing::{TaskPlan, build, rows, task};

    /// Calls as `name path`, or `name path ERRNO`, 10 apart.
    fn calls(calls: &[&str]) -> Vec<String> {
        let plan = calls.iter().zip(1i64..).fold(task(1), |plan: TaskPlan, (call, at)| {
            let mut words = call.split(' ');
            let plan = plan.call(words.next().unwrap_or(""), at * 10, at * 10 + 4).on(words.next().unwrap_or(""));
            words.next().map_or_else(|| plan.clone().returns(0), |errno| plan.clone().fails(errno))
        });
        let columns = ["syscall", "target", "most", "paths", "asked", "calls", "failed"];
        rows(&build(vec![plan.exit(9999)]), super::build, &columns)
    }

    #[test]
    fn the_same_question_with_the_same_answer_is_a_repeat() {
        assert_eq!(calls(&["stat /a", "stat /b", "stat /a", "stat /a"]), ["stat /a 2 1 4 2 0"]);
        assert_eq!(calls(&["access /x ENOENT", "access /x ENOENT", "lstat /x ENOENT"]), ["access /x 1 1 2 1 1"]);
        assert_eq!(calls(&["getcwd", "getcwd", "getcwd"]), ["getcwd - 2 1 3 2 0"]);
    }

    #[test]
    fn after_a_change_or_another_answer_it_is_none() {
        let cases: [&[&str]; 6] = [
            &["stat /a ENOENT", "mkdir /a", "stat /a"],
            &["stat /a", "write /a", "stat /a"],
            &["stat a", "chdir /b", "stat a"],
            &["stat /a", "unlink /a", "stat /a ENOENT"],
            &["stat /a", "access /a", "stat /b"],
            &["openat /a", "newfstatat /a", "openat /a", "newfstatat /a"],
        ];
        cases.iter().for_each(|case| assert!(calls(case).is_empty(), "{case:?}"));
    }
}
