//! Independent pieces of work on all cores, with their results in order.
//!
//! A front for rayon. Its splitting is compiled once here; compiled anew for each closure it was a sixth of all code that
//! the compiler had to generate for the engine.

use rayon::prelude::*;
use std::sync::Mutex;

/// What `of` makes of each item, in the order of the items.
pub fn map<'a, T: Sync, R: Send>(items: &'a [T], of: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    map_indices(items.len(), |at| of(&items[at]))
}

/// What `of` makes of each index below `count`, in order.
pub fn map_indices<R: Send>(count: usize, of: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = std::iter::repeat_with(Mutex::default).take(count).collect();
    for_each_index(count, &|at| {
        let result = of(at);
        if let Ok(mut slot) = results[at].lock() {
            *slot = Some(result);
        }
    });
    // A panic in `of` has left `for_each_index` before this.
    results.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect()
}

/// All that `of` makes of each item, in the order of the items.
pub fn flat_map<'a, T: Sync, I: IntoIterator<Item: Send>>(
    items: &'a [T],
    of: impl Fn(&'a T) -> I + Sync,
) -> Vec<I::Item> {
    let parts = map(items, |item| of(item).into_iter().collect::<Vec<_>>());
    let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    parts.into_iter().for_each(|part| all.extend(part));
    all
}

fn for_each_index(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}
