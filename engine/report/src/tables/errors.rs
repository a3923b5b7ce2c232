//! Errors: the number of failed calls by syscall and error.

use parsers::{NO_NS, Outcome, Text};
use query::selection::Selection;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::ops::Range;
use trace::store::event::{EventKind, NONE, SEGMENT_ROWS};
use trace::store::shape_parts::ShapeParts;
use trace::store::trace::Trace;

/// Failed calls of a syscall with the same error.
#[derive(Clone, Copy, Debug)]
pub struct Errors {
    /// The syscall.
    pub syscall: Text,
    /// Name of the error.
    pub errno: Text,
    /// Number of calls.
    pub calls: u64,
    total_ns: i64,
    first_row: u32,
}

/// The errors of the selected calls, the longest total first, in the order of [`super::calls::calls`].
pub fn errors(trace: &Trace, selection: &Selection<'_>) -> Vec<Errors> {
    let parts = trace.shape_parts();
    let segments = (trace.events.len() as usize).div_ceil(SEGMENT_ROWS);
    let of_segment = |segment: usize| {
        let from = (segment * SEGMENT_ROWS) as u32;
        of_rows(
            trace,
            selection,
            parts,
            from..trace.events.len().min(from + SEGMENT_ROWS as u32),
        )
    };
    let found: Vec<Vec<Errors>> = (0..segments).into_par_iter().map(of_segment).collect();
    let mut sums: FxHashMap<(Text, Text), Errors> = FxHashMap::default();
    for one in found.iter().flatten().filter(|one| one.calls > 0) {
        sums.entry((one.syscall, one.errno))
            .and_modify(|sum| add(sum, one))
            .or_insert(*one);
    }
    let mut errors: Vec<Errors> = sums.into_values().collect();
    errors.sort_unstable_by_key(|one| (Reverse(one.total_ns), Reverse(one.calls), one.first_row));
    errors
}

/// Errors by part of the shapes; most parts have none.
fn of_rows(
    trace: &Trace,
    selection: &Selection<'_>,
    parts: &ShapeParts,
    rows: Range<u32>,
) -> Vec<Errors> {
    let events = &trace.events;
    let none = parts.parts().iter().map(|part| {
        let (syscall, errno) = (part.syscall, part.errno);
        Errors {
            syscall,
            errno,
            calls: 0,
            total_ns: 0,
            first_row: NONE,
        }
    });
    let mut sums: Vec<Errors> = none.collect();
    let is_failed =
        |row: &u32| events.outcome(*row) == Outcome::Failed && events.kind(*row) == EventKind::Call;
    for row in rows.filter(is_failed).filter(|&row| selection.has(row)) {
        let sum = &mut sums[parts.of_shape(events.shape_number(row)) as usize];
        let dur_ns = events.dur_ns(row);
        let total_ns = if dur_ns == NO_NS { 0 } else { dur_ns };
        add(
            sum,
            &Errors {
                calls: 1,
                total_ns,
                first_row: row,
                ..*sum
            },
        );
    }
    sums
}

fn add(sum: &mut Errors, other: &Errors) {
    sum.calls += other.calls;
    sum.total_ns = sum.total_ns.saturating_add(other.total_ns);
    sum.first_row = sum.first_row.min(other.first_row);
}
