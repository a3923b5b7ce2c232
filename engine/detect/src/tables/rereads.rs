//! Rereads: files that one or more processes open and read more than once.
//!
//! ```text
//! pid 7  open /etc/big.conf, read 90 KiB      pid 8  open /etc/big.conf, read 90 KiB      opens 2, 90 KiB read again
//! ```
//! The sums cover all passes but the first; see [`kit::table_support::passes`].

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::grouping::{self, CallGroup};
use kit::table_support::kit::table;
use kit::table_support::passes::{self, ProcessPasses};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::shape_index::{ProcessTasks, processes};
use kit::table_support::threshold::CostScope;
use parsers::Text;
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::index::TaskId;

table! {
    rereads "Files that were read more than once in a capture.";
    times: Calls;
    costs: Cost {
        calls: |action, _| passes::reads(action),
        of: CostScope::Target,
        apart: false,
        ..Cost::OF_TASK
    };
    row {
        group: OfProcesses { processes "Number of processes that read the file." },
        target: Text "The file; missing where files with little time each are combined.",
        targets: Count "Number of files.",
        opens: Count "Number of times it was opened and read from the start.",
        size_bytes: MaybeBytes (Same) "Bytes of the largest pass, taken as the size of the file.",
        written: Flag "Whether one of these processes also wrote to it.",
        sum: CallSums {
            calls "Number of calls in all passes except the first.",
            bytes "Bytes read more than once.",
        },
    }
}

/// Maximum number of files that are analysed, those with the most time on the critical path.
const MAX_FILES: usize = 64;

/// A file, and the bytes of its largest pass.
type Key = (Text, i64);

/// Builds the table of files that were read more than once in a capture.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = passes::kinds(context);
    let Some(chosen) = passes::begun_again(context, &kinds, MAX_FILES) else {
        return TableBuilder::new(context, &TABLE.schema).finish();
    };
    let processes = processes(context);
    let of_process = |tasks: &ProcessTasks<'_>| {
        passes::of_process(context, &kinds, &chosen, tasks)
            .into_iter()
            .filter(|found| {
                found.thing.1 == Text::NONE && !found.passes.is_list && found.passes.opens > 0
            })
            .collect::<Vec<_>>()
    };
    let found: Vec<ProcessPasses> = parallel::flat_map(&processes, of_process);
    let mut files: FxHashMap<(u32, Text), File> = FxHashMap::default();
    for found in found {
        let capture = context.trace.tasks[found.task].capture;
        files
            .entry((capture, found.thing.0))
            .or_default()
            .add(found);
    }
    let groups = files
        .into_iter()
        .filter(|(_, file)| file.opens > 1)
        .map(|((_, target), file)| file.group(target));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for group in grouping::limit_groups(context, groups.collect(), |_| (Text::NONE, 0)) {
        write(context, &group, &mut builder);
    }
    builder.finish()
}

/// The passes of all processes over a file.
#[derive(Default)]
struct File {
    task: TaskId,
    program: Option<Text>,
    tasks: Vec<TaskId>,
    opens: i64,
    largest_bytes: i64,
    written: bool,
    first: Vec<u32>,
    again: Vec<u32>,
}

impl File {
    fn add(&mut self, found: ProcessPasses) {
        let passes = found.passes;
        let same = self.program.is_none_or(|program| program == found.program);
        self.program = Some(if same { found.program } else { Text::NONE });
        self.tasks.push(found.task);
        self.opens += passes.opens;
        self.largest_bytes = self.largest_bytes.max(passes.largest_bytes);
        self.written |= passes.written;
        self.again.extend(passes.again);
        // The first pass in the capture was necessary; all others are rereads.
        let (mine, known) = (passes.first.first().copied(), self.first.first().copied());
        let later = if known.is_none() || mine < known {
            std::mem::replace(&mut self.first, passes.first)
        } else {
            passes.first
        };
        self.again.extend(later);
        self.task = self.tasks.iter().copied().min().unwrap_or(TaskId::new(0));
    }

    fn group(mut self, target: Text) -> CallGroup<Key> {
        self.tasks.sort_unstable();
        self.tasks.dedup();
        self.again.sort_unstable();
        CallGroup {
            processes: self.tasks.len() as i64,
            counts: [self.opens, i64::from(self.written)],
            ..CallGroup::of_one(
                self.task,
                self.program.unwrap_or(Text::NONE),
                (target, self.largest_bytes),
                self.again,
            )
        }
    }
}

fn write(context: &TableContext<'_>, group: &CallGroup<Key>, builder: &mut TableBuilder<'_>) {
    let (target, largest_bytes) = group.key;
    let row = TableRow {
        group: group.into(),
        target,
        targets: grouping::targets(context, &group.rows),
        opens: group.counts[0],
        size_bytes: target.is_some().then_some(largest_bytes),
        written: group.counts[1] > 0,
        sum: group.sum(context),
    };
    builder.add(row, Provenance::Rows(group.rows.clone()));
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    const COLUMNS: [&str; 8] = [
        "pid",
        "processes",
        "target",
        "opens",
        "size_bytes",
        "bytes",
        "calls",
        "written",
    ];

    fn reads(plan: TaskPlan, at: i64, bytes: i64) -> TaskPlan {
        let plan = plan
            .call("openat", at, at + 1)
            .on("/c")
            .returns(3)
            .call("read", at + 2, at + 3)
            .on("/c")
            .returns(bytes);
        plan.call("read", at + 4, at + 5)
            .on("/c")
            .returns(0)
            .call("close", at + 6, at + 7)
            .on("/c")
            .returns(0)
    }

    #[test]
    fn rereads_are_found_within_and_across_processes() {
        let one = reads(reads(task(1), 0, 500), 10, 500).exit(99);
        assert_eq!(
            rows(&build(vec![one]), super::build, &COLUMNS),
            ["1 1 /c 2 500 500 3 false"]
        );
        let many = (1..=3)
            .map(|tid| reads(task(tid), i64::from(tid) * 10, 500).exit(99))
            .collect();
        assert_eq!(
            rows(&build(many), super::build, &COLUMNS),
            ["- 3 /c 3 500 1000 6 false"]
        );
    }

    #[test]
    fn single_reads_do_not_count_and_writes_are_reported() {
        assert!(
            rows(
                &build(vec![reads(task(1), 0, 500).exit(99)]),
                super::build,
                &COLUMNS
            )
            .is_empty()
        );
        let log = reads(task(1), 0, 500)
            .call("write", 20, 21)
            .on("/c")
            .returns(9);
        let log = reads(log, 30, 509).exit(99);
        assert_eq!(
            rows(&build(vec![log]), super::build, &COLUMNS),
            ["1 1 /c 2 509 509 3 true"]
        );
    }
}
