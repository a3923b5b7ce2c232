//! Syncs: calls that wait until written data is on disk, and the amount written between two of them.
//!
//! ```text
//! write 20 | fsync | write 20 | fsync | …      one target: 2 calls, each with 1 write and 20 bytes
//! open O_DSYNC | write 20 | write 20 | …       each write is a sync
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::call_stats::CallStats;
use kit::table_support::context::TableContext;
use kit::table_support::grouping::{self, CallGroup, Grouping};
use kit::table_support::kit::table;
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::shape_index::{ShapeIndex, processes};
use parsers::Text;
use parsers::facts::SyncsWrites;
use parsers::syscalls::{Action, Transfer, action_of};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::parallel;
use trace::store::heuristics::MIN_TARGET_CALLS;
use trace::store::index::TaskId;

table! {
    syncs "Syncs, by process, syscall and target.";
    times: Calls;
    costs: Cost { calls: |action, _| may_sync(action), ..Cost::OF_PROCESS };
    row {
        group: OfProcesses,
        syscall: Text "Name of the system call.",
        target: Text "What was synced; missing where targets with few syncs each are combined.",
        targets: Count "Number of different targets.",
        opened: Flag "Whether these are writes to files opened with O_SYNC or O_DSYNC, where each write is a sync.",
        writes: Count "Number of writes to these targets between the syncs.",
        each_bytes: Bytes (Same) "Mean number of bytes written per sync.",
        sum: CallSums { bytes "Bytes written between the syncs." },
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Writes,
    /// Syncs one target.
    Syncs,
    /// Syncs everything that was written.
    SyncsAll,
}

/// The files that each task opened for synchronous writes.
type Synced = FxHashMap<TaskId, Vec<Text>>;

/// Syscall and target; [`Text::NONE`] where targets with few syncs are merged.
type Key = (Text, Text);

fn kind(action: Action) -> Option<Kind> {
    Some(match action {
        Action::Syncs | Action::SyncsPart => Kind::Syncs,
        Action::SyncsAll => Kind::SyncsAll,
        _ => {
            return action
                .transfer()
                .filter(|way| matches!(way, Transfer::Write | Transfer::Copy))
                .map(|_| Kind::Writes);
        }
    })
}

/// Whether a call may wait for written data. A write does so if its file was opened for synchronous writes.
fn may_sync(action: Action) -> bool {
    kind(action).is_some()
}

/// Builds the table of syncs by process, syscall and target.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = ShapeIndex::new(context, |action, _| kind(action));
    let synced = synced(context);
    let has_syncs = kinds.any(|kind| !matches!(kind, Kind::Writes)) || !synced.is_empty();
    let processes = if has_syncs {
        processes(context)
    } else {
        Vec::new()
    };
    let groups = parallel::flat_map(&processes, |tasks| {
        of_process(context, &kinds, &synced, tasks)
    });
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for group in grouping::limit_groups(context, groups, |&(syscall, _)| (syscall, Text::NONE)) {
        write(context, &group, &mut builder);
    }
    builder.finish()
}

/// Writes and bytes since the last sync, by target.
#[derive(Default)]
struct Written(FxHashMap<Text, [i64; 2]>);

impl Written {
    fn add(&mut self, target: Text, bytes: i64) {
        let written = self.0.entry(target).or_default();
        *written = [written[0] + 1, written[1].saturating_add(bytes)];
    }

    fn take(&mut self, target: Text) -> [i64; 2] {
        self.0.remove(&target).unwrap_or_default()
    }

    fn take_all(&mut self) -> [i64; 2] {
        self.0.drain().fold([0, 0], |sum, (_, written)| {
            [sum[0] + written[0], sum[1].saturating_add(written[1])]
        })
    }
}

fn of_process(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Kind>,
    synced: &Synced,
    tasks: &[TaskId],
) -> Vec<CallGroup<Key>> {
    let events = &context.trace.events;
    let synced: FxHashSet<Text> = tasks
        .iter()
        .filter_map(|task| synced.get(task))
        .flatten()
        .copied()
        .collect();
    let syncs = |&task: &TaskId| {
        kinds
            .calls(context, task)
            .any(|(_, kind)| !matches!(kind, Kind::Writes))
    };
    if synced.is_empty() && !tasks.iter().any(syncs) {
        return Vec::new();
    }
    let mut written = Written::default();
    let mut groups: Grouping<(Text, Key)> = Grouping::default();
    let mut counts: FxHashMap<(Text, Key), [i64; 2]> = FxHashMap::default();
    for call in kinds.calls_of(context, tasks, |_| true) {
        let target = events.target(call.row);
        let before = match call.kind {
            Kind::Writes if synced.contains(&target) => [1, events.bytes(call.row).unwrap_or(0)],
            Kind::Writes => {
                written.add(target, events.bytes(call.row).unwrap_or(0));
                continue;
            }
            Kind::Syncs => written.take(target),
            Kind::SyncsAll => written.take_all(),
        };
        let key = (call.program, (events.shape(call.row).syscall, target));
        groups.add(key, call.row);
        let sum = counts.entry(key).or_default();
        *sum = [sum[0] + before[0], sum[1].saturating_add(before[1])];
    }
    by_number(tasks[0], groups, &counts)
}

