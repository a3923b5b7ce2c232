//! Loops: a task repeats a short sequence of calls.
//!
//! `repetition` finds stretches with a repeated sequence, `nests` selects the loop of a nest to report, and this module
//! measures its cost.

mod covered;
pub(crate) mod nests;
mod repetition;

use crate::tables::loops::nests::Nest;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::found_loops::{Around, FoundLoop, Trend};
use kit::table_support::grouping;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use parsers::facts::Created;
use parsers::syscalls::{self, Action, Class, Syscall, action_of};
use parsers::{NO_NS, Outcome, Text};
use query::selection::Selection;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use trace::parallel;
use trace::store::events::EventTable;
use trace::store::heuristics::{MAX_SMALL_IO_BYTES, MIN_ITERATIONS, MIN_TARGET_CALLS};
use trace::store::index::TaskId;
use trace::store::shape_parts::ShapeParts;
use trace::store::trace::Trace;

table! {
    loops "Sequences of calls that a task repeats.";
    times: Calls;
    costs: Cost { gaps: true, ..Cost::OF_TASK };
    row {
        of: OfTask { program "Program in the first iteration." },
        turns: Number "Number of iterations.",
        period: Number "Number of calls in the most common iteration.",
        body: List "Calls of the most common iteration.",
        total_ns: Ns "From the start of the first iteration to the end of the last.",
        per_turn_ns: Ns "Mean duration of an iteration.",
        dominant: Words "The most expensive call.",
        class: Words "What that call spends its time on.",
        is_trivial: Flag "Whether that call only looks up or records a value, such as an id or a signal mask.",
        dominant_ns: Ns "Time in the dominant call.",
        dominant_calls: Number "Number of dominant calls.",
        dominant_p50_ns: Ns "Median duration of the dominant call.",
        failing: Words "A call of the body that fails in every iteration.",
        distinct_targets: Number "Number of different targets of the dominant call.",
        folder: Words "The folder of most of these targets; missing if there are few, or none is that of most.",
        bytes: Bytes "Bytes moved by its calls.",
        turn_bytes: MaybeBytes "Bytes that an iteration moves, if it moves few; otherwise missing.",
        trend: Ratio "Time of the last quarter of the iterations divided by that of the first quarter: above 1, iterations get slower.",
        calls_trend: Ratio "Calls per iteration in the last eighth divided by those in the first; missing unless they rise from each eighth to the next.",
        outer_turns: MaybeNumber "Number of iterations of an enclosing loop; missing if there is no enclosing loop that is cheap by itself.",
        outer_body: List "Calls of the most common iteration of the enclosing loop.",
        outer_trend: Ratio "Trend of the enclosing loop.",
        outer_calls_trend: Ratio "Trend of the calls per iteration of the enclosing loop.",
        path: PathTime { exclusive_ns "Critical-path time from the first iteration to the last, including time between calls." },
        dominant_exclusive_ns: Ns "Critical-path time in the dominant call.",
        freeable_ns: Ns "exclusive_ns without slow exceptions of the dominant call, and without tracing overhead in it, as measured on trivial calls; 0 if the call creates or removes a file each time.",
        lines: Lines {
            first_line "First line of the loop.",
            last_line "Last line of the loop.",
        },
    }
}

/// Maximum number of loops, per task and in total. The longest are retained.
const MAX_LOOPS: (usize, usize) = (256, 20_000);

/// A repeated sequence of calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The task that runs it.
    pub task: TaskId,
    /// Number of iterations.
    pub iterations: u64,
    /// Calls of the most frequent iteration, as numbers of [`LoopShapes`].
    pub body: Vec<u32>,
    /// From the start of the first iteration to the end of the last, in nanoseconds; [`NO_NS`] without a clock or
    /// durations.
    pub total_ns: i64,
    /// The call of the body with the most time.
    pub dominant: u32,
    /// Time in the dominant call.
    pub dominant_ns: i64,
    /// Number of dominant calls.
    pub dominant_calls: u64,
    /// Median duration of the dominant calls; [`NO_NS`] without durations.
    pub dominant_p50_ns: i64,
    /// A call of the body that always fails.
    pub failing: Option<u32>,
    /// Whether the last iterations took longer than the first ones.
    pub trend: Trend,
    /// The enclosing loop, if its own cost is small.
    pub around: Option<Around>,
    /// Number of distinct targets of the dominant call.
    pub distinct_targets: u64,
    /// The folder of more than half of them.
    pub folder: Option<String>,
    /// Bytes transferred by its calls.
    pub bytes: i64,
    /// Number of calls that moved any.
    pub moves: u64,
    /// First event.
    pub first_row: u32,
    /// Last event.
    pub last_row: u32,
    /// From the first event to the last, as indexes among the rows of the task.
    places: Range<usize>,
}

