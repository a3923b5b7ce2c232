//! The process that a task ends because its wait for it expired: `timeout 5 make` ends make.

use crate::store::heuristics::MAX_CALLS_BETWEEN_PARTS;
use crate::table_support::context::TableContext;
use crate::tables::kill_victims::Victims;
use crate::waits::wait_kinds::is_probe;
use parsers::syscalls::{Action, Wait};
use parsers::{Outcome, Text};

/// What a wait waits for: its target, or the command of the process that is ended because the wait expired.
pub(super) fn awaited_target(context: &TableContext<'_>, victims: &Victims<'_>, task: u32, expired: u32) -> Text {
    let (trace, events) = (context.trace, &context.trace.events);
    let target = events.waited_target(expired);
    if target.is_some() {
        return target;
    }
    let Some(kill) = signal_sent_after(context, task, expired) else { return target };
    let victim = victims.of(task, kill).and_then(|victim| trace.tasks.get(victim as usize));
    let program = victim.and_then(|victim| victim.programs.last());
    program.map_or(target, |program| if program.argv.is_some() { program.argv } else { program.path })
}

/// Whether a task sends a signal shortly after an expired wait for a signal or a child.
pub(super) fn ends_awaited_process(context: &TableContext<'_>, task: u32, expired: u32) -> bool {
    signal_sent_after(context, task, expired).is_some()
}

/// The call that sends it.
fn signal_sent_after(context: &TableContext<'_>, task: u32, expired: u32) -> Option<u32> {
    let events = &context.trace.events;
    if !matches!(events.action(expired).wait(), Some(Wait::Signal | Wait::Child)) {
        return None;
    }
    let signals =
        |row: u32| events.action(row) == Action::Signals && !is_probe(events.texts.bytes(events.shape(row).op));
    let mut later = context.trace.rows_from(task, expired).iter().copied().skip(1).take(MAX_CALLS_BETWEEN_PARTS);
    later.find(|&row| events.outcome(row) == Outcome::Ok && signals(row))
}
