//! Durations that messages of a log state, by the text before the number or by the subject.
//!
//! ```text
//! log      …──────────── sync took 7.6 s      the interval ends with its message
//! counted  |-- 7.6 s --|                      each moment once: for the shortest interval around it
//! outside         |-- 7.6 s -|…               began before the log: known only from the message
//! outage          X not responding ──── X OK  two messages state it together, as they do for a step of a job
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, table};
use kit::table_support::messages::{free, is_cut, messages};
use kit::table_support::provenance::Provenance;
use logs::messages::endings::is_background;
use logs::messages::pairs::outages;
use logs::messages::stated::{Meaning, Stated, stated};
use logs::messages::steps::{is_step, steps};
use logs::messages::words;
use parsers::{DurKind, NO_NS, Text};
use rustc_hash::FxHashMap;
use std::ops::Range;
use trace::store::event::EventKind;
use trace::store::heuristics::{
    MAX_BOUND_PARTS, MAX_PROGRESS_DRIFT_NS, MAX_UNDATED_LINES, MIN_RUNNING_LOG_NS, SEVERAL_DAYS_NS,
    WHOLE_START_PHRASES,
};
use trace::store::trace::Capture;

table! {
    stated_durations "Durations that log messages state.";
    times: Calls;
    row {
        capture: Capture "Number of the capture.",
        kind: Words "took, at least (a limit was exceeded), planned (a wait that begins with the message) outage (between a message that something does not answer and the one that it does), step (of a job) or whole (the build, whose steps are stated).",
        target: Words "The message with the longest duration; of an outage, the first one.",
        until: Words "The message that ends the longest outage.",
        stated: Words "The longest duration as the message prints it.",
        at_least: Words "`at least ` if the message states a lower bound.",
        calls: Count "Number of events with this text before the number; several messages about the progress of one are one.",
        several: MaybeNumber "The same if there are several.",
        total_ns: Ns "Total duration as stated.",
        max_ns: Ns (Max) "Longest duration as stated.",
        rank: Number "Position by critical-path time, from 1.",
        outside_ns: Ns "Longest duration if most of it precedes the first message of the log.",
        outside_share: Ratio "outside_ns as a share of the window and outside_ns.",
        could_free_ns: Ns "Upper bound of the saving: outside_ns, otherwise exclusive_ns; 0 for a log of days, for work beside the job, and for steps of a job and what they state.",
        known_ns: Ns "outside_ns, otherwise exclusive_ns.",
        path: PathTime { exclusive_ns "Part of the window in these intervals and in no shorter one." },
        lines: Lines {
            first_line "Line of the longest; of an outage, its first line.",
            last_line "Line of the longest.",
        },
    }
}

/// What the readers make of the last line of a build.
const WHOLE: &str = "the build took ";
/// The message of systemd at the end of a boot.
const STARTUP: &str = "Startup finished in ";

/// Whether messages state how long steps took.
fn events_have_steps(context: &TableContext<'_>, events: &[Event]) -> bool {
    let table = &context.trace.events;
    events
        .iter()
        .any(|event| is_step(&table.texts.string(table.target(event.row))))
}

/// Whether messages state more than how long the whole boot took.
fn has_parts(context: &TableContext<'_>, events: &[Event]) -> bool {
    let table = &context.trace.events;
    events.iter().any(|event| {
        let message = table.texts.string(table.target(event.row));
        !message.contains(STARTUP) && !message.contains(" reached after ")
    })
}

/// One event with a stated duration.
struct Event {
    row: u32,
    start_ns: i64,
    end_ns: i64,
    stated: Stated,
    group: usize,
    /// Whether most of it precedes the first message of the log.
    is_outside: bool,
    /// What two messages state together, and the first of them.
    from: Option<(Interval, u32)>,
}

/// What lasts from one message to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Interval {
    Outage,
    Step,
}

/// Events with the same text before their numbers.
#[derive(Default)]
struct Group {
    events: Vec<usize>,
    exclusive_ns: i64,
    rows: Vec<u32>,
}

/// Builds the table of stated durations.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (number, capture) in (0u32..).zip(&context.trace.captures) {
        if capture.facts.dur_kind == DurKind::Gap {
            let rows = messages(context, capture);
            let (mut events, mut groups) = events(context, capture, &rows);
            charge(context, number, &rows, &mut events, &mut groups);
            let mut order: Vec<usize> = (0..groups.len()).collect();
            order.sort_by_key(|&group| {
                std::cmp::Reverse((
                    groups[group].exclusive_ns,
                    longest(&events, &groups[group]).0,
                ))
            });
            for (rank, &group) in (1..).zip(&order) {
                write(
                    context,
                    (number, rank),
                    &events,
                    std::mem::take(&mut groups[group]),
                    &mut builder,
                );
            }
        }
    }
    builder.finish()
}

