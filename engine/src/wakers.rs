//! Wakers: which task ended a wait, and when.
//!
//! What is needed to answer is collected in one pass over the events; each kind of waker is a file of its own. The best
//! one wins: a child that the wait itself names before a guess from who wrote where.

pub mod child;
mod shapes;
mod signal;
mod stream;
mod terminal;
pub mod waits;

use crate::events::EventKind;
use crate::trace::{Span, Trace};
use parsers::syscalls::Class;
use parsers::{NO_NS, Outcome};
use waits::Wait;

/// How far the end of a task may seem to lie behind the return of the call that waited for it.
pub const EXIT_TOLERANCE_NS: i64 = 2_000_000;
/// How many calls behind a poll are looked at for the one that takes what the poll waited for.
const CALLS_BEHIND_POLL: usize = 8;

/// How it is known who ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// A child ended.
    Child,
    /// The child of a vfork ran a program or ended.
    Vfork,
    /// A signal was sent.
    Signal,
    /// Somebody wrote to the other end of a pipe or socket, or closed it.
    Stream,
    /// Somebody wrote to the other side of a terminal.
    Terminal,
}

impl How {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        ["child", "vfork", "signal", "stream", "terminal"][self as usize]
    }
}

/// How sure it is who ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sure {
    /// The trace says so.
    Measured,
    /// It follows from times and kinship.
    Inferred,
}

impl Sure {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        ["measured", "inferred"][self as usize]
    }
}

/// The end of a wait by another task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Who ended it.
    pub task: u32,
    /// When.
    pub at_ns: i64,
    /// How it is known.
    pub how: How,
    /// How sure it is.
    pub sure: Sure,
}

/// Who ended which wait, for the waits of a trace.
pub struct Wakers {
    shapes: shapes::Shapes,
    children: child::Children,
    signals: signal::Signals,
    streams: stream::Streams,
    terminals: terminal::Terminals,
}

impl Wakers {
    /// Collect what the answers need.
    pub fn new(trace: &Trace) -> Wakers {
        let mut wakers = Wakers { children: child::Children::new(trace), ..Wakers::none(trace) };
        for row in (0..trace.events.len()).filter(|&row| trace.events.kind(row) == EventKind::Call) {
            let known = wakers.shapes.of(trace, row);
            wakers.signals.take(trace, row, known);
            wakers.streams.take(trace, row, known);
            wakers.terminals.take(trace, row, known);
        }
        wakers.streams.order(trace);
        wakers.terminals.order(trace);
        wakers.signals.order(trace);
        wakers
    }

    /// Nobody ever wakes anybody: each wait is charged to the waiter.
    pub fn none(trace: &Trace) -> Wakers {
        Wakers {
            shapes: shapes::Shapes::new(trace),
            children: child::Children::default(),
            signals: signal::Signals::default(),
            streams: stream::Streams::default(),
            terminals: terminal::Terminals::default(),
        }
    }

    /// What the time of a call is spent on.
    pub fn class(&self, trace: &Trace, row: u32) -> Class {
        self.shapes.of(trace, row).class
    }

    /// Whether somebody or something must have ended this call, be it in the trace or not.
    pub fn needs_waker(&self, trace: &Trace, row: u32) -> bool {
        self.shapes.of(trace, row).wait.is_some() && waits::needs_waker(&trace.events, row)
    }

    /// Who ended a call of a task. `at` is the place of the call among the task's rows.
    pub fn waker(&self, trace: &Trace, task: u32, at: usize, span: Span) -> Option<Edge> {
        let call = Waiting { trace, task, at, span };
        if let Some(edge) = self.children.vfork(&call) {
            return Some(edge);
        }
        let known = self.shapes.of(trace, span.row);
        let wait = known.wait?;
        if known.outcome == Outcome::Open || waits::timed_out(&trace.events, span.row) {
            return None;
        }
        let ended = match wait {
            Wait::Child => self.children.waited(&call),
            Wait::Read => self.read(&call, span.row),
            Wait::Poll => call.taken_next().and_then(|row| self.read(&call, row)),
            _ => None,
        };
        ended.or_else(|| self.signals.sender(&call, wait, &self.children))
    }

    fn read(&self, call: &Waiting<'_>, row: u32) -> Option<Edge> {
        self.streams.writer(call, row).or_else(|| self.terminals.writer(call, row))
    }
}

