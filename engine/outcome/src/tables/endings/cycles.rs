//! Last cycles: the sequence of calls that each process repeats until the capture ends.
//!
//! ```text
//! stat("/run/ready") ENOENT | nanosleep | stat("/run/ready") ENOENT | nanosleep | stat(…     2 calls, 2 turns
//! read(5) = 0 | read(5) = 0 | read(5) = 0                                                    1 call, 3 turns
//! ```
//! People copy few lines of a loop, too few for statistics. What shows it is that nothing else follows.

mod moments;

use super::{EndedProcess, processes};
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use moments::moments;
use parsers::NO_NS;
use parsers::syscalls::{self, Action, Syscall, Wait};
use parsers::{Outcome, Text};
use path::waits::wait_kinds::{ends_file, wait_of_row};
use rustc_hash::FxHashSet;
use trace::store::heuristics::{MAX_CYCLE_CALLS, MIN_CYCLE_TURNS, MIN_PAIRED_TURNS};
use trace::store::index::{ShapeId, TaskId};

table! {
    last_cycles "The sequence of calls that these processes repeat until the capture ends.";
    times: Calls;
    row {
        of: OfTask { program "Program." },
        body: List "Names of the calls of one turn, with their errors.",
        turns: Count "Number of turns.",
        period: Count "Number of calls of one turn.",
        calls: Count "Number of all calls of the thread.",
        alike: Count "Number of those that are like one of the turn.",
        waits: Count "Number of those that wait, and are not like one of the turn.",
        turn_ns: Ns (Same) "Mean time from one turn to the next; missing without timestamps.",
        pause_ns: Ns (Same) "Time for which one turn asks to sleep; missing if a sleep does not say for how long.",
        failing: Count "Calls of one turn that fail.",
        empty: Count "Calls of one turn that read the end of their input.",
        idle: Count "Calls of one turn that sleep, or wait until their limits.",
        quick: Count "Calls of one turn that only read a clock or an id, or yield.",
        ready: Count "Waits of one turn that report something; not those that were asked not to wait.",
        registers: Count "Calls of one turn that only change which events it waits for, or ask how much there is to read, or whether a process exists.",
        counters: Count "Calls of one turn that read or write only the counter of a timer or an event.",
        past: Count "Waits and timers of one turn that are set to a moment which has passed.",
        bytes: MaybeBytes "Bytes that one turn moves, without those counters.",
        target: Text "What the first failing or empty call works on; otherwise the first call.",
        targets: Count "Number of different targets of that call in all turns.",
        errno: Text "Error of the first failing call.",
        lines: Lines {
            first_line "Line of the first one.",
            last_line "Line of the last one.",
        },
    }
}

/// The last calls of a task in which a cycle is looked for. Its turns before them are counted.
const MAX_CALLS: usize = 4096;

/// Builds the table, one row per process.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for process in processes(context) {
        if let Some(task) = busy(context, &process) {
            write(context, task, &mut builder);
        }
    }
    builder.finish()
}

/// The only task of a process that is still at work when the capture ends: all others are in calls that did not return.
fn busy(context: &TableContext<'_>, process: &EndedProcess) -> Option<TaskId> {
    let events = &context.trace.events;
    let last = process
        .tasks
        .iter()
        .filter_map(|&task| Some((last_call(context, task)?, task)));
    let (_, busy) = last.clone().max()?;
    last.filter(|&(_, task)| task != busy)
        .all(|(row, _)| matches!(events.outcome(row), Outcome::Open | Outcome::NoReturn))
        .then_some(busy)
}

fn last_call(context: &TableContext<'_>, task: TaskId) -> Option<u32> {
    context.calls_of(task).next_back()
}

/// What is the same in each turn: the call with its error and the form of its target, and whether it returned anything.
type Symbol = (ShapeId, bool);

