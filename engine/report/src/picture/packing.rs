//! Rows for lanes, so that short tasks share a row: a task takes the lowest row that is free at its birth.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The row of each lane, given their lifetimes.
pub fn rows(lives: &[(i64, i64)]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..lives.len()).collect();
    order.sort_by_key(|&at| (lives[at].0, at));
    let (mut busy, mut free) = (BinaryHeap::new(), BinaryHeap::new());
    let (mut rows, mut next) = (vec![0; lives.len()], 0);
    for at in order {
        let (birth_ns, end_ns) = lives[at];
        while let Some(&Reverse((until_ns, row))) = busy.peek()
            && until_ns <= birth_ns
        {
            busy.pop();
            free.push(Reverse(row));
        }
        let row = free.pop().map_or(next, |Reverse(row)| row);
        next = next.max(row + 1);
        // A task of 0 ns occupies its row for the moment of its birth.
        busy.push(Reverse((end_ns.max(birth_ns + 1), row)));
        rows[at] = row;
    }
    rows
}
