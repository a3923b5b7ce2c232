//! Which file's line is next.
//!
//! Stamps decide. If stamps of several files are equal, or are only differences to the line before in any file (`strace
//! -r`), cause and effect decide:
//!
//! ```text
//! 700  clone() = 701 ─┐          wait4() = 701  ┌─ SIGCHLD
//! 701                 └─ getpid()  … exited ────┘
//! ```

use crate::store::heuristics::STAMP_TOLERANCE_NS;
use parsers::{Extra, Line, NO_NS};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What the next line of a file is.
#[derive(Clone, Copy)]
pub(super) struct Next {
    /// Its stamp; with differences, the difference.
    pub stamp_ns: i64,
    /// The thread whose lines it follows, if the line names one.
    pub behind: Option<i32>,
}

/// Dependencies between files.
pub(super) struct Order {
    /// Files by the thread in their names.
    files: FxHashMap<i32, usize>,
    states: Vec<State>,
    queue: OrderState,
}

#[derive(Clone, Default)]
struct State {
    next: Option<Next>,
    /// A line of it was taken, or its thread was seen to be created.
    is_born: bool,
    /// The file that must end, or get further, before its next line.
    behind: Option<usize>,
    /// When its last call ended.
    ready_ns: i64,
    /// Files that wait for this one, with their stamps.
    waiting: Vec<(i64, usize)>,
}

enum OrderState {
    /// By stamp; of equal ones those first that are born.
    Stamps(BinaryHeap<Reverse<(i64, bool, usize)>>),
    /// By differences: the moment of the last line of all, and the files that are born and have not ended.
    Differences(i64, Vec<usize>),
}

impl Order {
    pub(super) fn new(tids: &[i32], counts_differences: bool) -> Order {
        let queue = match counts_differences {
            true => OrderState::Differences(0, Vec::new()),
            false => OrderState::Stamps(BinaryHeap::new()),
        };
        let files = tids
            .iter()
            .enumerate()
            .map(|(file, &tid)| (tid, file))
            .collect();
        Order {
            files,
            states: vec![State::default(); tids.len()],
            queue,
        }
    }

    /// A file's next line, if it has one, which is taken not before `since_ns`.
    pub(super) fn put(&mut self, file: usize, next: Option<Next>, since_ns: i64) {
        let behind = next
            .and_then(|next| next.behind)
            .and_then(|tid| self.files.get(&tid).copied());
        let state = &mut self.states[file];
        state.behind = behind.or(state.behind).filter(|&other| other != file);
        let next = next.map(|next| Next {
            stamp_ns: stamp_or(next.stamp_ns, since_ns, &self.queue),
            ..next
        });
        state.next = next;
        let is_born = state.is_born;
        let OrderState::Stamps(heap) = &mut self.queue else {
            return;
        };
        if let Some(next) = next {
            heap.push(Reverse((next.stamp_ns, !is_born, file)));
        }
        let reached_ns = next.map_or(i64::MAX, |next| next.stamp_ns);
        state.waiting.retain(|&(stamp_ns, other)| {
            let still = reached_ns <= stamp_ns;
            if !still {
                heap.push(Reverse((stamp_ns, false, other)));
            }
            still
        });
    }

    /// The file with the next line, and the stamp of that line.
    pub(super) fn next_file(&mut self) -> Option<(usize, i64)> {
        match self.queue {
            OrderState::Stamps(_) => self.by_stamp(),
            OrderState::Differences(..) => self.by_difference(),
        }
    }

    /// The stamp of the next line of a file whose last line was just taken, if that line comes before those of all other files
    /// and depends on none of them. It need not be put then.
    pub(super) fn goes_on(&self, file: usize, next: Option<Next>, since_ns: i64) -> Option<i64> {
        let (OrderState::Stamps(heap), state, next) = (&self.queue, &self.states[file], next?)
        else {
            return None;
        };
        let is_free = next.behind.is_none() && state.behind.is_none() && state.waiting.is_empty();
        let stamp_ns = stamp_or(next.stamp_ns, since_ns, &self.queue);
        let is_first = heap
            .peek()
            .is_none_or(|&Reverse((other_ns, ..))| stamp_ns < other_ns);
        (is_free && is_first).then_some(stamp_ns)
    }

