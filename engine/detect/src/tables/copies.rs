//! Copies: the data that each process moves, how quickly, and what most of the time goes to.
//!
//! ```text
//! read /a | write /b | read /a | write /b | …      256 MiB in 2 s, 128 MiB/s; 1.5 s of it in the writes
//! ```
//! The range reaches from the first transfer of at least [`MIN_BYTES`] to the last.

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::shape_index::{ProcessTasks, ShapeIndex, processes};
use kit::table_support::threshold::CostScope;
use parsers::NO_NS;
use parsers::syscalls::Transfer;
use parsers::{Outcome, Text};
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::index::TaskId;

table! {
    copies "Data that a process read and wrote again.";
    times: Calls;
    costs: Cost { gaps: true, of: CostScope::Process, ..Cost::OF_TASK };
    row {
        of: OfTask {
            task "Number of the main task of the process.",
            tid "Thread id of that task.",
            program "Program of the first of these calls.",
        },
        read_bytes: Bytes "Bytes read.",
        written_bytes: Bytes "Bytes written.",
        bytes: Bytes "Bytes moved: read or written, whichever is more.",
        elapsed_ns: Ns "From the first of these calls to the last.",
        per_second_bytes: MaybeBytes "Bytes moved per second of that time.",
        source: Text "What at least half of the bytes were read from.",
        sources: MaybeCount "Number of files and peers that bytes were read from.",
        sink: Text "What at least half of the bytes were written to.",
        sinks: MaybeCount "Number of files and peers that bytes were written to.",
        limit: Words "What most of its critical-path time is: reading, writing, copying, other calls, or its own code.",
        limit_ns: Ns "Critical-path time of that.",
        calls: Count "Number of calls that moved data.",
        path: PathTime { exclusive_ns "Critical-path time from the first of these calls to the last." },
        lines: Lines,
    }
}

/// Smaller transfers are messages.
const MIN_BYTES: i64 = 4096;

/// What the time goes to.
const LIMITS: [&str; 5] = [
    "reading",
    "writing",
    "copying in the kernel",
    "other calls",
    "its own code",
];

#[derive(Default)]
struct Copy {
    task: TaskId,
    read_bytes: i64,
    written_bytes: i64,
    calls: i64,
    sources: FxHashMap<Text, i64>,
    sinks: FxHashMap<Text, i64>,
    /// Task, first and last call.
    ranges: Vec<(TaskId, u32, u32)>,
    /// By [`LIMITS`].
    times_ns: [i64; 5],
}

/// Builds the table of moved data by process.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = ShapeIndex::new(context, |action, shape| {
        action
            .transfer()
            .filter(|&way| way != Transfer::List && shape.outcome == Outcome::Ok)
    });
    let copy = |tasks: &ProcessTasks<'_>| {
        Some(Copy::new(context, &kinds, tasks)).filter(|copy| !copy.ranges.is_empty())
    };
    let found = parallel::flat_map(&processes(context), copy);
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    found
        .iter()
        .for_each(|copy| write(context, copy, &mut builder));
    builder.finish()
}

impl Copy {
    fn new(context: &TableContext<'_>, kinds: &ShapeIndex<Transfer>, tasks: &[TaskId]) -> Copy {
        let mut copy = Copy {
            task: tasks[0],
            ..Copy::default()
        };
        tasks
            .iter()
            .for_each(|&task| copy.add(context, kinds, task));
        copy
    }

