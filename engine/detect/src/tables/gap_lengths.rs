//! Gap lengths: gaps on the critical path without a call, or silences of a log, with a length that people typically
//! choose.
//!
//! ```text
//! write | 5.004 s without a call | write          5 s: a delay in user code, or a sleep that the capture left out?
//! ```

use super::stated_durations::is_part_of_stated;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::lengths::chosen_ns;
use kit::table_support::messages::{WAITS, is_free, messages};
use kit::table_support::provenance::Provenance;
use logs::messages::stated::{Meaning, stated};
use parsers::syscalls::Action;
use parsers::{NO_NS, Outcome, Text};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::store::event::EventKind;
use trace::store::events::EventTable;
use trace::store::heuristics::{MIN_CHOSEN_NS, MIN_RHYTHM_WAITS};
use trace::store::index::TaskId;
use trace::store::text_columns::shape_text;
use trace::store::trace::Capture;

table! {
    gap_lengths "Gaps of a round duration, by task and duration.";
    times: Gaps;
    row {
        of: OfTask,
        round_ns: Ns (Same) "The round duration.",
        gaps: Count "Number of gaps of this duration, or up to 1% longer.",
        silences: MaybeCount "The same number if they are silences of a log rather than gaps between calls.",
        total_ns: Ns "Total duration of the gaps.",
        max_ns: Ns (Max) "Longest duration.",
        before: Words "Call or message before the longest gap.",
        after: Words "Call or message after the longest gap.",
        path: PathTime,
        lines: Lines,
    }
}

/// Gaps of a task with one length.
struct Group {
    rows: Vec<u32>,
    total_ns: i64,
    exclusive_ns: i64,
    longest: (i64, u32),
    is_log: bool,
}

/// A gap: the row before it, its length, and the part of it on the critical path, in nanoseconds.
type Gap = (u32, i64, i64);

/// Builds the table of gaps by task and round length.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let events = &context.trace.events;
    let mut groups: BTreeMap<(TaskId, i64), Group> = BTreeMap::new();
    let gaps = context
        .attribution
        .long_gaps(MIN_CHOSEN_NS)
        .into_iter()
        .filter_map(|row| gap(context, row));
    for (row, dur_ns, exclusive_ns) in gaps.chain(silences(context)) {
        let task = events.task(row);
        let tick_ns = context
            .capture_of(task)
            .map_or(1, |capture| capture.facts.tick_ns);
        let is_read = context.selection.has(row) && !has_only_files(context, task);
        let Some(round_ns) = chosen_ns(dur_ns, tick_ns).filter(|_| is_read) else {
            continue;
        };
        let is_log = events.kind(row) == EventKind::Log;
        let group = groups.entry((task, round_ns)).or_insert_with(|| Group {
            rows: Vec::new(),
            total_ns: 0,
            exclusive_ns: 0,
            longest: (0, row),
            is_log,
        });
        group.rows.push(row);
        group.total_ns = group.total_ns.saturating_add(dur_ns);
        group.exclusive_ns = group.exclusive_ns.saturating_add(exclusive_ns);
        group.longest = group.longest.max((dur_ns, row));
    }
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for ((task, round_ns), group) in groups {
        write(context, task, round_ns, group, &mut builder);
    }
    builder.finish()
}

/// Whether a capture has only calls on files: somebody picked them, and what the program did between them is not in it.
fn has_only_files(context: &TableContext<'_>, task: TaskId) -> bool {
    let number = context.trace.tasks[task].capture;
    context
        .trust_of_capture(number)
        .is_some_and(|trust| trust.families == ["file"])
}

/// The gap after a call, if its whole length is known.
fn gap(context: &TableContext<'_>, row: u32) -> Option<Gap> {
    let events = &context.trace.events;
    let later = context.trace.rows_from(events.task(row), row).get(1..)?;
    let next = later
        .iter()
        .find(|&&row| matches!(events.kind(row), EventKind::Call | EventKind::Exit))?;
    let start_ns = events.end_ns(row)?;
    let next_ns = events.start_ns(*next);
    let dur_ns = next_ns.saturating_sub(start_ns);
    // If the next event was printed earlier, the clock was set back.
    let is_in_order = *next > row;
    (next_ns != NO_NS && dur_ns > 0 && is_in_order && !awaits_data(events, row, *next))
        .then(|| (row, dur_ns, context.attribution.own_gap_after_ns(row)))
}

