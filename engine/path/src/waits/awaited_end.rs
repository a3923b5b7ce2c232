//! Pauses until a task ends: its creator sleeps, looks, and sleeps again, until a thread or child of it is gone.
//!
//! ```text
//! creator  |create|  sleep  |look|  sleep  |look|  sleep  |look| goes on
//! created         |---------------- work --------------|exit
//! ```
//!
//! What the creator looks at may be memory that they share, so no line links the two: it is inferred. The pauses have to
//! begin before the end and to stop soon after it, and nothing but looks may lie between them.

use super::child::Children;
use super::effects::ShapeEffects;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use parsers::NO_NS;
use parsers::syscalls::{Class, Wait};
use trace::store::event::EventKind;
use trace::store::heuristics::{MAX_PAUSES_AFTER_END, MIN_PAUSES_BEFORE_END, WATCHDOG_CALLS};
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Maximum number of tasks that are examined for one pause.
const MAX_ENDED: usize = 16;

/// The task that the creator of it awaits with pauses like this one.
pub(super) fn awaited(
    shapes: &ShapeEffects,
    children: &Children,
    call: &Waiting<'_>,
) -> Option<Edge> {
    let trace = call.trace;
    let asked_ns = trace
        .events
        .requested_ns(call.span.row)
        .filter(|&ns| ns > 0)?;
    let pauses = Pauses {
        shapes,
        trace,
        rows: trace.rows_of(call.task),
        asked_ns,
    };
    if !pauses.are_around(call.at) {
        return None;
    }
    let made = [
        children.made_by(trace, call.task),
        children.tasks_of(trace, call.task),
    ];
    let live = made
        .into_iter()
        .flat_map(|tasks| made_and_living(call, tasks));
    let task = live
        .filter(|&task| pauses.stop_with(task))
        .max_by_key(|&task| trace.tasks[task].death_ns)?;
    Some(Edge {
        task,
        at_ns: trace.tasks[task].death_ns.min(call.span.end_ns),
        how: WakeKind::Poll,
        sure: Confidence::Inferred,
    })
}

/// Those of these tasks that the pausing one made before the pause, and that end in it or later. They are in order of
/// their ends.
fn made_and_living<'call>(
    call: &'call Waiting<'_>,
    tasks: &'call [TaskId],
) -> impl Iterator<Item = TaskId> + 'call {
    let (trace, start_ns) = (call.trace, call.span.start_ns);
    let ended = tasks.partition_point(|&task| trace.tasks[task].end_ns() <= start_ns);
    let living = tasks[ended..].iter().take(MAX_ENDED).copied();
    living.filter(move |&task| {
        let known = &trace.tasks[task];
        known.creator == call.task
            && known.born
            && known.death_ns != NO_NS
            && known.birth_ns <= start_ns
    })
}

/// Equal pauses of a task.
struct Pauses<'trace> {
    shapes: &'trace ShapeEffects,
    trace: &'trace Trace,
    rows: &'trace [u32],
    asked_ns: i64,
}

impl Pauses<'_> {
    /// Whether there are enough of them around this place, and only looks between them.
    fn are_around(&self, at: usize) -> bool {
        let next = self.rows.get(at + 1..).unwrap_or(&[]);
        self.count(self.rows[..at].iter().rev()) + self.count(next.iter()) >= MIN_PAUSES_BEFORE_END
    }

    /// The number of them until the task does something else, at most so many as are enough.
    fn count<'rows>(&self, rows: impl Iterator<Item = &'rows u32>) -> usize {
        let near = rows
            .take(WATCHDOG_CALLS)
            .take_while(|&&row| self.has(row) || !self.works(row));
        near.filter(|&&row| self.has(row)).count()
    }

    /// Whether the task makes them until another one ends, and soon after does something else, or ends.
    fn stop_with(&self, awaited: TaskId) -> bool {
        let death_ns = self.trace.tasks[awaited].death_ns;
        let after = self
            .rows
            .partition_point(|&row| self.trace.events.start_ns(row) <= death_ns);
        let (before, after) = self.rows.split_at(after);
        let (mut pauses, mut works) = (0, false);
        for &row in after.iter().take(WATCHDOG_CALLS) {
            pauses += usize::from(self.has(row));
            works |= self.works(row);
        }
        let ends = after.len() < WATCHDOG_CALLS && self.ends();
        self.count(before.iter().rev()) >= MIN_PAUSES_BEFORE_END
            && pauses <= MAX_PAUSES_AFTER_END
            && (ends || works)
    }

    /// Whether the end of the task is in the capture.
    fn ends(&self) -> bool {
        let task = self.rows.first().map(|&row| self.trace.events.task(row));
        task.is_some_and(|task| self.trace.tasks[task].death_ns != NO_NS)
    }

    fn has(&self, row: u32) -> bool {
        let events = &self.trace.events;
        events.kind(row) == EventKind::Call && events.requested_ns(row) == Some(self.asked_ns)
    }

    /// Whether a call does more than to look: it moves data, or waits for others.
    fn works(&self, row: u32) -> bool {
        let known = self.shapes.of(self.trace, row);
        let moves = matches!(known.class, Class::Network | Class::Ipc | Class::Terminal);
        moves && known.wait != Some(Wait::Poll)
            || self.trace.events.bytes(row).is_some_and(|bytes| bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::on_path;
    use trace::store::trace::Trace;
    use trace::testing::{TaskPlan, build, task};

    const MS: i64 = 1_000_000;

    /// A creator that pauses ten times, while a child works until shortly before the end of the ninth pause.
    fn awaited(after: impl Fn(TaskPlan) -> TaskPlan) -> Trace {
        let main = task(1).exec(0, 1, "/bin/x").fork(2, 3, 2);
        let paused = (0..10).fold(main, |plan, turn| {
            let at = (10 + 20 * turn) * MS;
            plan.call("nanosleep", at, at + 19 * MS).asks(19 * MS).call(
                "stat",
                at + 19 * MS,
                at + 19 * MS + 10,
            )
        });
        let child = task(2)
            .call("fsync", 5 * MS, 180 * MS)
            .on("/data")
            .exit(181 * MS);
        build(vec![after(paused), child])
    }

    #[test]
    fn the_pauses_of_a_creator_are_the_time_of_the_task_that_it_awaits() {
        let goes_on = |plan: TaskPlan| {
            plan.call("write", 212 * MS, 213 * MS)
                .on("/out")
                .returns(9)
                .exit(214 * MS)
        };
        let times = on_path(&awaited(goes_on));
        assert!(times[1] > 160 * MS && times[0] < 55 * MS, "{times:?}");
    }

    #[test]
    fn pauses_that_go_on_are_the_creators_own() {
        let pauses_on = |plan: TaskPlan| {
            let more = (0..20).fold(plan, |plan, turn| {
                let at = (210 + 20 * turn) * MS;
                plan.call("nanosleep", at, at + 19 * MS).asks(19 * MS)
            });
            more.exit(640 * MS)
        };
        assert!(on_path(&awaited(pauses_on))[1] < MS);
    }
}
