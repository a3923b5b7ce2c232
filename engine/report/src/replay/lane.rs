//! A lane during a replay: how far it is, and how captured moments map to replayed ones.
//!
//! ```text
//! captured   |----- call -----|~~ own ~~|--- wait ---|
//! replayed   |- call -|~~ own ~~|- wait -|              entries: where each changed or awaited call begins and ends
//! ```

use crate::replay::changes::{Change, Part, WHOLE_PPM};
use crate::replay::graph::Lane;
use crate::replay::steps::{EndedBy, Step};
use path::critical_path::tracing::TracingCost;
use trace::store::event::NONE;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// What comes next in a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub at: u32,
    pub is_gap: bool,
    pub start_ns: i64,
    pub end_ns: i64,
    /// What ends it; `None` if it takes its time by itself.
    pub ended_by: Option<EndedBy>,
    /// The share of it that remains, and the number of the change that says so.
    pub kept: Option<(i64, usize)>,
}

/// The shares that remain of some changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept<'a> {
    pub changes: &'a [Change],
    /// Number of the change, and the share that remains in millionths.
    pub shares: &'a [(usize, i64)],
}

impl Kept<'_> {
    /// The next changed part of a task that does not end before a moment. If several changes have it, the one that leaves
    /// least.
    fn next(&self, task: TaskId, from: (u32, bool)) -> Option<(Part, (i64, usize))> {
        let mut next: Option<(Part, (i64, usize))> = None;
        for &(number, share_ppm) in self.shares.iter().filter(|(_, share)| *share != WHOLE_PPM) {
            let parts = self
                .changes
                .get(number)
                .and_then(|all| all.parts.get(&task));
            let parts = parts.map_or(&[][..], Vec::as_slice);
            let place = parts.partition_point(|part| (part.at, part.is_gap) < from);
            let Some(part) = parts.get(place) else {
                continue;
            };
            let key = |part: &Part, share: i64| (part.at, part.is_gap, share);
            let is_first =
                next.is_none_or(|(known, (share, _))| key(part, share_ppm) < key(&known, share));
            if is_first {
                next = Some((*part, (share_ppm, number)));
            }
        }
        next
    }
}

/// A call that ended, in both times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub at: u32,
    pub captured_ns: (i64, i64),
    pub replayed_ns: (i64, i64),
    /// What decided its end, or its start: the moment of another lane.
    pub decided_by: Option<(TaskId, i64)>,
}

/// Where a lane is.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    pub is_born: bool,
    /// Whether it waits for another lane to be replayed.
    pub is_busy: bool,
    next_step: usize,
    /// The next call or gap.
    from: (u32, bool),
    /// The replayed birth.
    pub birth_ns: i64,
    pub entries: Vec<Entry>,
    /// When the last of the children ends that run beside each other.
    pub beside_ns: i64,
}

impl Cursor {
    /// What comes next.
    pub(super) fn item(&self, lane: &Lane, task: TaskId, kept: &Kept<'_>) -> Option<Item> {
        let step = lane.steps.get(self.next_step);
        let part = kept.next(task, self.from);
        let part = part.filter(|(part, _)| {
            step.is_none_or(|step| (part.at, part.is_gap) <= (step.at, step.is_gap))
        });
        match (step, part) {
            (Some(step), Some((part, share)))
                if (part.at, part.is_gap) == (step.at, step.is_gap) =>
            {
                Some(of_step(step, Some(share)))
            }
            (_, Some((part, share))) => Some(Item {
                at: part.at,
                is_gap: part.is_gap,
                start_ns: part.start_ns,
                end_ns: part.end_ns,
                ended_by: None,
                kept: Some(share),
            }),
            (Some(step), None) => Some(of_step(step, None)),
            (None, None) => None,
        }
    }

    /// Go past an item, which took this time.
    pub(super) fn pass(&mut self, item: &Item, entry: Entry) {
        if item.ended_by.is_some() {
            self.next_step += 1;
        }
        self.from = if item.is_gap {
            (item.at + 1, false)
        } else {
            (item.at, true)
        };
        self.entries.push(entry);
    }

    /// The last call or gap that was replayed: its place, and its end in both times.
    pub(super) fn reached(&self, lane: &Lane) -> (u32, i64, i64) {
        self.before(lane, self.entries.len())
    }

    fn before(&self, lane: &Lane, place: usize) -> (u32, i64, i64) {
        let entry = place.checked_sub(1).and_then(|last| self.entries.get(last));
        entry.map_or((NONE, lane.birth_ns, self.birth_ns), |entry| {
            (entry.at, entry.captured_ns.1, entry.replayed_ns.1)
        })
    }

    /// The number of entries that end up to a captured moment.
    pub(super) fn ended(&self, at_ns: i64) -> usize {
        self.entries
            .partition_point(|entry| entry.captured_ns.1 <= at_ns)
    }

    /// The replayed time of a captured moment. Later calls limit it: they may begin earlier than the lane's own work suggests.
    pub(super) fn replayed_ns(&self, lane: &Lane, own: &OwnWork<'_>, at_ns: i64) -> i64 {
        // A coarse clock may show an event of a task before its birth.
        if at_ns < lane.birth_ns {
            return self.birth_ns - (lane.birth_ns - at_ns);
        }
        let place = self.ended(at_ns);
        let (at, captured_ns, replayed_ns) = self.before(lane, place);
        let next = self.entries.get(place);
        let until_ns = next.map_or(at_ns, |next| next.captured_ns.0.min(at_ns));
        let begins_ns = replayed_ns + own.ns(at, captured_ns, until_ns);
        match next {
            Some(next) if next.captured_ns.0 <= at_ns => {
                let inside_ns = next.replayed_ns.0 + (at_ns - next.captured_ns.0);
                inside_ns.min(next.replayed_ns.1)
            }
            Some(next) => begins_ns.min(next.replayed_ns.0),
            None => begins_ns,
        }
    }
}

/// The own work of a task: calls and gaps that nothing changes.
pub(super) struct OwnWork<'a> {
    pub trace: &'a Trace,
    pub task: TaskId,
    /// What tracing adds to each of them, if a replay is without it.
    pub tracing: Option<TracingCost>,
}

impl OwnWork<'_> {
    /// How long it takes, from the end of the call or gap at a place to a later captured moment.
    pub(super) fn ns(&self, after: u32, from_ns: i64, to_ns: i64) -> i64 {
        let work_ns = to_ns.saturating_sub(from_ns).max(0);
        let Some(cost) = self.tracing else {
            return work_ns;
        };
        let events = &self.trace.events;
        let rows = self.trace.rows_of(self.task);
        let first = after.wrapping_add(1) as usize;
        let later = rows.get(first..).unwrap_or(&[]);
        let calls = later.partition_point(|&row| events.start_ns(row) < to_ns) as i64;
        let cost_ns = calls.saturating_mul(cost.in_call_ns + cost.gap_ns);
        work_ns - cost_ns.clamp(0, work_ns)
    }
}

fn of_step(step: &Step, kept: Option<(i64, usize)>) -> Item {
    Item {
        at: step.at,
        is_gap: step.is_gap,
        start_ns: step.start_ns,
        end_ns: step.end_ns,
        ended_by: Some(step.ended_by),
        kept,
    }
}
