//! Gap lengths: stretches on the path in which a task makes no call, or a log is silent, of a length that people choose.
//!
//! ```text
//! write | 5.004 s without a call | write          5 s: a delay in user code, or a sleep that the capture left out?
//! ```

use super::lengths::{SHORTEST_NS, chosen_ns};
use super::timeouts::tick_ns;
use crate::store::events::EventKind;
use crate::table_support::builder::{Found, Sheet};
use crate::table_support::context::View;
use crate::table_support::provenance::Members;
use crate::tables::calls::shape_text;
use parsers::NO_NS;
use std::collections::BTreeMap;

/// Gaps of a task of one length.
struct Group {
    rows: Vec<u32>,
    total_ns: i64,
    exclusive_ns: i64,
    longest: (i64, u32),
    is_log: bool,
}

/// A gap: the event before it, how long it is, how much of that is on the path.
type Gap = (u32, i64, i64);

/// Gaps by task and the length that somebody may have chosen.
pub fn found(view: &View<'_>) -> Found {
    let events = &view.trace.events;
    let mut groups: BTreeMap<(u32, i64), Group> = BTreeMap::new();
    let gaps = view.charges.long_gaps(SHORTEST_NS).into_iter().filter_map(|row| gap(view, row));
    for (row, dur_ns, exclusive_ns) in gaps.chain(silences(view)) {
        let task = events.task(row);
        let Some(round_ns) = chosen_ns(dur_ns, tick_ns(view, task)).filter(|_| view.selection.has(row)) else {
            continue;
        };
        let is_log = events.kind(row) == EventKind::Log;
        let new = || Group { rows: Vec::new(), total_ns: 0, exclusive_ns: 0, longest: (0, row), is_log };
        let group = groups.entry((task, round_ns)).or_insert_with(new);
        group.rows.push(row);
        group.total_ns += dur_ns;
        group.exclusive_ns += exclusive_ns;
        group.longest = group.longest.max((dur_ns, row));
    }
    let mut sheet = Sheet::new(view, "gap_lengths");
    for ((task, round_ns), group) in groups {
        write(view, task, round_ns, group, &mut sheet);
    }
    sheet.finish()
}

/// The gap behind a call, if its whole length is known.
fn gap(view: &View<'_>, row: u32) -> Option<Gap> {
    let events = &view.trace.events;
    let behind = view.trace.rows_from(events.task(row), row).get(1..)?;
    let next = behind.iter().find(|&&row| matches!(events.kind(row), EventKind::Call | EventKind::Exit))?;
    let start_ns = events.end_ns(row)?;
    let next_ns = events.start_ns(*next);
    let dur_ns = next_ns.saturating_sub(start_ns);
    // Printed before: the clock was set back.
    let is_in_order = *next > row;
    (next_ns != NO_NS && dur_ns > 0 && is_in_order).then(|| (row, dur_ns, view.charges.behind_ns(row)))
}

/// The silences of logs.
fn silences<'a>(view: &'a View<'_>) -> impl Iterator<Item = Gap> + 'a {
    let events = &view.trace.events;
    let logs = view.trace.captures.iter().filter(|capture| capture.facts.dur_kind == parsers::DurKind::Gap);
    let rows = logs.flat_map(|capture| capture.rows.clone()).filter(|&row| events.kind(row) == EventKind::Log);
    rows.map(|row| (row, events.dur_ns(row), view.exclusive_ns(row))).filter(|&(_, dur_ns, _)| dur_ns >= SHORTEST_NS)
}

fn write(view: &View<'_>, task: u32, round_ns: i64, mut group: Group, sheet: &mut Sheet<'_>) {
    let events = &view.trace.events;
    let (max_ns, longest) = group.longest;
    let what = |row: u32| match events.kind(row) {
        EventKind::Log => events.texts.string(events.target(row)).into_owned(),
        _ => shape_text(events, events.shape_number(row)),
    };
    let next = view.trace.rows_from(task, longest).get(1).copied();
    group.rows.sort_unstable();
    let (Some(&first_row), Some(&last_row)) = (group.rows.first(), group.rows.last()) else { return };
    sheet.who(task, first_row);
    sheet.int("round_ns", round_ns);
    sheet.int("gaps", group.rows.len() as i64);
    sheet.some_int("silences", group.is_log.then_some(group.rows.len() as i64));
    sheet.int("total_ns", group.total_ns);
    sheet.int("max_ns", max_ns);
    sheet.string("before", Some(&what(longest)));
    sheet.string("after", next.map(what).as_deref());
    sheet.path_ns(group.exclusive_ns);
    sheet.lines(first_row, last_row);
    sheet.members(if group.is_log { Members::Rows(group.rows) } else { Members::Gaps(group.rows) });
}
