//! Groups calls into table rows, and limits the number of groups.

use crate::table_support::call_stats::CallStats;
use crate::table_support::context::TableContext;
use crate::table_support::limits::MAX_GROUPS;
use crate::table_support::threshold::Threshold;
use parsers::Text;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;
use trace::store::index::TaskId;

/// Calls of one process, or of several processes that run the same program, which form one row.
#[derive(Clone, Debug, PartialEq)]
pub struct CallGroup<K> {
    /// Main task of the process, or of the first process.
    pub task: TaskId,
    /// The program.
    pub program: Text,
    /// Number of processes.
    pub processes: i64,
    /// The key that the calls share.
    pub key: K,
    /// The calls.
    pub rows: Vec<u32>,
    /// Counters that are summed when groups are merged. Each table defines their meaning.
    pub counts: [i64; 2],
}

impl<K> CallGroup<K> {
    /// A group of calls of one process.
    pub fn of_one(task: TaskId, program: Text, key: K, rows: Vec<u32>) -> CallGroup<K> {
        CallGroup {
            task,
            program,
            processes: 1,
            key,
            rows,
            counts: [0; 2],
        }
    }

    /// Sums over the calls.
    pub fn sum(&self, context: &TableContext<'_>) -> CallStats {
        sum(context, &self.rows)
    }
}

/// Calls by key, in order of the first occurrence of each key.
pub struct Grouping<K> {
    /// The calls of each key.
    pub groups: Vec<(K, Vec<u32>)>,
    places: FxHashMap<K, usize>,
    last: usize,
}

impl<K> Default for Grouping<K> {
    fn default() -> Grouping<K> {
        Grouping {
            groups: Vec::new(),
            places: FxHashMap::default(),
            last: 0,
        }
    }
}

impl<K: Copy + Eq + Hash> Grouping<K> {
    /// Adds one call. Consecutive calls usually share a key, so the last group is tried first.
    pub fn add(&mut self, key: K, row: u32) {
        if let Some((_, rows)) = self
            .groups
            .get_mut(self.last)
            .filter(|(last, _)| *last == key)
        {
            return rows.push(row);
        }
        self.last = *self.places.entry(key).or_insert(self.groups.len());
        match self.groups.get_mut(self.last) {
            Some((_, rows)) => rows.push(row),
            None => self.groups.push((key, vec![row])),
        }
    }
}

/// Sums over these calls.
pub fn sum(context: &TableContext<'_>, rows: &[u32]) -> CallStats {
    let mut sum = CallStats::new(rows.first().copied().unwrap_or(0));
    rows.iter().for_each(|&row| sum.add(context, row));
    sum
}

/// Limits the number of groups to [`MAX_GROUPS`]. The groups with the least time on the critical path are merged per
/// program; `coarse` maps their keys to the keys of the merged groups.
pub fn limit_groups<K: Clone + Eq + Hash>(
    context: &TableContext<'_>,
    groups: Vec<CallGroup<K>>,
    coarse: impl Fn(&K) -> K,
) -> Vec<CallGroup<K>> {
    limit_groups_to(context, groups, MAX_GROUPS, coarse)
}

fn limit_groups_to<K: Clone + Eq + Hash>(
    context: &TableContext<'_>,
    mut groups: Vec<CallGroup<K>>,
    limit: usize,
    coarse: impl Fn(&K) -> K,
) -> Vec<CallGroup<K>> {
    if let Some(threshold) = context.threshold {
        groups = reaching(context, threshold, groups);
    }
    let weight =
        |group: &CallGroup<K>| std::cmp::Reverse((on_path_ns(context, group), group.rows.len()));
    groups.sort_by_cached_key(|group| (weight(group), group.task));
    let rest = groups.split_off(groups.len().min(limit));
    let mut places: FxHashMap<(u32, Text, K), usize> = FxHashMap::default();
    for group in rest {
        let capture = context
            .trace
            .tasks
            .get(group.task)
            .map_or(0, |task| task.capture);
        let key = coarse(&group.key);
        let at = *places
            .entry((capture, group.program, key.clone()))
            .or_insert(groups.len());
        match groups.get_mut(at) {
            Some(joined) => {
                joined.processes += group.processes;
                joined.rows.extend(group.rows);
                joined
                    .counts
                    .iter_mut()
                    .zip(group.counts)
                    .for_each(|(sum, count)| *sum += count);
            }
            None => groups.push(CallGroup { key, ..group }),
        }
    }
    for group in &mut groups {
        group.rows.sort_unstable();
    }
    groups
}

fn on_path_ns<K>(context: &TableContext<'_>, group: &CallGroup<K>) -> i64 {
    group
        .rows
        .iter()
        .map(|&row| context.exclusive_ns(row))
        .sum()
}

