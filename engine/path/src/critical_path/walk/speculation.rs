//! The walk on all cores: legs of it are walked at once, each from a guess where the walk will be at its begin.
//!
//! ```text
//! time       |---------- leg 3 ---------|---------- leg 2 ---------|---------- leg 1 ---------|
//! at once     <============== guess here <============== guess here <=========== the walk is here
//! then        <-------------------- joins <------------------- joins <------------------------
//! ```
//! The walk takes over the record of a leg from the point where its own state equals one of the leg's: the rest depends
//! on nothing else. Until then it continues alone. A leg that is never joined was wasted work.

use crate::critical_path::segment::Segment;
use crate::critical_path::walk::visited::Visited;
use crate::critical_path::walk::work_span::WorkSpan;
use crate::critical_path::walk::{Position, Waited, Walk, WalkListener};
use crate::critical_path::window::Window;
use crate::waits::edge::Edge;
use crate::waits::wakers::Wakers;
use parsers::NO_NS;
use rayon::prelude::*;
use std::iter::successors;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Events per leg. The record of a leg should fit into the cache of a core.
const LEG_ROWS: u32 = 1 << 15;
/// Legs per core that are walked at the same time. Their records are held until they are joined.
const LEGS_OF_CORE: usize = 2;
/// Maximum number of tasks that a guess passes through.
const JUMPS: usize = 256;
/// Steps at the start of a leg at which it can always be joined, and the maximum number of other such steps.
const FIRST_MARKS: usize = 8;
const MARKS: usize = 64;

/// Events of a leg; more than there are if one core has to walk alone.
pub(super) fn rows_of_leg() -> u32 {
    if rayon::current_num_threads() > 1 {
        LEG_ROWS
    } else {
        u32::MAX
    }
}

/// Moments inside a window at which legs of so many events begin, the last one first.
pub(super) fn leg_starts(trace: &Trace, window: &Window, leg_rows: u32) -> Vec<i64> {
    let Some(capture) = trace.captures.get(window.capture as usize) else {
        return Vec::new();
    };
    let rows = successors(capture.rows.end.checked_sub(leg_rows), |row| {
        row.checked_sub(leg_rows)
    });
    let rows = rows.take_while(|row| capture.rows.contains(row));
    let mut begins = Vec::new();
    for at_ns in rows
        .map(|row| trace.events.start_ns(row))
        .filter(|&at_ns| at_ns != NO_NS)
    {
        // Lines may be out of order.
        if window.start_ns < at_ns && at_ns < *begins.last().unwrap_or(&window.end_ns) {
            begins.push(at_ns);
        }
    }
    begins
}

/// One notification to a listener.
enum WalkEvent {
    Charged(Segment),
    Worked(WorkSpan),
    Begins(TaskId, Edge),
    Ends(Waited),
}

impl WalkEvent {
    fn replay(self, trace: &Trace, wakers: &Wakers, listener: &mut impl WalkListener) {
        match self {
            WalkEvent::Charged(segment) => listener.charged(segment),
            WalkEvent::Worked(spell) => listener.worked(trace, wakers, spell),
            WalkEvent::Begins(waiter, edge) => listener.begins(waiter, &edge),
            WalkEvent::Ends(waited) => listener.ends(&waited),
        }
    }
}

/// Records every notification.
#[derive(Default)]
struct WalkRecording(Vec<WalkEvent>);

impl WalkListener for WalkRecording {
    fn charged(&mut self, segment: Segment) {
        self.0.push(WalkEvent::Charged(segment));
    }

    fn worked(&mut self, _trace: &Trace, _wakers: &Wakers, spell: WorkSpan) {
        self.0.push(WalkEvent::Worked(spell));
    }

    fn begins(&mut self, waiter: TaskId, edge: &Edge) {
        self.0.push(WalkEvent::Begins(waiter, *edge));
    }

    fn ends(&mut self, waited: &Waited) {
        self.0.push(WalkEvent::Ends(*waited));
    }
}

/// Walks legs before the walk itself comes there, one after the other, ever further back.
struct Scout<'walk> {
    walk: Walk<'walk, WalkRecording>,
    /// Where it has been on its last leg.
    marks: Vec<Mark>,
}

/// A state of the scout, with the notifications and steps before it.
struct Mark {
    now: Position,
    recorded: usize,
    steps: u64,
}

impl Scout<'_> {
    /// Walk from where the walk is, or from where it may be at an earlier moment, until a moment is passed.
    fn walk(&mut self, now: &Position, from_ns: Option<i64>, until_ns: i64) {
        self.marks.clear();
        self.walk.be_at(now.clone());
        if let Some(from_ns) = from_ns {
            self.walk.jump_to(from_ns);
        }
        self.walk.listener.0.clear();
        // The walk returns to the task that waits for all others, whatever was guessed about them.
        let mut least_deep = usize::MAX;
        loop {
            let deep = self.walk.now.stack.len();
            if self.marks.len() < FIRST_MARKS || (deep <= least_deep && self.marks.len() < MARKS) {
                least_deep = least_deep.min(deep);
                self.mark();
            }
            if self.walk.now.at_ns <= until_ns || !self.walk.step() {
                break;
            }
        }
    }

    fn mark(&mut self) {
        let Walk {
            now,
            listener,
            steps,
            ..
        } = &self.walk;
        self.marks.push(Mark {
            now: now.clone(),
            recorded: listener.0.len(),
            steps: *steps,
        });
    }
}

