//! Rows that may have ended waits, in order of their starts, for lookups by a walk that goes back in time.

use crate::waits::times::end_ns;
use std::sync::atomic::{AtomicU32, Ordering};
use trace::store::trace::Trace;

/// Rows in order of their starts.
#[derive(Default)]
pub(super) struct Ordered {
    rows: Vec<u32>,
    /// Their starts. A search in the event table would miss the cache at each step.
    starts_ns: Vec<i64>,
    /// The longest duration of a row.
    longest_ns: i64,
    /// The results of the last searches, of half of the cores each. The next one of a core is usually near, so this
    /// affects the speed of a search, not its result.
    recent: [AtomicU32; 2],
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
        self.starts_ns = self.rows.iter().map(start_ns).collect();
        let timed = self.rows.iter().zip(&self.starts_ns);
        let took_ns = timed.map(|(&row, &start_ns)| end_ns(trace, row).saturating_sub(start_ns));
        self.longest_ns = took_ns.max().unwrap_or(0);
    }

    /// The rows.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The rows that start at or before a moment, the last first, as far back as a row can still end after `after_ns`.
    pub(super) fn back_from(&self, at_ns: i64, after_ns: i64) -> impl Iterator<Item = u32> {
        let behind = self.behind(at_ns);
        let longest_ns = self.longest_ns;
        let timed = self.rows[..behind].iter().zip(&self.starts_ns[..behind]);
        timed
            .rev()
            .take_while(move |&(_, start_ns)| start_ns.saturating_add(longest_ns) > after_ns)
            .map(|(&row, _)| row)
    }

    /// The number of rows that start at or before a moment, by a galloping search from the last result.
    fn behind(&self, at_ns: i64) -> usize {
        let begins_before = |at: usize| self.starts_ns[at] <= at_ns;
        let (len, mut step) = (self.starts_ns.len(), 1);
        let recent = &self.recent[rayon::current_thread_index().unwrap_or(0) % 2];
        let near = (recent.load(Ordering::Relaxed) as usize).min(len);
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
        let found = from + self.starts_ns[from..to].partition_point(|&start_ns| start_ns <= at_ns);
        recent.store(found as u32, Ordering::Relaxed);
        found
    }
}
