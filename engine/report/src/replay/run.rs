//! One replay: lanes are replayed as far as others need them, so each call is visited once.

use crate::replay::changes::WHOLE_PPM;
use crate::replay::graph::{Graph, Lane};
use crate::replay::lane::{Cursor, Entry, Item, Kept, OwnWork, Reached};
use crate::replay::scenario::{Replays, Scenario};
use crate::replay::steps::{Awaited, EndedBy, Turns};
use parsers::NO_NS;
use path::critical_path::tracing::TracingCost;
use rustc_hash::FxHashSet;
use trace::store::index::{TaskId, TiVec};
use trace::store::trace::Trace;

/// A replay that is under way.
pub(super) struct Run<'a> {
    trace: &'a Trace,
    graph: &'a Graph,
    kept: Kept<'a>,
    tracing: Option<TracingCost>,
    /// The waits that are put off to the end of the group: task and place.
    put_off: FxHashSet<(TaskId, u32)>,
    /// The waits before which a group of parallel children ends.
    joins: FxHashSet<(TaskId, u32)>,
    cursors: TiVec<TaskId, Cursor>,
}

impl<'a> Run<'a> {
    pub(super) fn new(replays: &Replays<'a>, scenario: &'a Scenario) -> Run<'a> {
        let mut run = Run {
            trace: replays.trace,
            graph: replays.graph,
            kept: Kept {
                changes: replays.changes,
                shares: &scenario.shares,
            },
            tracing: scenario.tracing,
            put_off: FxHashSet::default(),
            joins: FxHashSet::default(),
            cursors: TiVec::new(),
        };
        run.cursors
            .resize_with(replays.graph.lanes.len(), Cursor::default);
        if scenario.is_parallel {
            replays
                .parallel
                .iter()
                .for_each(|&task| run.put_off_waits(task));
        }
        run
    }

    /// ```text
    /// captured   |fork a| wait a |fork b| wait b |fork c| wait c |
    /// replayed   |fork a|fork b|fork c|   wait for all           |
    /// ```
    ///
    /// A pause between the children keeps its place: they end before it. Children that all only sleep are no pauses: they
    /// are what is to run in parallel.
    fn put_off_waits(&mut self, task: TaskId) {
        let lanes = &self.graph.lanes;
        let waits = lanes[task].steps.iter().filter_map(|step| {
            let EndedBy::Task {
                task: child,
                awaited: Awaited::Child,
                ..
            } = step.ended_by
            else {
                return None;
            };
            (lanes[child].creator == task).then_some((step.at, lanes[child].is_pause))
        });
        let waits: Vec<(u32, bool)> = waits.collect();
        let only_sleep = waits.iter().all(|&(_, is_pause)| is_pause);
        let mut group = None;
        for (at, is_pause) in waits {
            if is_pause && !only_sleep {
                self.joins.insert((task, at));
                group = None;
            } else if let Some(before) = group.replace(at) {
                self.put_off.insert((task, before));
            }
        }
    }

    /// The number of steps that a walk through it may need.
    pub(super) fn max_steps(&self) -> usize {
        let entries: usize = self.cursors.iter().map(|cursor| cursor.entries.len()).sum();
        2 * (entries + self.cursors.len()) + 1
    }

    pub(super) fn lane(&self, task: TaskId) -> &'a Lane {
        &self.graph.lanes[task]
    }

    pub(super) fn cursor(&self, task: TaskId) -> &Cursor {
        &self.cursors[task]
    }

    fn own(&self, task: TaskId) -> OwnWork<'a> {
        OwnWork {
            trace: self.trace,
            task,
            tracing: self.tracing,
        }
    }

    /// The replayed time of a captured moment of a task, which must have been reached.
    pub(super) fn replayed_ns(&self, task: TaskId, at_ns: i64) -> i64 {
        self.cursor(task)
            .replayed_ns(self.lane(task), &self.own(task), at_ns)
    }

    /// Replay a task up to a captured moment, and before that the others as far as they are needed for it.
    pub(super) fn advance(&mut self, task: TaskId, until_ns: i64) {
        let mut waiting = vec![(task, until_ns)];
        self.cursors[task].is_busy = true;
        while let Some(&(task, until_ns)) = waiting.last() {
            let needed = if self.cursor(task).is_born {
                match self.next(task, until_ns) {
                    None => {
                        self.cursors[task].is_busy = false;
                        waiting.pop();
                        continue;
                    }
                    Some(item) => self.needed(task, &item).or_else(|| {
                        self.take(task, &item);
                        None
                    }),
                }
            } else {
                self.creator_needed(task).or_else(|| {
                    self.bear(task);
                    None
                })
            };
            if let Some((other, at_ns)) = needed {
                self.cursors[other].is_busy = true;
                waiting.push((other, at_ns));
            }
        }
    }

    fn next(&self, task: TaskId, until_ns: i64) -> Option<Item> {
        let item = self.cursor(task).item(self.lane(task), task, &self.kept)?;
        (item.end_ns <= until_ns).then_some(item)
    }

    /// The lane, and the moment of it, that an item depends on, if it is not replayed yet. Lanes that depend on each other at
    /// one moment of a coarse clock go on without.
    fn needed(&self, task: TaskId, item: &Item) -> Option<(TaskId, i64)> {
        let (other, at_ns) = match item.ended_by? {
            EndedBy::Task { task, at_ns, .. } => (task, at_ns),
            EndedBy::Check(turns) => (turns.producer, turns.at_ns),
            EndedBy::Answer(_) | EndedBy::Moment => return None,
        };
        (other != task && !self.is_reached(other, at_ns)).then_some((other, at_ns))
    }

    fn is_reached(&self, task: TaskId, at_ns: i64) -> bool {
        let cursor = self.cursor(task);
        cursor.is_busy || (cursor.is_born && self.next(task, at_ns).is_none())
    }

    fn creator_needed(&self, task: TaskId) -> Option<(TaskId, i64)> {
        let lane = self.lane(task);
        let is_needed =
            lane.creator != TaskId::NONE && !self.is_reached(lane.creator, lane.created_ns);
        is_needed.then_some((lane.creator, lane.created_ns))
    }

    fn bear(&mut self, task: TaskId) {
        let lane = self.lane(task);
        let is_known = lane.creator != TaskId::NONE
            && lane.birth_ns != NO_NS
            && self.cursor(lane.creator).is_born;
        let born_ns = if is_known {
            self.replayed_ns(lane.creator, lane.created_ns) + (lane.birth_ns - lane.created_ns)
        } else {
            lane.birth_ns
        };
        let cursor = &mut self.cursors[task];
        (cursor.is_born, cursor.birth_ns, cursor.beside_ns) = (true, born_ns, i64::MIN);
    }

    /// Replay the next item of a task.
    fn take(&mut self, task: TaskId, item: &Item) {
        let lane = self.lane(task);
        let reached = self.cursor(task).reached(lane);
        let begins_ns = self.own(task).replayed_ns(reached, item.start_ns);
        let mut entry = Entry {
            captured_ns: (item.start_ns, item.end_ns),
            replayed_ns: (begins_ns, begins_ns),
            decided_by: None,
            reached,
        };
        match item.ended_by.filter(|ended_by| self.is_known(*ended_by)) {
            None if item.ended_by.is_none() => {
                let removed_ns = item.end_ns - item.start_ns - kept_alone_ns(item);
                entry.reached.removed_ns = reached.removed_ns.saturating_add(removed_ns);
                entry.replayed_ns.1 = self.own(task).replayed_ns(entry.reached, item.end_ns);
                self.cursors[task].pass(item, entry);
                return;
            }
            None => entry.replayed_ns.1 += item.end_ns - item.start_ns,
            Some(EndedBy::Task {
                task: other,
                at_ns,
                awaited,
            }) => {
                let is_child = awaited == Awaited::Child;
                self.wake(task, item, (other, at_ns, is_child), &mut entry);
            }
            Some(EndedBy::Answer(asked_ns)) => {
                let answer_ns = self.replayed_ns(task, asked_ns) + (item.end_ns - asked_ns);
                entry.replayed_ns.1 = begins_ns.max(answer_ns);
            }
            Some(EndedBy::Moment) => entry.replayed_ns.1 = begins_ns.max(item.end_ns),
            Some(EndedBy::Check(turns)) => self.check(task, item, turns, &mut entry),
        }
        keep(item, &mut entry);
        entry.reached = Reached {
            at: item.at,
            captured_ns: item.end_ns,
            replayed_ns: entry.replayed_ns.1,
            removed_ns: 0,
        };
        self.cursors[task].pass(item, entry);
    }

    /// Whether the other side was replayed: on a coarse clock, a task may wait for a child that it has not created yet.
    fn is_known(&self, ended_by: EndedBy) -> bool {
        match ended_by {
            EndedBy::Task { task, .. } => self.cursor(task).is_born,
            EndedBy::Check(turns) => self.cursor(turns.producer).is_born,
            EndedBy::Answer(_) | EndedBy::Moment => true,
        }
    }

    /// A wait that another task ended: as long after its event as in the capture, but not before the call could return.
    fn wake(
        &mut self,
        task: TaskId,
        item: &Item,
        (other, at_ns, is_child): (TaskId, i64, bool),
        entry: &mut Entry,
    ) {
        let dur_ns = item.end_ns - item.start_ns;
        let mut woken_ns = self.replayed_ns(other, at_ns);
        let (least_ns, delay_ns) = if at_ns >= item.start_ns {
            (dur_ns.min(item.end_ns - at_ns), item.end_ns - at_ns)
        } else {
            // It found what it needed.
            (dur_ns, 0)
        };
        let place = (task, item.at);
        if self.joins.contains(&place) {
            let beside_ns = &mut self.cursors[task].beside_ns;
            entry.replayed_ns.0 = entry.replayed_ns.0.max(*beside_ns);
            *beside_ns = i64::MIN;
        }
        let returns_ns = entry.replayed_ns.0 + least_ns;
        entry.replayed_ns.1 = returns_ns;
        let cursor = &mut self.cursors[task];
        if is_child && self.put_off.contains(&place) {
            cursor.beside_ns = cursor.beside_ns.max(woken_ns + delay_ns);
            return;
        }
        if is_child && cursor.beside_ns > woken_ns + delay_ns {
            woken_ns = cursor.beside_ns - delay_ns;
        }
        if woken_ns + delay_ns > returns_ns {
            entry.replayed_ns.1 = woken_ns + delay_ns;
            entry.decided_by = Some((other, at_ns));
        }
    }

    /// The last check of a poll loop, as long after the awaited event as in the capture, or when the pauses end if that is
    /// sooner.
    fn check(&self, task: TaskId, item: &Item, turns: Turns, entry: &mut Entry) {
        let first_ns = self.replayed_ns(task, turns.began_ns);
        let lag_ns = item.start_ns - turns.at_ns;
        let made_ns = self.replayed_ns(turns.producer, turns.at_ns);
        let earliest_ns = made_ns + lag_ns.min(0);
        let noticed_ns = entry.replayed_ns.0.max(earliest_ns).min(made_ns + lag_ns);
        let begins_ns = first_ns.max(noticed_ns);
        entry.decided_by = (noticed_ns > first_ns).then_some((turns.producer, turns.at_ns));
        entry.replayed_ns = (begins_ns, begins_ns + (item.end_ns - item.start_ns));
    }
}