impl<L: WalkListener> Walk<'_, L> {
    /// Walk to the end, in legs that begin at these moments. The answer is how many of them the walk joined.
    pub(super) fn in_legs(&mut self, begins: &[i64]) -> usize {
        let (trace, wakers) = (self.trace, self.wakers);
        let at_once = begins
            .len()
            .min(LEGS_OF_CORE * rayon::current_num_threads());
        let mut recordings: Vec<WalkRecording> = std::iter::repeat_with(WalkRecording::default)
            .take(at_once)
            .collect();
        let scout = |recordings| Scout {
            walk: Walk::new(trace, wakers, self.now.clone(), recordings),
            marks: Vec::new(),
        };
        let mut scouts: Vec<Scout<'_>> = recordings.iter_mut().map(scout).collect();
        let mut joined = 0;
        for begins in begins.chunks(at_once.max(1)) {
            let now = &self.now;
            let legs = scouts.par_iter_mut().zip(begins).enumerate();
            legs.for_each(|(at, (scout, &until_ns))| {
                scout.walk(
                    now,
                    at.checked_sub(1).map(|before| begins[before]),
                    until_ns,
                );
            });
            joined += scouts
                .iter_mut()
                .take(begins.len())
                .map(|scout| self.join(scout))
                .filter(|&joins| joins)
                .count();
        }
        while self.step() {}
        joined
    }

    /// Continue until the walk meets a state of the scout, then to the end of its leg; or past it without a match.
    fn join(&mut self, Scout { walk: ahead, marks }: &mut Scout<'_>) -> bool {
        let Some(lowest_ns) = marks.last().map(|mark| mark.now.at_ns) else {
            return false;
        };
        while self.now.at_ns >= lowest_ns {
            if let Some(mark) = marks.iter().find(|mark| mark.now == self.now) {
                let recordings = ahead.listener.0.drain(mark.recorded..);
                recordings.for_each(|event| event.replay(self.trace, self.wakers, self.listener));
                self.steps += ahead.steps - mark.steps;
                self.be_at(ahead.now.clone());
                return true;
            }
            if !self.step() {
                return false;
            }
        }
        false
    }

    /// Go to where the walk may be at an earlier moment: to the task that the current one waits for then, and so on. This
    /// is a guess: it misses tasks that poll, and waits that began before the call in which they end.
    fn jump_to(&mut self, at_ns: i64) {
        for _ in 0..JUMPS {
            if !self.jump(at_ns) {
                break;
            }
        }
        self.now.at_ns = self.now.at_ns.min(at_ns);
        self.now.visits = Visited::default();
    }

    fn jump(&mut self, at_ns: i64) -> bool {
        let Position { task, floor_ns, .. } = self.now;
        let birth_ns = self.trace.tasks[task].birth_ns;
        if floor_ns >= at_ns {
            self.now.at_ns = floor_ns;
            return self.step();
        }
        if birth_ns == NO_NS || birth_ns > at_ns {
            self.now.at_ns = if birth_ns == NO_NS {
                self.now.at_ns
            } else {
                self.now.at_ns.min(birth_ns)
            };
            self.leave_at_birth();
            return self.now.at_ns > at_ns;
        }
        let Some((at, span)) = self
            .lanes
            .before(task, at_ns + 1)
            .filter(|(_, span)| span.end_ns > at_ns)
        else {
            return false;
        };
        let edge = self.wakers.waker(self.trace, task, at, span);
        let Some(edge) = edge.filter(|edge| self.leads_on(span, at_ns, edge)) else {
            return false;
        };
        self.now.at_ns = self.now.at_ns.min(span.end_ns);
        let (began_ns, sure) = self.began(at, span, &edge);
        self.follow(at, span, began_ns, Edge { sure, ..edge });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critical_path::window::{WindowChoice, windows};
    use trace::testing::{TaskPlan, build, task};

    /// Two that wait for each other in turns, through two pipes.
    fn ping_pong(turns: i64) -> Trace {
        let turn = |(one, other): (TaskPlan, TaskPlan), at: i64| {
            let one = one
                .call("write", at + 1, at + 2)
                .on("pipe:[7]")
                .call("read", at + 3, at + 9)
                .on("pipe:[8]");
            (
                one,
                other
                    .call("read", at, at + 4)
                    .on("pipe:[7]")
                    .call("write", at + 6, at + 8)
                    .on("pipe:[8]"),
            )
        };
        let begin = (task(1).exec(0, 1, "/bin/ping").fork(1, 2, 2), task(2));
        let (one, other) = (1..=turns).map(|number| 10 * number).fold(begin, turn);
        build(vec![one.exit(10 * turns + 30), other.exit(10 * turns + 20)])
    }

    #[test]
    fn the_walk_joins_every_leg_where_nobody_polls() {
        let trace = ping_pong(200);
        let (wakers, window) = (
            Wakers::new(&trace),
            windows(&trace, &WindowChoice::default())[0],
        );
        // In the midst of calls of either, and between them.
        let begins: Vec<i64> = (1..=190)
            .rev()
            .map(|number| 10 * number + number % 10)
            .collect();
        let mut recordings = WalkRecording::default();
        let root = window.root.expect("a root");
        let mut walk = Walk::new(
            &trace,
            &wakers,
            Position::at_end(&window, root),
            &mut recordings,
        );
        assert_eq!(walk.in_legs(&begins), begins.len());
        let waits = recordings
            .0
            .iter()
            .filter(|event| matches!(event, WalkEvent::Begins(..)))
            .count();
        assert!(waits >= 200, "{waits} waits: one in each turn");
    }
}
