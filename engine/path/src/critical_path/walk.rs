//! The path: a walk back in time through the tasks, from the end of the window to its start.
//!
//! At each moment there is one current task, the one that delayed the end of the window. Its activity is charged.
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

mod cursor;
mod follow;
mod left_out;
mod log_path;
mod speculation;
mod visited;
pub mod work_span;

use crate::critical_path::segment::{Segment, Tag, What};
use crate::critical_path::walk::cursor::Cursors;
use crate::critical_path::walk::log_path::log_path;
use crate::critical_path::walk::visited::Visited;
use crate::critical_path::walk::work_span::WorkSpan;
use crate::critical_path::window::Window;
use crate::waits::candidates::BLOCK_ROWS;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::wakers::Wakers;
use parsers::syscalls::Class;
use parsers::{DurKind, NO_NS};
use trace::store::index::TaskId;
use trace::store::spans::Span;
use trace::store::trace::Trace;

/// The path through a window, in order of time.
pub fn path(trace: &Trace, wakers: &Wakers, window: &Window) -> Vec<Segment> {
    let mut segments = Vec::new();
    walk(trace, wakers, window, &mut |segment: Segment| {
        segments.push(segment)
    });
    segments.reverse();
    segments
}

/// Who listens to a walk: besides the stretches, which waits it enters and leaves.
pub trait WalkListener {
    /// A stretch of the path.
    fn charged(&mut self, segment: Segment);
    /// Spans in which a task works, undivided: a listener that needs only sums does not get their parts one by one.
    fn worked(&mut self, trace: &Trace, wakers: &Wakers, spell: WorkSpan) {
        let mut segments = Vec::new();
        spell.each(trace, wakers, |segment| segments.push(segment));
        segments
            .into_iter()
            .rev()
            .for_each(|segment| self.charged(segment));
    }
    /// A task waits for another on the path. Earlier stretches belong to the other task, until the start of the wait.
    fn begins(&mut self, _waiter: TaskId, _edge: &Edge) {}
    /// The begin of that wait is reached.
    fn ends(&mut self, _waited: &Waited) {}
}

/// A task waited for another on the path.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    /// Who waited.
    pub waiter: TaskId,
    /// For whom.
    pub waker: TaskId,
    /// For how long.
    pub dur_ns: i64,
    /// How the waker was found, and with which confidence.
    pub known: (WakeKind, Confidence),
    /// The call that waited.
    pub row: u32,
}

/// A listener that needs only the stretches.
impl<F: FnMut(Segment)> WalkListener for F {
    fn charged(&mut self, segment: Segment) {
        self(segment);
    }
}

/// Maximum number of rows of a spell, in whole blocks.
const SPELL_ROWS: usize = 64 * BLOCK_ROWS;

/// Walk the path from its end to its start and notify the listener. Returns the number of steps.
pub fn walk<L: WalkListener>(
    trace: &Trace,
    wakers: &Wakers,
    window: &Window,
    listener: &mut L,
) -> u64 {
    walk_in_legs(trace, wakers, window, speculation::rows_of_leg(), listener)
}

/// The same in legs of this many events, which are walked in parallel. The notifications are the same.
pub fn walk_in_legs<L: WalkListener>(
    trace: &Trace,
    wakers: &Wakers,
    window: &Window,
    leg_rows: u32,
    listener: &mut L,
) -> u64 {
    let Some(root) = window.root.filter(|&root| root.index() < trace.tasks.len()) else {
        return 0;
    };
    let is_log = trace
        .captures
        .get(window.capture as usize)
        .is_some_and(|capture| capture.facts.dur_kind == DurKind::Gap);
    if is_log {
        return log_path(trace, window, &mut |segment| listener.charged(segment));
    }
    let mut walk = Walk::new(trace, wakers, Position::at_end(window, root), listener);
    walk.in_legs(&speculation::leg_starts(trace, window, leg_rows));
    walk.steps
}

/// A task that waits for the one looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Waiter {
    task: TaskId,
    floor_ns: i64,
    wait: Span,
    /// Whether it polled instead of waiting.
    polls: bool,
    /// Who ended the wait.
    edge: Edge,
    /// The end of the wait, as far as it is on the path.
    until_ns: i64,
}

/// Where a walk is. What follows depends on nothing else.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Position {
    task: TaskId,
    /// The moment; everything from here to the end of the window is charged.
    at_ns: i64,
    floor_ns: i64,
    stack: Vec<Waiter>,
    visits: Visited,
}

impl Position {
    /// The end of a window, at which this task is looked at.
    fn at_end(window: &Window, root: TaskId) -> Position {
        let (at_ns, floor_ns) = (window.end_ns, window.start_ns);
        Position {
            task: root,
            at_ns,
            floor_ns,
            stack: Vec::new(),
            visits: Visited::default(),
        }
    }

