//! Outliers: the calls of each kind with the most time on the critical path, if they take much longer than others of
//! the kind.
//!
//! ```text
//! fsync 2 ms | fsync 1 ms | fsync 900 ms | fsync 2 ms       900 ms, median 2 ms: factor 450
//! ```
//! Calls of one program with the same syscall and operation are of one kind.

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::grouping::median;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::{Cost, Joins};
use kit::table_support::shape_index::ShapeIndex;
use kit::table_support::threshold::CostScope;
use parsers::{NO_NS, Text};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::index::TaskId;

table! {
    outliers "The longest calls of each kind.";
    times: Calls;
    costs: Cost { of: CostScope::Call, joins: Joins::Never, apart: false, ..Cost::OF_PROCESS };
    row {
        of: OfTask { program "Program that made the call." },
        syscall: Text "Name of the system call.",
        op: Text "Sub-operation.",
        target: Text "What the call worked on.",
        errno: Text "Name of the error, if it failed.",
        class: Words "What the time was spent on: disk, network, poll, lock, …",
        dur_ns: Ns "Duration of the call; dur_kind is its precision.",
        dur_kind: Words "exact, upper-bound (may include user time), gap or none.",
        others: Number "Number of other calls of this kind: same syscall, sub-operation and program.",
        p50_ns: Ns (Same) "Median duration of this kind of call.",
        factor: Ratio "Duration divided by the median.",
        as_long: Number "Number of other calls that took at least half as long.",
        path: PathTime,
        lines: Lines {
            first_line "Line of the call.",
            last_line "Line of the call.",
        },
    }
}

/// Maximum number of calls per kind.
const MAX_OF_A_KIND: usize = 3;
/// Maximum number of kinds.
const MAX_KINDS: usize = 24;

/// Capture, program, syscall and operation.
type Key = (u32, Text, Text, Text);

/// Sums over the calls of a kind, and its longest calls.
#[derive(Clone, Copy, Default)]
struct Seen {
    calls: i64,
    total_ns: i64,
    longest: [Option<(i64, u32)>; MAX_OF_A_KIND],
}

impl Seen {
    fn add(&mut self, dur_ns: i64, on_path_ns: i64, row: u32) {
        self.calls += 1;
        self.total_ns = self.total_ns.saturating_add(dur_ns);
        if on_path_ns > 0 {
            self.insert((on_path_ns, row));
        }
    }

    /// Inserts a call if it is among the longest. The order is preserved.
    fn insert(&mut self, mut new: (i64, u32)) {
        for place in &mut self.longest {
            match place {
                Some(known) if known.0 >= new.0 => {}
                Some(known) => std::mem::swap(known, &mut new),
                None => return *place = Some(new),
            }
        }
    }

    fn merge(&mut self, other: &Seen) {
        self.calls += other.calls;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        other
            .longest
            .iter()
            .flatten()
            .for_each(|&longest| self.insert(longest));
    }

    /// Time on the critical path of its longest call.
    fn weight(&self) -> i64 {
        self.longest[0].map_or(0, |(on_path_ns, _)| on_path_ns)
    }

    /// Whether the longest call exceeds the mean duration. If all are equal, there is no outlier.
    fn stands_out(&self, context: &TableContext<'_>) -> bool {
        let dur_ns = |row: u32| context.trace.events.dur_ns(row);
        self.longest[0]
            .is_some_and(|(_, row)| self.calls > 1 && dur_ns(row) > self.total_ns / self.calls)
    }
}

/// Builds the table of the longest calls of each kind.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let events = &context.trace.events;
    let names = Names::new(context);
    let kinds = ShapeIndex::new(context, |_, shape| {
        names.number_of.get(&(shape.syscall, shape.op)).copied()
    });
    let tasks: Vec<TaskId> = context.tasks().collect();
    let of_tasks: Vec<(Key, Seen)> = tasks
        .par_iter()
        .map_init(Scratch::default, |scratch, &task| {
            scratch.of_task(context, &kinds, &names, task)
        })
        .flatten_iter()
        .collect();
    let mut seen: FxHashMap<Key, Seen> = FxHashMap::default();
    of_tasks
        .iter()
        .for_each(|(key, of_task)| seen.entry(*key).or_default().merge(of_task));
    let mut chosen: Vec<(Key, Seen)> = seen
        .into_iter()
        .filter(|(_, seen)| seen.stands_out(context))
        .collect();
    chosen.sort_unstable_by_key(|(key, seen)| (std::cmp::Reverse(seen.weight()), *key));
    chosen.truncate(MAX_KINDS);
    let mut durs = durations(context, &kinds, &names, &chosen);
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (key, seen) in &chosen {
        let mut durs = durs.remove(key).unwrap_or_default();
        let p50_ns = median(&mut durs);
        for &(_, row) in seen
            .longest
            .iter()
            .flatten()
            .filter(|&&(_, row)| events.dur_ns(row) > p50_ns && is_measured(context, row))
        {
            write(context, key, row, (&durs, p50_ns), &mut builder);
        }
    }
    builder.finish()
}

/// Whether a duration exceeds the resolution of the timestamps. One tick may be the end of a second between two stamps.
fn is_measured(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let capture = context.capture_of(events.task(row));
    capture.is_none_or(|capture| events.dur_ns(row) > capture.dur_tick_ns())
}

