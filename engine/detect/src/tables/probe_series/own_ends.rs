//! Pipes, socket pairs and eventfds with both ends in one process: its event loop wakes itself with them.
//!
//! ```text
//! socketpair [3, 4] | poll(3, 1 s) = 0 | poll(3, 1 s) = 0 | …        no other process has an end: this is a timer, not a question
//! ```

use kit::table_support::context::TableContext;
use kit::table_support::shape_index::ShapeIndex;
use kit::table_support::stream_ends::{Ends, ends, is_end};
use parsers::facts::Fds;
use parsers::syscalls::{Action, Wait};
use parsers::{Outcome, Text};
use rustc_hash::FxHashMap;
use trace::store::facts::PolledTargets;
use trace::store::index::TaskId;
use trace::store::targets::is_eventfd;
use trace::store::trace::Trace;

/// A process, by capture and id.
type Process = (u32, i32);

/// What a call does at one of the ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Makes both.
    Makes,
    /// Puts something in.
    Writes,
    /// Gives it up.
    Closes,
    /// Works at it.
    Works,
}

/// What is known of both ends.
struct Pair {
    maker: Option<Process>,
    user: Option<Process>,
    is_shared: bool,
    is_written: bool,
    /// The first row that closes an end.
    closed: u32,
}

/// All ends, with the processes that use them.
#[derive(Default)]
pub(super) struct OwnEnds(FxHashMap<Ends, Pair>);

impl OwnEnds {
    pub(super) fn new(context: &TableContext<'_>) -> OwnEnds {
        let (trace, events) = (context.trace, &context.trace.events);
        let kinds = ShapeIndex::by_target(
            context,
            |action, part| use_of(action, part.outcome).is_some(),
            |_, action, shape| {
                is_end(events.texts.bytes(shape.target)).then(|| use_of(action, shape.outcome))?
            },
        );
        let mut pairs: FxHashMap<Ends, Pair> = FxHashMap::default();
        let has_ends = kinds.any(|_| true);
        for task in trace.tasks.keys().filter(|_| has_ends) {
            let Some(process) = process(trace, task) else {
                continue;
            };
            for (row, used) in kinds.calls(context, task) {
                let Some(ends) = ends(events.texts.bytes(events.target(row))) else {
                    continue;
                };
                pairs
                    .entry(ends)
                    .or_insert_with(|| Pair {
                        maker: None,
                        user: None,
                        is_shared: false,
                        is_written: false,
                        closed: u32::MAX,
                    })
                    .take(process, row, used);
            }
        }
        OwnEnds(pairs)
    }

    /// Whether a call works at ends of its own process alone.
    pub(super) fn has_all(&self, context: &TableContext<'_>, row: u32) -> bool {
        let events = &context.trace.events;
        let target = events.target(row);
        if target.is_some() && self.has(context, row, target) {
            return true;
        }
        let Some(targets) = events.facts.get::<PolledTargets>(row) else {
            return false;
        };
        let fds = events.facts.get::<Fds>(row);
        fds.is_some_and(|fds| fds.len() == targets.len())
            && targets.iter().all(|&target| self.has(context, row, target))
    }

    fn has(&self, context: &TableContext<'_>, row: u32, target: Text) -> bool {
        let bytes = context.trace.events.texts.bytes(target);
        if is_eventfd(bytes) {
            return true;
        }
        let Some((pair, (is_numbered_here, ..))) =
            ends(bytes).and_then(|ends| Some((self.0.get(&ends)?, ends)))
        else {
            return false;
        };
        let own = process(context.trace, context.trace.events.task(row));
        // Ends that are numbered here were made in the capture, by a call that prints no names.
        let is_made_here = pair.maker.is_some_and(|maker| Some(maker) == own) || is_numbered_here;
        is_made_here
            && !pair.is_shared
            && pair.user == own
            && (pair.is_written || row < pair.closed)
    }
}

impl Pair {
    fn take(&mut self, process: Process, row: u32, used: Use) {
        match used {
            Use::Makes => self.maker = Some(process),
            Use::Closes => self.closed = self.closed.min(row),
            Use::Writes | Use::Works => {
                self.is_shared |= self.user.is_some_and(|user| user != process);
                self.user = Some(process);
                self.is_written |= used == Use::Writes;
            }
        }
    }
}

fn process(trace: &Trace, task: TaskId) -> Option<Process> {
    trace.tasks.get(task).map(|task| (task.capture, task.pid))
}

fn use_of(action: Action, outcome: Outcome) -> Option<Use> {
    match action {
        Action::MakesPipe | Action::MakesSocketPair => {
            (outcome == Outcome::Ok).then_some(Use::Makes)
        }
        Action::Closes => Some(Use::Closes),
        Action::Writes | Action::Sends => Some(Use::Writes),
        _ => matches!(action.wait(), Some(Wait::Read | Wait::Poll)).then_some(Use::Works),
    }
}
