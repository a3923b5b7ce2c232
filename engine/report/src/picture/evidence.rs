//! Where lines of evidence lie in time.

use parsers::NO_NS;
use rustc_hash::FxHashMap;
use trace::store::event::NONE;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// The event of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its task.
    pub task: TaskId,
    /// Its start.
    pub start_ns: i64,
    /// Its end; the start if there is none.
    pub end_ns: i64,
}

/// The events of these lines of a capture, each given by the position of its file and its number. None for a line that
/// begins no event, or without a clock.
pub fn places(trace: &Trace, capture: u32, lines: &[(u32, u32)]) -> Vec<Option<Place>> {
    let Some(known) = trace.captures.get(capture as usize) else {
        return vec![None; lines.len()];
    };
    let events = &trace.events;
    let mut rows: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    if known.files.len() <= 1 && is_in_order(trace, known.rows.clone()) {
        for &(file, line) in lines {
            let row = first_at(known.rows.clone(), |row| events.line(row) >= line);
            rows.insert(
                (file, line),
                row.filter(|&row| events.line(row) == line).unwrap_or(NONE),
            );
        }
    } else {
        rows.extend(lines.iter().map(|&line| (line, NONE)));
        for row in known.rows.clone() {
            let event = events.event(row);
            if let Some(known) =
                rows.get_mut(&(event.file.wrapping_sub(known.first_file), event.line))
            {
                *known = row;
            }
        }
    }
    let place = |line: &(u32, u32)| {
        let row = rows
            .get(line)
            .copied()
            .filter(|&row| row != NONE && events.start_ns(row) != NO_NS)?;
        let start_ns = events.start_ns(row);
        let end_ns = events.end_ns(row).unwrap_or(start_ns);
        Some(Place {
            task: events.task(row),
            start_ns,
            end_ns,
        })
    };
    lines.iter().map(place).collect()
}

/// Whether the first, middle and last rows of a capture are in the order of their lines. Captures that are printed newest
/// first are not.
fn is_in_order(trace: &Trace, rows: std::ops::Range<u32>) -> bool {
    let Some(last) = rows.end.checked_sub(1).filter(|&last| last >= rows.start) else {
        return true;
    };
    let lines =
        [rows.start, rows.start + (last - rows.start) / 2, last].map(|row| trace.events.line(row));
    lines.is_sorted()
}

fn first_at(rows: std::ops::Range<u32>, is_past: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut from, mut to) = (rows.start, rows.end);
    while from < to {
        let middle = from + (to - from) / 2;
        if is_past(middle) {
            to = middle
        } else {
            from = middle + 1
        }
    }
    (from < rows.end).then_some(from)
}
