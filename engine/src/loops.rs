//! Loops: a task does the same few calls again and again.
//!
//! ```text
//! calls    … A b c d A b c d A b c c d A b c d x y …
//! anchor     ^       ^       ^         ^              the call that costs most
//! turns      |-------|-------|---------|-------|      from one anchor to the next
//! ```
//! A turn conforms if it consists of the same calls as the commonest turn, in any number. Nine in ten must conform, and
//! nine in ten calls must be of its kinds.

use crate::events::{EventKind, EventTable};
use crate::members::Members;
use crate::select::Selection;
use crate::sheet::{Found, Sheet};
use crate::trace::Trace;
use crate::view::View;
use parsers::{NO_NS, Outcome, Text};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Longest turn, in calls.
const LONGEST_PERIOD: usize = 64;
/// Fewer turns are a coincidence.
const FEWEST_TURNS: usize = 4;
/// How many of a task's costliest calls are tried as anchors.
const ANCHORS: usize = 4;
/// Turns of a loop that may deviate: one in this many.
const DEVIATING: usize = 10;

/// A repeated sequence of calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The task that runs it.
    pub task: u32,
    /// How often it went round.
    pub turns: u64,
    /// Calls of the commonest turn, as numbers of [`Shapes`].
    pub body: Vec<u32>,
    /// From the start of the first turn to the end of the last; [`NO_NS`] without a clock or durations.
    pub total_ns: i64,
    /// The call that costs most, its time and number.
    pub dominant: u32,
    /// Time in the dominant call.
    pub dominant_ns: i64,
    /// How often the dominant call was made.
    pub dominant_calls: u64,
    /// A call of the body that failed in every turn.
    pub failing: Option<u32>,
    /// Different targets of the dominant call.
    pub distinct_targets: u64,
    /// First and last event.
    pub first_row: u32,
    /// See `first_row`.
    pub last_row: u32,
}

/// Shapes without their targets: what a loop is made of.
pub struct Shapes {
    of_shape: Vec<u32>,
    parts: Vec<(Text, Text, Text, Outcome)>,
}

impl Shapes {
    /// Number the shapes of a trace.
    pub fn new(events: &EventTable) -> Shapes {
        let mut numbers: FxHashMap<(Text, Text, Text, Outcome), u32> = FxHashMap::default();
        let mut parts = Vec::new();
        let of_shape = events.shapes().iter().map(|shape| {
            let part = (shape.syscall, shape.op, shape.errno, shape.outcome);
            *numbers.entry(part).or_insert_with(|| {
                parts.push(part);
                (parts.len() - 1) as u32
            })
        });
        let of_shape = of_shape.collect();
        Shapes { of_shape, parts }
    }

    fn of(&self, events: &EventTable, row: u32) -> u32 {
        self.of_shape[events.shape_number(row) as usize]
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

    fn fails(&self, number: u32) -> bool {
        self.parts[number as usize].3 == Outcome::Failed
    }
}

/// The loops of all chosen tasks, the longest first; of nested ones only the outer.
pub fn loops(trace: &Trace, selection: &Selection<'_>) -> (Shapes, Vec<Loop>) {
    let shapes = Shapes::new(&trace.events);
    let tasks: Vec<u32> = (0..trace.tasks.len() as u32).filter(|&task| selection.has_task(task)).collect();
    let mut found: Vec<Loop> =
        tasks.par_iter().flat_map_iter(|&task| loops_of(trace, selection, &shapes, task)).collect();
    found.sort_by_key(|found| (std::cmp::Reverse(found.total_ns), std::cmp::Reverse(found.turns), found.first_row));
    (shapes, found)
}

/// The calls of one task.
struct Calls<'a> {
    events: &'a EventTable,
    rows: Vec<u32>,
    shapes: Vec<u32>,
}