    fn by_stamp(&mut self) -> Option<(usize, i64)> {
        let OrderState::Stamps(heap) = &mut self.queue else {
            return None;
        };
        while let Some(Reverse((stamp_ns, unborn, file))) = heap.pop() {
            if unborn && self.states[file].is_born {
                heap.push(Reverse((stamp_ns, false, file)));
                continue;
            }
            let ahead = self.states[file].behind;
            let is_behind = |other: &usize| {
                self.states[*other]
                    .next
                    .is_some_and(|next| next.stamp_ns <= stamp_ns)
            };
            match ahead.filter(is_behind) {
                Some(other) => self.states[other].waiting.push((stamp_ns, file)),
                None => return Some((file, stamp_ns)),
            }
        }
        // A trace that claims a circle: whoever is first.
        let held = self.states.iter_mut().find_map(|state| state.waiting.pop());
        held.map(|(stamp_ns, file)| (file, stamp_ns))
    }

    /// The file with the earliest line, among files whose last call has ended and that depend on no other file.
    fn by_difference(&mut self) -> Option<(usize, i64)> {
        let OrderState::Differences(now_ns, live) = &mut self.queue else {
            return None;
        };
        let states = &self.states;
        live.retain(|&file| states[file].next.is_some());
        if live.is_empty() {
            // No line reports its creator.
            live.extend((0..states.len()).find(|&file| states[file].next.is_some()));
        }
        let has_ended = |other: usize| states[other].next.is_none();
        let at_ns = |file: usize| {
            now_ns.saturating_add(states[file].next.map_or(0, |next| next.stamp_ns.max(0)))
        };
        let key = |&file: &usize| {
            let late_ns = (states[file].ready_ns - STAMP_TOLERANCE_NS - at_ns(file)).max(0);
            (
                states[file].behind.is_some_and(|other| !has_ended(other)),
                late_ns,
                at_ns(file),
                file,
            )
        };
        let file = live.iter().copied().min_by_key(key)?;
        let stamp_ns = at_ns(file);
        *now_ns = stamp_ns;
        Some((file, stamp_ns))
    }

    /// A line of a file was taken: what follows from it for others.
    pub(super) fn took(&mut self, file: usize, line: &Line, extra: Option<&Extra>, stamp_ns: i64) {
        let state = &mut self.states[file];
        state.is_born = true;
        state.behind = None;
        if stamp_ns != NO_NS {
            state.ready_ns = stamp_ns.saturating_add(line.dur_ns.max(0));
        }
        let named = |tid: i32| self.files.get(&tid).copied();
        match extra.map(Extra::bare) {
            Some(Extra::Spawn { child, .. }) => {
                if let Some(child) = named(*child).filter(|&child| !self.states[child].is_born) {
                    self.states[child].is_born = true;
                    self.states[child].ready_ns = stamp_ns.max(0);
                    if let OrderState::Differences(_, live) = &mut self.queue {
                        live.push(child);
                    }
                }
            }
            Some(Extra::Waited {
                child,
                ended: Some(_),
            }) => self.states[file].behind = named(*child),
            _ => {}
        }
    }
}

/// A line without a stamp directly follows the one before it.
fn stamp_or(stamp_ns: i64, since_ns: i64, queue: &OrderState) -> i64 {
    match (stamp_ns, queue) {
        (NO_NS, OrderState::Stamps(_)) => since_ns,
        (NO_NS, OrderState::Differences(..)) => 0,
        (stamp_ns, _) => stamp_ns,
    }
}