    fn add(&mut self, context: &TableContext<'_>, kinds: &ShapeIndex<Transfer>, task: TaskId) {
        let events = &context.trace.events;
        let (mut first, mut last) = (None, None);
        for (row, way) in kinds.calls(context, task) {
            let bytes = events.bytes(row).unwrap_or(0);
            if bytes < MIN_BYTES {
                continue;
            }
            (first, last) = (first.or(Some(row)), Some(row));
            self.calls += 1;
            let (target, sink) = (events.target(row), events.sink(row));
            let (source, sink) = match way {
                Transfer::Write => (None, Some(target)),
                Transfer::Copy => (Some(target), Some(sink)),
                _ => (Some(target), None),
            };
            if let Some(source) = source {
                self.read_bytes += bytes;
                *self.sources.entry(source).or_default() += bytes;
            }
            if let Some(sink) = sink {
                self.written_bytes += bytes;
                *self.sinks.entry(sink).or_default() += bytes;
            }
        }
        let Some((first, last)) = first.zip(last) else {
            return;
        };
        self.ranges.push((task, first, last));
        let (rows, shapes) = (context.trace.rows_of(task), context.trace.shapes_of(task));
        let is_call = context.trace.are_calls(task);
        for at in context
            .attribution
            .places(context.trace, task)
            .filter(|&at| is_call(at))
        {
            let row = rows[at];
            if !(first..=last).contains(&row) || !context.selection.has(row) {
                continue;
            }
            let (in_call_ns, gap_ns) = context.attribution.of_row(row);
            let at = match kinds.of_shape(shapes[at]) {
                Some(Transfer::Read) => 0,
                Some(Transfer::Write) => 1,
                Some(Transfer::Copy) => 2,
                _ => 3,
            };
            self.times_ns[at] += in_call_ns;
            self.times_ns[4] += if row == last { 0 } else { gap_ns };
        }
    }
}

/// The target with at least half of the bytes: of many files, one does not stand for the others.
fn most(targets: &FxHashMap<Text, i64>, all_bytes: i64) -> Text {
    let most = targets
        .iter()
        .filter(|(target, _)| target.is_some())
        .max_by_key(|&(&target, &bytes)| (bytes, target));
    most.filter(|&(_, &bytes)| bytes >= all_bytes / 2)
        .map_or(Text::NONE, |(&target, _)| target)
}

/// The number of known targets.
fn named(targets: &FxHashMap<Text, i64>) -> Option<i64> {
    let count = targets.keys().filter(|target| target.is_some()).count() as i64;
    Some(count).filter(|&count| count > 0)
}

fn write(context: &TableContext<'_>, copy: &Copy, builder: &mut TableBuilder<'_>) {
    let events = &context.trace.events;
    let first_row = copy.ranges.iter().map(|&(_, first, _)| first).min();
    let last_row = copy.ranges.iter().map(|&(_, _, last)| last).max();
    let Some((first_row, last_row)) = first_row.zip(last_row) else {
        return;
    };
    let ends = copy
        .ranges
        .iter()
        .filter_map(|&(_, _, last)| events.end_ns(last));
    let elapsed_ns = ends
        .max()
        .map(|end_ns| end_ns.saturating_sub(events.start_ns(first_row)))
        .filter(|&ns| ns > 0);
    let bytes = copy.read_bytes.max(copy.written_bytes);
    let (limit, limit_ns) = LIMITS
        .iter()
        .zip(copy.times_ns)
        .max_by_key(|&(_, ns)| ns)
        .unwrap_or((&LIMITS[0], 0));
    let row = TableRow {
        of: TaskAt {
            task: copy.task,
            row: first_row,
        },
        read_bytes: copy.read_bytes,
        written_bytes: copy.written_bytes,
        bytes,
        elapsed_ns: elapsed_ns.unwrap_or(NO_NS),
        per_second_bytes: elapsed_ns.map(|ns| (bytes as f64 * 1e9 / ns as f64) as i64),
        source: most(&copy.sources, copy.read_bytes),
        sources: named(&copy.sources),
        sink: most(&copy.sinks, copy.written_bytes),
        sinks: named(&copy.sinks),
        limit: Some((*limit).to_owned()),
        limit_ns,
        calls: copy.calls,
        path: copy.times_ns.iter().sum(),
        lines: LinesOf {
            first_row,
            last_row,
        },
    };
    builder.add(row, Provenance::Stretches(copy.ranges.clone()));
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    fn copied(sources: i64) -> Vec<String> {
        let copy = |plan: TaskPlan, at: i64| {
            let plan = plan
                .call("read", at * 10, at * 10 + 4)
                .on(&format!("/file{}", at % sources))
                .returns(8192);
            plan.call("write", at * 10 + 5, at * 10 + 9)
                .on("/archive")
                .returns(8192)
        };
        let plan = (0..12).fold(task(1), copy).exit(200);
        rows(
            &build(vec![plan]),
            super::build,
            &["bytes", "source", "sources", "sink", "sinks"],
        )
    }

    #[test]
    fn a_file_is_named_only_if_it_has_half_of_the_bytes() {
        assert_eq!(copied(1), ["98304 /file0 1 /archive 1"]);
        assert_eq!(copied(12), ["98304 - 12 /archive 1"]);
    }
}
