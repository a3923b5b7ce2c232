//! Input and output: the data that a process reads from or writes to a target, and the sizes of the transfers.
//!
//! ```text
//! read(3</a>, 1) = 1 | read(3</a>, 1) = 1 | … 900 times       way read, target /a, 900 calls, p50_bytes 1
//! read of 2 files, each 3 times                               one row, because each target has few calls
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::grouping::{self, CallGroup};
use kit::table_support::kit::table;
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::shape_index::{ShapeIndex, processes};
use kit::table_support::text_numbers::TextNumbers;
use parsers::syscalls::{Action, Transfer};
use parsers::{NO_NS, Outcome, Text};
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::classes::class_of;
use trace::store::heuristics::MIN_TARGET_CALLS;
use trace::store::index::TaskId;

table! {
    io "Reads and writes, by process, direction and target.";
    times: Calls;
    costs: Cost { calls: |action, _| action.transfer().is_some(), ..Cost::OF_PROCESS };
    row {
        group: OfProcesses,
        way: Words "read, write, copy (from one descriptor to another) or list (directory entries).",
        syscall: Text "The most common of the system calls.",
        target: Text "What was read or written; missing where targets with few calls each are combined.",
        targets: Count "Number of different targets.",
        class: Words "What the time in these calls is spent on: disk, ipc, network, terminal, …",
        moved: Count "Number of calls that moved at least one byte.",
        mean_bytes: MaybeBytes (Same) "Mean size of the calls that moved bytes.",
        min_bytes: MaybeBytes (Min) "Smallest size of such a call.",
        p50_bytes: MaybeBytes (Same) "Median size of such a call.",
        max_bytes: MaybeBytes (Max) "Largest size of such a call.",
        seeks: Count "Number of times the process changed the position in these targets (lseek).",
        p50_ns: Ns (Same) "Median duration of the calls.",
        sum: CallSums,
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Moves(Transfer),
    Seeks,
}

/// Direction and target of the calls; the target is [`Text::NONE`] where targets with few calls are merged.
type Key = (Transfer, Text);

/// Builds the table of reads and writes by process, direction and target.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = ShapeIndex::new(context, |action, _| match action {
        Action::Seeks => Some(Kind::Seeks),
        _ => action.transfer().map(Kind::Moves),
    });
    let processes = processes(context);
    let groups = parallel::flat_map(&processes, |tasks| of_process(context, &kinds, tasks));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for group in grouping::limit_groups(context, groups, |&(way, _)| (way, Text::NONE)) {
        write(context, &group, &mut builder);
    }
    builder.finish()
}

/// The transfers of a process, in groups of the same program, direction and target.
struct Moves {
    /// Row and group of each call.
    calls: Vec<(u32, u32)>,
    /// In order of their first calls.
    groups: Vec<Moved>,
}

/// A group of transfers.
struct Moved {
    program: Text,
    key: Key,
    calls: u32,
}

fn of_process(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Kind>,
    tasks: &[TaskId],
) -> Vec<CallGroup<Key>> {
    let events = &context.trace.events;
    let rows = tasks
        .iter()
        .map(|&task| context.trace.rows_of(task).len())
        .sum();
    let mut seeks = Seeks {
        numbers: TextNumbers::new(rows, events.texts.len()),
        counts: Vec::new(),
    };
    let mut moves = Moves {
        calls: Vec::new(),
        groups: Vec::new(),
    };
    let mut numbers: FxHashMap<(Text, Transfer), TextNumbers> = FxHashMap::default();
    let mut last: Option<((Text, Key), u32)> = None;
    for call in tasks
        .iter()
        .flat_map(|&task| kinds.by_program(context, task))
    {
        let target = events.target(call.row);
        let Kind::Moves(way) = call.kind else {
            seeks.add(target);
            continue;
        };
        let group = (call.program, (way, target));
        let number = match last {
            Some((same, number)) if same == group => number,
            _ => numbers
                .entry((call.program, way))
                .or_insert_with(|| TextNumbers::new(rows, events.texts.len()))
                .of(target, moves.groups.len() as u32),
        };
        last = Some((group, number));
        moves.add(call.row, number, group);
    }
    drop(numbers);
    moves.by_size(tasks[0], &seeks)
}

/// The number of seeks in each target.
struct Seeks {
    numbers: TextNumbers,
    counts: Vec<i64>,
}

impl Seeks {
    fn add(&mut self, target: Text) {
        let number = self.numbers.of(target, self.counts.len() as u32) as usize;
        if number == self.counts.len() {
            self.counts.push(0);
        }
        self.counts[number] += 1;
    }

    fn of(&self, target: Text) -> i64 {
        self.numbers
            .get(target)
            .map_or(0, |number| self.counts[number as usize])
    }
}

impl Moves {
    /// Add a call. Its group may be new.
    fn add(&mut self, row: u32, group: u32, (program, key): (Text, Key)) {
        if group as usize == self.groups.len() {
            self.groups.push(Moved {
                program,
                key,
                calls: 0,
            });
        }
        self.groups[group as usize].calls += 1;
        self.calls.push((row, group));
    }

