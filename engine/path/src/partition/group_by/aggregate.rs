//! Aggregates the pieces of one group.
//!
//! Most keys are properties of the bucket, so they are compared only when the bucket changes from one piece to the
//! next. Distinct targets and processes are counted with arrays of marks; sets would dominate the run time.

use crate::partition::buckets::Buckets;
use crate::partition::group_by::ordering::PieceNumbers;
use crate::partition::piece::Piece;
use crate::partition::pieces::Pieces;
use crate::partition::scope::{GroupKey, KEYS, differs_within_bucket};
use std::mem::replace;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use trace::parallel;
use trace::store::event::NONE;
use trace::store::index::{TaskId, TiSlice};
use trace::store::trace::Trace;
use zerocopy::FromZeros;

/// The sums of the pieces of one group.
#[derive(Debug, PartialEq)]
pub(super) struct Aggregate {
    pub first: u32,
    pub exclusive_ns: i64,
    pub calls: i64,
    pub first_row: u32,
    pub last_row: u32,
    pub targets: i64,
    pub processes: i64,
    pub pieces: i64,
    /// Bit set of the keys in which all pieces agree.
    common: u16,
}

impl Aggregate {
    fn new(first: u32) -> Aggregate {
        Aggregate {
            first,
            exclusive_ns: 0,
            calls: 0,
            first_row: NONE,
            last_row: 0,
            targets: 1,
            processes: 1,
            pieces: 0,
            common: (1 << KEYS) - 1,
        }
    }

    /// A group with a single piece.
    pub(super) fn alone(pieces: &Pieces, at: u32) -> Aggregate {
        let Piece {
            exclusive_ns,
            calls,
            first_row,
            last_row,
            ..
        } = pieces.all[at as usize];
        Aggregate {
            exclusive_ns,
            calls: i64::from(calls),
            first_row,
            last_row,
            pieces: 1,
            ..Aggregate::new(at)
        }
    }

    /// Adds another part of the same group.
    fn join(mut self, other: &Aggregate) -> Aggregate {
        self.exclusive_ns = self.exclusive_ns.saturating_add(other.exclusive_ns);
        self.calls += other.calls;
        self.first_row = self.first_row.min(other.first_row);
        self.last_row = self.last_row.max(other.last_row);
        self.targets += other.targets;
        self.processes += other.processes;
        self.pieces += other.pieces;
        self.common &= other.common;
        self
    }

    fn add(&mut self, piece: &Piece) {
        self.exclusive_ns = self.exclusive_ns.saturating_add(piece.exclusive_ns);
        self.calls += i64::from(piece.calls);
        self.first_row = self.first_row.min(piece.first_row);
        self.last_row = self.last_row.max(piece.last_row);
        self.pieces += 1;
    }

    /// Whether all pieces agree in a key.
    pub(super) fn shares(&self, key: GroupKey) -> bool {
        self.common >> (key as u16) & 1 == 1
    }

    /// Clears the keys in which another piece differs from the first.
    fn compare(&mut self, keys: &[GroupKey], differ: impl Fn(GroupKey) -> bool) {
        for &key in keys {
            if self.shares(key) && differ(key) {
                self.common &= !(1 << key as u16);
            }
        }
    }
}

/// Aggregates the pieces of groups.
pub(super) struct Aggregator<'all> {
    trace: &'all Trace,
    pieces: &'all Pieces,
    buckets: &'all Buckets,
    /// The main task of the process of each task.
    mains: &'all TiSlice<TaskId, TaskId>,
    /// The keys in which pieces of a group may differ: properties of buckets, and properties of tasks.
    of_buckets: Vec<GroupKey>,
    of_tasks: Vec<GroupKey>,
}