    fn polling(&self) -> usize {
        self.stack.iter().filter(|waiter| waiter.polls).count()
    }
}

struct Walk<'walk, L: WalkListener> {
    trace: &'walk Trace,
    wakers: &'walk Wakers,
    lanes: Cursors<'walk>,
    now: Position,
    /// Whether the current task, or its waiter, may be in a poll loop, once that was checked.
    may_poll: Option<bool>,
    /// How many of the stack poll.
    polling: usize,
    steps: u64,
    listener: &'walk mut L,
}

impl<'walk, L: WalkListener> Walk<'walk, L> {
    fn new(
        trace: &'walk Trace,
        wakers: &'walk Wakers,
        now: Position,
        listener: &'walk mut L,
    ) -> Self {
        let (lanes, polling) = (Cursors::new(trace, wakers.outline()), now.polling());
        Walk {
            trace,
            wakers,
            lanes,
            now,
            may_poll: None,
            polling,
            steps: 0,
            listener,
        }
    }

    /// Go on from somewhere else.
    fn be_at(&mut self, now: Position) {
        if now.at_ns > self.now.at_ns {
            // Lanes are only looked at backwards, and this walk went further back.
            self.lanes = Cursors::new(self.trace, self.wakers.outline());
        }
        (self.polling, self.may_poll) = (now.polling(), None);
        self.now = now;
    }

    /// Each step either moves back in time, to the start or end of an event, or enters a wait or a birth that was not yet
    /// entered at this moment, or pops what such a step pushed. So the walk ends, whatever the trace claims. The answer is
    /// whether it goes on.
    fn step(&mut self) -> bool {
        if self.now.at_ns > self.now.floor_ns {
            self.step_back();
        } else if let Some(waiter) = self.pop() {
            self.now.floor_ns = waiter.floor_ns;
            self.go_to(waiter.task);
        } else {
            return false;
        }
        self.steps += 1;
        true
    }

    /// Look at another task from now on.
    fn go_to(&mut self, task: TaskId) {
        self.now.task = task;
        self.may_poll = None;
    }

    fn push(&mut self, waiter: Waiter) {
        self.polling += usize::from(waiter.polls);
        self.may_poll = None;
        self.listener.begins(waiter.task, &waiter.edge);
        self.now.stack.push(waiter);
    }

    fn pop(&mut self) -> Option<Waiter> {
        let waiter = self.now.stack.pop()?;
        self.polling -= usize::from(waiter.polls);
        self.may_poll = None;
        let Edge {
            task: waker,
            how,
            sure,
            ..
        } = waiter.edge;
        let dur_ns = waiter.until_ns - self.now.at_ns;
        self.listener.ends(&Waited {
            waiter: waiter.task,
            waker,
            dur_ns,
            known: (how, sure),
            row: waiter.wait.row,
        });
        Some(waiter)
    }

    fn step_back(&mut self) {
        if let Some(range) = self.left_out() {
            return self.pass_left_out(range);
        }
        let birth_ns = self.trace.tasks[self.now.task].birth_ns;
        if birth_ns == NO_NS || self.now.at_ns <= birth_ns {
            return self.leave_at_birth();
        }
        match self.lanes.before(self.now.task, self.now.at_ns) {
            Some((at, span)) => self.back(at, span),
            None => self.spell(0, 0, birth_ns),
        }
    }

    /// Most calls work until they are done: the walk passes them, and what lies between, down to the last one that has to be
    /// looked at.
    fn back(&mut self, at: usize, span: Span) {
        if !self.wakers.left_out().is_empty() && self.stops_at_left_out(span) {
            return;
        }
        let checks = self.may_poll();
        let look = self
            .wakers
            .outline()
            .last_look(self.now.task, at, checks, self.now.floor_ns);
        let Some(look) = look.max(self.after_left_out(at)) else {
            return self.spell_to_floor(at);
        };
        let looked_at = if look == at {
            Some(span)
        } else {
            self.lanes.span(self.now.task, look)
        };
        let Some(span) = looked_at else {
            return self.spell_to_floor(at);
        };
        if look == at && !self.wakers.may_stop() {
            self.charge(
                self.now.task,
                span.end_ns,
                What::Gap(span.row),
                Class::User,
                true,
            );
        } else if span.end_ns < self.now.at_ns {
            self.spell(look + 1, at + 1, span.end_ns);
        }
        if self.now.at_ns > self.now.floor_ns {
            self.call(look, span);
        }
    }

