//! Sums over calls: count, duration and time on the critical path.

use crate::table_support::context::TableContext;
use parsers::{NO_NS, Outcome};

/// Sums over a set of calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallStats {
    /// Number of calls.
    pub calls: i64,
    /// Number of calls that failed.
    pub failed: i64,
    /// Sum of the durations; [`NO_NS`] if no call has one.
    pub total_ns: i64,
    /// Time on the critical path inside the calls.
    pub exclusive_ns: i64,
    /// Longest duration; [`NO_NS`] if no call has one.
    pub max_ns: i64,
    /// Bytes transferred.
    pub bytes: i64,
    /// Row of the first call.
    pub first_row: u32,
    /// Row of the last call.
    pub last_row: u32,
    /// Row of the longest call.
    pub longest_row: u32,
}

impl CallStats {
    /// Empty sums; the rows start at `first_row`.
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

    /// Adds one call.
    pub fn add(&mut self, context: &TableContext<'_>, row: u32) {
        let events = &context.trace.events;
        self.calls += 1;
        self.failed += i64::from(events.outcome(row) == Outcome::Failed);
        self.exclusive_ns = self.exclusive_ns.saturating_add(context.exclusive_ns(row));
        self.bytes += events.bytes(row).unwrap_or(0).max(0);
        self.first_row = self.first_row.min(row);
        self.last_row = self.last_row.max(row);
        let dur_ns = events.dur_ns(row);
        if dur_ns != NO_NS {
            self.total_ns = if self.total_ns == NO_NS {
                dur_ns
            } else {
                self.total_ns.saturating_add(dur_ns)
            };
            if self.max_ns == NO_NS || dur_ns > self.max_ns {
                (self.max_ns, self.longest_row) = (dur_ns, row);
            }
        }
    }
}