/// Leave out what the scenario removes of a wait.
fn keep(item: &Item, entry: &mut Entry) {
    let Some(share_ppm) = item.kept_ppm else {
        return;
    };
    let (begins_ns, ends_ns) = entry.replayed_ns;
    let mut dur_ns = share(ends_ns - begins_ns, share_ppm, WHOLE_PPM);
    if share_ppm > WHOLE_PPM {
        // What begins earlier waits longer, but does not end later.
        dur_ns = kept_alone_ns(item).max(ends_ns - begins_ns);
    }
    entry.replayed_ns.1 = begins_ns.saturating_add(dur_ns);
    if let Some(EndedBy::Task { .. }) = item.ended_by {
        let is_decided = entry.replayed_ns.1 == ends_ns;
        entry.decided_by = entry.decided_by.filter(|_| is_decided);
    }
}

/// What remains of the captured time of a call or gap.
fn kept_alone_ns(item: &Item) -> i64 {
    let share_ppm = item.kept_ppm.unwrap_or(WHOLE_PPM);
    share(item.end_ns - item.start_ns, share_ppm, WHOLE_PPM)
}

/// A part of a time; exact also where the product is large.
fn share(ns: i64, part: i64, whole: i64) -> i64 {
    let ns = i128::from(ns) * i128::from(part) / i128::from(whole.max(1));
    i64::try_from(ns).unwrap_or(i64::MAX)
}
