//! Polls: the same look at something again and again, with pauses between or without any, until the answer changes.

use super::turns::{Turns, turns};
use crate::table_support::builder::{BuiltTable, TableBuilder};
use crate::table_support::context::TableContext;
use crate::table_support::provenance::Provenance;
use crate::tables::turns::looks::{ProbeKey, ProbeKind};
use crate::tables::turns::spins::{Spin, spins};
use parsers::syscalls::{Action, action_of};
use parsers::{Outcome, Text};
use rustc_hash::FxHashSet;

/// Looks that were repeated, each series of them a row.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut sheet = TableBuilder::new(context, "polls");
    for turns in turns(context) {
        let connects = matches!(turns.key, ProbeKey::Call(syscall, _) if action_of(syscall) == Action::Connects);
        if turns.look != ProbeKind::Attempt || connects {
            write(context, turns, &mut sheet);
        }
    }
    spins(context).iter().for_each(|spin| write_spin(context, spin, &mut sheet));
    sheet.finish()
}

fn write(context: &TableContext<'_>, turns: Turns, sheet: &mut TableBuilder<'_>) {
    write_key(context, turns.task, turns.key, turns.first_row, sheet);
    sheet.int("checks", turns.looks);
    sheet.int("failed", turns.failed);
    sheet.bool("succeeded", turns.changed);
    let is_unexplained = turns.changed && !turns.ends_failed && !is_explained(context, &turns);
    sheet.some_int("unexplained", is_unexplained.then_some(turns.looks));
    sheet.bool("spinning", false);
    sheet.some_int("asked_ns", asked_ns(&turns));
    let interval_ns = turns.total_ns / (turns.looks - 1).max(1);
    sheet.int("interval_ns", interval_ns);
    sheet.int("freeable_ns", interval_ns.min(turns.exclusive_ns));
    sheet.int("total_ns", turns.total_ns);
    sheet.path_ns(turns.exclusive_ns);
    sheet.lines(turns.first_row, turns.last_row);
    sheet.members(Provenance::Rows(turns.rows));
}

/// Whether the trace shows why the last look succeeded: a call that had failed and no longer does, or who made the change. A
/// command may tell its success by an exit status alone.
fn is_explained(context: &TableContext<'_>, turns: &Turns) -> bool {
    let Some((first, last)) = turns.children.filter(|(first, last)| first != last) else { return true };
    let (trace, events) = (context.trace, &context.trace.events);
    let asked = |row: u32| (events.shape(row).syscall, events.target(row));
    let with = |task: u32, outcome: Outcome| {
        context.calls_of(task).filter(move |&row| events.outcome(row) == outcome).map(asked)
    };
    let failed: FxHashSet<(Text, Text)> = with(first, Outcome::Failed).collect();
    if with(last, Outcome::Ok).any(|asked| failed.contains(&asked)) {
        return true;
    }
    let mut spans = trace.spans_of(last, 0..usize::MAX, trace.tasks[last as usize].birth_ns);
    spans.any(|(at, span)| context.wakers.poll(trace, last, at, span, Some(turns.task)).is_some())
}

fn write_spin(context: &TableContext<'_>, spin: &Spin, sheet: &mut TableBuilder<'_>) {
    let Spin { task, first_row, last_row, .. } = *spin;
    let events = &context.trace.events;
    let total_ns = events.start_ns(last_row).saturating_sub(events.start_ns(first_row)).max(0);
    let checks = spin.looks + i64::from(spin.changed);
    write_key(context, task, spin.key, first_row, sheet);
    sheet.int("checks", checks);
    sheet.int("failed", spin.looks);
    sheet.bool("succeeded", spin.changed);
    sheet.some_int("unexplained", None);
    sheet.bool("spinning", true);
    sheet.some_int("asked_ns", None);
    sheet.int("interval_ns", total_ns / (checks - 1).max(1));
    sheet.int("freeable_ns", 0);
    sheet.int("total_ns", total_ns);
    sheet.path_ns(stretch_ns(context, task, first_row, last_row));
    sheet.lines(first_row, last_row);
    sheet.members(Provenance::Stretch { task, first_row, last_row });
}

/// Time on the path from one call of a task to another, between the calls too.
fn stretch_ns(context: &TableContext<'_>, task: u32, first_row: u32, last_row: u32) -> i64 {
    let rows = context.trace.rows_from(task, first_row).iter();
    let before = rows.take_while(|&&row| row != last_row);
    let before_ns: i64 = before.map(|&row| context.exclusive_ns(row) + context.attribution.gap_after_ns(row)).sum();
    before_ns + context.exclusive_ns(last_row)
}

fn write_key(context: &TableContext<'_>, task: u32, key: ProbeKey, first_row: u32, sheet: &mut TableBuilder<'_>) {
    let (syscall, target, command) = match key {
        ProbeKey::Call(syscall, target) => (syscall, target, Text::NONE),
        ProbeKey::Command(command) => (Text::NONE, Text::NONE, command),
    };
    let op = if syscall.is_some() { context.trace.events.shape(first_row).op } else { Text::NONE };
    sheet.task_columns(task, first_row);
    sheet.text("syscall", syscall);
    sheet.text("op", op);
    sheet.text("target", target);
    sheet.text("command", command);
}

/// How long a pause is meant to be, in the mean.
pub(super) fn asked_ns(turns: &Turns) -> Option<i64> {
    let asked: Vec<i64> = turns.pauses.iter().filter_map(|(_, pause)| pause.asked_ns).collect();
    (!asked.is_empty()).then(|| asked.iter().fold(0i64, |sum, &ns| sum.saturating_add(ns)) / asked.len() as i64)
}
