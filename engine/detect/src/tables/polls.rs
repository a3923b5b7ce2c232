//! Polls: repeated probes of the same state, with or without pauses in between, until the result changes.

use super::probe_series::{ProbeSeries, all_series};
use crate::tables::probe_series::probes::{ProbeKey, ProbeKind};
use crate::tables::probe_series::spins::{Spin, spins};
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::process_ends::{ProcessEnds, ended};
use kit::table_support::provenance::Provenance;
use parsers::line::Ended;
use parsers::syscalls::{Action, Wait, action_of};
use parsers::{NO_NS, Outcome, Text};
use path::waits::wait_kinds::wait_of_row;
use rustc_hash::FxHashSet;
use trace::store::event::EventKind;
use trace::store::index::TaskId;

table! {
    polls "Series of probes that wait for something by asking repeatedly.";
    times: Calls;
    row {
        of: OfTask,
        syscall: Text "System call that checks, if it is a single one.",
        op: Text "Sub-operation.",
        target: Text "What is checked.",
        command: Text "Arguments of the child that checks, if a child does.",
        errno: Text "Error of the checks that failed.",
        checks: Count "Number of checks.",
        failed: Count "Number of checks that failed or found nothing.",
        succeeded: Flag "Whether the last result differs from the first.",
        unexplained: MaybeNumber "Number of checks by a command where the last one succeeded and no call shows why; otherwise missing.",
        spinning: Flag "Whether it checks without pauses.",
        unneeded: Flag "Whether it only looked for more after a success, and the process ended well without it.",
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
    let ends = ProcessEnds::new(context);
    let all = all_series(context).into_iter();
    for series in all.filter(|series| !supervises(context, &ends, series)) {
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

/// ```text
/// server   wait4(-1, WNOHANG) = 0 | sleep 1 s | wait4(-1, WNOHANG) = 0 | sleep 1 s | …     none of its workers ends, nor does it
/// ```
///
/// Whether a process that does not end by itself looks now and then whether one of its children has ended, and none has.
fn supervises(context: &TableContext<'_>, ends: &ProcessEnds, series: &ProbeSeries) -> bool {
    let events = &context.trace.events;
    let is_look = series.children.is_none()
        && wait_of_row(events, series.first_row) == Some(Wait::Child)
        && !events.target(series.first_row).is_some();
    is_look && !series.changed && !ends.ends_by_itself(context, series.task)
}

fn write(context: &TableContext<'_>, series: ProbeSeries, builder: &mut TableBuilder<'_>) {
    let key = Checked::new(context, series.key, series.first_row);
    let is_unexplained = series.changed && !series.ends_failed && !is_explained(context, &series);
    let interval_ns = series.total_ns / (series.probes - 1).max(1);
    let row = TableRow {
        of: TaskAt {
            task: series.task,
            row: series.first_row,
        },
        syscall: key.syscall,
        op: key.op,
        target: key.target,
        command: key.command,
        errno: series.errno,
        checks: series.probes,
        failed: series.failed,
        succeeded: series.changed,
        unexplained: is_unexplained.then_some(series.probes),
        spinning: false,
        unneeded: false,
        asked_ns: asked_ns(&series).unwrap_or(NO_NS),
        interval_ns,
        freeable_ns: interval_ns.min(series.exclusive_ns),
        total_ns: series.total_ns,
        path: series.exclusive_ns,
        lines: LinesOf {
            first_row: series.first_row,
            last_row: series.last_row,
        },
    };
    builder.add(row, Provenance::Rows(series.rows));
}

/// Whether the trace shows why the last probe succeeded: a call that failed before no longer fails, or the task that
/// made the change is known. A command may report success by its exit status alone.
fn is_explained(context: &TableContext<'_>, series: &ProbeSeries) -> bool {
    let Some((first, last)) = series.children.filter(|(first, last)| first != last) else {
        return true;
    };
    let (trace, events) = (context.trace, &context.trace.events);
    let query = |row: u32| (events.shape(row).syscall, events.target(row));
    let with = |task: TaskId, outcome: Outcome| {
        context
            .calls_of(task)
            .filter(move |&row| events.outcome(row) == outcome)
            .map(query)
    };
    let failed: FxHashSet<(Text, Text)> = with(first, Outcome::Failed).collect();
    if with(last, Outcome::Ok).any(|query| failed.contains(&query)) {
        return true;
    }
    let mut spans = trace.spans_of(last, 0..usize::MAX, trace.tasks[last].birth_ns);
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
    let key = Checked::new(context, spin.key, first_row);
    let row = TableRow {
        of: TaskAt {
            task,
            row: first_row,
        },
        syscall: key.syscall,
        op: key.op,
        target: key.target,
        command: key.command,
        errno: events.shape(first_row).errno,
        checks,
        failed: spin.probes,
        succeeded: spin.changed,
        unexplained: None,
        spinning: true,
        unneeded: !spin.changed && looks_for_more(context, spin) && ends_well(context, task),
        asked_ns: NO_NS,
        interval_ns: total_ns / (checks - 1).max(1),
        freeable_ns: 0,
        total_ns,
        path: stretch_ns(context, task, first_row, last_row),
        lines: LinesOf {
            first_row,
            last_row,
        },
    };
    let members = Provenance::Stretch {
        task,
        first_row,
        last_row,
    };
    builder.add(row, members);
}

/// ```text
/// recv 7742 bytes | recv EAGAIN | recv EAGAIN | recv EAGAIN | …        an answer has come, and the program takes it apart
/// ```
///
/// Whether the same call had just succeeded before the first of the failed ones.
fn looks_for_more(context: &TableContext<'_>, spin: &Spin) -> bool {
    let events = &context.trace.events;
    let query = |row: u32| (events.shape(row).syscall, events.target(row));
    let Some(at) = context.trace.place_of(spin.task, spin.first_row) else {
        return false;
    };
    let before = context.trace.rows_of(spin.task)[..at].iter().rev().copied();
    let mut calls = before.filter(|&row| events.kind(row) == EventKind::Call);
    calls.next().is_some_and(|row| {
        query(row) == query(spin.first_row) && events.bytes(row).is_some_and(|bytes| bytes > 0)
    })
}

/// Whether the process of a task exited with status 0.
fn ends_well(context: &TableContext<'_>, task: TaskId) -> bool {
    ended(context, task) == Some(Ended::Exited(0))
}

/// Time on the critical path from one call of a task to another, including the gaps between calls.
pub(super) fn stretch_ns(
    context: &TableContext<'_>,
    task: TaskId,
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

/// What a series checks: a call, or a command that a child runs.
struct Checked {
    syscall: Text,
    op: Text,
    target: Text,
    command: Text,
}

impl Checked {
    fn new(context: &TableContext<'_>, key: ProbeKey, first_row: u32) -> Checked {
        match key {
            ProbeKey::Call(syscall, target) => Checked {
                syscall,
                op: if syscall.is_some() {
                    context.trace.events.shape(first_row).op
                } else {
                    Text::NONE
                },
                target,
                command: Text::NONE,
            },
            ProbeKey::Command(command) => Checked {
                syscall: Text::NONE,
                op: Text::NONE,
                target: Text::NONE,
                command,
            },
        }
    }
}

/// Mean requested duration of the pauses.
pub(super) fn asked_ns(series: &ProbeSeries) -> Option<i64> {
    let asked: Vec<i64> = series
        .pauses
        .iter()
        .filter_map(|(_, pause)| pause.asked_ns)
        .collect();
    mean_ns(&asked)
}

/// The mean of durations; `None` of none.
pub(super) fn mean_ns(durations_ns: &[i64]) -> Option<i64> {
    let sum_ns = durations_ns
        .iter()
        .fold(0i64, |sum_ns, &ns| sum_ns.saturating_add(ns));
    (!durations_ns.is_empty()).then(|| sum_ns / durations_ns.len() as i64)
}
