//! The path by event: the wall time of each call, and of each gap after a call.
//!
//! ```text
//! task       |--- read ---|   gap    |-- write --|          rows 1 and 2
//! on path         |=======|==========|====|
//! calls      row 1: ======            row 2: ====
//! gaps       row 1: ==========
//! ```
//! Nearly all stretches are like these, so two numbers a row hold them; the others are kept as they are.

pub mod elapsed;
mod packed;
mod path_places;
mod recorder;
mod spilled;

use crate::critical_path::attribution::packed::Packed;
use crate::critical_path::attribution::path_places::{PathPlaces, Places};
use crate::critical_path::attribution::spilled::Spilled;
use crate::critical_path::segment::{Segment, Tag, What};
use crate::critical_path::wait_graph::WalkStats;
use crate::critical_path::window::Window;
use crate::waits::wakers::Wakers;
use parsers::syscalls::Class;
use trace::store::event::NONE;
use trace::store::index::{ShapeId, TaskId};
use trace::store::trace::Trace;

/// The event of a stretch, and whether the stretch is the gap after it.
fn place_of(what: What) -> (u32, bool) {
    match what {
        What::Gap(row) => (row, true),
        what => (what.row().unwrap_or(NONE), false),
    }
}

/// Wall time of the path by event. It is complete: its sum is the length of the windows.
#[derive(Debug, Default)]
pub struct Attribution {
    walk_stats: WalkStats,
    like_most: Packed,
    others: Spilled,
    /// Whether it has time in lines that are left out.
    has_left_out: bool,
    places: PathPlaces,
}

/// A part of the path: all of its time in one call or gap that is of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The event; of a gap the call before it, [`NONE`] before the first.
    pub row: u32,
    /// The shape of the call; [`ShapeId::NONE`] for a gap.
    pub shape: ShapeId,
    /// Whether it is the gap after the call.
    pub is_gap: bool,
    /// Place among the stretches that are unlike most, if it is one of them.
    pub place: Option<u32>,
    /// What the time is spent on.
    pub class: Class,
    /// Whether it is known what ended it.
    pub resolved: bool,
    /// What it has to do with a poll loop.
    pub tag: Tag,
    /// How long.
    pub ns: i64,
}

impl Charge {
    /// Class and whether it is resolved, as one number; gaps have others than calls.
    pub fn kind(&self) -> u32 {
        16 * self.class as u32
            + 4 * self.tag as u32
            + 2 * u32::from(self.is_gap)
            + u32::from(self.resolved)
    }
}

impl Attribution {
    /// Nothing charged yet, for a trace of so many events.
    fn new(rows: u32) -> Attribution {
        Attribution {
            like_most: Packed::new(rows as usize),
            ..Attribution::default()
        }
    }

    /// Take a stretch of the path.
    fn add(&mut self, segment: &Segment) {
        self.has_left_out |= segment.class == Class::Gap && matches!(segment.what, What::Gap(_));
        if !self.like_most.takes(segment) {
            self.others.push(*segment);
        }
    }

    /// The path of windows.
    pub fn walked(trace: &Trace, wakers: &Wakers, windows: &[Window]) -> Attribution {
        let attribution = Attribution {
            walk_stats: WalkStats::new(trace),
            ..Attribution::new(trace.events.len())
        };
        recorder::record(attribution, trace, wakers, windows).complete(trace)
    }

    /// Valid after the last stretch is added.
    fn complete(mut self, trace: &Trace) -> Attribution {
        self.others.index(trace.events.len(), trace.tasks.len());
        self.places = PathPlaces::new(trace, &self);
        self
    }

