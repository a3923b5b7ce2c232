//! Exact sums over all tasks: time by class per task, and per column of the whole window; and the longest calls, which are
//! found in the same pass.

use crate::picture::grid::Grid;
use crate::picture::intervals::{Collector, Interval, Longest};
use crate::picture::lane::{CLASSES, LaneSource};
use std::sync::Mutex;
use trace::parallel;
use trace::store::event::NONE;
use trace::store::index::{TaskId, TiSlice};

/// Columns of the overview.
pub const COLUMNS: u64 = 512;
/// Tasks that a core sums at a time: each share has columns of its own.
const SHARES: usize = 32;

/// Time by class.
pub type ClassSums = [i64; CLASSES];

/// Time by class, per task and per column. Both sum to the same total.
pub struct Overview {
    /// By position in the list of tasks.
    pub of_tasks: Vec<ClassSums>,
    /// Over all tasks: divided by the length of a column it is the mean number of tasks in that class.
    pub of_columns: Vec<ClassSums>,
    /// Number of calls that last longer than 0 ns, by position in the list of tasks.
    pub calls: Vec<u64>,
    /// The longest calls of all tasks, each with its task, in no order.
    pub longest: Vec<Interval>,
}

impl Overview {
    /// The longest calls of the tasks that have a lane, and the number of all of their calls.
    pub fn of_lanes(
        &mut self,
        tasks: &[TaskId],
        lane_of: &TiSlice<TaskId, u32>,
        most: usize,
    ) -> Longest {
        let total = tasks
            .iter()
            .zip(&self.calls)
            .filter(|&(&task, _)| lane_of[task] != NONE)
            .map(|(_, calls)| calls)
            .sum();
        let mut intervals = std::mem::take(&mut self.longest);
        intervals
            .iter_mut()
            .for_each(|each| each.lane = lane_of[TaskId::new(each.lane)]);
        intervals.retain(|each| each.lane != NONE);
        let mut longest = Longest { intervals, total };
        longest.retain(most);
        longest
    }
}

/// Sums the lanes of these tasks, and finds their `most` longest calls.
pub fn overview(source: &LaneSource<'_>, grid: &Grid, tasks: &[TaskId], most: usize) -> Overview {
    let grid = grid.with_columns(COLUMNS);
    let shares: Vec<&[TaskId]> = tasks.chunks(tasks.len().div_ceil(SHARES).max(1)).collect();
    // The longest calls of all are the same in any order of the shares, and so few lists need memory.
    let longest = Mutex::new(Collector::new(most));
    let summed: Vec<Share> =
        parallel::map(&shares, |share| of_share(source, &grid, share, &longest));
    let mut of_columns = vec![[0; CLASSES]; COLUMNS as usize];
    let (mut of_tasks, mut calls) = (
        Vec::with_capacity(tasks.len()),
        Vec::with_capacity(tasks.len()),
    );
    for share in summed {
        of_tasks.extend(share.of_tasks);
        calls.extend(share.calls);
        for (sums, more) in of_columns.iter_mut().zip(share.of_columns) {
            add(sums, &more);
        }
    }
    let longest = longest
        .into_inner()
        .map_or_else(|_| Vec::new(), Collector::finish);
    Overview {
        of_tasks,
        of_columns,
        calls,
        longest,
    }
}

/// The sums of some tasks.
struct Share {
    of_tasks: Vec<ClassSums>,
    of_columns: Vec<ClassSums>,
    calls: Vec<u64>,
}

fn add(sums: &mut ClassSums, more: &ClassSums) {
    sums.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
}

fn of_share(
    source: &LaneSource<'_>,
    grid: &Grid,
    tasks: &[TaskId],
    all: &Mutex<Collector>,
) -> Share {
    let mut of_columns = vec![[0; CLASSES]; COLUMNS as usize];
    let known = all
        .lock()
        .map_or_else(|_| Collector::new(0), |all| all.following());
    let (mut longest, mut calls) = (known, Vec::with_capacity(tasks.len()));
    let of_tasks = tasks.iter().map(|&task| {
        let (mut sums, mut count) = ([0; CLASSES], 0);
        let (mut column, mut end_ns) = (0, grid.start_ns);
        source.each(task, |part| {
            let class = part.class as usize;
            sums[class] += part.dur_ns();
            count += u64::from(longest.add(task.raw(), &part));
            let mut from_ns = part.start_ns;
            while from_ns < part.end_ns {
                if from_ns >= end_ns {
                    column = grid.column_of(from_ns);
                    end_ns = grid.end_of(column);
                }
                let to_ns = if column + 1 == grid.columns {
                    part.end_ns
                } else {
                    end_ns.min(part.end_ns)
                };
                of_columns[column as usize][class] += to_ns - from_ns;
                from_ns = to_ns;
            }
        });
        calls.push(count);
        sums
    });
    let of_tasks = of_tasks.collect();
    if let Ok(mut all) = all.lock() {
        all.absorb(longest);
    }
    Share {
        of_tasks,
        of_columns,
        calls,
    }
}