/// Shapes without their targets, the elements of loop bodies.
pub struct LoopShapes {
    of_shape: Arc<ShapeParts>,
    parts: Vec<(Text, Text, Text, Outcome)>,
    /// Whether each part returns the number of bytes transferred.
    moves: Vec<bool>,
}

impl LoopShapes {
    /// Numbers the shapes of a trace.
    pub fn new(trace: &Trace) -> LoopShapes {
        let of_shape = Arc::clone(trace.shape_parts());
        let parts = of_shape
            .parts()
            .iter()
            .map(|part| (part.syscall, part.op, part.errno, part.outcome));
        let parts: Vec<(Text, Text, Text, Outcome)> = parts.collect();
        let moves = parts
            .iter()
            .map(|part| part.3 == Outcome::Ok && action_of(part.0).returns_bytes())
            .collect();
        LoopShapes {
            of_shape,
            parts,
            moves,
        }
    }

    /// Those of the events of a task, in order.
    fn of_task<'a>(&'a self, trace: &'a Trace, task: TaskId) -> impl Fn(usize) -> u32 + 'a {
        let shapes = trace.shapes_of(task);
        |at| self.of_shape.of_shape(shapes[at])
    }

    fn text(&self, events: &EventTable, number: u32) -> String {
        let (syscall, op, errno, outcome) = self.parts[number as usize];
        let text = |text: Text| events.texts.string(text);
        let mut name = text(syscall).into_owned();
        if op.is_some() {
            name = format!("{name} {}", text(op));
        }
        match outcome {
            Outcome::Failed => format!("{name} {}", text(errno)),
            _ => name,
        }
    }

    /// The entry of its syscall in the syscall table.
    fn call(&self, number: u32) -> Option<&'static Syscall> {
        syscalls::by_text(self.parts[number as usize].0)
    }

    /// Whether a call fails and none of `others` is the same call without a failure.
    fn never_succeeds<'a>(&self, number: u32, mut others: impl Iterator<Item = &'a u32>) -> bool {
        let (syscall, op, _, outcome) = self.parts[number as usize];
        outcome == Outcome::Failed
            && others.all(|&other| {
                let other = self.parts[other as usize];
                (other.0, other.1) != (syscall, op) || other.3 == Outcome::Failed
            })
    }

    fn texts(&self, events: &EventTable, numbers: &[u32]) -> Vec<String> {
        numbers
            .iter()
            .map(|&number| self.text(events, number))
            .collect()
    }
}

/// Which loops are measured.
#[derive(Clone, Copy)]
pub struct WantedLoops {
    /// The number of the longest.
    pub most: usize,
    /// The number of calls that a loop has at least, all iterations together.
    pub min_calls: u64,
}

impl WantedLoops {
    const ALL: WantedLoops = WantedLoops {
        most: usize::MAX,
        min_calls: 0,
    };

    fn has_calls(self, found: &FoundLoop) -> bool {
        found.iterations.saturating_mul(found.body.len() as u64) >= self.min_calls
    }
}

/// The wanted loops of all selected tasks, and the number of all with enough calls. The longest come first. Of nested
/// loops, the one that explains the cost.
fn loops(context: &TableContext<'_>, wanted: WantedLoops) -> (LoopShapes, Vec<Loop>, usize) {
    let (trace, selection) = (context.trace, context.selection);
    let shapes = LoopShapes::new(trace);
    let tasks: Vec<TaskId> = context.tasks().collect();
    let search = |task: TaskId| found_loops(trace, selection, &shapes, task);
    let of_task = |&task: &TaskId| {
        let found = context
            .memo
            .loops
            .of(task, trace.rows_of(task).len(), || search(task));
        Arc::unwrap_or_clone(found)
    };
    let found = parallel::flat_map(&tasks, of_task);
    let mut found = longest(found, MAX_LOOPS.1);
    found.retain(|one| wanted.has_calls(one));
    let number = found.len();
    found.truncate(wanted.most);
    let loops = parallel::map(&found, |one| measured(trace, selection, &shapes, one));
    (shapes, loops, number)
}