    /// All events of a task that have time on the path, and perhaps others, in order, as indexes among its rows.
    pub fn places(&self, trace: &Trace, task: TaskId) -> Places<'_> {
        self.places.of(task, trace.rows_of(task).len())
    }

    fn is_on_path(&self, row: u32) -> bool {
        self.like_most.has_some(row) || self.has_spilled(row)
    }

    /// Whether there is a call with at least so much time.
    pub fn has_call_of(&self, at_least_ns: i64) -> bool {
        self.like_most.has_call_of(at_least_ns)
            || self
                .others
                .rows()
                .any(|row| self.in_call_ns(row) >= at_least_ns)
    }

    /// What the walk recorded about processes.
    pub fn walk_stats(&self) -> &WalkStats {
        &self.walk_stats
    }

    /// Tell each part of the path that a task has.
    pub fn each(&self, trace: &Trace, task: TaskId, mut tell: impl FnMut(&Charge)) {
        self.each_at(trace, task, self.places(trace, task), |_, charge| {
            tell(charge)
        });
    }

    /// The same with the place, for the calls at some places and the gaps after them. Parts that are unlike most are
    /// included for all calls, without a place.
    pub fn each_at(
        &self,
        trace: &Trace,
        task: TaskId,
        places: impl Iterator<Item = usize>,
        mut tell: impl FnMut(Option<usize>, &Charge),
    ) {
        self.each_packed(trace, task, places, |at, charge| tell(Some(at), charge));
        self.each_spilled(trace, task, |charge| tell(None, charge));
    }

    /// The parts that are like most, in order, with the place: the calls at some places and the gaps after them.
    pub fn each_packed(
        &self,
        trace: &Trace,
        task: TaskId,
        places: impl Iterator<Item = usize>,
        mut tell: impl FnMut(usize, &Charge),
    ) {
        let (rows, shapes) = (trace.rows_of(task), trace.shapes_of(task));
        for at in places {
            let cells = self.like_most.cells(rows[at]);
            let call = self
                .like_most
                .charge(rows[at], false, cells[0])
                .map(|call| Charge {
                    shape: shapes[at],
                    ..call
                });
            let gap = self.like_most.charge(rows[at], true, cells[1]);
            [call, gap]
                .iter()
                .flatten()
                .for_each(|charge| tell(at, charge));
        }
    }

    /// Those that are unlike most. The event of one may be that of another task.
    pub fn each_spilled(&self, trace: &Trace, task: TaskId, mut tell: impl FnMut(&Charge)) {
        for &place in self.others.places_of_task(task) {
            let Some(segment) = self.others.get(place) else {
                continue;
            };
            let (row, is_gap) = place_of(segment.what);
            let shape = if is_gap || row == NONE {
                ShapeId::NONE
            } else {
                trace.events.shape_number(row)
            };
            let Segment {
                class,
                resolved,
                tag,
                ..
            } = *segment;
            tell(&Charge {
                row,
                shape,
                is_gap,
                place: Some(place),
                class,
                resolved,
                tag,
                ns: segment.dur_ns(),
            });
        }
    }

    /// Whether an event has parts that are unlike most.
    pub fn has_spilled(&self, row: u32) -> bool {
        self.others.has_some(row)
    }

    /// A stretch that is unlike most, as it came.
    pub fn other(&self, place: u32) -> Option<&Segment> {
        self.others.get(place)
    }

    /// How many stretches are unlike most.
    pub fn others(&self) -> usize {
        self.others.len()
    }

    /// Time in a call, or in the silence after a message.
    pub fn in_call_ns(&self, row: u32) -> i64 {
        self.like_most.ns(row, false) + self.other_ns(row, false)
    }

    /// Time between a call and the next one of its task.
    pub fn gap_after_ns(&self, row: u32) -> i64 {
        self.like_most.ns(row, true) + self.other_ns(row, true)
    }

    /// The same without the time of left-out lines.
    pub fn own_gap_after_ns(&self, row: u32) -> i64 {
        if !self.has_left_out {
            return self.gap_after_ns(row);
        }
        let like_most = self
            .like_most
            .charge_at(row, true)
            .filter(|charge| charge.class == Class::Gap);
        let others = self
            .spilled_at(row)
            .filter(|segment| segment.class == Class::Gap);
        let left_out_ns =
            like_most.map_or(0, |charge| charge.ns) + others.map(Segment::dur_ns).sum::<i64>();
        self.gap_after_ns(row) - left_out_ns
    }

    /// Time in a call, and between it and the next one of its task.
    #[inline]
    pub fn of_row(&self, row: u32) -> (i64, i64) {
        if self.has_spilled(row) {
            return (self.in_call_ns(row), self.gap_after_ns(row));
        }
        (self.like_most.ns(row, false), self.like_most.ns(row, true))
    }

    /// The calls followed by a gap of at least this length, in order.
    pub fn long_gaps(&self, at_least_ns: i64) -> Vec<u32> {
        let rows = self.like_most.long_gaps(at_least_ns);
        let others = self
            .others
            .rows()
            .filter(|&row| self.other_ns(row, true) >= at_least_ns);
        let mut rows: Vec<u32> = rows.chain(others).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Whether time of a call is the delay of a poll loop: a pause went on after the awaited event, until this call noticed it.
    pub fn is_late_check(&self, row: u32) -> bool {
        self.has_spilled(row)
            && self
                .spilled_at(row)
                .any(|segment| segment.tag == Tag::Lag && !matches!(segment.what, What::Gap(_)))
    }

    /// The part of the time between a call and the next one during which the task was stopped.
    pub fn stopped_ns(&self, row: u32) -> i64 {
        let like_most = self
            .like_most
            .charge_at(row, true)
            .filter(|charge| charge.class == Class::Stopped);
        let others = self
            .spilled_at(row)
            .filter(|segment| segment.class == Class::Stopped);
        like_most.map_or(0, |charge| charge.ns) + others.map(Segment::dur_ns).sum::<i64>()
    }

    fn other_ns(&self, row: u32, is_gap: bool) -> i64 {
        if !self.has_spilled(row) {
            return 0;
        }
        self.spilled_at(row)
            .filter(|segment| matches!(segment.what, What::Gap(_)) == is_gap)
            .map(Segment::dur_ns)
            .sum()
    }

    fn spilled_at(&self, row: u32) -> impl Iterator<Item = &Segment> {
        self.others.of_row(row)
    }
}