    /// Whether the task looked at may be in a poll loop, so that its checks matter.
    fn may_poll(&mut self) -> bool {
        match self.may_poll {
            Some(known) => known,
            None => *self
                .may_poll
                .insert(self.wakers.may_poll(self.now.task, self.waiter())),
        }
    }

    /// Pass the calls from this row of the task back to the first that may lie above the floor.
    fn spell_to_floor(&mut self, at: usize) {
        let outline = self.wakers.outline();
        let first = outline
            .block_before(self.now.task, at / BLOCK_ROWS, self.now.floor_ns + 1)
            .unwrap_or(0);
        self.spell(
            first * BLOCK_ROWS,
            at + 1,
            outline.floor_ns(self.now.task, first),
        );
    }

    /// Charge what a task does between `reached_ns`, where the call before these rows ended, and this moment; some blocks at
    /// a time, so that the listener can divide them on all cores.
    fn spell(&mut self, from: usize, to: usize, reached_ns: i64) {
        let (task, outline) = (self.now.task, self.wakers.outline());
        let tag = self.tag();
        let mut to = to;
        while self.now.at_ns > self.now.floor_ns {
            let cut = (to.saturating_sub(1) / SPELL_ROWS * SPELL_ROWS).max(from);
            let floor_ns = if cut == from {
                reached_ns
            } else {
                outline.floor_ns(task, cut / BLOCK_ROWS)
            };
            let start_ns = floor_ns.max(self.now.floor_ns);
            if start_ns < self.now.at_ns {
                let spell = WorkSpan {
                    task,
                    start_ns,
                    end_ns: self.now.at_ns,
                    tag,
                    rows: cut..to,
                    floor_ns,
                };
                self.listener.worked(self.trace, self.wakers, spell);
                self.now.at_ns = start_ns;
                self.now.visits.clear();
            }
            if cut == from {
                break;
            }
            to = cut;
        }
    }

    /// Who waits for the end of the task looked at.
    fn waiter(&self) -> Option<TaskId> {
        self.now
            .stack
            .last()
            .filter(|waiter| !waiter.polls)
            .map(|waiter| waiter.task)
    }

    /// Charge what was just looked at, from `to_ns` to this moment, and go there; the floor is never passed.
    fn charge(&mut self, task: TaskId, to_ns: i64, what: What, class: Class, resolved: bool) {
        self.charge_as(self.tag(), task, to_ns, what, class, resolved);
    }

    fn tag(&self) -> Tag {
        if self.polling > 0 {
            Tag::Polled
        } else {
            Tag::None
        }
    }

    fn charge_as(
        &mut self,
        tag: Tag,
        task: TaskId,
        to_ns: i64,
        what: What,
        class: Class,
        resolved: bool,
    ) {
        let start_ns = to_ns.max(self.now.floor_ns);
        if start_ns < self.now.at_ns {
            self.listener.charged(Segment {
                task,
                start_ns,
                end_ns: self.now.at_ns,
                what,
                class,
                resolved,
                tag,
            });
            self.now.at_ns = start_ns;
            self.now.visits.clear();
        }
    }

    /// ```text
    /// creator  |s-- fork --|e             the time from e to the first event is spawn, charged to the creator:
    /// task           birth^     |--call--|  a task is charged nothing outside its life
    /// ```
    fn leave_at_birth(&mut self) {
        let task = &self.trace.tasks[self.now.task];
        let (creator, row) = (task.creator, task.created_by);
        let known =
            !task.adopted && creator != self.now.task && creator.index() < self.trace.tasks.len();
        if !known || !self.now.visits.first_visit_of_birth(self.now.task) {
            return self.give_back();
        }
        let events = &self.trace.events;
        let fork_ns = (row < events.len()).then(|| (events.start_ns(row), events.end_ns(row)));
        let (from_ns, to_ns) = match fork_ns {
            Some((start_ns, end_ns)) if start_ns != NO_NS => {
                (start_ns, end_ns.unwrap_or(self.now.at_ns))
            }
            _ => (NO_NS, self.now.at_ns),
        };
        self.charge(creator, to_ns, What::Spawn(row), Class::Process, true);
        self.go_to(creator);
        if from_ns != NO_NS && from_ns < self.now.at_ns {
            // The creator of a vfork waits inside it for this very child: charged as it is, without looking for a waker.
            self.charge(creator, from_ns, What::Call(row), Class::Process, true);
        }
    }

    /// What the time of a call is spent on; a poll of nothing that has a limit is a sleep.
    fn class(&self, row: u32) -> Class {
        match self.wakers.class(self.trace, row) {
            Class::Poll if self.trace.events.only_sleeps(row) => Class::Sleep,
            class => class,
        }
    }
}
