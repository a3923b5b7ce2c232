//! Sums over calls: how many, how long, how much on the path.

use crate::table_support::context::TableContext;
use parsers::{NO_NS, Outcome};

/// What calls have together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallStats {
    /// How many.
    pub calls: i64,
    /// How many failed.
    pub failed: i64,
    /// Sum of their durations; [`NO_NS`] if none has one.
    pub total_ns: i64,
    /// Their time on the path.
    pub exclusive_ns: i64,
    /// The longest; [`NO_NS`] if none has a duration.
    pub max_ns: i64,
    /// Bytes moved.
    pub bytes: i64,
    /// The first and the last of them.
    pub first_row: u32,
    /// See `first_row`.
    pub last_row: u32,
    /// The longest of them.
    pub longest_row: u32,
}

impl CallStats {
    /// Nothing yet; calls from this one on.
    pub fn new(first_row: u32) -> CallStats {
        CallStats {
            calls: 0,
            failed: 0,
            total_ns: NO_NS,
            exclusive_ns: 0,
            max_ns: NO_NS,
            bytes: 0,
            first_row,
            last_row: first_row,
            longest_row: first_row,
        }
    }

    /// One more call.
    pub fn add(&mut self, context: &TableContext<'_>, row: u32) {
        let events = &context.trace.events;
        self.calls += 1;
        self.failed += i64::from(events.outcome(row) == Outcome::Failed);
        self.exclusive_ns += context.exclusive_ns(row);
        self.bytes += events.bytes(row).unwrap_or(0).max(0);
        self.first_row = self.first_row.min(row);
        self.last_row = self.last_row.max(row);
        let dur_ns = events.dur_ns(row);
        if dur_ns != NO_NS {
            self.total_ns = if self.total_ns == NO_NS { dur_ns } else { self.total_ns.saturating_add(dur_ns) };
            if self.max_ns == NO_NS || dur_ns > self.max_ns {
                (self.max_ns, self.longest_row) = (dur_ns, row);
            }
        }
    }
}