/// Whether a task found nothing to read, and the next call reads from there: it waited for data in a call that the capture left
/// out, and the length is the sender's.
///
/// ```text
/// read(7) EAGAIN | 300 ms without a call | read(7) 13 bytes          epoll_wait is not in the capture
/// ```
fn awaits_data(events: &EventTable, row: u32, next: u32) -> bool {
    let takes = |row: u32| {
        matches!(
            events.action(row),
            Action::Reads | Action::Receives | Action::ReceivesMany | Action::Accepts
        )
    };
    let found_nothing = matches!(
        events.texts.bytes(events.shape(row).errno),
        b"EAGAIN" | b"EWOULDBLOCK"
    );
    found_nothing
        && takes(row)
        && takes(next)
        && events.outcome(next) == Outcome::Ok
        && events.target(row) == events.target(next)
}

/// The silences of logs.
fn silences<'a>(context: &'a TableContext<'_>) -> impl Iterator<Item = Gap> + 'a {
    let captures = (0u32..).zip(&context.trace.captures);
    let logs = captures.filter(|(number, capture)| {
        let is_log = capture.facts.dur_kind == parsers::DurKind::Gap;
        is_log && !is_part_of_stated(context, *number, &messages(context, capture))
    });
    logs.flat_map(move |(_, capture)| {
        let rows = capture.rows.clone();
        let ticks = ticks(context, capture);
        rows.filter_map(move |row| {
            let is_tick = is_repeated(context, capture, row)
                && ticks.contains_key(&context.trace.events.target(row));
            silence(context, capture, row).filter(|_| !is_tick && !states_length(context, row))
        })
    })
}

/// Whether a message contains the duration of the work that it begins, as those of units of systemd do: no delay has this length.
fn states_length(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let stated = stated(&events.texts.string(events.target(row)));
    stated.is_some_and(|stated| stated.meaning == Meaning::Takes)
}

/// Whether the next message has the same text.
fn is_repeated(context: &TableContext<'_>, capture: &Capture, row: u32) -> bool {
    let events = &context.trace.events;
    row + 1 < capture.rows.end
        && events.kind(row) == EventKind::Log
        && events.target(row) == events.target(row + 1)
}

/// Messages that follow themselves several times, and how often. A timer logs them, and nothing waits for it, unless the text says
/// so, and the log has others: where all are the same report, none of them waits for the next.
fn ticks(context: &TableContext<'_>, capture: &Capture) -> FxHashMap<Text, i64> {
    let events = &context.trace.events;
    let mut found: FxHashMap<Text, i64> = FxHashMap::default();
    for row in capture.rows.clone() {
        if is_repeated(context, capture, row) {
            *found.entry(events.target(row)).or_insert(0) += 1;
        }
    }
    let all = messages(context, capture).len() as i64;
    found.retain(|&text, times| {
        let said = events.texts.string(text).to_lowercase();
        let is_rhythm = *times >= MIN_RHYTHM_WAITS && !WAITS.iter().any(|word| said.contains(word));
        *times + 1 == all || is_rhythm
    });
    found
}

/// The silence after a message, if it is long enough and something may have waited.
fn silence(context: &TableContext<'_>, capture: &Capture, row: u32) -> Option<Gap> {
    let events = &context.trace.events;
    let dur_ns = events.dur_ns(row);
    let is_long = events.kind(row) == EventKind::Log && dur_ns >= MIN_CHOSEN_NS;
    let next = (is_long && row + 1 < capture.rows.end).then_some(row + 1);
    (is_long && !next.is_some_and(|next| is_free(context, capture, row, next)))
        .then(|| (row, dur_ns, context.exclusive_ns(row)))
}

fn write(
    context: &TableContext<'_>,
    task: TaskId,
    round_ns: i64,
    mut group: Group,
    builder: &mut TableBuilder<'_>,
) {
    let events = &context.trace.events;
    let (max_ns, longest) = group.longest;
    let what = |row: u32| match events.kind(row) {
        EventKind::Log => events.texts.string(events.target(row)).into_owned(),
        _ => shape_text(events, events.shape_number(row)),
    };
    let next = context.trace.rows_from(task, longest).get(1).copied();
    group.rows.sort_unstable();
    let (Some(&first_row), Some(&last_row)) = (group.rows.first(), group.rows.last()) else {
        return;
    };
    let row = TableRow {
        of: TaskAt {
            task,
            row: first_row,
        },
        round_ns,
        gaps: group.rows.len() as i64,
        silences: group.is_log.then_some(group.rows.len() as i64),
        total_ns: group.total_ns,
        max_ns,
        before: Some(what(longest).to_owned()),
        after: next.map(what),
        path: group.exclusive_ns,
        lines: LinesOf {
            first_row,
            last_row,
        },
    };
    builder.add(
        row,
        if group.is_log {
            Provenance::Rows(group.rows)
        } else {
            Provenance::Gaps(group.rows)
        },
    );
}
