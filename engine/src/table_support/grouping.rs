//! Calls that belong together, before they are a row of a table; and how rows stay few.

use crate::table_support::call_stats::CallStats;
use crate::table_support::context::TableContext;
use crate::table_support::limits::MAX_GROUPS;
use crate::table_support::threshold::Threshold;
use parsers::Text;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// Calls of a process, or of several with one program, that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct CallGroup<K> {
    /// The process by its main task; of several the first.
    pub task: u32,
    /// The program.
    pub program: Text,
    /// How many processes.
    pub processes: i64,
    /// What they have in common.
    pub key: K,
    /// The calls.
    pub rows: Vec<u32>,
    /// Numbers that are added up where groups are taken together; what they count is the table's affair.
    pub counts: [i64; 2],
}

impl<K> CallGroup<K> {
    /// Calls of one process.
    pub fn of_one(task: u32, program: Text, key: K, rows: Vec<u32>) -> CallGroup<K> {
        CallGroup { task, program, processes: 1, key, rows, counts: [0; 2] }
    }

    /// Their sums. Nothing without calls.
    pub fn sum(&self, context: &TableContext<'_>) -> CallStats {
        sum(context, &self.rows)
    }
}

/// Calls by key, in the order in which the keys came.
pub struct Grouping<K> {
    /// The calls of each key.
    pub groups: Vec<(K, Vec<u32>)>,
    places: FxHashMap<K, usize>,
    last: usize,
}

impl<K> Default for Grouping<K> {
    fn default() -> Grouping<K> {
        Grouping { groups: Vec::new(), places: FxHashMap::default(), last: 0 }
    }
}

impl<K: Copy + Eq + Hash> Grouping<K> {
    /// One more call. Calls of one key mostly come one after the other.
    pub fn add(&mut self, key: K, row: u32) {
        if let Some((_, rows)) = self.groups.get_mut(self.last).filter(|(last, _)| *last == key) {
            return rows.push(row);
        }
        self.last = *self.places.entry(key).or_insert(self.groups.len());
        match self.groups.get_mut(self.last) {
            Some((_, rows)) => rows.push(row),
            None => self.groups.push((key, vec![row])),
        }
    }
}

/// What these calls have together.
pub fn sum(context: &TableContext<'_>, rows: &[u32]) -> CallStats {
    let mut sum = CallStats::new(rows.first().copied().unwrap_or(0));
    rows.iter().for_each(|&row| sum.add(context, row));
    sum
}

/// The groups, of which those with the least time on the path are taken together where they are many: those of one
/// program whose keys become equal.
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
    most: usize,
    coarse: impl Fn(&K) -> K,
) -> Vec<CallGroup<K>> {
    if let Some(threshold) = context.threshold {
        groups = reaching(context, threshold, groups);
    }
    let weight = |group: &CallGroup<K>| std::cmp::Reverse((on_path_ns(context, group), group.rows.len()));
    groups.sort_by_cached_key(|group| (weight(group), group.task));
    let rest = groups.split_off(groups.len().min(most));
    let mut places: FxHashMap<(u32, Text, K), usize> = FxHashMap::default();
    for group in rest {
        let capture = context.trace.tasks.get(group.task as usize).map_or(0, |task| task.capture);
        let key = coarse(&group.key);
        let at = *places.entry((capture, group.program, key.clone())).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(joined) => {
                joined.processes += group.processes;
                joined.rows.extend(group.rows);
                joined.counts.iter_mut().zip(group.counts).for_each(|(sum, count)| *sum += count);
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
    group.rows.iter().map(|&row| context.exclusive_ns(row)).sum()
}

/// Groups that reach a threshold with all that may be taken together with them: here, what has one program.
fn reaching<K>(context: &TableContext<'_>, threshold: &Threshold, groups: Vec<CallGroup<K>>) -> Vec<CallGroup<K>> {
    let capture = |group: &CallGroup<K>| context.trace.tasks.get(group.task as usize).map_or(0, |task| task.capture);
    let times: Vec<_> =
        groups.iter().map(|group| (capture(group), group.program, on_path_ns(context, group))).collect();
    let reaches = threshold.reaching(&times);
    groups.into_iter().zip(reaches).filter(|&(_, reaches)| reaches).map(|(group, _)| group).collect()
}

/// The commonest syscall of these calls; of equally common ones the first.
pub fn commonest(context: &TableContext<'_>, rows: &[u32]) -> Text {
    let mut counts: FxHashMap<Text, u32> = FxHashMap::default();
    rows.iter().for_each(|&row| *counts.entry(context.trace.events.shape(row).syscall).or_insert(0) += 1);
    counts
        .into_iter()
        .max_by_key(|&(name, count)| (count, std::cmp::Reverse(name)))
        .map_or(Text::NONE, |(name, _)| name)
}

/// The syscall with most time on the path among these calls.
pub fn costliest(context: &TableContext<'_>, rows: &[u32]) -> Text {
    let mut times: FxHashMap<Text, i64> = FxHashMap::default();
    let name = |row: u32| context.trace.events.shape(row).syscall;
    rows.iter().for_each(|&row| *times.entry(name(row)).or_insert(0) += context.exclusive_ns(row));
    times.into_iter().max_by_key(|&(name, ns)| (ns, std::cmp::Reverse(name))).map_or(Text::NONE, |(name, _)| name)
}

/// The target that all of these calls have.
pub fn only_target(context: &TableContext<'_>, rows: &[u32]) -> Text {
    let mut targets = rows.iter().map(|&row| context.trace.events.target(row));
    let first = targets.next().unwrap_or(Text::NONE);
    if targets.all(|target| target == first) { first } else { Text::NONE }
}

/// Different targets of these calls; unknown ones do not count.
pub fn targets(context: &TableContext<'_>, rows: &[u32]) -> i64 {
    let known = rows.iter().map(|&row| context.trace.events.target(row)).filter(|target| target.is_some());
    known.collect::<FxHashSet<_>>().len() as i64
}

/// The value in the middle, of an even number the lower one; 0 without any.
pub fn median(values: &mut [i64]) -> i64 {
    let middle = values.len().saturating_sub(1) / 2;
    if values.is_empty() { 0 } else { *values.select_nth_unstable(middle).1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, look, task};

    #[test]
    fn what_is_too_many_is_taken_together_by_program_and_nothing_is_lost() {
        let plans = (1..=5).map(|tid| {
            let at = i64::from(tid) * 10;
            task(tid).exec(0, 1, if tid == 5 { "/bin/b" } else { "/bin/a" }).call("read", at, at + 1).exit(100)
        });
        look(&build(plans.collect()), |context| {
            let rows = |task: u32| context.calls_of(task).take(2).collect::<Vec<_>>();
            let groups = (0..5).map(|task| {
                let program = context.program(task, rows(task)[1]);
                CallGroup::of_one(task, program, ("read", task), rows(task))
            });
            let few = limit_groups_to(context, groups.collect(), 1, |&(what, _)| (what, 9));
            let told: Vec<_> = few.iter().map(|group| (group.processes, group.key, group.rows.len())).collect();
            assert_eq!(told.len(), 3);
            assert_eq!(told.iter().map(|&(processes, _, _)| processes).sum::<i64>(), 5);
            assert!(told[1..].iter().all(|&(processes, key, rows)| key == ("read", 9) && rows as i64 == 2 * processes));
        });
    }

    #[test]
    fn the_median_of_an_even_number_is_one_of_them() {
        assert_eq!([median(&mut [5, 1, 9, 3]), median(&mut [7]), median(&mut [])], [3, 7, 0]);
    }
}
