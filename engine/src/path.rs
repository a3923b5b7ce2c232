//! The path: a walk back in time through the tasks, from the end of the window to its start.
//!
//! At each moment one task is looked at, the one that everybody who matters was waiting for. What it does is charged.
//! Where it waits for another, the walk goes on there, but not past the begin of the wait (the floor): what the other
//! did before nobody waited for. So every nanosecond of the window is charged once, to one task.
//!
//! ```text
//! parent  |--call--|-------- wait4 --------|--call--|
//! child      |------ work ------|-- ioctl --|
//! charged   parent |         child        |r| parent       r: resume, from the child's end to the parent's return
//! ```
//!
//! The bounded backward walk is that of Giraldeau and Dagenais, "Wait analysis of distributed systems using kernel
//! tracing" (IEEE TPDS 27(8), 2016).

mod lanes;
mod segment;
mod visits;

use crate::events::{EventKind, NONE};
use crate::stops::is_stop;
use crate::trace::Span;
use crate::trace::Trace;
use crate::wakers::checks::Poll;
use crate::wakers::waits::{self, Wait};
use crate::wakers::{EXIT_TOLERANCE_NS, Edge, How, Wakers};
use crate::window::Window;
use lanes::Lanes;
use parsers::syscalls::Class;
use parsers::{DurKind, NO_NS, Outcome};
pub use segment::{Segment, Tag, What};
use visits::Visits;

/// The path through a window, in order of time.
pub fn path(trace: &Trace, wakers: &Wakers, window: &Window) -> Vec<Segment> {
    let mut segments = Vec::new();
    walk(trace, wakers, window, &mut |segment| segments.push(segment));
    segments.reverse();
    segments
}

/// Walk the path, from its end to its start. The answer is the number of steps.
pub fn walk(trace: &Trace, wakers: &Wakers, window: &Window, sink: &mut dyn FnMut(Segment)) -> u64 {
    let mut unwatched = Unwatched(sink);
    walk_to(trace, wakers, window, &mut unwatched)
}

/// Who listens to a walk: besides the stretches, which waits it enters and leaves.
pub trait Listen {
    /// A stretch of the path.
    fn charged(&mut self, segment: Segment);
    /// A task waits for another on the path; earlier stretches are those of the other, until the wait ends.
    fn begins(&mut self, _waiter: u32) {}
    /// So long it was on the path that a task waited for another.
    fn ends(&mut self, _waiter: u32, _waker: u32, _dur_ns: i64) {}
}

struct Unwatched<'sink>(&'sink mut dyn FnMut(Segment));

impl Listen for Unwatched<'_> {
    fn charged(&mut self, segment: Segment) {
        (self.0)(segment);
    }
}

/// Walk the path, and tell who listens. The answer is the number of steps.
pub fn walk_to(trace: &Trace, wakers: &Wakers, window: &Window, listener: &mut dyn Listen) -> u64 {
    let Some(root) = window.root.filter(|&root| (root as usize) < trace.tasks.len()) else {
        return 0;
    };
    let is_log =
        trace.captures.get(window.capture as usize).is_some_and(|capture| capture.facts.dur_kind == DurKind::Gap);
    if is_log {
        return silences(trace, window, &mut |segment| listener.charged(segment));
    }
    let mut walk = Walk {
        trace,
        wakers,
        lanes: Lanes::new(),
        stack: Vec::new(),
        polling: 0,
        visits: Visits::default(),
        task: root,
        at_ns: window.end_ns,
        floor_ns: window.start_ns,
        listener,
    };
    walk.run()
}

/// A log has no calls: each message is charged with the silence behind it.
///
/// ```text
/// message    a         b   c
/// charged    |--- a ---|-b-|
/// ```
fn silences(trace: &Trace, window: &Window, sink: &mut dyn FnMut(Segment)) -> u64 {
    let events = &trace.events;
    let Some(capture) = trace.captures.get(window.capture as usize) else { return 0 };
    let dated = |row: &u32| events.kind(*row) == EventKind::Log && events.start_ns(*row) != NO_NS;
    let mut rows: Vec<u32> = capture.rows.clone().filter(dated).collect();
    rows.sort_by_key(|&row| events.start_ns(row));
    let mut end_ns = window.end_ns;
    for &row in rows.iter().rev() {
        let start_ns = events.start_ns(row).max(window.start_ns);
        if start_ns < end_ns {
            let what = What::Silence(row);
            sink(Segment {
                task: events.task(row),
                start_ns,
                end_ns,
                what,
                class: Class::Gap,
                resolved: true,
                tag: Tag::None,
            });
            end_ns = start_ns;
        }
    }
    if let Some(task) = window.root.filter(|_| window.start_ns < end_ns) {
        let (start_ns, what) = (window.start_ns, What::Gap(NONE));
        sink(Segment { task, start_ns, end_ns, what, class: Class::Gap, resolved: true, tag: Tag::None });
    }
    rows.len() as u64
}