fn loops_of(trace: &Trace, selection: &Selection<'_>, shapes: &Shapes, task: u32) -> Vec<Loop> {
    let events = &trace.events;
    let is_call = |&row: &u32| events.kind(row) == EventKind::Call && selection.has(row);
    let rows: Vec<u32> = trace.rows_of(task).iter().copied().filter(is_call).collect();
    if rows.len() < FEWEST_TURNS {
        return Vec::new();
    }
    let of_rows = rows.iter().map(|&row| shapes.of(events, row)).collect();
    let calls = Calls { events, rows, shapes: of_rows };
    let (mut found, mut covered) = (Vec::new(), vec![false; calls.rows.len()]);
    for anchor in anchors(&calls, shapes.parts.len()) {
        for (range, one) in runs(&calls, anchor).iter().flat_map(|run| as_loops(&calls, shapes, task, run)) {
            // The same turns, seen from another of their calls, or a loop within a turn.
            let known = covered[range.clone()].iter().filter(|&&known| known).count();
            if 2 * known <= range.len() {
                covered[range].fill(true);
                found.push(one);
            }
        }
    }
    found
}

/// The calls on which a task spends most, the costliest first; by number where there are no durations.
fn anchors(calls: &Calls<'_>, shapes: usize) -> Vec<u32> {
    let mut sums = vec![(0i64, 0usize); shapes];
    for (&row, &shape) in calls.rows.iter().zip(&calls.shapes) {
        let sum = &mut sums[shape as usize];
        sum.0 = sum.0.saturating_add(calls.events.dur_ns(row).max(0));
        sum.1 += 1;
    }
    let mut order: Vec<u32> = (0..shapes as u32).filter(|&shape| sums[shape as usize].1 >= FEWEST_TURNS).collect();
    order.sort_by_key(|&shape| (std::cmp::Reverse(sums[shape as usize]), shape));
    order.truncate(ANCHORS);
    order
}

/// Places of the anchor, cut where two are further apart than a turn may be.
fn runs(calls: &Calls<'_>, anchor: u32) -> Vec<Vec<usize>> {
    let places = calls.shapes.iter().enumerate().filter(|&(_, &shape)| shape == anchor).map(|(at, _)| at);
    let mut runs: Vec<Vec<usize>> = Vec::new();
    for place in places {
        match runs.last_mut().filter(|run| place - run[run.len() - 1] <= LONGEST_PERIOD) {
            Some(run) => run.push(place),
            None => runs.push(vec![place]),
        }
    }
    runs.retain(|run| run.len() >= FEWEST_TURNS);
    runs
}

/// The loops in a run of anchors: all of it, if nine in ten turns conform to the commonest one and nine in ten calls are
/// of its kinds; else the stretches between turns of quite another length, which are work between two loops.
fn as_loops(calls: &Calls<'_>, shapes: &Shapes, task: u32, run: &[usize]) -> Vec<(std::ops::Range<usize>, Loop)> {
    let turns: Vec<&[u32]> = run.windows(2).map(|pair| &calls.shapes[pair[0]..pair[1]]).collect();
    let mut counts: FxHashMap<&[u32], usize> = FxHashMap::default();
    turns.iter().for_each(|turn| *counts.entry(turn).or_default() += 1);
    let commonest = counts.iter().max_by_key(|&(turn, count)| (count, std::cmp::Reverse(turn)));
    let Some(body) = commonest.map(|(turn, _)| *turn) else { return Vec::new() };
    let kinds: FxHashSet<u32> = body.iter().copied().collect();
    let is_loop = |from: usize, end: usize| {
        let here = &turns[from..end];
        let conforming = here.iter().filter(|turn| conforms(turn, &kinds)).count();
        let others: usize = here.iter().flat_map(|turn| turn.iter()).filter(|shape| !kinds.contains(shape)).count();
        here.len() + 1 >= FEWEST_TURNS
            && (here.len() - conforming) * DEVIATING <= here.len()
            && others * DEVIATING <= run[end] - run[from]
    };
    let one = |from: usize, end: usize| {
        // The last anchor opens a turn of its own, though nothing tells where it ends.
        let range = run[from]..run[end] + 1;
        (range.clone(), measured(calls, shapes, task, body, range, (end - from) as u64 + 1))
    };
    if is_loop(0, turns.len()) {
        return vec![one(0, turns.len())];
    }
    let is_other = |turn: &&[u32]| turn.len() > 2 * body.len() + 1 && !conforms(turn, &kinds);
    let cuts = turns.iter().enumerate().filter(|(_, turn)| is_other(turn)).map(|(at, _)| at).chain([turns.len()]);
    let stretches = cuts.scan(0, |from, end| Some((std::mem::replace(from, end + 1), end)));
    stretches.filter(|&(from, end)| from < end && is_loop(from, end)).map(|(from, end)| one(from, end)).collect()
}

