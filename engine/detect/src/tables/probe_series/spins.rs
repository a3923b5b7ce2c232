//! Spins: the same failing probe again and again, without a pause.
//!
//! ```text
//! read EAGAIN | read EAGAIN | read EAGAIN | read 5 bytes        3 failed probes, then the result changes
//! poll(0) = 0 | read EAGAIN | poll(0) = 0 | read EAGAIN         a poll that does not wait belongs to the read
//! ```

use super::probes::{ProbeIndex, ProbeKey};
use kit::table_support::context::TableContext;
use parsers::syscalls::Wait;
use path::waits::wait_kinds::wait_of_row;
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::event::EventKind;
use trace::store::heuristics::{MAX_SPIN_CALLS, MIN_SPIN_PROBES};
use trace::store::index::TaskId;

/// Failed probes of a task in close succession.
#[derive(Clone, Copy)]
pub(crate) struct Spin {
    /// The task.
    pub task: TaskId,
    /// The probed object.
    pub key: ProbeKey,
    /// The poll without a pause that goes with each of them, or the other way round.
    partner: Option<ProbeKey>,
    /// Number of failed probes.
    pub probes: i64,
    /// Whether a further probe had another result in the end.
    pub changed: bool,
    /// The first probe.
    pub first_row: u32,
    /// The last probe.
    pub last_row: u32,
    last_at: usize,
}

impl Spin {
    /// Whether another failed probe belongs to each turn.
    fn has_partner(&self, context: &TableContext<'_>, other: ProbeKey, row: u32) -> bool {
        let waits = (wait_of(context, self.first_row), wait_of(context, row));
        let may_have = self.partner.is_none() && self.probes == 1;
        let are_both = matches!(
            waits,
            (Some(Wait::Poll), Some(Wait::Read)) | (Some(Wait::Read), Some(Wait::Poll))
        );
        self.partner == Some(other) || may_have && are_both
    }

    /// Adds that probe. Of a poll and a read, the read is the object.
    fn add_partner(
        &mut self,
        context: &TableContext<'_>,
        other: ProbeKey,
        (row, at): (u32, usize),
    ) {
        let is_read = context.trace.events.action(row).wait() == Some(Wait::Read);
        if self.partner.is_none() && is_read {
            (self.key, self.partner) = (other, Some(self.key));
            (self.first_row, self.last_row) = (row, row);
        } else {
            self.partner = Some(other);
        }
        self.last_at = at;
    }
}

fn wait_of(context: &TableContext<'_>, row: u32) -> Option<Wait> {
    context.trace.events.action(row).wait()
}

/// The longest spin of each task on each object.
pub(crate) fn spins(context: &TableContext<'_>) -> Vec<Spin> {
    let probes = ProbeIndex::new(context, &[]);
    let tasks: Vec<TaskId> = context.tasks().collect();
    parallel::flat_map(&tasks, |&task| of_task(context, &probes, task))
}

fn of_task(context: &TableContext<'_>, probes: &ProbeIndex, task: TaskId) -> Vec<Spin> {
    let events = &context.trace.events;
    let mut longest: FxHashMap<ProbeKey, Spin> = FxHashMap::default();
    let mut keep = |spin: Option<Spin>| {
        let is_search = |spin: &Spin| {
            context
                .wakers
                .is_step_of_search(context.trace, task, spin.first_row)
        };
        let Some(spin) = spin.filter(|spin| spin.probes >= MIN_SPIN_PROBES && !is_search(spin))
        else {
            return;
        };
        let known = longest.entry(spin.key).or_insert(spin);
        if spin.probes > known.probes {
            *known = spin;
        }
    };
    let mut now: Option<Spin> = None;
    let (rows, shapes) = (context.trace.rows_of(task), context.trace.shapes_of(task));
    let mut next = 0;
    while let (Some(&row), Some(&shape)) = (rows.get(next), shapes.get(next)) {
        let at = next;
        next += 1;
        let near = now
            .as_ref()
            .is_some_and(|spin| at - spin.last_at <= MAX_SPIN_CALLS);
        if !near && !probes.may_fail(shape) {
            keep(now.take());
            // Nearly all rows are not probes, and no probes are near them.
            next += shapes[next..]
                .iter()
                .take_while(|&&shape| !probes.may_fail(shape))
                .count();
            continue;
        }
        if events.kind(row) != EventKind::Call || !context.selection.has(row) {
            continue;
        }
        match probes
            .probe(context, row, false)
            .filter(|probe| probe.child == TaskId::NONE)
        {
            Some(probe) => match &mut now {
                Some(spin) if near && spin.key == probe.key => {
                    (spin.last_row, spin.last_at) = (row, at);
                    spin.probes += i64::from(probe.failed);
                    spin.changed = !probe.failed;
                    if spin.changed {
                        keep(now.take());
                    }
                }
                Some(_) if near && !probe.failed => {}
                Some(spin) if near && spin.has_partner(context, probe.key, row) => {
                    spin.add_partner(context, probe.key, (row, at));
                }
                _ => {
                    keep(now.take());
                    let (key, first_row) = (probe.key, row);
                    let (partner, last_row, last_at) = (None, row, at);
                    let new = Spin {
                        task,
                        key,
                        partner,
                        probes: 1,
                        changed: false,
                        first_row,
                        last_row,
                        last_at,
                    };
                    now = probe.failed.then_some(new);
                }
            },
            None if matches!(wait_of_row(events, row), None | Some(Wait::Read)) => {}
            None => keep(now.take()),
        }
    }
    keep(now);
    let mut found: Vec<Spin> = longest.into_values().collect();
    found.sort_unstable_by_key(|spin| spin.first_row);
    found
}