fn write(context: &TableContext<'_>, task: TaskId, builder: &mut TableBuilder<'_>) {
    let events = &context.trace.events;
    let mut rows: Vec<u32> = context.calls_of(task).rev().take(MAX_CALLS).collect();
    // The last call may be open, because the capture ends in it.
    if rows
        .first()
        .is_some_and(|&row| events.outcome(row) == Outcome::Open)
    {
        rows.remove(0);
    }
    let symbols: Vec<Symbol> = rows.iter().map(|&row| symbol(context, row)).collect();
    let Some((period, turns)) = cycle(&symbols) else {
        return;
    };
    let first_row = rows[period * turns - 1];
    let (earlier, first_row) = earlier_turns(context, task, &symbols[..period], first_row);
    let turn: Vec<u32> = rows[..period].iter().rev().copied().collect();
    let place = turn
        .iter()
        .position(|&row| fails(context, row) || is_empty(context, row))
        .unwrap_or(0);
    let shown = turn[place];
    let count = |is: fn(&TableContext<'_>, u32) -> bool| {
        turn.iter().filter(|&&row| is(context, row)).count() as i64
    };
    let failing = turn.iter().copied().find(|&row| fails(context, row));
    let last_turns: Vec<u32> = rows[..period * 2].iter().rev().copied().collect();
    let lines = moments(context, task, &last_turns, period);
    let moved = turn
        .iter()
        .filter_map(|&row| events.bytes(row))
        .sum::<i64>();
    let in_turn: FxHashSet<Symbol> = symbols[..period].iter().copied().collect();
    let row = TableRow {
        of: TaskAt { task, row: turn[0] },
        body: turn.iter().map(|&row| named(context, row)).collect(),
        turns: (turns + earlier) as i64,
        period: period as i64,
        calls: context.calls_of(task).count() as i64,
        alike: context
            .calls_of(task)
            .filter(|&row| in_turn.contains(&symbol(context, row)))
            .count() as i64,
        waits: context
            .calls_of(task)
            .filter(|&row| !in_turn.contains(&symbol(context, row)) && waits(context, row))
            .count() as i64,
        turn_ns: turn_ns(context, (first_row, rows[0]), period, turns + earlier),
        pause_ns: pause_ns(context, &turn),
        failing: count(fails),
        empty: count(is_empty),
        idle: count(idles),
        quick: count(is_quick),
        ready: count(is_ready),
        registers: count(registers),
        counters: lines.counters,
        past: lines.past,
        bytes: Some(moved - lines.counters * moments::COUNTER_BYTES),
        target: events.target(shown),
        targets: different_targets(context, &rows[..period * turns], period, place),
        errno: failing.map_or(Text::NONE, |row| events.shape(row).errno),
        lines: LinesOf {
            first_row,
            last_row: rows[0],
        },
    };
    builder.add(row, Provenance::Rows(turn));
}

fn symbol(context: &TableContext<'_>, row: u32) -> Symbol {
    let events = &context.trace.events;
    (events.shape_number(row), events.ret(row) == 0)
}

/// The whole turns of a task before a row, which is the first of the turns that are known, and the first row of them all. The
/// symbols of a turn are in reverse order.
fn earlier_turns(
    context: &TableContext<'_>,
    task: TaskId,
    turn: &[Symbol],
    first_row: u32,
) -> (usize, u32) {
    let before = context.calls_of(task).rev();
    let before = before.skip_while(|&row| row >= first_row);
    let same = before
        .zip(turn.iter().cycle())
        .take_while(|&(row, &known)| symbol(context, row) == known);
    let (mut calls, mut earliest) = (0, first_row);
    for (row, _) in same {
        calls += 1;
        if calls % turn.len() == 0 {
            earliest = row;
        }
    }
    (calls / turn.len(), earliest)
}

/// The mean time from one turn to the next.
fn turn_ns(
    context: &TableContext<'_>,
    (first_row, last_row): (u32, u32),
    period: usize,
    turns: usize,
) -> i64 {
    let events = &context.trace.events;
    let (start_ns, end_ns) = (events.start_ns(first_row), events.start_ns(last_row));
    let steps = (period * turns).saturating_sub(1) as i64;
    if start_ns == NO_NS || end_ns == NO_NS || steps == 0 {
        return NO_NS;
    }
    end_ns.saturating_sub(start_ns).max(0) / steps * period as i64
}

