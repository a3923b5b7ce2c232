//! How processes end: by themselves, or because they were told to.
//!
//! ```text
//! job      | work | sleep 1 s | work | exit                              by itself: it took as long as its sleeps made it
//! server   | poll 1 s | poll 1 s | poll … SIGTERM | handler | exit       told to: until then, it had nothing to do
//! server   | poll 1 s | poll 1 s | poll …                                the capture ends before it does
//! ```

use crate::table_support::context::TableContext;
use parsers::NO_NS;
use parsers::line::Ended;
use path::waits::wait_kinds::was_broken_off;
use rustc_hash::FxHashMap;
use trace::store::event::{EventKind, Shape};
use trace::store::events::EventTable;
use trace::store::index::TaskId;
use trace::store::task_relations::main_task;

/// The signals that told processes to end.
pub struct ProcessEnds {
    /// The first of them, by capture and process id. It may also be one that the process survived.
    told: FxHashMap<(u32, i32), u32>,
}

impl ProcessEnds {
    /// Finds the signals that told processes to end.
    pub fn new(context: &TableContext<'_>) -> ProcessEnds {
        let (trace, events) = (context.trace, &context.trace.events);
        let is_told = |shape: &Shape| tells_to_end(events.texts.bytes(shape.syscall));
        let mut told: FxHashMap<(u32, i32), u32> = FxHashMap::default();
        if !trace.shape_parts().parts().iter().any(is_told) {
            return ProcessEnds { told };
        }
        for (number, task) in trace
            .tasks
            .iter_enumerated()
            .filter(|(_, task)| task.signals > 0)
        {
            let signals = trace
                .rows_of(number)
                .iter()
                .copied()
                .filter(|&row| events.kind(row) == EventKind::Signal);
            // A process may also end itself with one.
            let from_others =
                |&row: &u32| is_told(&events.shape(row)) && events.sender(row) != task.pid;
            for row in signals.filter(from_others) {
                let known = told.entry((task.capture, task.pid)).or_insert(row);
                *known = if goes_before(context, row, *known) {
                    row
                } else {
                    *known
                };
            }
        }
        ProcessEnds { told }
    }

    /// Whether the process of a task exited during the capture, without being told to.
    pub fn ends_by_itself(&self, context: &TableContext<'_>, task: TaskId) -> bool {
        matches!(ended(context, task), Some(Ended::Exited(_))) && self.told(context, task).is_none()
    }

    /// Whether a call of a task began after its process was told to end. Without times, lines of different files have no
    /// order.
    pub fn was_told_before(&self, context: &TableContext<'_>, task: TaskId, row: u32) -> bool {
        let events = &context.trace.events;
        let has_order = |told: u32| {
            let one_file = context
                .capture_of(task)
                .is_some_and(|capture| capture.files.len() <= 1);
            events.task(told) == task || events.start_ns(row) != NO_NS || one_file
        };
        self.told(context, task)
            .is_some_and(|told| has_order(told) && context.trace.starts_before(told, row))
    }

    /// Whether the signal that told the process of a task to end broke off its call: what it does then is not what it
    /// waited for.
    pub fn cut(&self, context: &TableContext<'_>, task: TaskId, row: u32) -> bool {
        let trace = context.trace;
        let next = || trace.rows_from(task, row).get(1).copied();
        was_broken_off(&trace.events, row)
            && self.told(context, task).is_some_and(|told| {
                trace.starts_before(row, told)
                    && next().is_none_or(|next| !trace.starts_before(next, told))
            })
    }

    /// The signal that told the process of a task to end, if it then ended.
    pub fn told(&self, context: &TableContext<'_>, task: TaskId) -> Option<u32> {
        let known = context.trace.tasks.get(task)?;
        let told = self.told.get(&(known.capture, known.pid))?;
        ended(context, task).map(|_| *told)
    }

    /// The SIGTERM that told the process of a task to end, if SIGKILL had to end it. Of the other signals, programs survive
    /// many: a person interrupts a command, and a server reads its files again.
    pub fn ignored(&self, context: &TableContext<'_>, task: TaskId) -> Option<u32> {
        let (events, texts) = (&context.trace.events, &context.trace.events.texts);
        let is_kill = matches!(ended(context, task), Some(Ended::Killed(signal)) if texts.bytes(signal) == b"SIGKILL");
        self.told(context, task)
            .filter(|&row| is_kill && is_sigterm(events, row))
    }

    /// The SIGTERM that told the process of a task to end, if the process still lives when the capture ends.
    pub fn outlived(&self, context: &TableContext<'_>, task: TaskId) -> Option<u32> {
        let known = context.trace.tasks.get(main_task(context.trace, task))?;
        let lives = known.death_ns == NO_NS && known.ended.is_none() && !known.superseded;
        let told = self.told.get(&(known.capture, known.pid)).copied();
        told.filter(|&row| lives && is_sigterm(&context.trace.events, row))
    }
}

fn is_sigterm(events: &EventTable, row: u32) -> bool {
    events.texts.bytes(events.shape(row).syscall) == b"SIGTERM"
}

/// How the process of a task ended, if the capture shows it.
pub fn ended(context: &TableContext<'_>, task: TaskId) -> Option<Ended> {
    let main = main_task(context.trace, task);
    context.trace.tasks.get(main)?.ended
}

/// Whether a signal usually asks a process to end.
fn tells_to_end(name: &[u8]) -> bool {
    matches!(name, b"SIGTERM" | b"SIGINT" | b"SIGQUIT") || may_reload(name)
}

/// Whether it only makes many servers read their files again.
fn may_reload(name: &[u8]) -> bool {
    name == b"SIGHUP"
}

/// The first signal counts, but not before one that surely asks for the end, and of several that do not, the last.
fn goes_before(context: &TableContext<'_>, row: u32, known: u32) -> bool {
    let events = &context.trace.events;
    match (reloads(events, row), reloads(events, known)) {
        (false, true) => true,
        (true, false) => false,
        (both, _) => context.trace.starts_before(row, known) != both,
    }
}

fn reloads(events: &EventTable, row: u32) -> bool {
    may_reload(events.texts.bytes(events.shape(row).syscall))
}