/// Durations of the calls of these kinds.
fn durations(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<u32>,
    names: &Names,
    chosen: &[(Key, Seen)],
) -> FxHashMap<Key, Vec<i64>> {
    let wanted: FxHashSet<(Text, Text)> = chosen
        .iter()
        .map(|&((_, _, syscall, op), _)| (syscall, op))
        .collect();
    let is_wanted: Vec<bool> = names
        .names
        .iter()
        .map(|name| wanted.contains(name))
        .collect();
    let mut durs: FxHashMap<Key, Vec<i64>> =
        chosen.iter().map(|(key, _)| (*key, Vec::new())).collect();
    for task in context.tasks().filter(|_| !chosen.is_empty()) {
        let capture = context.trace.tasks[task].capture;
        for call in kinds
            .by_program(context, task)
            .filter(|call| is_wanted[call.kind as usize])
        {
            let (syscall, op) = names.of(call.kind);
            let dur_ns = context.trace.events.dur_ns(call.row);
            if let Some(durs) = durs
                .get_mut(&(capture, call.program, syscall, op))
                .filter(|_| dur_ns != NO_NS)
            {
                durs.push(dur_ns);
            }
        }
    }
    durs
}

/// Numbers the combinations of syscall and operation.
#[derive(Default)]
struct Names {
    number_of: FxHashMap<(Text, Text), u32>,
    names: Vec<(Text, Text)>,
}

impl Names {
    fn new(context: &TableContext<'_>) -> Names {
        let mut all = Names::default();
        for shape in context.trace.events.shapes() {
            let name = (shape.syscall, shape.op);
            all.number_of.entry(name).or_insert_with(|| {
                all.names.push(name);
                all.names.len() as u32 - 1
            });
        }
        all
    }

    fn of(&self, number: u32) -> (Text, Text) {
        self.names[number as usize]
    }
}

/// Sums of the current program of a task, by kind number. The buffers are reused across the tasks of a thread.
#[derive(Default)]
struct Scratch {
    seen: Vec<Seen>,
    used: Vec<u32>,
}

impl Scratch {
    fn of_task(
        &mut self,
        context: &TableContext<'_>,
        kinds: &ShapeIndex<u32>,
        names: &Names,
        task: TaskId,
    ) -> Vec<(Key, Seen)> {
        let events = &context.trace.events;
        let capture = context.trace.tasks[task].capture;
        let (mut program, mut found) = (Text::NONE, Vec::new());
        self.seen.resize(names.names.len(), Seen::default());
        for call in kinds.by_program(context, task) {
            let dur_ns = events.dur_ns(call.row);
            if call.program != program {
                self.flush(names, (capture, program), &mut found);
                program = call.program;
            }
            if let Some(seen) = self
                .seen
                .get_mut(call.kind as usize)
                .filter(|_| dur_ns != NO_NS)
            {
                if seen.calls == 0 {
                    self.used.push(call.kind);
                }
                seen.add(dur_ns, context.exclusive_ns(call.row), call.row);
            }
        }
        self.flush(names, (capture, program), &mut found);
        found
    }

    fn flush(
        &mut self,
        names: &Names,
        (capture, program): (u32, Text),
        found: &mut Vec<(Key, Seen)>,
    ) {
        for kind in self.used.drain(..) {
            let (syscall, op) = names.of(kind);
            found.push((
                (capture, program, syscall, op),
                std::mem::take(&mut self.seen[kind as usize]),
            ));
        }
    }
}

fn write(
    context: &TableContext<'_>,
    key: &Key,
    row: u32,
    (durs, p50_ns): (&[i64], i64),
    builder: &mut TableBuilder<'_>,
) {
    let events = &context.trace.events;
    let dur_ns = events.dur_ns(row);
    let &(_, _, syscall, op) = key;
    let long = durs.iter().filter(|&&other| other >= dur_ns / 2).count();
    let values = TableRow {
        of: TaskAt {
            task: events.task(row),
            row,
        },
        syscall,
        op,
        target: events.target(row),
        errno: events.shape(row).errno,
        class: Some(context.wakers.class(context.trace, row).name().to_owned()),
        dur_ns,
        dur_kind: Some(events.dur_kind(row).name().to_owned()),
        others: durs.len() as i64 - 1,
        p50_ns,
        factor: Some(dur_ns as f64 / p50_ns.max(1) as f64),
        as_long: long as i64 - 1,
        path: context.exclusive_ns(row),
        lines: LinesOf {
            first_row: row,
            last_row: row,
        },
    };
    builder.add(values, Provenance::Rows(vec![row]));
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    fn syncs(durs: &[i64]) -> TaskPlan {
        let plan = task(1).exec(0, 1, "/bin/db");
        durs.iter().zip(1..).fold(plan, |plan, (dur, at)| {
            plan.call("fsync", at * 1000, at * 1000 + dur)
                .on("/db")
                .returns(0)
        })
    }

    #[test]
    fn a_call_much_longer_than_its_kind_is_an_outlier() {
        let columns = [
            "syscall",
            "target",
            "dur_ns",
            "others",
            "p50_ns",
            "factor",
            "as_long",
            "exclusive_ns",
        ];
        let trace = build(vec![syncs(&[2, 1, 900, 2, 2]).exit(9000)]);
        assert_eq!(
            rows(&trace, super::build, &columns),
            ["fsync /db 900 4 2 450 0 900"]
        );
        let trace = build(vec![syncs(&[2, 500, 900, 2, 2]).exit(9000)]);
        let long = ["fsync /db 900 4 2 450 1 900", "fsync /db 500 4 2 250 1 500"];
        assert_eq!(rows(&trace, super::build, &columns), long);
    }

    #[test]
    fn equal_or_single_calls_are_not_outliers() {
        for durs in [&[5, 5, 5][..], &[900], &[]] {
            assert!(
                rows(
                    &build(vec![syncs(durs).exit(9000)]),
                    super::build,
                    &["dur_ns"]
                )
                .is_empty(),
                "{durs:?}"
            );
        }
    }
}