fn synced(context: &TableContext<'_>) -> Synced {
    let events = &context.trace.events;
    let mut synced = Synced::default();
    let rows = events
        .facts
        .all::<SyncsWrites>()
        .iter()
        .map(|&(row, ())| row);
    for row in rows.filter(|&row| events.target(row).is_some()) {
        synced
            .entry(events.task(row))
            .or_default()
            .push(events.target(row));
    }
    synced
}

/// Merges the targets with fewer than [`MIN_TARGET_CALLS`] syncs.
fn by_number(
    task: TaskId,
    groups: Grouping<(Text, Key)>,
    counts: &FxHashMap<(Text, Key), [i64; 2]>,
) -> Vec<CallGroup<Key>> {
    let mut joined: FxHashMap<(Text, Key), CallGroup<Key>> = FxHashMap::default();
    for ((program, (syscall, target)), rows) in groups.groups {
        let before = counts
            .get(&(program, (syscall, target)))
            .copied()
            .unwrap_or_default();
        let key = (
            syscall,
            if rows.len() >= MIN_TARGET_CALLS {
                target
            } else {
                Text::NONE
            },
        );
        let group = joined
            .entry((program, key))
            .or_insert_with(|| CallGroup::of_one(task, program, key, Vec::new()));
        group.rows.extend(rows);
        group.counts = [
            group.counts[0] + before[0],
            group.counts[1].saturating_add(before[1]),
        ];
    }
    joined.into_values().collect()
}

fn write(context: &TableContext<'_>, group: &CallGroup<Key>, builder: &mut TableBuilder<'_>) {
    let sum = CallStats {
        bytes: group.counts[1],
        ..group.sum(context)
    };
    let is_write = matches!(kind(action_of(group.key.0)), Some(Kind::Writes));
    let row = TableRow {
        group: group.into(),
        syscall: group.key.0,
        target: grouping::only_target(context, &group.rows),
        targets: grouping::targets(context, &group.rows),
        opened: is_write,
        writes: group.counts[0],
        each_bytes: sum.bytes / sum.calls.max(1),
        sum,
    };
    builder.add(row, Provenance::Rows(group.rows.clone()));
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    const COLUMNS: [&str; 7] = [
        "syscall",
        "target",
        "targets",
        "calls",
        "writes",
        "bytes",
        "each_bytes",
    ];

    fn lines(plan: TaskPlan, count: i64, sync: &str) -> TaskPlan {
        (1..=count).fold(plan, |plan, at| {
            let plan = plan
                .call("write", at * 10, at * 10 + 2)
                .on("/log")
                .returns(20);
            plan.call(sync, at * 10 + 3, at * 10 + 9)
                .on("/log")
                .returns(0)
        })
    }

    #[test]
    fn only_writes_since_the_last_sync_of_a_file_count() {
        let plan = lines(task(1), 20, "fsync")
            .call("write", 900, 901)
            .on("/other")
            .returns(500);
        let plan = plan.call("fsync", 910, 911).on("/log").returns(0);
        assert_eq!(
            rows(&build(vec![plan.exit(999)]), super::build, &COLUMNS),
            ["fsync /log 1 21 20 400 19"]
        );
    }

    #[test]
    fn rarely_synced_files_share_a_row_and_sync_covers_all() {
        let plan = (1..=3i64).fold(task(1), |plan, at| {
            let name = format!("/f{at}");
            let plan = plan
                .call("write", at * 10, at * 10 + 1)
                .on(&name)
                .returns(100);
            plan.call("fsync", at * 10 + 2, at * 10 + 9)
                .on(&name)
                .returns(0)
        });
        let plan = plan
            .call("write", 50, 51)
            .on("/a")
            .returns(7)
            .call("write", 52, 53)
            .on("/b")
            .returns(8);
        let plan = plan.call("sync", 54, 60).returns(0).exit(99);
        assert_eq!(
            rows(&build(vec![plan]), super::build, &COLUMNS),
            ["fsync - 3 3 3 300 100", "sync - 0 1 2 15 15"]
        );
    }

    #[test]
    fn writes_without_a_sync_have_no_row() {
        let plan = task(1).call("write", 1, 2).on("/a").returns(7).exit(9);
        assert!(rows(&build(vec![plan]), super::build, &COLUMNS).is_empty());
    }
}
