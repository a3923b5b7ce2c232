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

mod follow;
mod lanes;
mod segment;
mod silences;
mod visits;

use crate::events::NONE;
use crate::stops::{is_stop, is_stop_name};
use crate::trace::{Span, Trace};
use crate::wakers::Wakers;
use crate::window::Window;
use lanes::Lanes;
use parsers::syscalls::Class;
use parsers::{DurKind, NO_NS};
pub use segment::{Segment, Tag, What};
use silences::silences;
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
pub fn walk_to<L: Listen>(trace: &Trace, wakers: &Wakers, window: &Window, listener: &mut L) -> u64 {
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
        lanes: Lanes::new(trace),
        may_stop: trace.events.shapes().iter().any(|shape| is_stop_name(trace.events.texts.bytes(shape.syscall))),
        may_poll: None,
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

struct Walk<'walk, L: Listen> {
    trace: &'walk Trace,
    wakers: &'walk Wakers,
    lanes: Lanes,
    stack: Vec<Waiter>,
    /// Whether any task was ever stopped.
    may_stop: bool,
    /// Whether the task looked at, or who waits for it, may be in a poll loop, once that was asked.
    may_poll: Option<bool>,
    /// How many of the stack poll.
    polling: usize,
    visits: Visits,
    task: u32,
    /// The moment; everything from here to the end of the window is charged.
    at_ns: i64,
    floor_ns: i64,
    listener: &'walk mut L,
}

impl<L: Listen> Walk<'_, L> {
    /// Each step either moves back in time, to the start or end of an event, or enters a wait or a birth that was not yet
    /// entered at this moment, or pops what such a step pushed. So it ends, whatever the trace claims.
    fn run(&mut self) -> u64 {
        let mut steps = 0;
        loop {
            steps += 1;
            if self.at_ns > self.floor_ns {
                self.step();
            } else if let Some(waiter) = self.pop() {
                self.floor_ns = waiter.floor_ns;
                self.go_to(waiter.task);
            } else {
                return steps;
            }
        }
    }

    /// Look at another task from now on.
    fn go_to(&mut self, task: u32) {
        self.task = task;
        self.may_poll = None;
    }

    fn push(&mut self, waiter: Waiter) {
        self.polling += usize::from(waiter.polls);
        self.may_poll = None;
        self.listener.begins(waiter.task);
        self.stack.push(waiter);
    }

    fn pop(&mut self) -> Option<Waiter> {
        let waiter = self.stack.pop()?;
        self.polling -= usize::from(waiter.polls);
        self.may_poll = None;
        self.listener.ends(waiter.task, waiter.waker, waiter.until_ns - self.at_ns);
        Some(waiter)
    }

    fn step(&mut self) {
        let birth_ns = self.trace.tasks[self.task as usize].birth_ns;
        if birth_ns == NO_NS || self.at_ns <= birth_ns {
            self.lanes.leave(self.task);
            return self.leave_at_birth();
        }
        match self.lanes.before(self.trace, self.task, self.at_ns) {
            Some((at, span)) => self.back(at, span),
            None => self.gap(None, birth_ns),
        }
    }

    /// Most calls work until they are done: those at hand, and the gaps between them, are gone back over in one step.
    fn back(&mut self, at: usize, span: Span) {
        let mut next = Some((at, span));
        while let Some((at, span)) = next.filter(|_| self.at_ns > self.floor_ns) {
            if span.end_ns < self.at_ns {
                self.gap(Some((at, span.row)), span.end_ns);
            } else if let Some(class) = self.works(span.row) {
                self.charge(self.task, span.start_ns, What::Call(span.row), class, true);
            } else {
                return self.call(at, span);
            }
            next = self.lanes.again(self.at_ns);
        }
    }

    /// What the time of a call is spent on that nobody ended, as most calls are.
    fn works(&mut self, row: u32) -> Option<Class> {
        let may_poll = match self.may_poll {
            Some(known) => known,
            None => *self.may_poll.insert(self.wakers.may_poll(self.task, self.waiter())),
        };
        self.wakers.works(self.trace, row, may_poll)
    }

    /// Who waits for the end of the task looked at.
    fn waiter(&self) -> Option<u32> {
        self.stack.last().filter(|waiter| !waiter.polls).map(|waiter| waiter.task)
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
    ///
    /// `last` is the call before it, with its place among the task's rows.
    fn gap(&mut self, last: Option<(usize, u32)>, from_ns: i64) {
        let gap = What::Gap(last.map_or(NONE, |(_, row)| row));
        let last_stop = || self.last_stop(last.map(|(at, _)| at));
        let Some((stopped_ns, goes_on_ns)) = self.may_stop.then(last_stop).flatten() else {
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
        self.go_to(creator);
        if from_ns != NO_NS && from_ns < self.at_ns {
            // The creator of a vfork waits inside it for this very child: charged as it is, without looking for a waker.
            self.charge(creator, from_ns, What::Call(row), Class::Process, true);
        }
    }

    /// What the time of a call is spent on; a poll of nothing that has a limit is a sleep.
    fn class(&self, row: u32) -> Class {
        let events = &self.trace.events;
        let sleeps = || events.polls_nothing(row) && events.requested_ns(row).is_some();
        match self.wakers.class(self.trace, row) {
            Class::Poll if sleeps() => Class::Sleep,
            class => class,
        }
    }
}