/// The longest loops of a task.
fn found_loops(
    trace: &Trace,
    selection: &Selection<'_>,
    shapes: &LoopShapes,
    task: TaskId,
) -> Vec<FoundLoop> {
    let events = &trace.events;
    let (is_call, rows, shape_at) = (
        trace.are_calls(task),
        trace.rows_of(task),
        shapes.of_task(trace, task),
    );
    let mut places: Vec<u32> = Vec::with_capacity(rows.len());
    places.extend(
        (0..rows.len())
            .filter(|&at| is_call(at) && selection.has(rows[at]))
            .map(|at| at as u32),
    );
    let of_calls: Vec<u32> = places.iter().map(|&at| shape_at(at as usize)).collect();
    if places.len() < MIN_ITERATIONS {
        return Vec::new();
    }
    let calls = Calls {
        events,
        task,
        rows,
        places: &places,
    };
    let (cost_ns, time_ns) = (
        |at: usize| events.dur_ns(calls.row(at)).max(0),
        |range| calls.time_ns(range),
    );
    let (of_calls, kinds) = (&of_calls[..], shapes.parts.len());
    let found = nests::nests(&nests::NestInput {
        shapes: of_calls,
        kinds,
        cost_ns: &cost_ns,
        time_ns: &time_ns,
    });
    longest(
        found.into_iter().map(|nest| calls.found(nest)).collect(),
        MAX_LOOPS.0,
    )
}

/// The `limit` longest loops, the longest first.
fn longest(mut found: Vec<FoundLoop>, limit: usize) -> Vec<FoundLoop> {
    found.sort_by_key(|one| {
        (
            Reverse(one.total_ns),
            Reverse(one.iterations),
            one.first_row,
        )
    });
    found.truncate(limit);
    found
}

/// The calls of one task.
struct Calls<'a> {
    events: &'a EventTable,
    task: TaskId,
    /// All rows of the task.
    rows: &'a [u32],
    /// The indexes of its calls among them.
    places: &'a [u32],
}

impl Calls<'_> {
    fn row(&self, at: usize) -> u32 {
        self.rows[self.places[at] as usize]
    }

    /// Time from the start of the first call of the range to the start of the call after it, or to the end of the last
    /// call. Without a clock, the sum of the durations.
    fn time_ns(&self, range: Range<usize>) -> i64 {
        let count = self.places.len();
        let start_ns = |at: usize| {
            (at < count)
                .then(|| self.events.start_ns(self.row(at)))
                .filter(|&ns| ns != NO_NS)
        };
        let last = self.row(count - 1);
        let last_ns = || {
            self.events
                .end_ns(last)
                .or(Some(self.events.start_ns(last)))
        };
        let end_ns = if range.end < count {
            start_ns(range.end)
        } else {
            last_ns()
        };
        match start_ns(range.start).zip(end_ns) {
            Some((start_ns, end_ns)) => (end_ns - start_ns).max(0),
            None => range
                .map(|at| self.events.dur_ns(self.row(at)).max(0))
                .sum(),
        }
    }

    fn found(&self, nest: Nest) -> FoundLoop {
        let calls = nest.range.start..nest.last + 1;
        let row = |at: &u32| self.rows[*at as usize];
        let (first, last) = (self.places[calls.start], self.places[nest.last]);
        let (first_row, last_row) = (row(&first), row(&last));
        let events = self.events;
        let wall_ns = events
            .end_ns(last_row)
            .filter(|_| events.start_ns(first_row) != NO_NS);
        let in_calls_ns = || {
            self.places[calls]
                .iter()
                .map(|at| events.dur_ns(row(at)).max(0))
        };
        let total_ns = match wall_ns {
            Some(end_ns) => end_ns - events.start_ns(first_row),
            None => in_calls_ns().fold(0, i64::saturating_add),
        };
        let Nest {
            iterations,
            body,
            trend,
            around,
            ..
        } = nest;
        let places = first as usize..last as usize + 1;
        FoundLoop {
            task: self.task,
            places,
            first_row,
            total_ns,
            iterations,
            body,
            trend,
            around,
        }
    }
}

