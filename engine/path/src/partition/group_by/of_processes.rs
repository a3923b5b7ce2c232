//! The largest groups of pieces where each group is of one process. Only their pieces are put in order: very many
//! processes have groups of their own, and few of these are shown.

use crate::partition::pieces::Pieces;
use crate::partition::scope::{GroupKey, GroupQuery, KEYS, Scope, values_of};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use trace::parallel;
use trace::store::trace::Trace;

/// Number of process ids that one core goes through at a time.
const AT_ONCE: usize = 1 << 14;

/// If processes have more pieces on average, all cores put them in order.
const MAX_MEAN: usize = 64;
/// Pieces of a process that are sorted to group them. For more, a hash table is worth its allocation.
const MAX_SORTED: usize = 64;

/// The values of the keys of a group. Unused components are 0.
type Values = [u32; KEYS];
/// Time and first piece of a group, the largest first, with the number of its process id and its values.
type Sum = (Reverse<i64>, u32, u32, Values);

/// The numbers of the pieces of the largest groups by these keys, group by group, and the bounds of the groups. None if
/// groups may have pieces of several processes, if the query has conditions or no limit, and if processes have many
/// pieces.
pub(super) fn largest(
    trace: &Trace,
    pieces: &Pieces,
    query: &GroupQuery,
    keys: &[GroupKey],
) -> Option<(Vec<u32>, Vec<usize>)> {
    let most = query.most?;
    let is_of_ids = keys.contains(&GroupKey::Pid)
        && (keys.contains(&GroupKey::Capture) || trace.captures.len() < 2);
    let is_of_all =
        query.within == Scope::default() && query.apart_from.is_empty() && query.at_least_ns == 0;
    let ids = trace.pids();
    if !is_of_ids || !is_of_all || pieces.all.len() > MAX_MEAN * ids.len() {
        return None;
    }
    let places: Vec<usize> = (0..ids.len()).step_by(AT_ONCE).collect();
    let of_range = |&from: &usize| {
        let (mut keyed, mut sums) = (Vec::new(), Vec::new());
        for id in from..ids.len().min(from + AT_ONCE) {
            add_sums(trace, pieces, keys, id as u32, &mut keyed, &mut sums);
        }
        keep_largest(&mut sums, most);
        sums
    };
    let mut sums: Vec<Sum> = parallel::flat_map(&places, of_range);
    keep_largest(&mut sums, most);
    let (mut order, mut bounds) = (Vec::new(), vec![0]);
    for (_, _, id, values) in sums {
        order.extend(
            numbers(trace, pieces, id)
                .filter(|&at| values_of(keys, trace, &pieces.all[at as usize]) == values),
        );
        bounds.push(order.len());
    }
    Some((order, bounds))
}

/// The numbers of the pieces of all processes with an id, in order.
fn numbers(trace: &Trace, pieces: &Pieces, id: u32) -> impl Iterator<Item = u32> {
    trace
        .pids()
        .tasks()
        .of(id)
        .iter()
        .flat_map(|&task| pieces.of_task(task))
}

/// Adds the sums of the groups of a process id. `keyed` is scratch memory.
fn add_sums(
    trace: &Trace,
    pieces: &Pieces,
    keys: &[GroupKey],
    id: u32,
    keyed: &mut Vec<(Values, u32)>,
    sums: &mut Vec<Sum>,
) {
    let keyed_pieces = || {
        numbers(trace, pieces, id).map(|at| (values_of(keys, trace, &pieces.all[at as usize]), at))
    };
    let exclusive_ns = |at: u32| pieces.all[at as usize].exclusive_ns;
    if numbers(trace, pieces, id).nth(MAX_SORTED).is_some() {
        let mut groups: FxHashMap<Values, (i64, u32)> = FxHashMap::default();
        for (values, at) in keyed_pieces() {
            groups.entry(values).or_insert((0, at)).0 += exclusive_ns(at);
        }
        return sums.extend(
            groups
                .into_iter()
                .map(|(values, (ns, first))| (Reverse(ns), first, id, values)),
        );
    }
    keyed.clear();
    keyed.extend(keyed_pieces());
    keyed.sort_unstable();
    for group in keyed.chunk_by(|(one, _), (other, _)| one == other) {
        let (values, first) = group[0];
        sums.push((
            Reverse(group.iter().map(|&(_, at)| exclusive_ns(at)).sum()),
            first,
            id,
            values,
        ));
    }
}

/// Leaves the largest sums only, in no order.
fn keep_largest(sums: &mut Vec<Sum>, most: usize) {
    if most < sums.len() {
        sums.select_nth_unstable(most);
        sums.truncate(most);
    }
}
