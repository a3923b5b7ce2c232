//! Rescans: a process repeatedly reads a file, a directory, or the list of an ioctl, from the start.
//!
//! ```text
//! for each of 300 mounts: open /etc/mnttab, read 300 entries      300 scans of 300 entries: quadratic work
//! ```
//! See [`kit::table_support::passes`] for the definition of a scan. The sums cover all scans but the first.

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::grouping::{self, CallGroup};
use kit::table_support::kit::table;
use kit::table_support::passes::{self, MAX_TARGETS, Thing};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::shape_index::{ProcessTasks, costliest};
use parsers::Text;
use parsers::syscalls::Action;
use trace::parallel;

table! {
    rescans "Things that a process scans more than once.";
    times: Calls;
    costs: Cost {
        calls: |action, _| passes::reads(action) || action == Action::ControlsDevice,
        of_program: false,
        apart: false,
        ..Cost::OF_PROCESS
    };
    row {
        group: OfProcesses,
        kind: Words "file, directory, or requests (entries fetched by ioctl).",
        syscall: Text "The most common of the system calls.",
        op: Text "The request that fetches entries.",
        target: Text "What is scanned.",
        scans: Count "Number of scans from the start.",
        entries: Count "Number of calls that returned an entry, in all scans.",
        entries_per_scan: Ratio "Entries per scan.",
        written: Flag "Whether the process also wrote to it.",
        sum: CallSums { calls "Number of calls in all scans except the first." },
    }
}

/// Thing, kind, and whether it was written. Merged rows have an empty thing.
type Key = (Thing, &'static str, bool);

/// Builds the table of things that each process scans more than once.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = passes::kinds(context);
    let Some(chosen) = passes::begun_again(context, &kinds, MAX_TARGETS) else {
        return TableBuilder::new(context, &TABLE.schema).finish();
    };
    let processes = costliest(context, &kinds);
    let of_process = |tasks: &ProcessTasks<'_>| {
        let found = passes::of_process(context, &kinds, &chosen, tasks).into_iter();
        found
            .filter(|found| found.passes.passes > 1)
            .map(group)
            .collect::<Vec<_>>()
    };
    let groups = parallel::flat_map(&processes, of_process);
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for group in grouping::limit_groups(context, groups, |&(_, kind, _)| {
        ((Text::NONE, Text::NONE), kind, false)
    }) {
        write(context, &group, &mut builder);
    }
    builder.finish()
}

fn group(found: passes::ProcessPasses) -> CallGroup<Key> {
    let passes = found.passes;
    let kind = match found.thing.1 {
        Text::NONE if passes.is_list => "directory",
        Text::NONE => "file",
        _ => "requests",
    };
    let key = (found.thing, kind, passes.written);
    CallGroup {
        counts: [passes.passes, passes.entries],
        ..CallGroup::of_one(found.task, found.program, key, passes.again)
    }
}

fn write(context: &TableContext<'_>, group: &CallGroup<Key>, builder: &mut TableBuilder<'_>) {
    let ((target, op), kind, written) = group.key;
    let [scans, entries] = group.counts;
    let row = TableRow {
        group: group.into(),
        kind: Some(kind.to_owned()),
        syscall: grouping::commonest(context, &group.rows),
        op,
        target,
        scans,
        entries,
        entries_per_scan: Some(entries as f64 / scans.max(1) as f64),
        written,
        sum: group.sum(context),
    };
    builder.add(row, Provenance::Rows(group.rows.clone()));
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    const COLUMNS: [&str; 7] = ["kind", "target", "op", "scans", "entries", "calls", "bytes"];

    /// Calls given as `name target ret`, 10 ns apart.
    fn calls(calls: &[(&str, &str, i64)]) -> Vec<String> {
        let plan =
            calls
                .iter()
                .zip(1i64..)
                .fold(task(1), |plan: TaskPlan, ((name, target, ret), at)| {
                    let plan = plan
                        .call(name.split(' ').next().unwrap_or(name), at * 10, at * 10 + 4)
                        .on(target);
                    let plan = name
                        .split_once(' ')
                        .map_or_else(|| plan.clone(), |(_, op)| plan.clone().op(op));
                    if *ret < 0 {
                        plan.fails("ESRCH")
                    } else {
                        plan.returns(*ret)
                    }
                });
        rows(&build(vec![plan.exit(99_999)]), super::build, &COLUMNS)
    }

    #[test]
    fn reopening_and_seeking_to_the_start_are_scans() {
        let open = [
            ("openat", "/p", 3),
            ("read", "/p", 90),
            ("read", "/p", 0),
            ("close", "/p", 0),
        ];
        assert_eq!(calls(&[open, open, open].concat()), ["file /p - 3 3 6 180"]);
        let back = [
            ("getdents64", "/d", 40),
            ("getdents64", "/d", 40),
            ("getdents64", "/d", 0),
            ("lseek", "/d", 0),
        ];
        assert_eq!(calls(&[back, back].concat()), ["directory /d - 2 4 4 80"]);
    }

    #[test]
    fn requests_start_over_after_the_last_entry() {
        let list = [
            ("ioctl NEXT", "/dev/x", 0),
            ("ioctl NEXT", "/dev/x", 0),
            ("ioctl NEXT", "/dev/x", -1),
        ];
        assert_eq!(
            calls(&[list, list, list].concat()),
            ["requests /dev/x NEXT 3 6 6 0"]
        );
        // A request that always fails has no entries, and one that never fails has no end.
        let turn = [("ioctl STATS", "/dev/x", 0), ("ioctl ONE", "/dev/x", -1)];
        assert!(calls(&[turn, turn, turn].concat()).is_empty());
    }

    #[test]
    fn single_passes_growing_files_and_other_offsets_do_not_count() {
        let once = [
            ("openat", "/p", 3),
            ("lseek", "/p", 0),
            ("read", "/p", 90),
            ("read", "/p", 9),
            ("read", "/p", 0),
        ];
        assert!(calls(&once).is_empty());
        let grows = [
            ("openat", "/p", 3),
            ("read", "/p", 90),
            ("read", "/p", 0),
            ("read", "/p", 9),
            ("read", "/p", 0),
        ];
        assert!(calls(&grows).is_empty());
        let tail = [
            ("openat", "/p", 3),
            ("lseek", "/p", 500),
            ("read", "/p", 90),
            ("close", "/p", 0),
        ];
        assert!(calls(&[tail, tail].concat()).is_empty());
    }
}
