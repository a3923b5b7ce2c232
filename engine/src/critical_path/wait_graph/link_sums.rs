//! Sums and sets of pairs of a waiter and the process that it waited for.
//!
//! Nearly every process is awaited by one other process, in one way. The first pair of each is in a list by process, which
//! the walk goes through nearly in order; only further pairs are hashed.

use crate::critical_path::wait_graph::EdgeKind;
use crate::store::event::NONE;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// How long a process was awaited by another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    pub(super) waiter: u32,
    /// The evidence.
    pub(super) known: EdgeKind,
    pub(super) ns: i64,
}

/// Time by waiter, awaited process and evidence.
#[derive(Debug, Default)]
pub(super) struct LinkSums {
    /// By awaited process.
    first: Vec<Option<Awaited>>,
    further: FxHashMap<(u32, u32, EdgeKind), i64>,
}

impl LinkSums {
    /// Nothing yet, for so many processes.
    pub(super) fn new(processes: usize) -> LinkSums {
        LinkSums { first: vec![None; processes], further: FxHashMap::default() }
    }

    pub(super) fn add(&mut self, waiter: u32, waker: u32, known: EdgeKind, ns: i64) {
        match self.first.get_mut(waker as usize) {
            Some(first @ None) => *first = Some(Awaited { waiter, known, ns }),
            Some(Some(first)) if (first.waiter, first.known) == (waiter, known) => first.ns += ns,
            _ => *self.further.entry((waiter, waker, known)).or_default() += ns,
        }
    }

    /// How long others waited for a process.
    pub(super) fn awaited_ns(&self, process: u32) -> i64 {
        let first = self.first.get(process as usize).and_then(Option::as_ref).map_or(0, |first| first.ns);
        let further = self.further.iter().filter(|&(&(_, waker, _), _)| waker == process);
        first + further.map(|(_, ns)| ns).sum::<i64>()
    }

    /// For each pair of waiter and awaited process how long that was, and the evidence for most of it.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32, i64, EdgeKind)> {
        let mut sums: FxHashMap<(u32, u32), (i64, (i64, EdgeKind))> = FxHashMap::default();
        let mut add = |pair: (u32, u32), ns: i64, known: EdgeKind| {
            let (sum_ns, most) = sums.entry(pair).or_insert((0, (ns, known)));
            *sum_ns += ns;
            *most = (*most).max((ns, known));
        };
        self.further.iter().for_each(|(&(waiter, waker, known), &ns)| add((waiter, waker), ns, known));
        // A pair may have further evidence.
        let first = (0..).zip(&self.first).filter_map(|(waker, first)| first.as_ref().map(|first| (waker, first)));
        let mut alone = Vec::new();
        for (waker, &Awaited { waiter, known, ns }) in first {
            match sums.get_mut(&(waiter, waker)) {
                Some((sum_ns, most)) => {
                    *sum_ns += ns;
                    *most = (*most).max((ns, known));
                }
                None => alone.push((waiter, waker, ns, known)),
            }
        }
        let several = sums.into_iter().map(|((waiter, waker), (ns, (_, known)))| (waiter, waker, ns, known));
        alone.into_iter().chain(several)
    }
}

/// A set of pairs of a waiter and an awaited process.
#[derive(Debug, Default)]
pub(crate) struct WaitPairs {
    /// The first process that has a place.
    from: u32,
    /// The first waiter of each process, or [`NONE`].
    first: Vec<u32>,
    further: FxHashSet<(u32, u32)>,
}

impl WaitPairs {
    /// Nothing yet. These processes are awaited.
    pub(super) fn new(processes: Range<u32>) -> WaitPairs {
        WaitPairs { from: processes.start, first: vec![NONE; processes.len()], further: FxHashSet::default() }
    }

    pub(super) fn insert(&mut self, waiter: u32, waker: u32) {
        let place = waker.checked_sub(self.from).and_then(|place| self.first.get_mut(place as usize));
        match place {
            Some(first) if *first == NONE || *first == waiter => *first = waiter,
            _ => {
                self.further.insert((waiter, waker));
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let first = (self.from..).zip(&self.first).filter(|&(_, &waiter)| waiter != NONE);
        first.map(|(waker, &waiter)| (waiter, waker)).chain(self.further.iter().copied())
    }
}
