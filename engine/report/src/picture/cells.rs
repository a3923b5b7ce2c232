//! Cells: the class with most time in each column of each lane.
//!
//! ```text
//! lane    |user|-- disk --|user|----- sleep -----|
//! cells   |  disk  |  disk  | sleep  | sleep  | sleep
//! ```
//! Of equal times the class with the lowest number wins. A cell is four bits, the first of a byte in its low half. Each
//! lane has cells only between its birth and its death, and starts with a new byte.

use crate::picture::grid::Grid;
use crate::picture::lane::{CLASSES, LaneSource};
use trace::store::index::TaskId;

/// The cell of a lane that lives for 0 ns.
pub const NO_TIME: u8 = 15;

/// Number of cells of lanes with these lifetimes.
pub fn count(grid: &Grid, lives: &[(i64, i64)]) -> u64 {
    lives
        .iter()
        .map(|&(start_ns, end_ns)| {
            let (first, last) = grid.columns_of(start_ns, end_ns);
            last - first + 1
        })
        .sum()
}

/// The cells of a lane, one byte each.
pub fn cells(source: &LaneSource<'_>, grid: &Grid, task: TaskId) -> Vec<u8> {
    painted(source, std::slice::from_ref(grid), task).remove(0)
}

/// The cells of a lane in several grids, two per byte.
pub fn levels(source: &LaneSource<'_>, grids: &[Grid], task: TaskId) -> Vec<Vec<u8>> {
    painted(source, grids, task)
        .iter()
        .map(|cells| packed(cells))
        .collect()
}

fn painted(source: &LaneSource<'_>, grids: &[Grid], task: TaskId) -> Vec<Vec<u8>> {
    let Some((start_ns, end_ns)) = source.life(task) else {
        return vec![Vec::new(); grids.len()];
    };
    let painter = |grid| {
        let (first, last) = Grid::columns_of(grid, start_ns, end_ns);
        Painter::new(grid, first, last)
    };
    let mut painters: Vec<Painter<'_>> = grids.iter().map(painter).collect();
    source.each(task, |part| {
        painters
            .iter_mut()
            .for_each(|painter| painter.paint(part.class as usize, part.start_ns, part.end_ns));
    });
    painters.into_iter().map(Painter::finish).collect()
}

/// Two cells per byte.
fn packed(cells: &[u8]) -> Vec<u8> {
    cells
        .chunks(2)
        .map(|pair| pair[0] | pair.get(1).copied().unwrap_or(0) << 4)
        .collect()
}

/// Fills the cells of a lane from its parts, which come in order.
struct Painter<'grid> {
    grid: &'grid Grid,
    cells: Vec<u8>,
    first: u64,
    /// The cell that is being summed, and its end.
    at: u64,
    at_end_ns: i64,
    sums_ns: [i64; CLASSES],
}

impl<'grid> Painter<'grid> {
    fn new(grid: &'grid Grid, first: u64, last: u64) -> Painter<'grid> {
        let cells = vec![NO_TIME; (last - first + 1) as usize];
        Painter {
            grid,
            cells,
            first,
            at: first,
            at_end_ns: grid.end_of(first),
            sums_ns: [0; CLASSES],
        }
    }

    fn paint(&mut self, class: usize, start_ns: i64, end_ns: i64) {
        if start_ns >= self.at_end_ns {
            self.move_to(self.grid.column_of(start_ns));
        }
        if end_ns <= self.at_end_ns {
            self.sums_ns[class] += end_ns - start_ns;
            return;
        }
        self.sums_ns[class] += self.at_end_ns - start_ns;
        let last = self.grid.column_of(end_ns);
        let whole = (self.at + 1 - self.first) as usize
            ..((last - self.first) as usize).min(self.cells.len());
        self.move_to(last);
        if whole.start < whole.end {
            self.cells[whole].fill(class as u8);
        }
        let from_ns = if last == 0 {
            self.grid.start_ns
        } else {
            self.grid.end_of(last - 1)
        };
        self.sums_ns[class] += (end_ns - from_ns).max(0);
    }

    fn move_to(&mut self, column: u64) {
        self.flush();
        (self.at, self.at_end_ns) = (column, self.grid.end_of(column));
    }

    fn flush(&mut self) {
        let sums = self.sums_ns.iter().enumerate();
        let dominant = sums.max_by_key(|&(class, &ns)| (ns, std::cmp::Reverse(class)));
        if let Some((class, _)) = dominant.filter(|&(_, &ns)| ns > 0)
            && let Some(cell) = self.cells.get_mut((self.at - self.first) as usize)
        {
            *cell = class as u8;
        }
        self.sums_ns = [0; CLASSES];
    }

    fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.cells
    }
}
