//! Polls: repeated probes of the same state, with or without pauses in between, until the result changes.

use super::probe_series::{ProbeSeries, all_series};
use crate::table_support::builder::{BuiltTable, TableBuilder};
use crate::table_support::context::TableContext;
use crate::table_support::kit::table;
use crate::table_support::provenance::Provenance;
use crate::tables::probe_series::probes::{ProbeKey, ProbeKind};
use crate::tables::probe_series::spins::{Spin, spins};
use parsers::syscalls::{Action, action_of};
use parsers::{Outcome, Text};
use rustc_hash::FxHashSet;

table! {
    polls "Series of probes that wait for something by asking repeatedly.";
    times: Calls;
    columns {
        of: OfTask,
        syscall: Text "System call that checks, if it is a single one.",
        op: Text "Sub-operation.",
        target: Text "What is checked.",
        command: Text "Arguments of the child that checks, if a child does.",
        errno: Text "Error of the checks that failed.",
        checks: Count "Number of checks.",
        failed: Count "Number of checks that failed or found nothing.",
        succeeded: Flag "Whether the last result differs from the first.",
        unexplained: Number "Number of checks by a command where the last one succeeded and no call shows why; otherwise missing.",
        spinning: Flag "Whether it checks without pauses.",
        asked_ns: Ns (Same) "Mean requested duration of a pause.",
        interval_ns: Ns (Same) "Mean time from one check to the next.",
        freeable_ns: Ns "Upper bound of what shorter pauses could save: one interval, as far as it is on the critical path.",
        total_ns: Ns "From the first check to the last.",
        path: PathTime { exclusive_ns "Critical-path time in these calls and pauses." },
        lines: Lines,
    }
}

/// Builds the table, one row per series of probes.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for series in all_series(context) {
        let connects = matches!(series.key, ProbeKey::Call(syscall, _) if action_of(syscall) == Action::Connects);
        if series.kind != ProbeKind::Attempt || connects {
            write(context, series, &mut builder);
        }
    }
    spins(context)
        .iter()
        .for_each(|spin| write_spin(context, spin, &mut builder));
    builder.finish()
}

fn write(context: &TableContext<'_>, series: ProbeSeries, builder: &mut TableBuilder<'_>) {
    write_key(context, series.task, series.key, series.first_row, builder);
    builder.text("errno", series.errno);
    builder.int("checks", series.probes);
    builder.int("failed", series.failed);
    builder.bool("succeeded", series.changed);
    let is_unexplained = series.changed && !series.ends_failed && !is_explained(context, &series);
    builder.some_int("unexplained", is_unexplained.then_some(series.probes));
    builder.bool("spinning", false);
    builder.some_int("asked_ns", asked_ns(&series));
    let interval_ns = series.total_ns / (series.probes - 1).max(1);
    builder.int("interval_ns", interval_ns);
    builder.int("freeable_ns", interval_ns.min(series.exclusive_ns));
    builder.int("total_ns", series.total_ns);
    builder.path_ns(series.exclusive_ns);
    builder.lines(series.first_row, series.last_row);
    builder.members(Provenance::Rows(series.rows));
}

/// Whether the trace shows why the last probe succeeded: a call that failed before no longer fails, or the task that
/// made the change is known. A command may report success by its exit status alone.
fn is_explained(context: &TableContext<'_>, series: &ProbeSeries) -> bool {
    let Some((first, last)) = series.children.filter(|(first, last)| first != last) else {
        return true;
    };
    let (trace, events) = (context.trace, &context.trace.events);
    let query = |row: u32| (events.shape(row).syscall, events.target(row));
    let with = |task: u32, outcome: Outcome| {
        context
            .calls_of(task)
            .filter(move |&row| events.outcome(row) == outcome)
            .map(query)
    };
    let failed: FxHashSet<(Text, Text)> = with(first, Outcome::Failed).collect();
    if with(last, Outcome::Ok).any(|query| failed.contains(&query)) {
        return true;
    }
    let mut spans = trace.spans_of(last, 0..usize::MAX, trace.tasks[last as usize].birth_ns);
    spans.any(|(at, span)| {
        context
            .wakers
            .poll(trace, last, at, span, Some(series.task))
            .is_some()
    })
}

fn write_spin(context: &TableContext<'_>, spin: &Spin, builder: &mut TableBuilder<'_>) {
    let Spin {
        task,
        first_row,
        last_row,
        ..
    } = *spin;
    let events = &context.trace.events;
    let total_ns = events
        .start_ns(last_row)
        .saturating_sub(events.start_ns(first_row))
        .max(0);
    let checks = spin.probes + i64::from(spin.changed);
    write_key(context, task, spin.key, first_row, builder);
    builder.text("errno", events.shape(first_row).errno);
    builder.int("checks", checks);
    builder.int("failed", spin.probes);
    builder.bool("succeeded", spin.changed);
    builder.some_int("unexplained", None);
    builder.bool("spinning", true);
    builder.some_int("asked_ns", None);
    builder.int("interval_ns", total_ns / (checks - 1).max(1));
    builder.int("freeable_ns", 0);
    builder.int("total_ns", total_ns);
    builder.path_ns(stretch_ns(context, task, first_row, last_row));
    builder.lines(first_row, last_row);
    builder.members(Provenance::Stretch {
        task,
        first_row,
        last_row,
    });
}

/// Time on the critical path from one call of a task to another, including the gaps between calls.
pub(super) fn stretch_ns(
    context: &TableContext<'_>,
    task: u32,
    first_row: u32,
    last_row: u32,
) -> i64 {
    let rows = context.trace.rows_from(task, first_row).iter();
    let before = rows.take_while(|&&row| row != last_row);
    let before_ns: i64 = before
        .map(|&row| context.exclusive_ns(row) + context.attribution.own_gap_after_ns(row))
        .sum();
    before_ns + context.exclusive_ns(last_row)
}

fn write_key(
    context: &TableContext<'_>,
    task: u32,
    key: ProbeKey,
    first_row: u32,
    builder: &mut TableBuilder<'_>,
) {
    let (syscall, target, command) = match key {
        ProbeKey::Call(syscall, target) => (syscall, target, Text::NONE),
        ProbeKey::Command(command) => (Text::NONE, Text::NONE, command),
    };
    let op = if syscall.is_some() {
        context.trace.events.shape(first_row).op
    } else {
        Text::NONE
    };
    builder.task_columns(task, first_row);
    builder.text("syscall", syscall);
    builder.text("op", op);
    builder.text("target", target);
    builder.text("command", command);
}

/// Mean requested duration of the pauses.
pub(super) fn asked_ns(series: &ProbeSeries) -> Option<i64> {
    let asked: Vec<i64> = series
        .pauses
        .iter()
        .filter_map(|(_, pause)| pause.asked_ns)
        .collect();
    (!asked.is_empty())
        .then(|| asked.iter().fold(0i64, |sum, &ns| sum.saturating_add(ns)) / asked.len() as i64)
}
