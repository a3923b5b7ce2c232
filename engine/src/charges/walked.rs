//! The charges of a walk: it hands over spells of work whole, and all cores divide them.
//!
//! ```text
//! spell     |--call--|  |call|  |-call-|  |--call--|        what is wholly inside belongs to this spell alone, so it is
//! edges     <========>          inside     <=======>        put in place at once; edges are added one after the other
//! ```

use super::{Charges, Dense, kind_of, place_of};
use crate::path::{Listen, Segment, Spell, Waited, walk};
use crate::trace::Trace;
use crate::wakers::{Edge, Wakers};
use crate::window::Window;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use zerocopy::{FromBytes, IntoBytes};

/// Rows of the spells that are divided at a time, and how many spells at most.
const ROWS_AT_ONCE: usize = 1 << 20;
const SPELLS_AT_ONCE: usize = 1 << 14;
/// Spells that a core takes at a time.
const SPELLS_OF_CORE: usize = 64;

/// Listens to a walk.
struct Walked<'walk> {
    charges: Charges,
    trace: &'walk Trace,
    wakers: &'walk Wakers,
    /// Those that were not divided yet.
    spells: Vec<Spell>,
    rows: usize,
}

/// Add the path of windows to what is charged.
pub(super) fn walked(charges: Charges, trace: &Trace, wakers: &Wakers, windows: &[Window]) -> Charges {
    let mut walked = Walked { charges, trace, wakers, spells: Vec::new(), rows: 0 };
    for window in windows.iter().filter(|window| window.root.is_some()) {
        walked.charges.told.enter(trace, window);
        walk(trace, wakers, window, &mut walked);
    }
    walked.charges.told.leave();
    walked.divide();
    walked.charges
}

impl Listen for Walked<'_> {
    fn charged(&mut self, segment: Segment) {
        self.charges.told.charged(&segment);
        self.charges.add(&segment);
    }

    fn worked(&mut self, _trace: &Trace, _wakers: &Wakers, spell: Spell) {
        self.charges.told.charged(&spell.whole());
        self.rows += spell.rows();
        self.spells.push(spell);
        if self.rows >= ROWS_AT_ONCE || self.spells.len() >= SPELLS_AT_ONCE {
            self.divide();
        }
    }

    fn begins(&mut self, waiter: u32, _edge: &Edge) {
        self.charges.told.begins(waiter);
    }

    fn ends(&mut self, waited: &Waited) {
        self.charges.told.ends(waited);
    }
}

impl Walked<'_> {
    fn divide(&mut self) {
        let (trace, wakers) = (self.trace, self.wakers);
        let Charges { calls, gaps, .. } = &mut self.charges;
        let places = [Places::new(calls), Places::new(gaps)];
        let divided = |spells: &[Spell]| {
            let mut edges = Vec::new();
            for spell in spells {
                spell.each(trace, wakers, |segment| {
                    let is_inside = segment.start_ns > spell.start_ns && segment.end_ns < spell.end_ns;
                    if !(is_inside && put(&places, &segment)) {
                        edges.push(segment);
                    }
                });
            }
            edges
        };
        let edges: Vec<Vec<Segment>> = self.spells.par_chunks(SPELLS_OF_CORE).map(divided).collect();
        edges.iter().flatten().for_each(|segment| self.charges.add(segment));
        self.spells.clear();
        self.rows = 0;
    }
}

/// Kinds and lengths by row, for several cores, no two of which ever have the same row.
struct Places<'all> {
    kinds: &'all [AtomicU8],
    short: &'all [AtomicU32],
}

impl<'all> Places<'all> {
    fn new(dense: &'all mut Dense) -> Places<'all> {
        let kinds = <[AtomicU8]>::mut_from_bytes(&mut dense.kinds).unwrap_or_default();
        let short = <[AtomicU32]>::mut_from_bytes(dense.lengths.short.as_mut_bytes()).unwrap_or_default();
        Places { kinds, short }
    }
}

/// Set the length of a stretch, if its row has none yet and it is short, as nearly all are.
fn put([calls, gaps]: &[Places<'_>; 2], segment: &Segment) -> bool {
    let (row, is_gap) = place_of(segment.what);
    let Places { kinds, short } = if is_gap { gaps } else { calls };
    let Some((kind, length)) = kinds.get(row as usize).zip(short.get(row as usize)) else { return false };
    match u32::try_from(segment.dur_ns()) {
        Ok(ns) if ns != u32::MAX && kind.load(Ordering::Relaxed) == 0 => {
            kind.store(kind_of(segment), Ordering::Relaxed);
            length.store(ns, Ordering::Relaxed);
            true
        }
        _ => false,
    }
}