/// A task that waits for the one looked at.
struct Waiter {
    task: u32,
    floor_ns: i64,
    wait: Span,
    /// Whether it polled instead of waiting.
    polls: bool,
    /// Whom it waits for.
    waker: u32,
    /// The end of the wait, as far as it is on the path.
    until_ns: i64,
}

struct Walk<'walk> {
    trace: &'walk Trace,
    wakers: &'walk Wakers,
    lanes: Lanes,
    stack: Vec<Waiter>,
    /// How many of the stack poll.
    polling: usize,
    visits: Visits,
    task: u32,
    /// The moment; everything from here to the end of the window is charged.
    at_ns: i64,
    floor_ns: i64,
    listener: &'walk mut dyn Listen,
}

impl Walk<'_> {
    /// Each step either moves back in time, to the start or end of an event, or enters a wait or a birth that was not yet
    /// entered at this moment, or pops what such a step pushed. So it ends, whatever the trace claims.
    fn run(&mut self) -> u64 {
        let mut steps = 0;
        loop {
            steps += 1;
            if self.at_ns > self.floor_ns {
                self.step();
            } else if let Some(waiter) = self.pop() {
                (self.task, self.floor_ns) = (waiter.task, waiter.floor_ns);
            } else {
                return steps;
            }
        }
    }

    fn push(&mut self, waiter: Waiter) {
        self.polling += usize::from(waiter.polls);
        self.listener.begins(waiter.task);
        self.stack.push(waiter);
    }

    fn pop(&mut self) -> Option<Waiter> {
        let waiter = self.stack.pop()?;
        self.polling -= usize::from(waiter.polls);
        self.listener.ends(waiter.task, waiter.waker, waiter.until_ns - self.at_ns);
        Some(waiter)
    }

    fn step(&mut self) {
        let birth_ns = self.trace.tasks[self.task as usize].birth_ns;
        if birth_ns == NO_NS || self.at_ns <= birth_ns {
            return self.leave_at_birth();
        }
        match self.lanes.before(self.trace, self.task, self.at_ns) {
            Some((at, span)) if span.end_ns >= self.at_ns => self.call(at, span),
            Some((at, span)) => self.gap(Some(at), span.end_ns),
            None => self.gap(None, birth_ns),
        }
    }

    /// Charge what was just looked at, from `to_ns` to this moment, and go there; the floor is never passed.
    fn charge(&mut self, task: u32, to_ns: i64, what: What, class: Class, resolved: bool) {
        let tag = if self.polling > 0 { Tag::Polled } else { Tag::None };
        self.charge_as(tag, task, to_ns, what, class, resolved);
    }

    fn charge_as(&mut self, tag: Tag, task: u32, to_ns: i64, what: What, class: Class, resolved: bool) {
        let start_ns = to_ns.max(self.floor_ns);
        if start_ns < self.at_ns {
            self.listener.charged(Segment { task, start_ns, end_ns: self.at_ns, what, class, resolved, tag });
            self.at_ns = start_ns;
            self.visits.clear();
        }
    }

    /// ```text
    /// task     |--call--|                 |--call--|
    ///                   |<---- gap ------>|               user code, or calls that the capture left out
    ///                   |  stop---|cont   |               or stopped
    /// ```
    fn gap(&mut self, last: Option<usize>, from_ns: i64) {
        let row = last.and_then(|at| self.trace.rows_of(self.task).get(at).copied());
        let gap = What::Gap(row.unwrap_or(NONE));
        let Some((stopped_ns, goes_on_ns)) = self.last_stop(last) else {
            return self.charge(self.task, from_ns, gap, Class::User, true);
        };
        self.charge(self.task, goes_on_ns.max(from_ns), gap, Class::User, true);
        self.charge(self.task, stopped_ns.max(from_ns), gap, Class::Stopped, true);
        if self.at_ns > from_ns && stopped_ns <= from_ns {
            self.charge(self.task, from_ns, gap, Class::User, true);
        }
    }

    /// When the task was stopped last in the gap before this moment, and when it went on: with the signal that let it.
    fn last_stop(&self, last: Option<usize>) -> Option<(i64, i64)> {
        const ROWS_AT_MOST: usize = 64;
        let events = &self.trace.events;
        let rows = self.trace.rows_of(self.task).get(last.map_or(0, |at| at + 1)..)?;
        let before = rows.iter().take(ROWS_AT_MOST).take_while(|&&row| events.start_ns(row) < self.at_ns);
        let (at, &stop) = before.enumerate().filter(|&(_, &row)| is_stop(self.trace, row)).last()?;
        let goes_on_ns = rows.get(at + 1).map_or(self.at_ns, |&row| events.start_ns(row).min(self.at_ns));
        Some((events.start_ns(stop), goes_on_ns))
    }

    fn call(&mut self, at: usize, span: Span) {
        let waiter = self.stack.last().filter(|waiter| !waiter.polls).map(|waiter| waiter.task);
        if let Some(poll) = self.wakers.poll(self.trace, self.task, at, span, waiter)
            && self.leads_on(span, poll.began_ns, &poll.edge)
        {
            return self.follow_poll(span, poll);
        }
        match self.wakers.waker(self.trace, self.task, at, span).filter(|edge| self.leads_on(span, span.start_ns, edge))
        {
            Some(edge) => {
                let began_ns = match edge.how {
                    How::Child | How::Join => self.began_to_wait(at, span, edge.how),
                    _ => span.start_ns,
                };
                self.follow(span, began_ns, edge);
            }
            None => {
                let needs_waker = self.wakers.needs_waker(self.trace, span.row);
                let is_timer = needs_waker && waits::ends_by_alarm(self.trace, self.task, at);
                let resolved = is_timer || !needs_waker;
                let class = match () {
                    () if is_timer => Class::Sleep,
                    () if needs_waker && self.is_external(at, span) => Class::External,
                    () => self.class(span.row),
                };
                self.charge(self.task, span.start_ns, What::Call(span.row), class, resolved);
            }
        }
    }

    fn is_external(&self, at: usize, span: Span) -> bool {
        self.wakers.ended_from_outside(self.trace, self.task, at, span)
    }

    /// Whether an edge takes the walk to somewhere new: another task, inside the wait, not round in a circle.
    fn leads_on(&mut self, span: Span, began_ns: i64, edge: &Edge) -> bool {
        let elsewhere = edge.task != self.task && (edge.task as usize) < self.trace.tasks.len();
        let moves = edge.at_ns < self.at_ns;
        elsewhere && edge.at_ns > began_ns && (moves || self.visits.first_visit_of_wait(span.row))
    }

    /// When a task began to wait for its children or threads: who waits for two that run side by side waits for the slower one.
    /// Some shells wait for the signal instead and only then ask which child it was.
    ///
    /// ```text
    /// waiter   |--- wait4 = 2 ---||- wait4 = 3 -|       began where the first wait did, so the time is all of 3
    /// child 2  |------ work -----|exit
    /// child 3  |------------- work -------------|exit
    /// ```
    fn began_to_wait(&self, at: usize, span: Span, how: How) -> i64 {
        const ROWS_AT_MOST: usize = 1024;
        let events = &self.trace.events;
        let earlier = self.trace.rows_of(self.task).get(..at).unwrap_or(&[]);
        let (mut began_ns, mut reached_ns) = (span.start_ns, span.start_ns);
        for &row in earlier.iter().rev().take(ROWS_AT_MOST).filter(|&&row| events.kind(row) == EventKind::Call) {
            let (start_ns, Some(end_ns)) = (events.start_ns(row), events.end_ns(row)) else { break };
            let waits = match waits::wait_of_row(events, row) {
                Some(Wait::Child | Wait::Signal) => how == How::Child,
                Some(Wait::Lock) => how == How::Join,
                _ => false,
            };
            let passes = waits || waits::is_signal_upkeep(events, row);
            // Broken off by a signal, to be restarted: the next wait is the same one.
            let goes_on = waits && events.outcome(row) == Outcome::Interrupted;
            if !passes || (!goes_on && reached_ns.saturating_sub(end_ns) > EXIT_TOLERANCE_NS) {
                break;
            }
            reached_ns = start_ns.min(reached_ns);
            if waits {
                began_ns = reached_ns;
            }
        }
        began_ns
    }

    /// ```text
    /// waiter      |s------- wait --------|e        (s, w] is the waker's, as far as it goes back; (w, e] is resume
    /// waker    |----- work ------|w                the waiter is taken up again at s
    /// ```
    ///
    /// Where the walk arrives inside a wait before the moment that ends it, the waker goes on at once.
    fn follow(&mut self, span: Span, began_ns: i64, edge: Edge) {
        let class = match self.class(span.row) {
            Class::Child => Class::Process,
            class => class,
        };
        self.charge(self.task, edge.at_ns.min(span.end_ns), What::Resume(span.row), class, true);
        if self.at_ns <= self.floor_ns {
            return;
        }
        let (floor_ns, until_ns) = (self.floor_ns, self.at_ns);
        self.push(Waiter { task: self.task, floor_ns, wait: span, polls: false, waker: edge.task, until_ns });
        self.floor_ns = self.floor_ns.max(began_ns);
        self.task = edge.task;
    }

    /// ```text
    /// poller    f|check| sleep |check| sleep |c: succeeds       (f, w] is the producer's, as far as it goes back: polled;
    /// producer  |------- work -------|w                         (w, c] is lag; the poller is taken up again at f
    /// ```
    ///
    /// Where children check, one for each turn, the child that made the first check is taken up again, and the lag is their
    /// parent's, who waits for this child only now: it may have looked away when the producer was done.
    fn follow_poll(&mut self, span: Span, poll: Poll) {
        let class = self.class(span.row);
        self.charge(self.task, span.start_ns.max(poll.edge.at_ns), What::Call(span.row), class, true);
        let parent = (poll.first_task != self.task).then(|| self.pop()).flatten();
        let (poller, floor_ns) = parent.map_or((self.task, self.floor_ns), |parent| (parent.task, parent.floor_ns));
        self.floor_ns = floor_ns;
        self.charge_as(Tag::Lag, poller, poll.edge.at_ns, What::Resume(span.row), Class::Poll, true);
        if self.at_ns <= floor_ns {
            return;
        }
        let (waker, until_ns) = (poll.edge.task, self.at_ns);
        self.push(Waiter { task: poll.first_task, floor_ns, wait: span, polls: true, waker, until_ns });
        self.floor_ns = floor_ns.max(poll.began_ns);
        self.task = poll.edge.task;
    }

    /// ```text
    /// creator  |s-- fork --|e             the time from e to the first event is spawn, charged to the creator:
    /// task           birth^     |--call--|  a task is charged nothing outside its life
    /// ```
    fn leave_at_birth(&mut self) {
        let task = &self.trace.tasks[self.task as usize];
        let (creator, row) = (task.creator, task.created_by);
        let known = creator != self.task && (creator as usize) < self.trace.tasks.len();
        if !known || !self.visits.first_visit_of_birth(self.task) {
            return self.give_back();
        }
        let events = &self.trace.events;
        let fork_ns = (row < events.len()).then(|| (events.start_ns(row), events.end_ns(row)));
        let (from_ns, to_ns) = match fork_ns {
            Some((start_ns, end_ns)) if start_ns != NO_NS => (start_ns, end_ns.unwrap_or(self.at_ns)),
            _ => (NO_NS, self.at_ns),
        };
        self.charge(creator, to_ns, What::Spawn(row), Class::Process, true);
        self.task = creator;
        if from_ns != NO_NS && from_ns < self.at_ns {
            // The creator of a vfork waits inside it for this very child: charged as it is, without looking for a waker.
            self.charge(creator, from_ns, What::Call(row), Class::Process, true);
        }
    }

    /// Nobody is known to have created the task: what is left of the wait for it goes to the waiter, unresolved.
    fn give_back(&mut self) {
        let Some(waiter) = self.pop() else {
            // Attached to: what it did before its first event is not in the capture.
            return self.charge(self.task, self.floor_ns, What::Gap(NONE), Class::User, false);
        };
        if waiter.polls {
            self.give_back_to_poller(&waiter);
        }
        (self.task, self.floor_ns) = (waiter.task, waiter.floor_ns);
        let class = self.class(waiter.wait.row);
        self.charge(waiter.task, waiter.wait.start_ns, What::Call(waiter.wait.row), class, false);
    }

    /// It looked again and again for what somebody began of whom nothing is known before this moment.
    fn give_back_to_poller(&mut self, waiter: &Waiter) {
        let checked_by = self.trace.events.task(waiter.wait.row);
        let creator = self.trace.tasks[waiter.task as usize].creator;
        let poller = if checked_by == waiter.task { waiter.task } else { creator };
        self.charge_as(Tag::Lag, poller, self.floor_ns, What::Resume(waiter.wait.row), Class::Poll, false);
    }

    fn class(&self, row: u32) -> Class {
        self.wakers.class(self.trace, row)
    }
}
