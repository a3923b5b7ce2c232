//! Exact sums over all tasks: time by class per task, and per column of the whole window.

use crate::parallel;
use crate::picture::grid::Grid;
use crate::picture::lane::{CLASSES, LaneSource};

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
}

/// Sums the lanes of these tasks.
pub fn overview(source: &LaneSource<'_>, grid: &Grid, tasks: &[u32]) -> Overview {
    let grid = grid.with_columns(COLUMNS);
    let shares: Vec<&[u32]> = tasks.chunks(tasks.len().div_ceil(SHARES).max(1)).collect();
    let summed: Vec<Overview> = parallel::map(&shares, |share| of_share(source, &grid, share));
    let mut of_columns = vec![[0; CLASSES]; COLUMNS as usize];
    let mut of_tasks = Vec::with_capacity(tasks.len());
    for share in summed {
        of_tasks.extend(share.of_tasks);
        for (sums, more) in of_columns.iter_mut().zip(share.of_columns) {
            add(sums, &more);
        }
    }
    Overview { of_tasks, of_columns }
}

fn add(sums: &mut ClassSums, more: &ClassSums) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

fn of_share(source: &LaneSource<'_>, grid: &Grid, tasks: &[u32]) -> Overview {
    let mut of_columns = vec![[0; CLASSES]; COLUMNS as usize];
    let of_tasks = tasks.iter().map(|&task| {
        let mut sums = [0; CLASSES];
        let (mut column, mut end_ns) = (0, grid.start_ns);
        source.each(task, |part| {
            let class = part.class as usize;
            sums[class] += part.dur_ns();
            let mut from_ns = part.start_ns;
            while from_ns < part.end_ns {
                if from_ns >= end_ns {
                    column = grid.column_of(from_ns);
                    end_ns = grid.end_of(column);
                }
                let to_ns = if column + 1 == grid.columns { part.end_ns } else { end_ns.min(part.end_ns) };
                of_columns[column as usize][class] += to_ns - from_ns;
                from_ns = to_ns;
            }
        });
        sums
    });
    Overview { of_tasks: of_tasks.collect(), of_columns }
}