/// Whether a log is a short part of what it states, so that its silences are not what took the time.
pub(super) fn is_part_of_stated(context: &TableContext<'_>, number: u32, rows: &[u32]) -> bool {
    let wall_ns = context.wall_ns(number);
    let Some(capture) = context
        .trace
        .captures
        .get(number as usize)
        .filter(|_| wall_ns < MIN_RUNNING_LOG_NS)
    else {
        return false;
    };
    let (events, _) = events(context, capture, rows);
    events
        .iter()
        .any(|event| event.is_outside && event.stated.dur_ns >= wall_ns)
}

/// A duration as the message prints it, with its name if that contains the unit.
fn as_printed<'text>(message: &'text str, at: &Range<usize>) -> &'text str {
    let printed = message.get(at.clone()).unwrap_or("");
    let has_unit = printed.ends_with(char::is_alphabetic) || printed.contains(':');
    let before = message.get(..at.start).filter(|_| !has_unit).unwrap_or("");
    let name = before.trim_end_matches(['"', ' ', '=', ':']);
    let name = name.trim_end_matches(|letter: char| {
        letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')
    });
    if before.is_empty() {
        printed
    } else {
        message.get(name.len()..at.end).unwrap_or(printed)
    }
}

/// The message; of a unit in the tree of systemd the words for its time, which the tree leaves out.
fn as_told(message: &str, stated: &Stated) -> String {
    match message.split_once(" @").or(message.split_once(" (")) {
        Some((unit, _)) if stated.meaning == Meaning::Takes => {
            format!("{unit} took {}", as_printed(message, &stated.at))
        }
        _ => message.to_owned(),
    }
}

/// Each message of a log with its time. One without a time belongs to the one before it, or to the one after it if it states
/// more than the log has had until then. In a few quoted lines without any time, all are at one moment.
fn dated(context: &TableContext<'_>, capture: &Capture, rows: &[u32]) -> Vec<(u32, i64)> {
    let events = &context.trace.events;
    let mut all: Vec<(u32, i64)> = rows
        .iter()
        .map(|&row| (row, events.start_ns(row)))
        .collect();
    let first_ns = rows
        .iter()
        .map(|&row| events.start_ns(row))
        .min()
        .unwrap_or(0);
    let next_ns = |row: u32| {
        let later = (row + 1..capture.rows.end).take(MAX_UNDATED_LINES);
        later
            .map(|other| events.start_ns(other))
            .find(|&start_ns| start_ns != NO_NS)
    };
    let precedes = |row: u32, at_ns: i64| {
        let stated = stated(&events.texts.string(events.target(row)));
        stated.is_some_and(|stated| !stated.meaning.begins() && at_ns - stated.dur_ns < first_ns)
    };
    let mut at_ns = first_ns;
    for row in capture
        .rows
        .clone()
        .filter(|&row| events.kind(row) == EventKind::Log && context.selection.has(row))
    {
        match events.start_ns(row) {
            NO_NS if at_ns != NO_NS => {
                let later_ns = if precedes(row, at_ns) {
                    next_ns(row)
                } else {
                    None
                };
                all.push((
                    row,
                    later_ns
                        .filter(|&later_ns| later_ns > at_ns)
                        .unwrap_or(at_ns),
                ));
            }
            NO_NS => {}
            start_ns => at_ns = start_ns,
        }
    }
    all.sort_by_key(|&(row, at_ns)| (at_ns, row));
    all
}