    /// Merges groups with fewer than [`MIN_TARGET_CALLS`] calls. There may be very many of them.
    fn by_size(&self, task: TaskId, seeks: &Seeks) -> Vec<CallGroup<Key>> {
        let mut found: Vec<CallGroup<Key>> = Vec::new();
        let mut rest: FxHashMap<(Text, Transfer), u32> = FxHashMap::default();
        let mut place_of = |group: &Moved| {
            let (program, (way, target)) = (group.program, group.key);
            let seek_count = seeks.of(target);
            let is_large = group.calls as usize >= MIN_TARGET_CALLS && target.is_some();
            let next = found.len() as u32;
            let place = if is_large {
                next
            } else {
                *rest.entry((program, way)).or_insert(next)
            };
            if place == next {
                let key = (way, if is_large { target } else { Text::NONE });
                found.push(CallGroup::of_one(task, program, key, Vec::new()));
            }
            found[place as usize].counts[0] += seek_count;
            place
        };
        let places: Vec<u32> = self.groups.iter().map(&mut place_of).collect();
        for &(row, group) in &self.calls {
            found[places[group as usize] as usize].rows.push(row);
        }
        found
            .iter_mut()
            .filter(|group| !group.key.1.is_some())
            .for_each(|group| group.rows.sort_unstable());
        // Merged groups go last.
        found.sort_by_key(|group| !group.key.1.is_some());
        found
    }
}

fn write(context: &TableContext<'_>, group: &CallGroup<Key>, builder: &mut TableBuilder<'_>) {
    let events = &context.trace.events;
    let moved = group
        .rows
        .iter()
        .filter(|&&row| events.outcome(row) == Outcome::Ok);
    let mut sizes: Vec<i64> = moved
        .filter_map(|&row| events.bytes(row))
        .filter(|&bytes| bytes > 0)
        .collect();
    let mut durs: Vec<i64> = group
        .rows
        .iter()
        .map(|&row| events.dur_ns(row))
        .filter(|&ns| ns != NO_NS)
        .collect();
    let way = group.key.0;
    let target = grouping::only_target(context, &group.rows);
    let (sum, syscall) = (
        group.sum(context),
        grouping::commonest(context, &group.rows),
    );
    let any = |value: i64| (!sizes.is_empty()).then_some(value);
    let (least, most) = (
        any(sizes.iter().copied().min().unwrap_or(0)),
        any(sizes.iter().copied().max().unwrap_or(0)),
    );
    let mean = any(sum.bytes / (sizes.len() as i64).max(1));
    let class = class_of(syscall, events.texts.bytes(events.target(sum.first_row)));
    let middle = grouping::median(&mut sizes);
    let middle_ns = grouping::median(&mut durs);
    let row = TableRow {
        group: group.into(),
        way: Some(way.name().to_owned()),
        syscall,
        target,
        targets: grouping::targets(context, &group.rows),
        class: Some(class.name().to_owned()),
        moved: sizes.len() as i64,
        mean_bytes: mean,
        min_bytes: least,
        p50_bytes: (!sizes.is_empty()).then_some(middle),
        max_bytes: most,
        seeks: group.counts[0],
        p50_ns: if durs.is_empty() { NO_NS } else { middle_ns },
        sum,
    };
    builder.add(row, Provenance::Rows(group.rows.clone()));
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    fn reads(plan: TaskPlan, target: &str, count: i64, bytes: i64) -> TaskPlan {
        let read = |plan: TaskPlan, at: i64| {
            plan.call("read", at * 10, at * 10 + 4)
                .on(target)
                .returns(bytes)
        };
        (0..count).fold(plan, read)
    }

    #[test]
    fn sizes_cover_only_calls_that_transferred_data() {
        let many = reads(task(1), "/a", 900, 1)
            .call("read", 9000, 9001)
            .on("/a")
            .returns(0);
        let many = many
            .call("read", 9002, 9003)
            .on("/a")
            .fails("EAGAIN")
            .call("lseek", 9004, 9005)
            .on("/a")
            .returns(0);
        let columns = [
            "way",
            "target",
            "calls",
            "failed",
            "moved",
            "bytes",
            "p50_bytes",
            "max_bytes",
            "seeks",
            "p50_ns",
        ];
        assert_eq!(
            rows(&build(vec![many.exit(9100)]), super::build, &columns),
            ["read /a 902 1 900 900 1 1 1 4"]
        );
    }

    #[test]
    fn targets_with_few_calls_and_threads_of_a_process_share_a_row() {
        let plan = task(1)
            .spawn("clone3", 0, 1, 2)
            .call("write", 1, 2)
            .on("/c")
            .returns(7);
        let plan = reads(reads(plan, "/a", 3, 100), "/b", 3, 300).exit(90);
        let thread = reads(task(2).of_process(1), "/a", 3, 100).exit(80);
        let columns = [
            "pid",
            "way",
            "target",
            "targets",
            "calls",
            "mean_bytes",
            "min_bytes",
        ];
        let found = rows(&build(vec![plan, thread]), super::build, &columns);
        assert_eq!(found, ["1 read - 2 9 166 100", "1 write /c 1 1 7 7"]);
    }
}