fn measured(
    trace: &Trace,
    selection: &Selection<'_>,
    shapes: &LoopShapes,
    one: &FoundLoop,
) -> Loop {
    let &FoundLoop {
        task,
        ref places,
        first_row,
        total_ns,
        iterations,
        ref body,
        trend,
        ref around,
    } = one;
    let (events, rows) = (&trace.events, trace.rows_of(task));
    let (is_call, shape_at) = (trace.are_calls(task), shapes.of_task(trace, task));
    let calls = || {
        places
            .clone()
            .filter(|at| is_call(*at) && selection.has(rows[*at]))
            .map(|at| (rows[at], shape_at(at)))
    };
    let mut sums: FxHashMap<u32, (i64, u64)> = FxHashMap::default();
    for (row, shape) in calls() {
        let sum = sums.entry(shape).or_default();
        *sum = (sum.0.saturating_add(events.dur_ns(row).max(0)), sum.1 + 1);
    }
    let of_body = body
        .iter()
        .filter_map(|&shape| sums.get(&shape).map(|&sum| (sum, Reverse(shape))));
    let dominant = of_body.max().map_or(0, |(_, Reverse(shape))| shape);
    let dominant_rows: Vec<u32> = calls()
        .filter(|&(_, shape)| shape == dominant)
        .map(|(row, _)| row)
        .collect();
    let mut targets: Vec<Text> = dominant_rows
        .iter()
        .map(|&row| events.target(row))
        .collect();
    // Calls on a target often follow one another.
    targets.dedup();
    let targets: FxHashSet<Text> = targets.into_iter().collect();
    let moving = calls().filter(|&(_, shape)| shapes.moves[shape as usize]);
    let (bytes, moves) = moving
        .map(|(row, _)| events.ret(row).max(0))
        .filter(|&bytes| bytes > 0)
        .fold((0i64, 0), |(sum, moves), bytes| {
            (sum.saturating_add(bytes), moves + 1)
        });
    Loop {
        task,
        iterations,
        body: body.clone(),
        total_ns,
        dominant,
        dominant_ns: sums.get(&dominant).map_or(0, |sum| sum.0),
        dominant_calls: sums.get(&dominant).map_or(0, |sum| sum.1),
        dominant_p50_ns: median(dominant_rows.iter().map(|&row| events.dur_ns(row))),
        failing: body
            .iter()
            .copied()
            .find(|&shape| shapes.never_succeeds(shape, sums.keys())),
        trend,
        around: around.clone(),
        distinct_targets: targets.len() as u64,
        folder: main_folder(events, &targets),
        bytes,
        moves,
        first_row,
        last_row: rows[places.end - 1],
        places: places.clone(),
    }
}

/// The bytes that an iteration moves, if each moves some, and so few that it takes no longer than one that moves none.
fn turn_bytes(one: &Loop) -> Option<i64> {
    let bytes = one.bytes / one.iterations.max(1) as i64;
    let are_few = (1..=MAX_SMALL_IO_BYTES).contains(&bytes);
    (are_few && one.moves >= one.iterations).then_some(bytes)
}

fn median(durs_ns: impl Iterator<Item = i64>) -> i64 {
    let mut durs_ns: Vec<i64> = durs_ns.filter(|&ns| ns != NO_NS).collect();
    if durs_ns.is_empty() {
        NO_NS
    } else {
        grouping::median(&mut durs_ns)
    }
}

/// Up to this multiple of its median, the mean duration of a call is ordinary: it is 1.4 of an exponential distribution,
/// and 1.3 where durations grow with the square. Above, most of the time is in exceptions: a busy disk, a cold cache.
const MAX_MEAN_TO_MEDIAN: i64 = 2;

/// This part of the calls has files of their own: a directory or a temporary file may come up twice.
const OWN_ENTRIES: (usize, usize) = (9, 10);

/// Builds the table of loops.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    longest_rows(context, WantedLoops::ALL).0
}

