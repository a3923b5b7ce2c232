//! Rescans: a process goes through a file, a directory or a list behind an ioctl from the start, again and again.
//!
//! ```text
//! for each of 300 mounts: open /etc/mnttab, read 300 entries      300 scans of 300 entries: the work grows with the square
//! ```
//! See [`super::passes`] for what a scan is. Sums are those of all scans but the first.

use super::passes::{self, Thing};
use crate::table_support::builder::{BuiltTable, TableBuilder};
use crate::table_support::context::TableContext;
use crate::table_support::grouping::{self, CallGroup};
use crate::table_support::provenance::Provenance;
use crate::table_support::shape_index::costliest;
use parsers::Text;
use rayon::prelude::*;

/// So many targets with most time on the path are looked at.
const MAX_THINGS: usize = 256;

/// What a row is about; several things are taken together as none.
type Key = (Thing, &'static str, bool);

/// What each process goes through more than once.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = passes::kinds(context);
    let Some(chosen) = passes::begun_again(context, &kinds, MAX_THINGS) else {
        return TableBuilder::new(context, "rescans").finish();
    };
    let processes = costliest(context, &kinds);
    let of_process = |tasks: &Vec<u32>| {
        let gone = passes::of_process(context, &kinds, &chosen, tasks).into_iter();
        gone.filter(|gone| gone.passes.passes > 1).map(group).collect::<Vec<_>>()
    };
    let groups = processes.par_iter().flat_map_iter(of_process).collect();
    let mut sheet = TableBuilder::new(context, "rescans");
    for group in grouping::limit_groups(context, groups, |&(_, kind, _)| ((Text::NONE, Text::NONE), kind, false)) {
        write(context, &group, &mut sheet);
    }
    sheet.finish()
}

fn group(gone: passes::Gone) -> CallGroup<Key> {
    let passes = gone.passes;
    let kind = match gone.thing.1 {
        Text::NONE if passes.is_list => "directory",
        Text::NONE => "file",
        _ => "requests",
    };
    let key = (gone.thing, kind, passes.written);
    CallGroup {
        counts: [passes.passes, passes.entries],
        ..CallGroup::of_one(gone.task, gone.program, key, passes.again)
    }
}

fn write(context: &TableContext<'_>, group: &CallGroup<Key>, sheet: &mut TableBuilder<'_>) {
    let ((target, op), kind, written) = group.key;
    let [scans, entries] = group.counts;
    sheet.group_columns(group);
    sheet.string("kind", Some(kind));
    sheet.text("syscall", grouping::commonest(context, &group.rows));
    sheet.text("op", op);
    sheet.text("target", target);
    sheet.int("scans", scans);
    sheet.int("entries", entries);
    sheet.float("entries_per_scan", Some(entries as f64 / scans.max(1) as f64));
    sheet.bool("written", written);
    sheet.sum(&group.sum(context));
    sheet.members(Provenance::Rows(group.rows.clone()));
}

#[cfg(test)]
mod tests {
    use crate::testing::{TaskPlan, build, rows, task};

    const COLUMNS: [&str; 7] = ["kind", "target", "op", "scans", "entries", "calls", "bytes"];

    /// Calls as `name target ret`, 10 apart.
    fn calls(calls: &[(&str, &str, i64)]) -> Vec<String> {
        let plan = calls.iter().zip(1i64..).fold(task(1), |plan: TaskPlan, ((name, target, ret), at)| {
            let plan = plan.call(name.split(' ').next().unwrap_or(name), at * 10, at * 10 + 4).on(target);
            let plan = name.split_once(' ').map_or_else(|| plan.clone(), |(_, op)| plan.clone().op(op));
            if *ret < 0 { plan.fails("ESRCH") } else { plan.returns(*ret) }
        });
        rows(&build(vec![plan.exit(99_999)]), super::build, &COLUMNS)
    }

    #[test]
    fn opening_again_and_going_back_are_scans() {
        let open = [("openat", "/p", 3), ("read", "/p", 90), ("read", "/p", 0), ("close", "/p", 0)];
        assert_eq!(calls(&[open, open, open].concat()), ["file /p - 3 3 6 180"]);
        let back = [("getdents64", "/d", 40), ("getdents64", "/d", 40), ("getdents64", "/d", 0), ("lseek", "/d", 0)];
        assert_eq!(calls(&[back, back].concat()), ["directory /d - 2 4 4 80"]);
    }

    #[test]
    fn requests_begin_anew_after_the_last_entry() {
        let list = [("ioctl NEXT", "/dev/x", 0), ("ioctl NEXT", "/dev/x", 0), ("ioctl NEXT", "/dev/x", -1)];
        assert_eq!(calls(&[list, list, list].concat()), ["requests /dev/x NEXT 3 6 6 0"]);
        // A request that fails each time has no entries, and one that never fails has no end.
        let turn = [("ioctl STATS", "/dev/x", 0), ("ioctl ONE", "/dev/x", -1)];
        assert!(calls(&[turn, turn, turn].concat()).is_empty());
    }

    #[test]
    fn one_pass_a_growing_file_and_other_places_are_none() {
        let once = [("openat", "/p", 3), ("lseek", "/p", 0), ("read", "/p", 90), ("read", "/p", 9), ("read", "/p", 0)];
        assert!(calls(&once).is_empty());
        let grows = [("openat", "/p", 3), ("read", "/p", 90), ("read", "/p", 0), ("read", "/p", 9), ("read", "/p", 0)];
        assert!(calls(&grows).is_empty());
        let tail = [("openat", "/p", 3), ("lseek", "/p", 500), ("read", "/p", 90), ("close", "/p", 0)];
        assert!(calls(&[tail, tail].concat()).is_empty());
    }
}
