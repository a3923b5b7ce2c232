//! The longest calls of the lanes, with their exact times.

use crate::critical_path::segment::What;
use crate::parallel;
use crate::picture::lane::LaneSource;
use parsers::syscalls::Class;
use std::cmp::Reverse;

/// Tasks are divided among this number of lists. Each list retains its longest calls.
const SHARES: usize = 16;

/// A call, as far as it lies in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    /// Position of its task in the list of lanes.
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

/// The `most` longest calls of these tasks. Of equal ones the first in the capture is retained.
pub fn longest(source: &LaneSource<'_>, tasks: &[u32], most: usize) -> Longest {
    let numbered: Vec<(u32, u32)> = (0..).zip(tasks.iter().copied()).collect();
    let shares: Vec<&[(u32, u32)]> = numbered.chunks(numbered.len().div_ceil(SHARES).max(1)).collect();
    let found: Vec<Longest> = parallel::map(&shares, |share| of_share(source, share, most));
    let total = found.iter().map(|longest| longest.total).sum();
    let mut intervals: Vec<Interval> = found.into_iter().flat_map(|longest| longest.intervals).collect();
    retain(&mut intervals, most);
    intervals.sort_unstable();
    Longest { intervals, total }
}

fn of_share(source: &LaneSource<'_>, share: &[(u32, u32)], most: usize) -> Longest {
    let (mut intervals, mut total, mut min_ns) = (Vec::new(), 0, 0);
    for &(lane, task) in share {
        source.each(task, |part| {
            let What::Call(row) = part.what else { return };
            total += 1;
            if part.dur_ns() < min_ns {
                return;
            }
            intervals.push(Interval { lane, start_ns: part.start_ns, end_ns: part.end_ns, row, class: part.class });
            if intervals.len() >= 2 * most.max(1) {
                retain(&mut intervals, most);
                min_ns = intervals.iter().map(|each| each.end_ns - each.start_ns).min().unwrap_or(0);
            }
        });
    }
    retain(&mut intervals, most);
    Longest { intervals, total }
}

fn retain(intervals: &mut Vec<Interval>, most: usize) {
    if most < intervals.len() {
        intervals.select_nth_unstable_by_key(most, Interval::rank);
        intervals.truncate(most);
    }
}