/// A call that waited, and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Waiting<'trace> {
    pub trace: &'trace Trace,
    pub task: u32,
    /// Its place among the task's rows.
    pub at: usize,
    pub span: Span,
}

impl Waiting<'_> {
    /// The step of the clock.
    fn tick_ns(&self) -> i64 {
        let capture = self.trace.tasks.get(self.task as usize).map(|task| task.capture as usize);
        capture.and_then(|number| self.trace.captures.get(number)).map_or(1, |capture| capture.facts.tick_ns.max(1))
    }

    /// The last moment at which the end of another task may have ended this call.
    fn exits_until_ns(&self) -> i64 {
        self.span.end_ns.saturating_add(EXIT_TOLERANCE_NS.max(self.tick_ns()))
    }

    /// Whether the end of another task at this moment may have ended this call.
    fn spans_exit(&self, at_ns: i64) -> bool {
        at_ns != NO_NS && at_ns > self.span.start_ns && at_ns <= self.exits_until_ns()
    }

    /// The rows of the task behind this one.
    fn rows_behind(&self) -> impl Iterator<Item = u32> {
        self.trace.rows_of(self.task).iter().skip(self.at + 1).copied()
    }

    /// The next successful read behind a poll: what it takes is what the poll waited for.
    fn taken_next(&self) -> Option<u32> {
        let events = &self.trace.events;
        let calls = self.rows_behind().filter(|&row| events.kind(row) == EventKind::Call).take(CALLS_BEHIND_POLL);
        let mut waits = calls.filter_map(|row| Some((row, waits::wait_of_row(events, row)?)));
        let (row, _) = waits.find(|&(row, wait)| wait == Wait::Poll || events.outcome(row) == Outcome::Ok)?;
        (waits::wait_of_row(events, row) == Some(Wait::Read)).then_some(row)
    }

    /// Of these rows, which are in order of their starts, the one that ended last inside this call and fits.
    ///
    /// ```text
    /// reader   |------ read ------|
    /// writer      |--a--| |----b----|      b: its return may be stamped up to the tolerance behind the reader's
    /// ```
    ///
    /// Rows of one writer end in the order of their starts; of several writers, a long one may have begun before the call.
    fn last_inside(&self, rows: &[u32], fits: impl Fn(u32) -> bool) -> Option<u32> {
        const TRIES: usize = 64;
        const LONG_ONES: usize = 8;
        let events = &self.trace.events;
        let Span { start_ns, end_ns: last_ns, .. } = self.span;
        let behind = rows.partition_point(|&row| events.start_ns(row) <= last_ns);
        let mut long_ones = 0;
        let near = rows[..behind].iter().copied().rev().take(TRIES).take_while(|&row| {
            long_ones += usize::from(events.start_ns(row) < start_ns);
            long_ones <= LONG_ONES
        });
        let inside = near.filter(|&row| self.spans_exit(end_ns(self.trace, row)) && events.task(row) != self.task);
        inside.filter(|&row| fits(row)).max_by_key(|&row| (end_ns(self.trace, row).min(last_ns), events.start_ns(row)))
    }

    fn edge(&self, row: u32, how: How, sure: Sure) -> Edge {
        let at_ns = end_ns(self.trace, row).min(self.span.end_ns);
        Edge { task: self.trace.events.task(row), at_ns, how, sure }
    }
}

fn end_ns(trace: &Trace, row: u32) -> i64 {
    trace.events.end_ns(row).unwrap_or_else(|| trace.events.start_ns(row))
}

/// Whether a task is one of the process of another, or descends from it.
fn descends(trace: &Trace, task: u32, from: u32) -> bool {
    creators(trace, task).any(|task| same_process(trace, task, from))
}

fn same_process(trace: &Trace, a: u32, b: u32) -> bool {
    let process = |task: u32| trace.tasks.get(task as usize).map(|task| (task.capture, task.pid));
    a == b || process(a).is_some_and(|ids| Some(ids) == process(b))
}

/// A task, its creator, and so on; a claimed circle ends after some steps.
fn creators(trace: &Trace, task: u32) -> impl Iterator<Item = u32> {
    let up = |&task: &u32| {
        trace.tasks.get(task as usize).map(|task| task.creator).filter(|&up| (up as usize) < trace.tasks.len())
    };
    std::iter::successors(Some(task), up).take(64)
}
