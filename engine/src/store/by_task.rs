//! The rows of each task, in the order of their starts.
//!
//! ```text
//! tasks of the rows   0 0 1 0 | 2 1 1      offsets 0 3 6 7
//!                     core 1    core 2     rows    0 1 3 | 2 5 6 | 4
//! ```
//! Each core has some rows, and counts those of each task among them. So it is known where each core puts them, and each
//! row is looked at twice in all.

use crate::store::events::EventTable;
use rayon::prelude::*;
use std::slice::IterMut;

/// More cores would have too few rows of a task each.
const MAX_CORES: usize = 8;
/// Fewer rows of each task are no work to divide: every core has places for every task.
const MIN_ROWS: usize = 16;

/// Where the rows of each task begin in the list of all rows, with its length behind them, and that list.
pub(crate) fn rows(events: &EventTable, tasks: usize) -> (Vec<u32>, Vec<u32>) {
    let pieces = events.task_pieces();
    let worth = events.len() as usize / MIN_ROWS / tasks.max(1);
    let cores = rayon::current_num_threads().min(worth).clamp(1, MAX_CORES);
    let shares: Vec<&[&[u32]]> = pieces.chunks(pieces.len().div_ceil(cores).max(1)).collect();
    let counts: Vec<Vec<u32>> = shares.par_iter().map(|share| counts(share, tasks)).collect();
    let mut order = vec![0u32; events.len() as usize];
    let (offsets, places) = places(&counts, tasks, &mut order);
    let firsts = shares.iter().scan(0, |first, share| {
        let here = *first;
        *first += share.iter().map(|piece| piece.len() as u32).sum::<u32>();
        Some(here)
    });
    let work: Vec<_> = firsts.zip(&shares).zip(places).collect();
    work.into_par_iter().with_max_len(1).for_each(|((first, share), places)| fill(places, first, share));
    if !events.is_in_order() {
        sort(&mut order, &offsets, events);
    }
    (offsets, order)
}

/// How many rows each task has here.
fn counts(pieces: &[&[u32]], tasks: usize) -> Vec<u32> {
    let mut counts = vec![0u32; tasks];
    pieces.iter().copied().flatten().for_each(|&task| counts[task as usize] += 1);
    counts
}

/// Where each task begins in the list, and for each share of the rows the places of each task in it.
fn places<'a>(counts: &[Vec<u32>], tasks: usize, order: &'a mut [u32]) -> (Vec<u32>, Vec<Vec<IterMut<'a, u32>>>) {
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

/// Put rows, of which this is the first, in the places of their tasks.
fn fill(mut places: Vec<IterMut<'_, u32>>, first: u32, pieces: &[&[u32]]) {
    for (row, &task) in (first..).zip(pieces.iter().copied().flatten()) {
        if let Some(place) = places[task as usize].next() {
            *place = row;
        }
    }
}

/// Held-back output (strace -z) places lines at their exit but stamps them at their entry.
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