/// The first rows of the table, which are the longest loops with enough calls, and the number of all of these.
pub fn longest_rows(context: &TableContext<'_>, wanted: WantedLoops) -> (BuiltTable, usize) {
    let (shapes, found, number) = loops(context, wanted);
    let events = &context.trace.events;
    let costs = parallel::map(&found, |one| LoopCost::new(context, &shapes, one));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (one, cost) in found.iter().zip(costs) {
        let per_iteration_ns = if one.total_ns == NO_NS {
            NO_NS
        } else {
            one.total_ns / one.iterations.max(1) as i64
        };
        let call = shapes.call(one.dominant);
        let around = one.around.as_ref();
        let outer = around.map(|around| around.trend).unwrap_or_default();
        let Loop {
            task,
            first_row,
            last_row,
            ..
        } = *one;
        let row = TableRow {
            of: TaskAt {
                task: one.task,
                row: one.first_row,
            },
            turns: one.iterations as i64,
            period: one.body.len() as i64,
            body: shapes.texts(events, &one.body),
            total_ns: one.total_ns,
            per_turn_ns: per_iteration_ns,
            dominant: Some(shapes.text(events, one.dominant).to_owned()),
            class: Some(cost.class.name().to_owned()),
            is_trivial: call.is_some_and(Syscall::is_trivial),
            dominant_ns: one.dominant_ns,
            dominant_calls: one.dominant_calls as i64,
            dominant_p50_ns: one.dominant_p50_ns,
            failing: one.failing.map(|shape| shapes.text(events, shape)),
            distinct_targets: one.distinct_targets as i64,
            folder: one.folder.clone(),
            bytes: one.bytes,
            turn_bytes: turn_bytes(one),
            trend: one.trend.time,
            calls_trend: one.trend.calls,
            outer_turns: around.map(|around| around.iterations as i64),
            outer_body: around.map_or_else(Vec::new, |around| shapes.texts(events, &around.body)),
            outer_trend: outer.time,
            outer_calls_trend: outer.calls,
            path: cost.path_ns,
            dominant_exclusive_ns: cost.dominant_ns,
            freeable_ns: cost.freeable_ns,
            lines: LinesOf {
                first_row: one.first_row,
                last_row: one.last_row,
            },
        };
        builder.add(
            row,
            Provenance::Stretch {
                task,
                first_row,
                last_row,
            },
        );
    }
    (builder.finish(), number)
}

/// What a loop costs.
struct LoopCost {
    /// What the dominant call works on decides: a write to a socket is network, not disk.
    class: Class,
    /// Time on the critical path of a loop, and of its dominant call.
    path_ns: i64,
    dominant_ns: i64,
    /// Upper bound of the time that could be saved.
    freeable_ns: i64,
}

impl LoopCost {
    fn new(context: &TableContext<'_>, shapes: &LoopShapes, one: &Loop) -> LoopCost {
        let (trace, shape_at) = (context.trace, shapes.of_task(context.trace, one.task));
        let rows = trace.rows_of(one.task);
        let dominant: Vec<u32> = one
            .places
            .clone()
            .filter(|&at| shape_at(at) == one.dominant)
            .map(|at| rows[at])
            .collect();
        let class = dominant
            .first()
            .map_or(Class::Other, |&row| context.wakers.class(trace, row));
        let dominant_ns = dominant.iter().map(|&row| context.exclusive_ns(row)).sum();
        let in_loop = &rows[one.places.clone()];
        let gaps_ns = in_loop
            .iter()
            .rev()
            .skip(1)
            .map(|&row| context.attribution.own_gap_after_ns(row));
        let path_ns = in_loop
            .iter()
            .map(|&row| context.exclusive_ns(row))
            .chain(gaps_ns)
            .sum();
        let freeable_ns = match changes_entries(context, one, &dominant) {
            true => 0,
            false => freeable_ns(context, one, (path_ns, dominant_ns)),
        };
        LoopCost {
            class,
            path_ns,
            dominant_ns,
            freeable_ns,
        }
    }
}

