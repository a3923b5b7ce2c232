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
    /// The share of it that remains, in millionths, if it changes by itself.
    pub kept_ppm: Option<i64>,
}

/// The shares that remain of some changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept<'a> {
    pub changes: &'a [Change],
    /// Number of the change, and the share that remains in millionths.
    pub shares: &'a [(usize, i64)],
}

impl Kept<'_> {
    /// The next changed part of a task from a place on.
    fn next(&self, task: TaskId, from: (u32, bool)) -> Option<Part> {
        self.parts(task, from)
            .map(|(part, _, _)| part)
            .min_by_key(|part| (part.at, part.is_gap))
    }

    /// For each change: its next part of a task, and the share of it that remains.
    fn parts(&self, task: TaskId, from: (u32, bool)) -> impl Iterator<Item = (Part, &Change, i64)> {
        let shares = self.shares.iter().filter(|(_, share)| *share != WHOLE_PPM);
        shares.filter_map(move |&(number, share_ppm)| {
            let change = self.changes.get(number)?;
            let parts = change.parts.get(&task)?;
            let place = parts.partition_point(|part| (part.at, part.is_gap) < from);
            Some((*parts.get(place)?, change, share_ppm))
        })
    }

    /// The share that remains of a call or gap: the least of the changes that have it. `wait` is what it waits for, if it
    /// does: a change in which it follows that is none of it.
    fn share_of(&self, task: TaskId, place: (u32, bool), wait: Option<&Step>) -> Option<i64> {
        let changes = |change: &Change| wait.is_none_or(|step| !change.follows(step));
        self.parts(task, place)
            .filter(|(part, change, _)| (part.at, part.is_gap) == place && changes(change))
            .map(|(_, _, share_ppm)| share_ppm)
            .min()
    }
}

/// A call that ended, in both times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub captured_ns: (i64, i64),
    pub replayed_ns: (i64, i64),
    /// What decided its end, or its start: the moment of another lane.
    pub decided_by: Option<(TaskId, i64)>,
    /// Where the lane is after it.
    pub reached: Reached,
}

/// From where a lane counts its own work: the last wait that something else ended, or its birth.
///
/// What tracing costs is an average, so it is only right for many calls. Changed calls in between do not divide them: the
/// lane could take longer with more of them removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    pub at: u32,
    pub captured_ns: i64,
    pub replayed_ns: i64,
    /// The time that changes have removed since.
    pub removed_ns: i64,
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
        let is_first =
            |part: &Part| step.is_none_or(|step| (part.at, part.is_gap) < (step.at, step.is_gap));
        match part.filter(is_first) {
            Some(part) => Some(Item {
                at: part.at,
                is_gap: part.is_gap,
                start_ns: part.start_ns,
                end_ns: part.end_ns,
                ended_by: None,
                kept_ppm: kept.share_of(task, (part.at, part.is_gap), None),
            }),
            None => step.map(|step| Item {
                at: step.at,
                is_gap: step.is_gap,
                start_ns: step.start_ns,
                end_ns: step.end_ns,
                ended_by: Some(step.ended_by),
                kept_ppm: kept.share_of(task, (step.at, step.is_gap), Some(step)),
            }),
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

    /// From where the own work of the lane counts now.
    pub(super) fn reached(&self, lane: &Lane) -> Reached {
        self.before(lane, self.entries.len())
    }

    fn before(&self, lane: &Lane, place: usize) -> Reached {
        let entry = place.checked_sub(1).and_then(|last| self.entries.get(last));
        let birth = Reached {
            at: NONE,
            captured_ns: lane.birth_ns,
            replayed_ns: self.birth_ns,
            removed_ns: 0,
        };
        entry.map_or(birth, |entry| entry.reached)
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
        let next = self.entries.get(place);
        let until_ns = next.map_or(at_ns, |next| next.captured_ns.0.min(at_ns));
        let begins_ns = own.replayed_ns(self.before(lane, place), until_ns);
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
    /// The replayed time of a later captured moment.
    pub(super) fn replayed_ns(&self, from: Reached, to_ns: i64) -> i64 {
        let work_ns = to_ns.saturating_sub(from.captured_ns);
        let work_ns = work_ns.saturating_sub(from.removed_ns).max(0);
        let Some(cost) = self.tracing else {
            return from.replayed_ns + work_ns;
        };
        let events = &self.trace.events;
        let rows = self.trace.rows_of(self.task);
        let first = from.at.wrapping_add(1) as usize;
        let later = rows.get(first..).unwrap_or(&[]);
        let calls = later.partition_point(|&row| events.start_ns(row) < to_ns) as i64;
        let cost_ns = calls.saturating_mul(cost.in_call_ns + cost.gap_ns);
        from.replayed_ns + work_ns - cost_ns.clamp(0, work_ns)
    }
}
