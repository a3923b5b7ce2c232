//! Sums and sets of pairs of a waiter and the process that it waited for.
//!
//! Nearly every process is awaited by one other process, for its end and perhaps for its exec. Such pairs are in a list by
//! awaited process, which the walk goes through nearly in order; only further pairs are hashed.

use crate::critical_path::wait_graph::EdgeKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use trace::store::index::{TaskId, TiVec, ti_vec};

/// How long a process was awaited by the first one that did.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    waiter: TaskId,
    /// Up to two kinds of evidence, both the same if there is one.
    known: [EdgeKind; 2],
    ns: [i64; 2],
}

impl Awaited {
    /// Add to the sum of the same evidence; returns whether there is a place for it.
    fn add(&mut self, waiter: TaskId, known: EdgeKind, ns: i64) -> bool {
        if self.waiter != waiter {
            return false;
        }
        if self.known[0] == self.known[1] {
            self.known[1] = known;
        }
        let place = self.known.iter().position(|&here| here == known);
        if let Some(place) = place {
            self.ns[place] += ns;
        }
        place.is_some()
    }
}

/// Time by waiter, awaited process and evidence.
#[derive(Debug, Default)]
pub(super) struct LinkSums {
    /// By awaited process.
    first: TiVec<TaskId, Option<Awaited>>,
    further: FxHashMap<(TaskId, TaskId, EdgeKind), i64>,
}

impl LinkSums {
    /// Nothing yet, for so many processes.
    pub(super) fn new(processes: usize) -> LinkSums {
        LinkSums {
            first: ti_vec![None; processes],
            further: FxHashMap::default(),
        }
    }

    pub(super) fn add(&mut self, waiter: TaskId, waker: TaskId, known: EdgeKind, ns: i64) {
        let has_place = self.first.get_mut(waker).is_some_and(|first| match first {
            Some(first) => first.add(waiter, known, ns),
            None => first
                .insert(Awaited {
                    waiter,
                    known: [known; 2],
                    ns: [0; 2],
                })
                .add(waiter, known, ns),
        });
        if !has_place {
            *self.further.entry((waiter, waker, known)).or_default() += ns;
        }
    }

    /// How long others waited for a process.
    pub(super) fn awaited_ns(&self, process: TaskId) -> i64 {
        let first = self
            .first
            .get(process)
            .and_then(Option::as_ref)
            .map_or(0, |first| first.ns.iter().sum());
        let further = self
            .further
            .iter()
            .filter(|&(&(_, waker, _), _)| waker == process);
        first + further.map(|(_, ns)| ns).sum::<i64>()
    }

    /// For each pair of waiter and awaited process how long that was, and the evidence for most of it.
    pub(super) fn pairs(&self) -> Vec<(TaskId, TaskId, i64, EdgeKind)> {
        let mut further: FxHashMap<(TaskId, TaskId), (i64, (i64, EdgeKind))> = FxHashMap::default();
        for (&(waiter, waker, known), &ns) in &self.further {
            let (sum_ns, most) = further.entry((waiter, waker)).or_insert((0, (ns, known)));
            *sum_ns += ns;
            *most = (*most).max((ns, known));
        }
        let mut pairs = Vec::new();
        for (waker, first) in self.first.iter_enumerated() {
            let Some(Awaited { waiter, known, ns }) = *first else {
                continue;
            };
            let most = (ns[0], known[0]).max((ns[1], known[1]));
            // A pair may have more kinds of evidence.
            let (more_ns, more) = further.remove(&(waiter, waker)).unwrap_or((0, most));
            pairs.push((waiter, waker, ns[0] + ns[1] + more_ns, most.max(more).1));
        }
        pairs.extend(
            further
                .into_iter()
                .map(|((waiter, waker), (ns, (_, known)))| (waiter, waker, ns, known)),
        );
        pairs
    }
}

/// A set of pairs of a waiter and an awaited process.
#[derive(Debug)]
pub(crate) struct WaitPairs {
    /// The first process that has a place.
    from: TaskId,
    /// The first waiter of each process, or [`TaskId::NONE`].
    first: Vec<TaskId>,
    further: FxHashSet<(TaskId, TaskId)>,
}

impl WaitPairs {
    /// Nothing yet. These processes are awaited.
    pub(super) fn new(processes: Range<TaskId>) -> WaitPairs {
        WaitPairs {
            from: processes.start,
            first: vec![TaskId::NONE; processes.end.index() - processes.start.index()],
            further: FxHashSet::default(),
        }
    }

    pub(super) fn insert(&mut self, waiter: TaskId, waker: TaskId) {
        let place = waker
            .index()
            .checked_sub(self.from.index())
            .and_then(|place| self.first.get_mut(place));
        match place {
            Some(first) if *first == TaskId::NONE || *first == waiter => *first = waiter,
            _ => {
                self.further.insert((waiter, waker));
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (TaskId, TaskId)> {
        let first = TaskId::all(self.from..TaskId::NONE)
            .zip(&self.first)
            .filter(|(_, waiter)| waiter.is_some());
        first
            .map(|(waker, &waiter)| (waiter, waker))
            .chain(self.further.iter().copied())
    }
}

impl Default for WaitPairs {
    fn default() -> WaitPairs {
        WaitPairs::new(TaskId::new(0)..TaskId::new(0))
    }
}
