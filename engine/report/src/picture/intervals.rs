//! The longest calls of the lanes, with their exact times.

use parsers::syscalls::Class;
use path::critical_path::segment::{Segment, What};
use std::cmp::Reverse;

/// A call, as far as it lies in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    /// The task, and once lanes are chosen the position of its lane.
    pub lane: u32,
    /// Start.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Its row.
    pub row: u32,
    /// What the time is spent on.
    pub class: Class,
}

impl Interval {
    fn rank(&self) -> (Reverse<i64>, u32) {
        (Reverse(self.end_ns - self.start_ns), self.row)
    }
}

/// The longest calls, by lane and time, and the number of all calls with a duration.
pub struct Longest {
    /// At most the requested number.
    pub intervals: Vec<Interval>,
    /// All calls of the lanes that last longer than 0 ns inside the window.
    pub total: u64,
}

impl Longest {
    /// Retain only so many of the longest.
    pub fn retain(&mut self, most: usize) {
        retain(&mut self.intervals, most);
        self.intervals.sort_unstable();
    }
}

/// Retains the longest of the calls that it is given. Of equal ones the first in the capture is retained.
pub struct Collector {
    intervals: Vec<Interval>,
    most: usize,
    min_ns: i64,
}

impl Collector {
    /// No call yet.
    pub fn new(most: usize) -> Collector {
        Collector {
            intervals: Vec::new(),
            most,
            min_ns: 0,
        }
    }

    /// Nothing yet, and nothing that would not be retained here.
    pub fn following(&self) -> Collector {
        Collector {
            intervals: Vec::new(),
            ..*self
        }
    }

    /// Add a part of a lane, if it is a call; whether it is one.
    pub fn add(&mut self, lane: u32, part: &Segment) -> bool {
        let What::Call(row) = part.what else {
            return false;
        };
        if part.dur_ns() >= self.min_ns {
            let Segment {
                start_ns,
                end_ns,
                class,
                ..
            } = *part;
            self.push(Interval {
                lane,
                start_ns,
                end_ns,
                row,
                class,
            });
        }
        true
    }

    /// Add what another one found.
    pub fn absorb(&mut self, other: Collector) {
        other.intervals.into_iter().for_each(|each| self.push(each));
    }

    fn push(&mut self, interval: Interval) {
        self.intervals.push(interval);
        if self.intervals.len() >= 2 * self.most.max(1) {
            retain(&mut self.intervals, self.most);
            self.min_ns = self
                .intervals
                .iter()
                .map(|each| each.end_ns - each.start_ns)
                .min()
                .unwrap_or(0);
        }
    }

    /// The longest calls, in no order.
    pub fn finish(mut self) -> Vec<Interval> {
        retain(&mut self.intervals, self.most);
        self.intervals
    }
}

fn retain(intervals: &mut Vec<Interval>, most: usize) {
    if most < intervals.len() {
        intervals.select_nth_unstable_by_key(most, Interval::rank);
        intervals.truncate(most);
    }
}
