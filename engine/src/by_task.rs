//! The rows of each task, in the order of their starts.
//!
//! ```text
//! tasks of the rows   0 0 1 0 2 1 1        offsets 0 3 6 7
//!                                          rows    0 1 3 | 2 5 6 | 4
//! ```

use crate::events::EventTable;
use rayon::prelude::*;

/// More cores would read the same column more often than it helps.
const MOST_CORES: usize = 8;

/// Where the rows of each task begin in the list of all rows, with its length behind them, and that list.
pub(crate) fn rows(events: &EventTable, tasks: usize) -> (Vec<u32>, Vec<u32>) {
    let pieces = events.task_pieces();
    let cores = rayon::current_num_threads().clamp(1, MOST_CORES);
    let offsets = offsets(&pieces, tasks, cores);
    let mut order = vec![0u32; events.len() as usize];
    let mut parts = Vec::new();
    let (mut rest, mut from) = (order.as_mut_slice(), 0);
    // Each core takes tasks that have about as many rows as those of the others.
    for core in 1..=cores {
        let share = (u64::from(events.len()) * core as u64 / cores as u64) as u32;
        let to = if core == cores { tasks } else { offsets.partition_point(|&offset| offset < share).min(tasks) };
        let to = to.max(from);
        let (part, others) = rest.split_at_mut((offsets[to] - offsets[from]) as usize);
        parts.push((part, &offsets[from..=to], from as u32));
        (rest, from) = (others, to);
    }
    parts
        .into_par_iter()
        .with_max_len(1)
        .for_each(|(part, offsets, first)| fill(part, offsets, first, &pieces, events));
    (offsets, order)
}

fn offsets(pieces: &[&[u32]], tasks: usize, cores: usize) -> Vec<u32> {
    let count = |pieces: &[&[u32]]| {
        let mut counts = vec![0u32; tasks + 1];
        pieces.iter().copied().flatten().for_each(|&task| counts[task as usize + 1] += 1);
        counts
    };
    let add = |mut one: Vec<u32>, other: Vec<u32>| {
        one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
        one
    };
    let counts = pieces.par_chunks(pieces.len().div_ceil(cores).max(1)).map(count).reduce_with(add);
    let mut offsets = counts.unwrap_or_else(|| vec![0; tasks + 1]);
    for at in 1..offsets.len() {
        offsets[at] += offsets[at - 1];
    }
    offsets
}

/// The rows of some tasks, of which this is the first.
fn fill(rows: &mut [u32], offsets: &[u32], first: u32, pieces: &[&[u32]], events: &EventTable) {
    let begin = offsets[0];
    let mut next: Vec<u32> = offsets[..offsets.len() - 1].iter().map(|offset| offset - begin).collect();
    for (row, &task) in (0u32..).zip(pieces.iter().copied().flatten()) {
        // Tasks before the first one become large numbers.
        if let Some(place) = next.get_mut(task.wrapping_sub(first) as usize) {
            rows[*place as usize] = row;
            *place += 1;
        }
    }
    if events.is_in_order() {
        return;
    }
    for bounds in offsets.windows(2) {
        let rows = &mut rows[(bounds[0] - begin) as usize..(bounds[1] - begin) as usize];
        // Held-back output (strace -z) places lines at their exit but stamps them at their entry.
        if !rows.is_sorted_by_key(|&row| events.start_ns(row)) {
            rows.sort_by_key(|&row| events.start_ns(row));
        }
    }
}
