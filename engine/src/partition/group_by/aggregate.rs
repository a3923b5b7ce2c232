//! Aggregates the pieces of one group.
//!
//! Most keys are properties of the bucket, so they are compared only when the bucket changes from one piece to the
//! next. Distinct targets and processes are counted with arrays of marks; sets would dominate the run time.

use crate::partition::buckets::Buckets;
use crate::partition::piece::Piece;
use crate::partition::pieces::Pieces;
use crate::partition::scope::{GroupKey, KEYS, differs_within_bucket};
use crate::store::event::NONE;
use crate::store::trace::Trace;
use std::mem::replace;

/// The sums of the pieces of one group.
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
        let Piece { exclusive_ns, calls, first_row, last_row, .. } = pieces.all[at as usize];
        Aggregate { exclusive_ns, calls: i64::from(calls), first_row, last_row, pieces: 1, ..Aggregate::new(at) }
    }

    fn add(&mut self, piece: &Piece) {
        self.exclusive_ns += piece.exclusive_ns;
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
    mains: &'all [u32],
    /// The keys in which pieces of a group may differ: properties of buckets, and properties of tasks.
    of_buckets: Vec<GroupKey>,
    of_tasks: Vec<GroupKey>,
}

impl<'all> Aggregator<'all> {
    /// `keys` are the keys that define the groups.
    pub(super) fn new(trace: &'all Trace, pieces: &'all Pieces, keys: &[GroupKey]) -> Aggregator<'all> {
        let may_differ =
            |key: &GroupKey| !keys.contains(key) && (*key != GroupKey::Capture || trace.captures.len() > 1);
        let may_differ = || GroupKey::ALL.map(|(_, key)| key).into_iter().filter(may_differ);
        let of_buckets = may_differ().filter(|&key| !differs_within_bucket(key)).collect();
        let of_tasks = may_differ().filter(|key| matches!(key, GroupKey::Pid | GroupKey::Tid)).collect();
        Aggregator { trace, pieces, buckets: pieces.buckets(trace), mains: trace.main_tasks(), of_buckets, of_tasks }
    }

    /// Marks with no value counted.
    pub(super) fn seen(&self) -> SeenValues {
        let (targets, processes) = (self.trace.events.texts.len(), self.trace.tasks.len());
        SeenValues { group: 0, targets: vec![0; targets], processes: vec![0; processes] }
    }

    /// Aggregates the pieces of one group, given in order.
    pub(super) fn folded(&self, numbers: impl Iterator<Item = u32>, seen: &mut SeenValues) -> Aggregate {
        let mut numbers = numbers.peekable();
        let mut folded = Aggregate::new(numbers.peek().copied().unwrap_or(NONE));
        let first = &self.pieces.all[folded.first as usize];
        let (mut bucket, mut task) = (self.buckets.of(folded.first), first.task);
        seen.begin_group();
        seen.is_new_target(first);
        seen.is_new_process(self.mains[task as usize]);
        for at in numbers {
            let piece = &self.pieces.all[at as usize];
            folded.add(piece);
            if piece.target != first.target {
                folded.compare(&[GroupKey::Target], |_| true);
                folded.targets += i64::from(seen.is_new_target(piece));
            }
            if replace(&mut bucket, self.buckets.of(at)) != bucket {
                folded.compare(&self.of_buckets, |key| key.of(self.trace, piece) != key.of(self.trace, first));
            }
            if replace(&mut task, piece.task) != task {
                folded.processes += i64::from(seen.is_new_process(self.mains[task as usize]));
                folded.compare(&self.of_tasks, |key| key.of(self.trace, piece) != key.of(self.trace, first));
            }
        }
        folded
    }
}

/// Marks each value with the number of the last group that counted it.
pub(super) struct SeenValues {
    group: u32,
    targets: Vec<u32>,
    processes: Vec<u32>,
}

impl SeenValues {
    fn begin_group(&mut self) {
        self.group = self.group.checked_add(1).unwrap_or_else(|| {
            self.targets.fill(0);
            self.processes.fill(0);
            1
        });
    }

    fn is_new_target(&mut self, piece: &Piece) -> bool {
        replace(&mut self.targets[piece.target.0 as usize], self.group) != self.group
    }

    fn is_new_process(&mut self, main: u32) -> bool {
        replace(&mut self.processes[main as usize], self.group) != self.group
    }
}
