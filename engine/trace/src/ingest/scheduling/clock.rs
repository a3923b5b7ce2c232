//! The offset between the clock of scheduler events and that of a capture.
//!
//! ```text
//! capture   |---- clone = 7 ----|             the kernel's fork of 7 is in the call, so the offset is at least
//! kernel         fork 7 |                     (start of the call - fork) and at most (end of the call - fork)
//! ```
//! Many such ranges overlap at the offset.

use crate::store::event::{EventKind, NONE};
use crate::store::heuristics::OFFSET_TOLERANCE_NS;
use crate::store::scheduling::Alignment;
use crate::store::trace::Trace;
use parsers::sched::{SchedChange, SchedEvent, SchedFacts};
use parsers::{NO_NS, Outcome};
use rustc_hash::FxHashMap;

/// Number of ranges that are compared: more do not make the offset more certain.
const MAX_RANGES: usize = 4096;

/// The offset for a capture; `None` if none of its tasks is among the events.
pub(super) fn aligned(
    trace: &Trace,
    capture: u32,
    events: &[SchedEvent],
    facts: &SchedFacts,
) -> Option<Alignment> {
    if !trace.captures.get(capture as usize)?.has_wall_clock() {
        return None;
    }
    let ranges = offset_ranges(trace, capture, events);
    let fitting = |offset_ns: i64| {
        let fits = |&&(least_ns, most_ns): &&(i64, i64)| {
            least_ns - OFFSET_TOLERANCE_NS <= offset_ns
                && offset_ns <= most_ns + OFFSET_TOLERANCE_NS
        };
        ranges.iter().filter(fits).count()
    };
    if let Some(offset_ns) = facts.epoch_offset_ns.filter(|_| is_of_perf(trace, capture)) {
        return Some(Alignment {
            offset_ns,
            is_printed: true,
            compared: ranges.len() as u64,
            fitting: fitting(offset_ns) as u64,
        });
    }
    let (best_ns, most) = best(&ranges)?;
    // With one range in two, a printed offset is right: ids are used again, and some ranges are of other tasks.
    let printed = facts
        .epoch_offset_ns
        .filter(|&offset_ns| 2 * fitting(offset_ns) >= most);
    let offset_ns = printed.unwrap_or(best_ns);
    Some(Alignment {
        offset_ns,
        is_printed: printed.is_some(),
        compared: ranges.len() as u64,
        fitting: fitting(offset_ns) as u64,
    })
}

/// Whether the calls were recorded by perf, on the clock of its other events.
fn is_of_perf(trace: &Trace, capture: u32) -> bool {
    let capture = trace.captures.get(capture as usize);
    capture.is_some_and(|capture| capture.format == "perf-data")
}

/// The offset in the middle of the range where most ranges overlap, and their number.
fn best(ranges: &[(i64, i64)]) -> Option<(i64, usize)> {
    let begins = ranges.iter().map(|&(least_ns, _)| (least_ns, 0));
    let ends = ranges.iter().map(|&(_, most_ns)| (most_ns, 1));
    let mut bounds: Vec<(i64, u8)> = begins.chain(ends).collect();
    bounds.sort_unstable();
    let (mut open, mut best) = (0usize, None);
    for (at, &(ns, bound)) in bounds.iter().enumerate() {
        if bound == 1 {
            open -= 1;
            continue;
        }
        open += 1;
        if best.is_none_or(|(_, most)| open > most) {
            let until_ns = bounds.get(at + 1).map_or(ns, |&(ns, _)| ns);
            best = Some((ns + (until_ns - ns) / 2, open));
        }
    }
    best
}

/// The offsets that each start and each end of a task permits.
fn offset_ranges(trace: &Trace, capture: u32, events: &[SchedEvent]) -> Vec<(i64, i64)> {
    let known = Moments::new(trace, capture);
    let mut exec_numbers: FxHashMap<i32, usize> = FxHashMap::default();
    let range = |event: &SchedEvent| -> Option<(i64, i64)> {
        let (start_ns, end_ns) = match event.change {
            SchedChange::Fork(child) => *known.births.get(&child)?,
            SchedChange::Exit => *known.deaths.get(&event.tid)?,
            SchedChange::Exec => {
                let number = exec_numbers.entry(event.tid).or_default();
                *number += 1;
                *known.execs.get(&event.tid)?.get(*number - 1)?
            }
            _ => return None,
        };
        let least_ns = start_ns.checked_sub(event.time_ns)?;
        Some((least_ns, end_ns.checked_sub(event.time_ns)?))
            .filter(|(_, most_ns)| least_ns <= *most_ns)
    };
    events.iter().filter_map(range).take(MAX_RANGES).collect()
}

/// Ranges of the capture's time, by thread id: the call that created it, its end, and its execs.
#[derive(Default)]
struct Moments {
    births: FxHashMap<i32, (i64, i64)>,
    deaths: FxHashMap<i32, (i64, i64)>,
    execs: FxHashMap<i32, Vec<(i64, i64)>>,
}

impl Moments {
    fn new(trace: &Trace, capture: u32) -> Moments {
        let mut found = Moments::default();
        let Some(capture) = trace.captures.get(capture as usize) else {
            return found;
        };
        let events = &trace.events;
        let span = |row: u32| {
            let (start_ns, end_ns) = (events.start_ns(row), events.end_ns(row)?);
            (start_ns != NO_NS).then_some((start_ns, end_ns))
        };
        for number in capture.task_ids() {
            let task = &trace.tasks[number];
            if task.created_by != NONE && task.created_by < events.len() {
                span(task.created_by).map(|span| found.births.insert(task.tid, span));
            }
            let rows = trace.rows_of(number);
            let last = rows
                .iter()
                .rev()
                .find(|row| events.kind(**row) == EventKind::Call)
                .map(|&row| events.start_ns(row));
            let last = last.filter(|&ns| ns != NO_NS);
            if let Some(last_ns) = last.filter(|_| task.death_ns != NO_NS) {
                found
                    .deaths
                    .insert(task.tid, (last_ns.min(task.death_ns), task.death_ns));
            }
            let is_exec = |row: &&u32| {
                let name = events.texts.bytes(events.shape(**row).syscall);
                name == b"execve" && events.outcome(**row) == Outcome::Ok
            };
            let execs = rows
                .iter()
                .take(64)
                .filter(is_exec)
                .filter_map(|&row| span(row))
                .collect();
            found.execs.insert(task.tid, execs);
        }
        found
    }
}
