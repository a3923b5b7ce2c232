//! Grace periods that another process measures: it tells a supervisor to send the signals, and pauses in between.

use super::{Before, Kill, is_kill, is_same_victim};
use crate::tables::probe_series::pauses::Pause;
use kit::table_support::builder::TableBuilder;
use kit::table_support::context::TableContext;
use parsers::Outcome;
use parsers::syscalls::{Action, Wait};
use path::waits::wait_kinds::wait_of_row;
use rustc_hash::FxHashMap;
use trace::store::event::EventKind;
use trace::store::heuristics::MIN_INPUT_WAIT_NS;
use trace::store::index::TaskId;

/// The pauses of each task, in order.
type Pauses = [(TaskId, Vec<Pause>)];

/// Number of calls before a SIGKILL that are searched for the wait for the order.
const MAX_CALLS_AFTER_ORDER: usize = 32;

/// Writes a row per grace period that ended in SIGKILL and that another task than the sender spent in pauses.
pub(super) fn write(
    context: &TableContext<'_>,
    kills: &FxHashMap<TaskId, Vec<Kill>>,
    pauses: &Pauses,
    builder: &mut TableBuilder<'_>,
) {
    let events = &context.trace.events;
    for (&sender, kills) in kills {
        // Only the sender itself; kills of its commands have a row at their creator, too.
        let own = || {
            kills
                .iter()
                .filter(|kill| events.task(kill.row) == sender && kill.at == kill.row)
        };
        for last in own().filter(|kill| is_kill(context, kill.row)) {
            let asks = |kill: &&Kill| {
                kill.at < last.at
                    && !is_kill(context, kill.row)
                    && is_same_victim(context, kill, last)
            };
            let Some(first) = own().find(asks) else {
                continue;
            };
            if let Some((task, here)) = commander(context, pauses, sender, (first, last)) {
                let before = Before {
                    kills: vec![*first],
                    then_killed: true,
                    deaf: last.victim,
                    is_ordered: true,
                };
                super::write(context, task, &here, &before, builder);
            }
        }
    }
}

/// The task that ended the sender's wait before it sent SIGKILL, and its pauses since the first signal.
fn commander(
    context: &TableContext<'_>,
    pauses: &Pauses,
    sender: TaskId,
    (first, last): (&Kill, &Kill),
) -> Option<(TaskId, Vec<Pause>)> {
    let events = &context.trace.events;
    let at = context.trace.place_of(sender, last.row)?;
    let earlier = context.trace.rows_of(sender)[..at].iter().rev().copied();
    let mut calls = earlier
        .filter(|&row| events.kind(row) == EventKind::Call)
        .take(MAX_CALLS_AFTER_ORDER)
        .take_while(|&row| row > first.row);
    let wait = calls.find(|&row| {
        let wait = wait_of_row(events, row);
        matches!(wait, Some(Wait::Poll | Wait::Read))
            && events.ret(row) > 0
            && lasts_ns(context, row) >= MIN_INPUT_WAIT_NS
    })?;
    let (from_ns, to_ns) = (events.start_ns(first.row), events.end_ns(wait)?);
    let orders = |task: TaskId| {
        context
            .calls_of(task)
            .any(|row| is_order(context, wait, row))
    };
    let of_others = pauses.iter().filter(|(task, _)| *task != sender);
    let here = of_others.filter_map(|(task, pauses)| {
        let within = |pause: &&Pause| (from_ns..to_ns).contains(&events.start_ns(pause.row));
        let here: Vec<Pause> = pauses.iter().filter(within).copied().collect();
        (!here.is_empty() && orders(*task)).then_some((*task, here))
    });
    here.max_by_key(|(_, pauses)| pauses.iter().map(|pause| pause.dur_ns).sum::<i64>())
}

/// Whether a call writes to something that the sender waits for, at the end of that wait.
fn is_order(context: &TableContext<'_>, wait: u32, row: u32) -> bool {
    let events = &context.trace.events;
    let writes = matches!(events.action(row), Action::Writes | Action::Sends)
        && events.outcome(row) == Outcome::Ok;
    let target = events.target(row);
    let is_awaited = || events.target(wait) == target || events.polled(wait).contains(&target);
    let (from_ns, lasts_ns) = (events.start_ns(wait), lasts_ns(context, wait));
    let begins_within = || {
        let since_ns = events.start_ns(row).saturating_sub(from_ns);
        (lasts_ns - MIN_INPUT_WAIT_NS..=lasts_ns).contains(&since_ns)
    };
    writes && target.is_some() && is_awaited() && begins_within()
}

fn lasts_ns(context: &TableContext<'_>, row: u32) -> i64 {
    let events = &context.trace.events;
    events
        .end_ns(row)
        .map_or(0, |end_ns| end_ns.saturating_sub(events.start_ns(row)))
}