/// Whether a turn consists of these kinds of calls, each at least once.
fn conforms(turn: &[u32], kinds: &FxHashSet<u32>) -> bool {
    turn.iter().all(|shape| kinds.contains(shape)) && kinds.iter().all(|shape| turn.contains(shape))
}

fn measured(
    calls: &Calls<'_>,
    shapes: &Shapes,
    task: u32,
    body: &[u32],
    range: std::ops::Range<usize>,
    turns: u64,
) -> Loop {
    let (rows, of_rows) = (&calls.rows[range.clone()], &calls.shapes[range]);
    let (first_row, last_row) = (rows[0], rows[rows.len() - 1]);
    let events = calls.events;
    let mut sums: FxHashMap<u32, (i64, u64)> = FxHashMap::default();
    for (&row, &shape) in rows.iter().zip(of_rows) {
        let sum = sums.entry(shape).or_default();
        sum.0 = sum.0.saturating_add(events.dur_ns(row).max(0));
        sum.1 += 1;
    }
    let of_body = body.iter().filter_map(|&shape| sums.get(&shape).map(|&sum| (sum, std::cmp::Reverse(shape))));
    let dominant = of_body.max().map_or(0, |(_, std::cmp::Reverse(shape))| shape);
    let targets: FxHashSet<Text> =
        rows.iter().zip(of_rows).filter(|&(_, &shape)| shape == dominant).map(|(&row, _)| events.target(row)).collect();
    let wall_ns = events.end_ns(last_row).filter(|_| events.start_ns(first_row) != NO_NS);
    let in_calls_ns = sums.values().map(|&(ns, _)| ns).sum();
    Loop {
        task,
        turns,
        body: body.to_vec(),
        total_ns: wall_ns.map_or(in_calls_ns, |end_ns| end_ns - events.start_ns(first_row)),
        dominant,
        dominant_ns: sums.get(&dominant).map_or(0, |sum| sum.0),
        dominant_calls: sums.get(&dominant).map_or(0, |sum| sum.1),
        failing: body.iter().copied().find(|&shape| shapes.fails(shape)),
        distinct_targets: targets.len() as u64,
        first_row,
        last_row,
    }
}

/// The loops as a table.
pub fn found(view: &View<'_>) -> Found {
    let (shapes, found) = loops(view.trace, view.selection);
    let events = &view.trace.events;
    let mut sheet = Sheet::new(view, "loops");
    for one in &found {
        let body = one.body.iter().map(|&shape| shapes.text(events, shape)).collect();
        sheet.who(one.task, one.first_row);
        sheet.int("turns", one.turns as i64);
        sheet.int("period", one.body.len() as i64);
        sheet.list("body", body);
        sheet.ns("total_ns", one.total_ns);
        let per_turn_ns = if one.total_ns == NO_NS { NO_NS } else { one.total_ns / one.turns.max(1) as i64 };
        sheet.ns("per_turn_ns", per_turn_ns);
        sheet.string("dominant", Some(&shapes.text(events, one.dominant)));
        sheet.ns("dominant_ns", one.dominant_ns);
        sheet.int("dominant_calls", one.dominant_calls as i64);
        sheet.string("failing", one.failing.map(|shape| shapes.text(events, shape)).as_deref());
        sheet.int("distinct_targets", one.distinct_targets as i64);
        let (all_ns, dominant_ns) = on_path(view, &shapes, one);
        sheet.path_ns(all_ns);
        sheet.int("dominant_exclusive_ns", dominant_ns);
        sheet.lines(one.first_row, one.last_row);
        let Loop { task, first_row, last_row, .. } = *one;
        sheet.members(Members::Stretch { task, first_row, last_row });
    }
    sheet.finish()
}

/// Time on the path of a loop, and of its dominant call.
fn on_path(view: &View<'_>, shapes: &Shapes, one: &Loop) -> (i64, i64) {
    let (mut all_ns, mut dominant_ns) = (0, 0);
    for &row in view.trace.rows_from(one.task, one.first_row) {
        let ns = view.exclusive_ns(row);
        all_ns += ns;
        if shapes.of(&view.trace.events, row) == one.dominant {
            dominant_ns += ns;
        }
        if row == one.last_row {
            break;
        }
        all_ns += view.charges.behind_ns(row);
    }
    (all_ns, dominant_ns)
}
