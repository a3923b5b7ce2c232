//! The attribution of a walk: it hands over spells of work whole, and all cores divide them.
//!
//! ```text
//! spell     |--call--|  |call|  |-call-|  |--call--|        what is wholly inside belongs to this spell alone, so it is
//! edges     <========>          inside     <=======>        put in place at once; edges are added one after the other
//! ```

use crate::critical_path::attribution::Attribution;
use crate::critical_path::segment::Segment;
use crate::critical_path::walk::work_span::{WorkPart, WorkSpan};
use crate::critical_path::walk::{Waited, WalkListener, walk};
use crate::critical_path::window::Window;
use crate::waits::edge::Edge;
use crate::waits::wakers::Wakers;
use rayon::prelude::*;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Maximum number of rows, and of spells, that are divided in one batch.
const ROWS_AT_ONCE: usize = 1 << 20;
const SPELLS_AT_ONCE: usize = 1 << 14;
/// Spells that a core takes at a time.
const SPELLS_OF_CORE: usize = 64;

/// Listens to a walk.
struct Recorder<'walk> {
    attribution: Attribution,
    trace: &'walk Trace,
    wakers: &'walk Wakers,
    /// Those that were not divided yet.
    spells: Vec<WorkSpan>,
    rows: usize,
}

/// Add the path through these windows to the attribution.
pub(super) fn record(
    attribution: Attribution,
    trace: &Trace,
    wakers: &Wakers,
    windows: &[Window],
) -> Attribution {
    let mut walked = Recorder {
        attribution,
        trace,
        wakers,
        spells: Vec::new(),
        rows: 0,
    };
    for window in windows.iter().filter(|window| window.root.is_some()) {
        walked.attribution.walk_stats.enter(trace, window);
        walk(trace, wakers, window, &mut walked);
    }
    walked.attribution.walk_stats.leave();
    walked.divide();
    walked.attribution
}

impl WalkListener for Recorder<'_> {
    fn charged(&mut self, segment: Segment) {
        self.attribution.walk_stats.charged(&segment);
        self.attribution.add(&segment);
    }

    fn worked(&mut self, _trace: &Trace, _wakers: &Wakers, spell: WorkSpan) {
        self.attribution.walk_stats.charged(&spell.whole());
        self.rows += spell.rows();
        self.spells.push(spell);
        if self.rows >= ROWS_AT_ONCE || self.spells.len() >= SPELLS_AT_ONCE {
            self.divide();
        }
    }

    fn begins(&mut self, waiter: TaskId, _edge: &Edge) {
        self.attribution.walk_stats.begins(waiter);
    }

    fn ends(&mut self, waited: &Waited) {
        self.attribution.walk_stats.ends(waited);
    }
}

impl Recorder<'_> {
    fn divide(&mut self) {
        let (trace, wakers) = (self.trace, self.wakers);
        let places = self.attribution.like_most.places();
        let divided = |spells: &[WorkSpan]| {
            let mut edges = Vec::new();
            for spell in spells {
                spell.parts(trace, wakers, |part| {
                    let WorkPart {
                        row,
                        is_gap,
                        start_ns,
                        end_ns,
                        class,
                    } = part;
                    let is_inside =
                        start_ns > spell.start_ns && start_ns < end_ns && end_ns < spell.end_ns;
                    if !(is_inside && places.put(row, is_gap, class, spell.tag, end_ns - start_ns))
                    {
                        edges.extend(spell.segment(&part));
                    }
                });
            }
            edges
        };
        let edges: Vec<Vec<Segment>> = self
            .spells
            .par_chunks(SPELLS_OF_CORE)
            .map(divided)
            .collect();
        edges
            .iter()
            .flatten()
            .for_each(|segment| self.attribution.add(segment));
        self.spells.clear();
        self.rows = 0;
    }
}
