//! Rows that may have ended waits, in order of their starts, for lookups by a walk that goes back in time.

use crate::store::trace::Trace;
use crate::waits::times::end_ns;
use std::sync::atomic::{AtomicU32, Ordering};

/// Rows in order of their starts.
#[derive(Default)]
pub(super) struct Ordered {
    rows: Vec<u32>,
    /// The longest duration of a row.
    longest_ns: i64,
    /// The result of the last search. The next one is usually near, so this affects the speed of a search, not its
    /// result.
    recent: AtomicU32,
}

impl Ordered {
    /// Add a row, in any order; see [`Ordered::order`].
    pub(super) fn push(&mut self, row: u32) {
        self.rows.push(row);
    }

    /// Sort the rows after the last one was added.
    pub(super) fn order(&mut self, trace: &Trace) {
        let start_ns = |row: &u32| trace.events.start_ns(*row);
        if !self.rows.is_sorted_by_key(start_ns) {
            self.rows.sort_by_key(start_ns);
        }
        let took_ns = |&row: &u32| end_ns(trace, row).saturating_sub(trace.events.start_ns(row));
        self.longest_ns = self.rows.iter().map(took_ns).max().unwrap_or(0);
    }

    /// The rows.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The rows that start at or before a moment, the last first, as far back as a row can still end after `after_ns`.
    pub(super) fn back_from(&self, trace: &Trace, at_ns: i64, after_ns: i64) -> impl Iterator<Item = u32> {
        let behind = self.behind(trace, at_ns);
        let (events, longest_ns) = (&trace.events, self.longest_ns);
        let reaches = move |row: &u32| events.start_ns(*row).saturating_add(longest_ns) > after_ns;
        self.rows.get(..behind).unwrap_or_default().iter().rev().copied().take_while(reaches)
    }

    /// The number of rows that start at or before a moment, by a galloping search from the last result.
    fn behind(&self, trace: &Trace, at_ns: i64) -> usize {
        let begins_before = |at: usize| trace.events.start_ns(self.rows[at]) <= at_ns;
        let (len, mut step) = (self.rows.len(), 1);
        let near = (self.recent.load(Ordering::Relaxed) as usize).min(len);
        let (mut from, mut to) = (near, near);
        while to < len && begins_before(to) {
            (from, to) = (to + 1, (to + step).min(len));
            step *= 2;
        }
        step = 1;
        while from > 0 && !begins_before(from - 1) {
            (from, to) = ((from - 1).saturating_sub(step), from - 1);
            step *= 2;
        }
        let found = from + self.rows[from..to].partition_point(|&row| trace.events.start_ns(row) <= at_ns);
        self.recent.store(found as u32, Ordering::Relaxed);
        found
    }
}
