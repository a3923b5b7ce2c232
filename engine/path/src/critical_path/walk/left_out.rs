//! The walk through time without lines in the capture.
//!
//! ```text
//! task    |call|  lines left out              |call|        presumed to wait while the other lived
//! other          |exec|call|  left out  |exit|
//! charged |task|t|          other            |t|  task|     t: left out
//! ```

use crate::critical_path::segment::What;
use crate::critical_path::walk::{Waiter, Walk, WalkListener};
use crate::waits::edge::{Confidence, Edge};
use crate::waits::left_out::LeftOut;
use parsers::syscalls::Class;
use trace::store::event::NONE;
use trace::store::spans::Span;

impl<L: WalkListener> Walk<'_, L> {
    /// The range of left-out lines that the walk is in. One before the first event of a task counts only if no task waits for
    /// it: its birth is unknown.
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        let ranges = self.wakers.left_out();
        if ranges.is_empty() {
            return None;
        }
        let is_counted = |range: &LeftOut| {
            range.row != NONE || self.is_inside_life(range) || self.now.stack.is_empty()
        };
        let range = ranges.before(self.now.task, self.now.at_ns)?;
        (self.now.at_ns <= range.to_ns && is_counted(&range)).then_some(range)
    }

    fn is_inside_life(&self, range: &LeftOut) -> bool {
        self.trace.tasks[self.now.task].birth_ns <= range.from_ns
    }

    /// Charge the time before the present moment down to the end of the last range of left-out lines, if that is later than
    /// this call.
    pub(super) fn stops_at_left_out(&mut self, before: Span) -> bool {
        let range = self.wakers.left_out().before(self.now.task, self.now.at_ns);
        let Some(range) =
            range.filter(|range| range.to_ns > before.end_ns && range.to_ns < self.now.at_ns)
        else {
            return false;
        };
        self.charge(
            self.now.task,
            range.to_ns,
            What::Gap(before.row),
            Class::User,
            true,
        );
        true
    }

    /// The place of the first call after the last range of left-out lines: the walk stops there.
    pub(super) fn after_left_out(&self, at: usize) -> Option<usize> {
        let range = self
            .wakers
            .left_out()
            .before(self.now.task, self.now.at_ns)?;
        if range.to_ns <= self.now.floor_ns {
            return None;
        }
        let rows = self.trace.rows_of(self.now.task);
        let after = rows.partition_point(|&row| self.trace.events.start_ns(row) < range.to_ns);
        (after <= at).then_some(after)
    }

    /// Charge left-out time, except the life of the task that is presumed to be awaited.
    pub(super) fn pass_left_out(&mut self, range: LeftOut) {
        let (task, what) = (self.now.task, What::Gap(range.row));
        let (at_ns, is_root) = (self.now.at_ns, self.now.stack.is_empty());
        let awaited = self
            .wakers
            .left_out()
            .awaited(self.trace, task, range, at_ns, is_root);
        let Some((awaited, how)) =
            awaited.filter(|&(awaited, _)| self.now.visits.first_visit_of_life(awaited))
        else {
            return self.charge(task, range.from_ns, what, Class::Gap, false);
        };
        let end_ns = self.trace.tasks[awaited].end_ns();
        self.charge(task, end_ns, what, Class::Gap, false);
        if self.now.at_ns <= self.now.floor_ns {
            return;
        }
        let edge = Edge {
            task: awaited,
            at_ns: end_ns,
            how,
            sure: Confidence::Inferred,
        };
        let wait = Span {
            row: NONE,
            start_ns: range.from_ns,
            end_ns: range.to_ns,
        };
        let (floor_ns, until_ns) = (self.now.floor_ns, self.now.at_ns);
        self.push(Waiter {
            task,
            floor_ns,
            wait,
            polls: false,
            edge,
            until_ns,
        });
        self.now.floor_ns = floor_ns.max(range.from_ns);
        self.go_to(awaited);
    }
}
