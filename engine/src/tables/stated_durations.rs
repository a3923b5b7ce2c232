//! Durations that messages of a log state, by the text before the number.
//!
//! ```text
//! log      …──────────── sync took 7.6 s      the interval ends with its message
//! counted  |-- 7.6 s --|                      each moment once: for the shortest interval around it
//! ```

use super::silences::messages;
use crate::logs::stated::{Meaning, Stated, stated};
use crate::logs::words;
use crate::store::heuristics::{MAX_PROGRESS_DRIFT_NS, SEVERAL_DAYS_NS};
use crate::table_support::builder::{BuiltTable, TableBuilder};
use crate::table_support::context::TableContext;
use crate::table_support::provenance::Provenance;
use parsers::{DurKind, Text};
use rustc_hash::FxHashMap;

/// One event with a stated duration.
struct Event {
    row: u32,
    start_ns: i64,
    end_ns: i64,
    stated: Stated,
    group: usize,
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
    let mut builder = TableBuilder::new(context, "stated_durations");
    for (number, capture) in (0u32..).zip(&context.trace.captures) {
        if capture.facts.dur_kind == DurKind::Gap {
            let rows = messages(context, capture);
            let (mut events, mut groups) = events(context, &rows, capture.facts.tick_ns);
            charge(context, number, &rows, &mut events, &mut groups);
            let mut order: Vec<usize> = (0..groups.len()).collect();
            order.sort_by_key(|&group| {
                std::cmp::Reverse((groups[group].exclusive_ns, longest(&events, &groups[group]).0))
            });
            for (rank, &group) in (1..).zip(&order) {
                write(context, (number, rank), &events, std::mem::take(&mut groups[group]), &mut builder);
            }
        }
    }
    builder.finish()
}

/// The events of a log. Messages about the progress of one event, which began at the same time, are one.
fn events(context: &TableContext<'_>, rows: &[u32], tick_ns: i64) -> (Vec<Event>, Vec<Group>) {
    let table = &context.trace.events;
    let mut known: FxHashMap<Text, Option<(Stated, String)>> = FxHashMap::default();
    let (mut events, mut groups, mut by_key): (Vec<Event>, Vec<Group>, FxHashMap<String, usize>) = Default::default();
    for &row in rows {
        let text = table.target(row);
        let read = known.entry(text).or_insert_with(|| {
            let message = table.texts.string(text);
            stated(&message).map(|stated| {
                let key = format!("{:?} {}", stated.meaning, subject(&message[..stated.at.start]));
                (stated, key)
            })
        });
        let Some((stated, key)) = read else { continue };
        let group = *by_key.entry(key.clone()).or_insert_with(|| {
            groups.push(Group::default());
            groups.len() - 1
        });
        let at_ns = table.start_ns(row);
        let (start_ns, end_ns) = match stated.meaning {
            Meaning::Planned => (at_ns, at_ns.saturating_add(stated.dur_ns)),
            _ => (at_ns.saturating_sub(stated.dur_ns), at_ns),
        };
        let event = Event { row, start_ns, end_ns, stated: stated.clone(), group };
        let last = groups[group].events.last().map(|&last| &mut events[last]);
        let drift_ns = MAX_PROGRESS_DRIFT_NS.max(tick_ns);
        match last.filter(|last: &&mut Event| {
            event.stated.dur_ns > last.stated.dur_ns && (event.start_ns - last.start_ns).abs() <= drift_ns
        }) {
            Some(last) => *last = event,
            None => {
                groups[group].events.push(events.len());
                events.push(event);
            }
        }
    }
    (events, groups)
}

/// The text before a number, without other numbers. A job of systemd goes by its name, not by the bar before it.
fn subject(before: &str) -> String {
    let job = ["A start job is", "A stop job is"].iter().find_map(|job| before.find(job));
    let before = job.map_or(before, |at| &before[at..]);
    words::shape(&words::cut(before).frame, &[])
}

/// Charge each silence to the shortest event around it.
fn charge(context: &TableContext<'_>, capture: u32, rows: &[u32], events: &mut [Event], groups: &mut [Group]) {
    let table = &context.trace.events;
    if context.wall_ns(capture) == 0 {
        // Without a window, the durations are all that is known.
        for event in events.iter() {
            groups[event.group].exclusive_ns += event.stated.dur_ns;
        }
        return;
    }
    let mut order: Vec<usize> = (0..events.len()).collect();
    order.sort_by_key(|&event| (events[event].end_ns - events[event].start_ns, event));
    let starts: Vec<i64> = rows.iter().map(|&row| table.start_ns(row)).collect();
    let mut next: Vec<usize> = (0..=rows.len()).collect();
    let end_of = |at: usize| starts.get(at + 1).copied().unwrap_or(starts[at]);
    for event in order {
        let Event { start_ns, end_ns, group, .. } = events[event];
        let mut at = starts.partition_point(|&start| start <= start_ns).saturating_sub(1);
        at = super::silences::free(&mut next, at);
        while at < rows.len() && starts[at] < end_ns {
            let silent_ns = end_of(at) - starts[at];
            let covered_ns = end_of(at).min(end_ns) - starts[at].max(start_ns);
            if covered_ns * 2 >= silent_ns && silent_ns > 0 && covered_ns > 0 {
                groups[group].exclusive_ns += context.exclusive_ns(rows[at]).min(covered_ns);
                groups[group].rows.push(rows[at]);
                next[at] = at + 1;
            }
            at = super::silences::free(&mut next, at + 1);
        }
    }
}

fn longest(events: &[Event], group: &Group) -> (i64, usize) {
    group.events.iter().map(|&event| (events[event].stated.dur_ns, event)).max().unwrap_or((0, 0))
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
    let message = context.trace.events.texts.string(context.trace.events.target(event.row));
    let count = group.events.len() as i64;
    let wall_ns = context.wall_ns(capture);
    let kind = match event.stated.meaning {
        Meaning::Took => "took",
        Meaning::AtLeast => "at least",
        Meaning::Planned => "planned",
    };
    builder.capture(capture);
    builder.string("kind", Some(kind));
    builder.string("target", Some(&message));
    builder.string("stated", message.get(event.stated.at.clone()));
    builder.string("at_least", (event.stated.meaning == Meaning::AtLeast).then_some("at least "));
    builder.int("calls", count);
    builder.some_int("several", (count > 1).then_some(count));
    builder.int("total_ns", group.events.iter().map(|&event| events[event].stated.dur_ns).sum());
    builder.int("max_ns", max_ns);
    builder.int("rank", rank);
    builder.int("could_free_ns", if wall_ns >= SEVERAL_DAYS_NS { 0 } else { group.exclusive_ns });
    builder.path_ns(group.exclusive_ns);
    builder.lines(event.row, event.row);
    let own = if group.rows.is_empty() { vec![event.row] } else { group.rows };
    builder.members(Provenance::Rows(own));
}
