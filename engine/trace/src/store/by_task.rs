//! The rows of each task, in the order of their starts.
//!
//! ```text
//! tasks of the rows   0 0 1 0 | 2 1 1      offsets 0 3 6 7
//!                     core 1    core 2     rows    0 1 3 | 2 5 6 | 4
//! ```
//! Each core takes a share of the rows and counts them by task. The counts give the position that each core writes to,
//! so each row is visited twice in total.

use crate::parallel;
use crate::store::events::EventTable;
use rayon::prelude::*;
use std::slice::IterMut;

/// With more cores, each would have too few rows of a task.
const MAX_CORES: usize = 8;
/// With fewer rows per task it does not pay to divide the work: every core has counters for every task.
const MIN_ROWS: usize = 16;

/// The offset of each task in the list of all rows, with its length at the end, and that list.
pub(crate) fn rows(events: &EventTable, tasks: usize) -> (Vec<u32>, Vec<u32>) {
    let pieces = events.task_pieces();
    let worth = events.len() as usize / MIN_ROWS / tasks.max(1);
    let cores = rayon::current_num_threads().min(worth).clamp(1, MAX_CORES);
    let shares: Vec<&[&[u32]]> = pieces.chunks(pieces.len().div_ceil(cores).max(1)).collect();
    let counts: Vec<Vec<u32>> = parallel::map(&shares, |share| counts(share, tasks));
    let mut order = vec![0u32; events.len() as usize];
    let (offsets, places) = places(&counts, tasks, &mut order);
    let firsts = shares.iter().scan(0, |first, share| {
        let here = *first;
        *first += share.iter().map(|piece| piece.len() as u32).sum::<u32>();
        Some(here)
    });
    let work: Vec<_> = firsts.zip(&shares).zip(places).collect();
    work.into_par_iter()
        .with_max_len(1)
        .for_each(|((first, share), places)| fill(places, first, share));
    if !events.is_in_order() {
        sort(&mut order, &offsets, events);
    }
    (offsets, order)
}

/// The number of rows of each task in this share.
fn counts(pieces: &[&[u32]], tasks: usize) -> Vec<u32> {
    let mut counts = vec![0u32; tasks];
    pieces
        .iter()
        .copied()
        .flatten()
        .for_each(|&task| counts[task as usize] += 1);
    counts
}

/// The offset of each task in the list, and for each share of the rows its offsets per task.
fn places<'a>(
    counts: &[Vec<u32>],
    tasks: usize,
    order: &'a mut [u32],
) -> (Vec<u32>, Vec<Vec<IterMut<'a, u32>>>) {
    let mut places: Vec<Vec<_>> = counts.iter().map(|_| Vec::with_capacity(tasks)).collect();
    let (mut offsets, mut offset, mut rest) = (Vec::with_capacity(tasks + 1), 0, order);
    for task in 0..tasks {
        offsets.push(offset);
        for (counts, places) in counts.iter().zip(&mut places) {
            let (own, others) = rest.split_at_mut(counts[task] as usize);
            places.push(own.iter_mut());
            (rest, offset) = (others, offset + counts[task]);
        }
    }
    offsets.push(offset);
    (offsets, places)
}

/// Write consecutive rows, starting with this one, to the positions of their tasks.
fn fill(mut places: Vec<IterMut<'_, u32>>, first: u32, pieces: &[&[u32]]) {
    for (row, &task) in (first..).zip(pieces.iter().copied().flatten()) {
        if let Some(place) = places[task as usize].next() {
            *place = row;
        }
    }
}

/// Delayed output (strace -z) prints lines at the exit of a call but stamps them at its entry.
fn sort(order: &mut [u32], offsets: &[u32], events: &EventTable) {
    let (mut own, mut rest) = (Vec::new(), order);
    for bounds in offsets.windows(2) {
        let (rows, others) = rest.split_at_mut((bounds[1] - bounds[0]) as usize);
        own.push(rows);
        rest = others;
    }
    own.into_par_iter().for_each(|rows| {
        if !rows.is_sorted_by_key(|&row| events.start_ns(row)) {
            rows.sort_by_key(|&row| events.start_ns(row));
        }
    });
}