/// The period of the symbols from their start and its turns: of three turns or more, otherwise of two. `None` if nothing
/// repeats.
fn cycle(symbols: &[Symbol]) -> Option<(usize, usize)> {
    cycle_of(symbols, MIN_CYCLE_TURNS).or_else(|| cycle_of(symbols, MIN_PAIRED_TURNS))
}

/// The period whose turns have the most calls; among equals, the shortest one.
fn cycle_of(symbols: &[Symbol], min_turns: usize) -> Option<(usize, usize)> {
    let turns_of = |period: usize| {
        let body = symbols.get(..period)?;
        let turns = symbols
            .chunks(period)
            .take_while(|&turn| turn == body)
            .count();
        (turns >= min_turns).then_some((period, turns))
    };
    let longest_first = (1..=MAX_CYCLE_CALLS).rev().filter_map(turns_of);
    longest_first.max_by_key(|&(period, turns)| period * turns)
}

/// The number of different targets of the call at this place of the turns. The rows are in reverse order.
fn different_targets(context: &TableContext<'_>, rows: &[u32], period: usize, place: usize) -> i64 {
    let shown = rows.iter().skip(period - 1 - place).step_by(period);
    let targets: FxHashSet<Text> = shown.map(|&row| context.trace.events.target(row)).collect();
    targets.len() as i64
}

fn named(context: &TableContext<'_>, row: u32) -> String {
    let (events, shape) = (&context.trace.events, context.trace.events.shape(row));
    let texts = [shape.syscall, shape.errno].map(|text| events.texts.string(text));
    texts.join(" ").trim_end().to_owned()
}

fn fails(context: &TableContext<'_>, row: u32) -> bool {
    context.trace.events.outcome(row) == Outcome::Failed
}

fn is_empty(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    ends_file(events, row) && events.outcome(row) == Outcome::Ok
}

fn idles(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let is_over = events.ret(row) == 0 && events.outcome(row) == Outcome::Ok;
    match wait_of_row(events, row) {
        Some(Wait::Sleep) => true,
        Some(Wait::Poll) => is_over && !only_looks(context, row),
        _ => false,
    }
}

/// Whether a call may wait: it is a lock, a sleep or a poll that was not asked to return at once.
fn waits(context: &TableContext<'_>, row: u32) -> bool {
    let wait = wait_of_row(&context.trace.events, row);
    matches!(wait, Some(Wait::Lock | Wait::Sleep | Wait::Poll)) && !only_looks(context, row)
}

/// The time for which the calls of a turn ask to sleep.
fn pause_ns(context: &TableContext<'_>, turn: &[u32]) -> i64 {
    let events = &context.trace.events;
    let sleeps = |row: &&u32| wait_of_row(events, **row) == Some(Wait::Sleep);
    let mut asked = turn
        .iter()
        .filter(sleeps)
        .map(|&row| events.requested_ns(row));
    asked
        .try_fold(0i64, |sum, ns| Some(sum.saturating_add(ns?)))
        .unwrap_or(NO_NS)
}

/// Whether a poll asks without waiting.
fn only_looks(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    wait_of_row(events, row) == Some(Wait::Poll) && events.requested_ns(row) == Some(0)
}

fn is_quick(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let call = syscalls::by_text(events.shape(row).syscall);
    let found_nothing = only_looks(context, row) && events.ret(row) == 0;
    matches!(events.action(row), Action::Yields | Action::ReadsClock)
        || call.is_some_and(Syscall::is_trivial)
        || found_nothing
}

fn is_ready(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    wait_of_row(events, row) == Some(Wait::Poll) && events.ret(row) > 0 && !only_looks(context, row)
}

/// Whether a call takes nothing of what is ready: it changes what is awaited, asks how much there is, or asks whether a process
/// exists.
fn registers(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let op = events.texts.bytes(events.shape(row).op);
    let asks_for_process = events.action(row) == Action::Signals && op == b"0";
    events.action(row) == Action::RegistersPoll || asks_for_process || op == b"FIONREAD"
}
