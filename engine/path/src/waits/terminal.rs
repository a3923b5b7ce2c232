//! Reads of the master side of a pseudo terminal, ended by a write of a program on the slave side, and the reverse.
//!
//! ```text
//! session   |------ poll ------|- read(ptmx) -|
//! shell        |-- work --|- write(pts/3) -|
//! ```
//!
//! A master and its slave do not name each other. So this applies only if the process or an ancestor opened exactly one
//! master, and if the writer descends from the process of the reader. It is inferred.

use super::child::Children;
use super::ordered::Ordered;
use super::wait_kinds;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::{Effect, ShapeFacts};
use parsers::Outcome;
use rustc_hash::FxHashMap;
use trace::store::index::TaskId;
use trace::store::targets::{TerminalSide, side};
use trace::store::task_relations::{creators, same_process};
use trace::store::trace::Trace;

/// The reads and writes at terminals.
#[derive(Default)]
pub(super) struct Terminals {
    /// Tasks that opened a master, by capture.
    masters: FxHashMap<u32, Vec<TaskId>>,
    /// Writes to slaves or possible slaves, by capture, after a master was opened.
    to_slave: FxHashMap<u32, Ordered>,
    /// Writes at masters, by capture.
    to_master: FxHashMap<u32, Ordered>,
}

impl Terminals {
    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        let works =
            matches!(known.deed, Effect::Opens | Effect::Writes) && known.outcome == Outcome::Ok;
        if !works || (known.deed == Effect::Writes && self.masters.is_empty()) {
            return;
        }
        let task = trace.events.task(row);
        let Some(capture) = trace.tasks.get(task).map(|task| task.capture) else {
            return;
        };
        match (known.deed, side_of(trace, row)) {
            (Effect::Opens, TerminalSide::Master) => {
                self.masters.entry(capture).or_default().push(task)
            }
            (Effect::Writes, _) if !self.masters.contains_key(&capture) => {}
            (Effect::Writes, TerminalSide::Master) => {
                self.to_master.entry(capture).or_default().push(row)
            }
            (Effect::Writes, TerminalSide::Slave | TerminalSide::Unknown) => {
                self.to_slave.entry(capture).or_default().push(row)
            }
            _ => {}
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        let lists = self
            .to_slave
            .values_mut()
            .chain(self.to_master.values_mut());
        lists.for_each(|rows| rows.order(trace));
    }

    /// The waker of a read of this row.
    pub(super) fn writer(&self, call: &Waiting<'_>, row: u32) -> Option<Edge> {
        let trace = call.trace;
        let capture = trace.tasks.get(call.task)?.capture;
        let is_below = |task: TaskId, above: TaskId| {
            creators(trace, task).any(|up| same_process(trace, up, above))
        };
        let from_below = |row: u32| {
            let writer = trace.events.task(row);
            is_below(writer, call.task) && !same_process(trace, writer, call.task)
        };
        let found = match side_of(trace, row) {
            TerminalSide::Master | TerminalSide::Unknown
                if self.has_one_master(trace, capture, call.task) =>
            {
                call.last_inside(self.to_slave.get(&capture)?, from_below)?
            }
            TerminalSide::Slave => call.last_inside(self.to_master.get(&capture)?, |row| {
                is_below(call.task, trace.events.task(row))
            })?,
            _ => return None,
        };
        Some(call.edge(found, WakeKind::Terminal, Confidence::Inferred))
    }

    /// The child whose end closed the slave side, so that a read of the master failed.
    pub(super) fn leaver(call: &Waiting<'_>, row: u32, children: &Children) -> Option<Edge> {
        let events = &call.trace.events;
        let is_hung_up = wait_kinds::is_hung_up(events, row);
        let is_left = match side_of(call.trace, row) {
            TerminalSide::Master => is_hung_up || wait_kinds::ends_file(events, row),
            TerminalSide::Unknown => is_hung_up,
            TerminalSide::Slave | TerminalSide::Other => false,
        };
        let child = is_left.then(|| children.last_child(call)).flatten()?;
        Some(Edge {
            how: WakeKind::Terminal,
            sure: Confidence::Inferred,
            ..child
        })
    }

    fn has_one_master(&self, trace: &Trace, capture: u32, task: TaskId) -> bool {
        self.masters.get(&capture).is_some_and(|openers| {
            openers
                .iter()
                .take(256)
                .filter(|&&opener| creators(trace, task).any(|up| same_process(trace, up, opener)))
                .take(2)
                .count()
                == 1
        })
    }
}

fn side_of(trace: &Trace, row: u32) -> TerminalSide {
    side(trace.events.texts.bytes(trace.events.target(row)))
}