/// The events of a log. Messages about the progress of one event, which began at the same time, are one.
fn events(context: &TableContext<'_>, capture: &Capture, rows: &[u32]) -> (Vec<Event>, Vec<Group>) {
    let table = &context.trace.events;
    let messages = dated(context, capture, rows);
    let first_ns = messages.first().map_or(NO_NS, |&(_, at_ns)| at_ns);
    let mut known: FxHashMap<Text, Option<(Stated, String)>> = FxHashMap::default();
    let (mut events, mut groups, mut by_key): (Vec<Event>, Vec<Group>, FxHashMap<String, usize>) =
        Default::default();
    for (row, at_ns) in messages {
        let text = table.target(row);
        let read = known.entry(text).or_insert_with(|| {
            let message = table.texts.string(text);
            stated(&message).map(|stated| {
                let key = format!(
                    "{:?} {}",
                    stated.meaning,
                    subject(&message[..stated.at.start])
                );
                (stated, key)
            })
        });
        let Some((stated, key)) = read else { continue };
        let group = *by_key.entry(key.clone()).or_insert_with(|| {
            groups.push(Group::default());
            groups.len() - 1
        });
        let (start_ns, end_ns) = if stated.meaning.begins() {
            (at_ns, at_ns.saturating_add(stated.dur_ns))
        } else {
            (at_ns.saturating_sub(stated.dur_ns), at_ns)
        };
        // In halves, because a sum could overflow.
        let is_outside = !stated.meaning.begins() && first_ns - start_ns > stated.dur_ns / 2;
        let event = Event {
            row,
            start_ns,
            end_ns,
            stated: stated.clone(),
            group,
            is_outside,
            from: None,
        };
        let last = groups[group].events.last().map(|&last| &mut events[last]);
        let drift_ns = MAX_PROGRESS_DRIFT_NS.max(capture.facts.tick_ns);
        // What began after the end of another one is not its progress: pauses of a collector follow each other quickly.
        let is_near = |last: &Event| {
            rows.is_empty()
                || (event.start_ns - last.start_ns).abs() <= drift_ns
                    && event.start_ns < last.end_ns.saturating_add(capture.facts.tick_ns)
        };
        match last
            .filter(|last: &&mut Event| event.stated.dur_ns >= last.stated.dur_ns && is_near(last))
        {
            Some(last) => *last = event,
            None => {
                groups[group].events.push(events.len());
                events.push(event);
            }
        }
    }
    add_intervals(context, rows, &mut events, &mut groups);
    (events, groups)
}

/// Adds what lasts from one message to another: outages, from the first message that something does not answer to the one
/// that it does again, and steps of a job.
fn add_intervals(
    context: &TableContext<'_>,
    rows: &[u32],
    events: &mut Vec<Event>,
    groups: &mut Vec<Group>,
) {
    let table = &context.trace.events;
    let texts: Vec<_> = rows
        .iter()
        .map(|&row| table.texts.string(table.target(row)))
        .collect();
    let outages = outages(texts.iter().map(|text| ("", text.as_ref())));
    let steps = steps(texts.iter().map(|text| text.as_ref()));
    let intervals = outages.into_iter().map(|ends| (ends, Interval::Outage));
    let intervals = intervals.chain(steps.into_iter().map(|ends| (ends, Interval::Step)));
    let mut by_text: FxHashMap<(Interval, Text), usize> = FxHashMap::default();
    for ((begin, end), kind) in intervals {
        let (from, row) = (rows[begin], rows[end]);
        let (start_ns, end_ns) = (table.start_ns(from), table.start_ns(row));
        if end_ns <= start_ns {
            continue;
        }
        // The last message names what did not answer, and the first one the step.
        let named = if kind == Interval::Outage { row } else { from };
        let key = (kind, table.target(named));
        let group = *by_text.entry(key).or_insert_with(|| {
            groups.push(Group::default());
            groups.len() - 1
        });
        groups[group].events.push(events.len());
        let stated = Stated {
            dur_ns: end_ns - start_ns,
            meaning: Meaning::Took,
            at: 0..0,
        };
        events.push(Event {
            row,
            start_ns,
            end_ns,
            stated,
            group,
            is_outside: false,
            from: Some((kind, from)),
        });
    }
}

/// The text before a number, without other numbers. A job of systemd goes by its name, not by the bar before it.
fn subject(before: &str) -> String {
    let job = ["A start job is", "A stop job is"]
        .iter()
        .find_map(|job| before.find(job));
    let before = job.map_or(before, |at| &before[at..]);
    words::shape(&words::cut(before).frame, &[])
}

/// Charge each silence to the shortest event around it: to one that covers half of it, or to one that ends it and may have
/// lasted longer than its message states.
fn charge(
    context: &TableContext<'_>,
    capture: u32,
    rows: &[u32],
    events: &mut [Event],
    groups: &mut [Group],
) {
    let table = &context.trace.events;
    if context.wall_ns(capture) == 0 {
        // Without a window, the durations are all that is known.
        for event in events.iter().filter(|event| !event.is_outside) {
            groups[event.group].exclusive_ns = groups[event.group]
                .exclusive_ns
                .saturating_add(event.stated.dur_ns);
        }
        return;
    }
    let mut order: Vec<usize> = (0..events.len()).collect();
    order.sort_by_key(|&event| (events[event].end_ns - events[event].start_ns, event));
    let starts: Vec<i64> = rows.iter().map(|&row| table.start_ns(row)).collect();
    let mut next: Vec<usize> = (0..=rows.len()).collect();
    let log = context.trace.captures.get(capture as usize);
    let is_left_out = |at: usize| match (log, rows.get(at + 1)) {
        (Some(log), Some(&next)) => is_cut(context, log, rows[at], next),
        _ => false,
    };
    let end_of = |at: usize| starts.get(at + 1).copied().unwrap_or(starts[at]);
    for event in order {
        let Event {
            start_ns,
            end_ns,
            group,
            ..
        } = events[event];
        let is_bound = events[event].stated.meaning == Meaning::AtLeast;
        let mut at = starts
            .partition_point(|&start| start <= start_ns)
            .saturating_sub(1);
        at = free(&mut next, at);
        while at < rows.len() && starts[at] < end_ns {
            let silent_ns = end_of(at) - starts[at];
            let covered_ns = end_of(at).min(end_ns) - starts[at].max(start_ns);
            let parts = if is_bound && end_of(at) <= end_ns {
                MAX_BOUND_PARTS
            } else {
                2
            };
            let is_charged = covered_ns.saturating_mul(parts) >= silent_ns && covered_ns > 0;
            if is_charged && silent_ns > 0 && !is_left_out(at) {
                groups[group].exclusive_ns = groups[group]
                    .exclusive_ns
                    .saturating_add(context.exclusive_ns(rows[at]).min(covered_ns));
                groups[group].rows.push(rows[at]);
                next[at] = at + 1;
            }
            at = free(&mut next, at + 1);
        }
    }
}

