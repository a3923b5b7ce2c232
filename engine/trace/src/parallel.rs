//! Independent pieces of work on all cores, with their results in order.
//!
//! A front for rayon. Its splitting is compiled once here; compiled anew for each closure it was a sixth of all code that
//! the compiler had to generate for the engine.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Number of ranges that a core works on, so that a few long ones do not keep others waiting.
const RANGES_OF_CORE: usize = 64;
/// Maximum number of indexes in a range.
const MAX_AT_ONCE: usize = 256;

/// What `of` makes of each item, in the order of the items.
pub fn map<'a, T: Sync, R: Send>(items: &'a [T], of: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    map_indices(items.len(), |at| of(&items[at]))
}

/// What `of` makes of each index below `count`, in order.
pub fn map_indices<R: Send>(count: usize, of: impl Fn(usize) -> R + Sync) -> Vec<R> {
    joined(count, |range, results| results.extend(range.map(&of)))
}

/// All that `of` makes of each item, in the order of the items.
pub fn flat_map<'a, T: Sync, I: IntoIterator<Item: Send>>(
    items: &'a [T],
    of: impl Fn(&'a T) -> I + Sync,
) -> Vec<I::Item> {
    joined(items.len(), |range, results| {
        items[range]
            .iter()
            .for_each(|item| results.extend(of(item)))
    })
}

/// What `of` adds for each range of the indexes below `count`, in order. Where there are very many indexes, most of them
/// add little or nothing, and a place for each would take more memory than the results.
fn joined<R: Send>(count: usize, of: impl Fn(Range<usize>, &mut Vec<R>) + Sync) -> Vec<R> {
    let at_once = (count / (RANGES_OF_CORE * rayon::current_num_threads())).clamp(1, MAX_AT_ONCE);
    let ranges = count.div_ceil(at_once);
    let parts: Vec<Mutex<Vec<R>>> = std::iter::repeat_with(Mutex::default)
        .take(ranges)
        .collect();
    for_each_index(ranges, &|number| {
        let mut results = Vec::new();
        of(
            number * at_once..count.min((number + 1) * at_once),
            &mut results,
        );
        if let Ok(mut part) = parts[number].lock() {
            *part = results;
        }
    });
    // A panic in `of` has left `for_each_index` before this.
    let parts: Vec<Vec<R>> = parts
        .into_iter()
        .filter_map(|part| part.into_inner().ok())
        .collect();
    let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    parts.into_iter().for_each(|part| all.extend(part));
    all
}

fn for_each_index(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}