/// Upper bound of the time that could be saved. Time of slow exceptions is not due to the repetition. The share of
/// tracing overhead is subtracted: calls as fast as no-op calls are dominated by it. So are calls as fast as the time
/// between two of them; in that time, a program does next to nothing: the tracer stops the task once in each.
fn freeable_ns(context: &TableContext<'_>, one: &Loop, (all_ns, dominant_ns): (i64, i64)) -> i64 {
    let quick_ns = context.trust_of(one.task).map_or(0, |trust| trust.quick_ns);
    if one.dominant_p50_ns <= 0 {
        return all_ns;
    }
    let usual_ns = one
        .dominant_p50_ns
        .saturating_mul(one.dominant_calls as i64)
        .saturating_mul(MAX_MEAN_TO_MEDIAN);
    let all_ns = all_ns - (dominant_ns - usual_ns).max(0);
    let stop_ns = if quick_ns > 0 {
        quick_ns.max(usual_gap_ns(context, one))
    } else {
        0
    };
    let tracers = i128::from(all_ns) * i128::from(stop_ns) / i128::from(one.dominant_p50_ns);
    all_ns - (tracers.min(i128::from(all_ns)) as i64)
}

/// The lower quartile of the times between two calls of a loop. 0 if there are none.
fn usual_gap_ns(context: &TableContext<'_>, one: &Loop) -> i64 {
    let events = &context.trace.events;
    let rows = &context.trace.rows_of(one.task)[one.places.clone()];
    let pairs = rows.windows(2);
    let gaps = pairs.filter_map(|pair| Some(events.start_ns(pair[1]) - events.end_ns(pair[0])?));
    let mut gaps: Vec<i64> = gaps.map(|ns| ns.max(0)).collect();
    let quarter = gaps.len() / 4;
    if gaps.is_empty() {
        0
    } else {
        *gaps.select_nth_unstable(quarter).1
    }
}

/// The folder of more than half of these paths.
fn main_folder(events: &EventTable, targets: &FxHashSet<Text>) -> Option<String> {
    if targets.len() < MIN_TARGET_CALLS {
        return None;
    }
    let mut folders: FxHashMap<&[u8], usize> = FxHashMap::default();
    for &target in targets {
        let path = events.texts.bytes(target);
        if let Some(end) = path
            .iter()
            .rposition(|&byte| byte == b'/')
            .filter(|&end| end > 0)
        {
            *folders.entry(&path[..end]).or_insert(0) += 1;
        }
    }
    let most = folders
        .into_iter()
        .find(|&(_, number)| number > targets.len() / 2)?;
    Some(String::from_utf8_lossy(most.0).into_owned())
}

/// Whether nearly each dominant call creates, renames or removes a file of its own. Unpacking an archive takes one such
/// call for each file.
fn changes_entries(context: &TableContext<'_>, one: &Loop, dominant: &[u32]) -> bool {
    let events = &context.trace.events;
    let changes = |row: u32| {
        let action = events.action(row);
        let removes = matches!(
            action,
            Action::Removes | Action::RemovesDirectory | Action::Makes | Action::MakesNode
        );
        removes || events.facts.has::<Created>(row)
    };
    let changed = dominant.iter().filter(|&&row| changes(row)).count();
    let nearly_all = one.dominant_calls as usize * OWN_ENTRIES.0 / OWN_ENTRIES.1;
    changed.min(one.distinct_targets as usize) >= nearly_all.max(1)
}

#[cfg(test)]
mod tests {
    use super::main_folder;
    use rustc_hash::FxHashSet;
    use trace::testing::{build, task};

    fn folder_of(paths: impl Iterator<Item = String>) -> Option<String> {
        let calls = paths.zip(0..).fold(task(1), |plan, (path, at)| {
            plan.call("stat", at, at + 1).on(&path)
        });
        let trace = build(vec![calls]);
        let rows = trace.tasks.keys().flat_map(|task| trace.rows_of(task));
        let targets: FxHashSet<_> = rows.map(|&row| trace.events.target(row)).collect();
        main_folder(&trace.events, &targets)
    }

    #[test]
    fn the_folder_of_most_targets_is_named() {
        let mails = || (0..40).map(|at| format!("/mail/new/{at}"));
        assert_eq!(folder_of(mails()).as_deref(), Some("/mail/new"));
        assert_eq!(folder_of(mails().take(9)), None);
        let other = (0..40).map(|at| format!("/mail/{at}/cur"));
        assert_eq!(folder_of(mails().chain(other)), None);
    }
}