fn longest(events: &[Event], group: &Group) -> (i64, usize) {
    group
        .events
        .iter()
        .map(|&event| (events[event].stated.dur_ns, event))
        .max()
        .unwrap_or((0, 0))
}

fn write(
    context: &TableContext<'_>,
    (capture, rank): (u32, i64),
    events: &[Event],
    group: Group,
    builder: &mut TableBuilder<'_>,
) {
    let (max_ns, at) = longest(events, &group);
    let Some(event) = events.get(at) else { return };
    let table = &context.trace.events;
    let message = table.texts.string(table.target(event.row));
    let count = group.events.len() as i64;
    let wall_ns = context.wall_ns(capture);
    let outside_ns = Some(max_ns).filter(|&max_ns| event.is_outside && max_ns > group.exclusive_ns);
    let kind = match (event.from, event.stated.meaning) {
        (Some((Interval::Outage, _)), _) => "outage",
        (Some((Interval::Step, _)), _) => "step",
        (None, Meaning::Took | Meaning::Takes) if is_step(&message) => "step",
        (None, Meaning::Took)
            if message.starts_with(WHOLE) && events_have_steps(context, events) =>
        {
            "whole"
        }
        // Where messages have times, the silences between them say where it went; otherwise the other ones do.
        (None, Meaning::Took)
            if wall_ns > 0
                && WHOLE_START_PHRASES
                    .iter()
                    .any(|phrase| message.contains(phrase))
                || message.contains(STARTUP) && has_parts(context, events) =>
        {
            "whole"
        }
        (None, Meaning::Took | Meaning::Takes) => "took",
        (None, Meaning::AtLeast) => "at least",
        (None, Meaning::Planned) => "planned",
    };
    let from = event
        .from
        .map(|(_, from)| table.texts.string(table.target(from)).into_owned());
    // Nothing waits for work beside the job. A step is what the job is for, so its time is an observation; so is what its
    // programs state of their own work.
    let is_job = || {
        events
            .iter()
            .any(|event| matches!(event.from, Some((Interval::Step, _))))
    };
    let is_free = matches!(kind, "step" | "whole")
        || kind == "took" && is_job()
        || wall_ns >= SEVERAL_DAYS_NS
        || is_background(&message);
    let known_ns = outside_ns.unwrap_or(group.exclusive_ns);
    let in_window_ns = if is_free { 0 } else { group.exclusive_ns };
    let is_bound = event.stated.meaning == Meaning::AtLeast;
    let values = TableRow {
        capture,
        kind: Some(kind.to_owned()),
        until: from.is_some().then(|| message.clone().into_owned()),
        target: Some(from.unwrap_or_else(|| as_told(&message, &event.stated))),
        stated: Some(as_printed(&message, &event.stated.at).to_owned()),
        at_least: is_bound.then(|| "at least ".to_owned()),
        calls: count,
        several: (count > 1).then_some(count),
        total_ns: group
            .events
            .iter()
            .map(|&event| events[event].stated.dur_ns)
            .sum(),
        max_ns,
        rank,
        outside_ns: outside_ns.unwrap_or(NO_NS),
        outside_share: outside_ns.map(|ns| ns as f64 / ns.saturating_add(wall_ns) as f64),
        could_free_ns: outside_ns
            .filter(|_| !matches!(kind, "step" | "whole") && !is_background(&message))
            .unwrap_or(in_window_ns),
        known_ns,
        path: group.exclusive_ns,
        lines: LinesOf {
            first_row: event.from.map_or(event.row, |(_, from)| from),
            last_row: event.row,
        },
    };
    builder.add(values, Provenance::Rows(group.rows));
}