/// The groups that reach the threshold, alone or merged with the other groups of their program.
fn reaching<K>(
    context: &TableContext<'_>,
    threshold: &Threshold,
    groups: Vec<CallGroup<K>>,
) -> Vec<CallGroup<K>> {
    let capture = |group: &CallGroup<K>| {
        context
            .trace
            .tasks
            .get(group.task)
            .map_or(0, |task| task.capture)
    };
    let times: Vec<_> = groups
        .iter()
        .map(|group| (capture(group), group.program, on_path_ns(context, group)))
        .collect();
    let reaches = threshold.reaching(&times);
    groups
        .into_iter()
        .zip(reaches)
        .filter(|&(_, reaches)| reaches)
        .map(|(group, _)| group)
        .collect()
}

/// The most frequent syscall among these calls; ties go to the lowest name number.
pub fn commonest(context: &TableContext<'_>, rows: &[u32]) -> Text {
    let mut counts: FxHashMap<Text, usize> = FxHashMap::default();
    let name = |row: u32| context.trace.events.shape(row).syscall;
    // Calls of one name often follow one another.
    for same in rows.chunk_by(|&row, &next| name(row) == name(next)) {
        *counts.entry(name(same[0])).or_insert(0) += same.len();
    }
    counts
        .into_iter()
        .max_by_key(|&(name, count)| (count, std::cmp::Reverse(name)))
        .map_or(Text::NONE, |(name, _)| name)
}

/// The syscall with the most time on the critical path among these calls.
pub fn costliest(context: &TableContext<'_>, rows: &[u32]) -> Text {
    let mut times: FxHashMap<Text, i64> = FxHashMap::default();
    let name = |row: u32| context.trace.events.shape(row).syscall;
    rows.iter()
        .for_each(|&row| *times.entry(name(row)).or_insert(0) += context.exclusive_ns(row));
    times
        .into_iter()
        .max_by_key(|&(name, ns)| (ns, std::cmp::Reverse(name)))
        .map_or(Text::NONE, |(name, _)| name)
}

/// The target that all of these calls share; none if they differ.
pub fn only_target(context: &TableContext<'_>, rows: &[u32]) -> Text {
    let mut targets = rows.iter().map(|&row| context.trace.events.target(row));
    let first = targets.next().unwrap_or(Text::NONE);
    if targets.all(|target| target == first) {
        first
    } else {
        Text::NONE
    }
}

/// Up to so many texts of a trace for each call, distinct targets are counted by a bit for each text.
const TEXTS_PER_CALL: usize = 16;

/// Number of distinct known targets of these calls.
pub fn targets(context: &TableContext<'_>, rows: &[u32]) -> i64 {
    let known = rows
        .iter()
        .map(|&row| context.trace.events.target(row))
        .filter(|target| target.is_some());
    let texts = context.trace.events.texts.len();
    if texts > TEXTS_PER_CALL * rows.len() {
        return known.collect::<FxHashSet<_>>().len() as i64;
    }
    // A bit for each text stays in the cache, a map of very many targets does not.
    let mut bits = vec![0u64; texts.div_ceil(64)];
    known.for_each(|target| bits[target.0 as usize / 64] |= 1 << (target.0 % 64));
    bits.iter().map(|bits| i64::from(bits.count_ones())).sum()
}

/// The median, for an even count the lower of the two middle values; 0 without values.
pub fn median(values: &mut [i64]) -> i64 {
    let middle = values.len().saturating_sub(1) / 2;
    if values.is_empty() {
        0
    } else {
        *values.select_nth_unstable(middle).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::look;
    use trace::testing::{build, task};

    #[test]
    fn groups_beyond_the_limit_are_merged_by_program() {
        let plans = (1..=5).map(|tid| {
            let at = i64::from(tid) * 10;
            task(tid)
                .exec(0, 1, if tid == 5 { "/bin/b" } else { "/bin/a" })
                .call("read", at, at + 1)
                .exit(100)
        });
        look(&build(plans.collect()), |context| {
            let rows = |task: TaskId| context.calls_of(task).take(2).collect::<Vec<_>>();
            let groups = context.trace.tasks.keys().map(|task| {
                let program = context.program(task, rows(task)[1]);
                CallGroup::of_one(task, program, ("read", task), rows(task))
            });
            let groups = limit_groups_to(context, groups.collect(), 1, |&(what, _)| {
                (what, TaskId::new(9))
            });
            let merged: Vec<_> = groups
                .iter()
                .map(|group| (group.processes, group.key, group.rows.len()))
                .collect();
            assert_eq!(merged.len(), 3);
            assert_eq!(
                merged
                    .iter()
                    .map(|&(processes, _, _)| processes)
                    .sum::<i64>(),
                5
            );
            assert!(
                merged[1..]
                    .iter()
                    .all(|&(processes, key, rows)| key == ("read", TaskId::new(9))
                        && rows as i64 == 2 * processes)
            );
        });
    }

    #[test]
    fn median_of_an_even_count_is_one_of_the_values() {
        assert_eq!(
            [median(&mut [5, 1, 9, 3]), median(&mut [7]), median(&mut [])],
            [3, 7, 0]
        );
    }
}