impl<'all> Aggregator<'all> {
    /// `keys` are the keys that define the groups.
    pub(super) fn new(
        trace: &'all Trace,
        pieces: &'all Pieces,
        keys: &[GroupKey],
    ) -> Aggregator<'all> {
        let may_differ = |key: &GroupKey| {
            !keys.contains(key) && (*key != GroupKey::Capture || trace.captures.len() > 1)
        };
        let may_differ = || {
            GroupKey::ALL
                .map(|(_, key)| key)
                .into_iter()
                .filter(may_differ)
        };
        let of_buckets = may_differ()
            .filter(|&key| !differs_within_bucket(key))
            .collect();
        let of_tasks = may_differ()
            .filter(|key| matches!(key, GroupKey::Pid | GroupKey::Tid))
            .collect();
        Aggregator {
            trace,
            pieces,
            buckets: pieces.buckets(trace),
            mains: trace.main_tasks(),
            of_buckets,
            of_tasks,
        }
    }

    /// Marks with no value counted.
    pub(super) fn seen(&self) -> SeenValues {
        // Zeroed by the system where they are used, if they are large.
        SeenValues {
            group: 0,
            targets: marks(self.trace.events.texts.len()),
            processes: marks(self.trace.tasks.len()),
        }
    }

    /// Aggregates the pieces of one group at these places of a list of piece numbers.
    pub(super) fn folded(
        &self,
        numbers: &PieceNumbers,
        places: Range<usize>,
        seen: &mut SeenValues,
    ) -> Aggregate {
        let first = numbers.at(places.clone()).next().unwrap_or(NONE);
        self.begin_group(first, seen);
        Aggregate::new(first).join(&self.part(first, numbers.at(places), seen))
    }

    /// The same on all cores. Each aggregates `at_once` pieces at a time.
    pub(super) fn folded_in_parts(
        &self,
        numbers: &PieceNumbers,
        places: Range<usize>,
        at_once: usize,
        seen: &mut SeenValues,
    ) -> Aggregate {
        let first = numbers.at(places.clone()).next().unwrap_or(NONE);
        self.begin_group(first, seen);
        let starts: Vec<usize> = places.clone().step_by(at_once).collect();
        parallel::map(&starts, |&from| {
            self.part(
                first,
                numbers.at(from..places.end.min(from + at_once)),
                seen,
            )
        })
        .iter()
        .fold(Aggregate::new(first), Aggregate::join)
    }

    fn begin_group(&self, first: u32, seen: &mut SeenValues) {
        let first = &self.pieces.all[first as usize];
        seen.begin_group();
        seen.is_new_target(first);
        seen.is_new_process(self.mains[first.task]);
    }

    /// Aggregates some pieces of a group. `seen` contains the values that are counted already.
    fn part(&self, first: u32, numbers: impl Iterator<Item = u32>, seen: &SeenValues) -> Aggregate {
        let mut part = Aggregate {
            targets: 0,
            processes: 0,
            ..Aggregate::new(first)
        };
        let first = &self.pieces.all[first as usize];
        let (mut bucket, mut task) = (self.buckets.of(part.first), first.task);
        for at in numbers {
            let piece = &self.pieces.all[at as usize];
            part.add(piece);
            if piece.target != first.target {
                part.compare(&[GroupKey::Target], |_| true);
                part.targets += i64::from(seen.is_new_target(piece));
            }
            if replace(&mut bucket, self.buckets.of(at)) != bucket {
                part.compare(&self.of_buckets, |key| {
                    key.of(self.trace, piece) != key.of(self.trace, first)
                });
            }
            if replace(&mut task, piece.task) != task {
                part.processes += i64::from(seen.is_new_process(self.mains[task]));
                part.compare(&self.of_tasks, |key| {
                    key.of(self.trace, piece) != key.of(self.trace, first)
                });
            }
        }
        part
    }
}

fn marks(values: usize) -> Vec<AtomicU32> {
    AtomicU32::new_vec_zeroed(values).unwrap_or_default()
}

/// Marks each value with the number of the last group that counted it.
pub(super) struct SeenValues {
    group: u32,
    targets: Vec<AtomicU32>,
    processes: Vec<AtomicU32>,
}

impl SeenValues {
    fn begin_group(&mut self) {
        self.group = self.group.checked_add(1).unwrap_or_else(|| {
            self.targets
                .iter_mut()
                .chain(&mut self.processes)
                .for_each(|mark| *mark.get_mut() = 0);
            1
        });
    }

    fn is_new_target(&self, piece: &Piece) -> bool {
        self.is_new(&self.targets[piece.target.0 as usize])
    }

    fn is_new_process(&self, main: TaskId) -> bool {
        self.is_new(&self.processes[main.index()])
    }

    /// Sets a mark. Several cores may set the same one: only the first of them counts its value.
    fn is_new(&self, mark: &AtomicU32) -> bool {
        mark.load(Ordering::Relaxed) != self.group
            && mark.swap(self.group, Ordering::Relaxed) != self.group
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::walked;
    use trace::testing::{build, task};

    #[test]
    fn parts_of_a_group_add_up_to_it() {
        let child = |tid, at| {
            task(tid)
                .exec(at, at + 1, "/bin/cc")
                .call("read", at + 2, at + 5)
                .exit(at + 9)
        };
        let parent = task(1)
            .exec(0, 1, "/bin/sh")
            .fork(2, 3, 2)
            .wait4(4, 20, 2)
            .fork(21, 22, 3)
            .wait4(23, 40, 3)
            .exit(50);
        let trace = build(vec![parent, child(2, 5), child(3, 25)]);
        let (windows, attribution) = walked(&trace);
        let pieces = Pieces::new(&trace, trace.program_index(), &attribution, &windows);
        let (order, number) = (PieceNumbers::All(pieces.all.len()), pieces.all.len());
        for keys in [&[][..], &[GroupKey::Pid], &[GroupKey::Class]] {
            let folding = Aggregator::new(&trace, &pieces, keys);
            let whole = folding.folded(&order, 0..number, &mut folding.seen());
            assert_eq!((whole.processes, whole.pieces), (3, number as i64));
            for at_once in 1..=number {
                let parts =
                    folding.folded_in_parts(&order, 0..number, at_once, &mut folding.seen());
                assert_eq!(parts, whole);
            }
        }
    }
}
