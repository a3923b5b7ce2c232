//! The process that a task ends because its wait for it expired: `timeout 5 make` ends make.

use kit::table_support::context::TableContext;
use kit::table_support::kill_victims::Victims;
use parsers::syscalls::{Action, Wait};
use parsers::{Outcome, Text};
use path::waits::wait_kinds::{is_probe, resumed};
use trace::store::event::EventKind;
use trace::store::events::EventTable;
use trace::store::heuristics::MAX_CALLS_BETWEEN_PARTS;
use trace::store::index::TaskId;

/// What a wait waits for: its target, or the command of the process that is ended because the wait expired.
pub(super) fn awaited_target(
    context: &TableContext<'_>,
    victims: &Victims<'_>,
    task: TaskId,
    expired: u32,
) -> Text {
    let (trace, events) = (context.trace, &context.trace.events);
    let target = events.waited_target(expired);
    if target.is_some() {
        return target;
    }
    let Some(kill) = signal_sent_after(context, task, expired) else {
        return target;
    };
    let victim = victims
        .of(task, kill)
        .and_then(|victim| trace.tasks.get(victim));
    let program = victim.and_then(|victim| victim.programs.last());
    program.map_or(target, |program| {
        if program.argv.is_some() {
            program.argv
        } else {
            program.path
        }
    })
}

/// What the process that a task ends was doing at that moment: `sleep in clock_nanosleep`. A process that waits for its own
/// child does what the child does.
pub(super) fn meanwhile(
    context: &TableContext<'_>,
    victims: &Victims<'_>,
    task: TaskId,
    expired: u32,
) -> Option<String> {
    const MAX_GENERATIONS: usize = 16;
    let (trace, events) = (context.trace, &context.trace.events);
    let kill = signal_sent_after(context, task, expired)?;
    let (mut victim, at_ns) = (victims.of(task, kill)?, events.start_ns(kill));
    for _ in 0..MAX_GENERATIONS {
        let Some(row) = open_call(context, victim, at_ns) else {
            return Some(format!(
                "{} in its own code",
                name_at(context, victim, at_ns)?
            ));
        };
        let lives = |&child: &TaskId| {
            let known = &trace.tasks[child];
            known.creator == victim && known.birth_ns <= at_ns && known.end_ns() >= at_ns
        };
        let waits = events.action(row).wait() == Some(Wait::Child);
        match trace.tasks.keys().rev().filter(|_| waits).find(lives) {
            Some(child) => victim = child,
            None => {
                let shape = events.shape(row);
                let syscall = events.texts.string(resumed(shape.syscall, shape.op));
                return Some(format!("{} in {syscall}", name_at(context, victim, at_ns)?));
            }
        }
    }
    None
}

/// The call that a task was in at a moment.
fn open_call(context: &TableContext<'_>, task: TaskId, at_ns: i64) -> Option<u32> {
    let (trace, events) = (context.trace, &context.trace.events);
    let rows = trace.rows_of(task);
    let before = rows.partition_point(|&row| events.start_ns(row) <= at_ns);
    let last = rows[..before]
        .iter()
        .rev()
        .copied()
        .find(|&row| events.kind(row) == EventKind::Call)?;
    events
        .end_ns(last)
        .is_none_or(|end_ns| end_ns >= at_ns)
        .then_some(last)
}

fn name_at(context: &TableContext<'_>, task: TaskId, at_ns: i64) -> Option<String> {
    let program = context.selection.program_index.at(task, at_ns)?;
    let path = context.trace.events.texts.string(program.path);
    Some(path.rsplit('/').next().unwrap_or(&path).to_owned())
}

/// Whether a task sends a signal shortly after an expired wait for a signal or a child.
pub(super) fn ends_awaited_process(context: &TableContext<'_>, task: TaskId, expired: u32) -> bool {
    signal_sent_after(context, task, expired).is_some()
}

/// The call that sends it.
fn signal_sent_after(context: &TableContext<'_>, task: TaskId, expired: u32) -> Option<u32> {
    let events = &context.trace.events;
    if !matches!(
        events.action(expired).wait(),
        Some(Wait::Signal | Wait::Child)
    ) {
        return None;
    }
    let mut later = context
        .trace
        .rows_from(task, expired)
        .iter()
        .copied()
        .skip(1)
        .take(MAX_CALLS_BETWEEN_PARTS);
    later.find(|&row| events.outcome(row) == Outcome::Ok && signals_process(events, row))
}

fn signals_process(events: &EventTable, row: u32) -> bool {
    events.action(row) == Action::Signals && !is_probe(events.texts.bytes(events.shape(row).op))
}
