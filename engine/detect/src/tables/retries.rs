//! Retries: a call that fails for a temporary reason and is repeated after a pause until it succeeds or the task gives
//! up.

mod by_process;

use super::polls::asked_ns;
use super::probe_series::{ProbeSeries, series_between};
use crate::tables::probe_series::pauses::pauses;
use crate::tables::probe_series::probes::{ProbeKey, ProbeKind};
use crate::tables::retries::by_process::Series;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use parsers::{NO_NS, Text};
use rustc_hash::FxHashSet;

table! {
    retries "Series of attempts after failures.";
    times: Calls;
    row {
        of: OfTask,
        syscall: Text "System call that is retried.",
        op: Text "Sub-operation.",
        target: Text "What the call works on.",
        errno: Text "Name of the last error.",
        attempts: Count "Number of attempts.",
        failed: Count "Number of failed attempts.",
        succeeded: Flag "Whether the last attempt succeeded.",
        asked_ns: Ns (Same) "Mean requested duration of a pause.",
        pause_ns: Ns "Total duration of the pauses.",
        freeable_ns: Ns "The last pause, during which the call may have become possible; all pauses if the task gave up.",
        first_pause_ns: Ns "Duration of the first pause.",
        last_pause_ns: Ns "Duration of the last pause.",
        grows: Flag "Whether the last pause is longer than the first.",
        total_ns: Ns "From the first attempt to the last.",
        path: PathTime { exclusive_ns "Critical-path time in these calls and pauses." },
        lines: Lines,
    }
}

/// Builds the table, one row per series of attempts.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    let pauses = pauses(context);
    let of_processes = by_process::series(context, &pauses);
    let taken: FxHashSet<u32> = of_processes
        .iter()
        .flat_map(|series| &series.attempts)
        .map(|one| one.row)
        .collect();
    for series in series_between(context, &pauses) {
        let (ProbeKind::Attempt, ProbeKey::Call(syscall, target)) = (series.kind, series.key)
        else {
            continue;
        };
        if !taken.contains(&series.first_row) {
            write_probes(context, series, (syscall, target), &mut builder);
        }
    }
    of_processes
        .into_iter()
        .for_each(|series| write_series(context, series, &mut builder));
    builder.finish()
}

fn write_probes(
    context: &TableContext<'_>,
    series: ProbeSeries,
    (syscall, target): (Text, Text),
    builder: &mut TableBuilder<'_>,
) {
    let pauses_ns: Vec<i64> = series
        .pauses
        .iter()
        .map(|(_, pause)| pause.dur_ns)
        .collect();
    let pauses = Pauses::new(&pauses_ns, !series.ends_failed);
    let row = TableRow {
        of: TaskAt {
            task: series.task,
            row: series.first_row,
        },
        syscall,
        op: context.trace.events.shape(series.first_row).op,
        target,
        errno: series.errno,
        attempts: series.probes,
        failed: series.failed,
        succeeded: !series.ends_failed,
        asked_ns: asked_ns(&series).unwrap_or(NO_NS),
        pause_ns: pauses.sum_ns,
        freeable_ns: pauses.freeable_ns,
        first_pause_ns: pauses.first_ns,
        last_pause_ns: pauses.last_ns,
        grows: pauses.grow,
        total_ns: series.total_ns,
        path: series.exclusive_ns,
        lines: LinesOf {
            first_row: series.first_row,
            last_row: series.last_row,
        },
    };
    builder.add(row, Provenance::Rows(series.rows));
}

fn write_series(context: &TableContext<'_>, series: Series, builder: &mut TableBuilder<'_>) {
    let Some((first, last)) = series.attempts.first().zip(series.attempts.last()) else {
        return;
    };
    let shape = context.trace.events.shape(first.row);
    let failed = series
        .attempts
        .iter()
        .filter(|attempt| attempt.errno.is_some());
    let succeeded = !last.errno.is_some();
    let pauses = Pauses::new(&series.pauses_ns, succeeded);
    let row = TableRow {
        of: TaskAt {
            task: first.task,
            row: first.row,
        },
        syscall: shape.syscall,
        op: shape.op,
        target: context.trace.events.target(first.row),
        errno: failed
            .clone()
            .next_back()
            .map_or(Text::NONE, |attempt| attempt.errno),
        attempts: series.attempts.len() as i64,
        failed: failed.count() as i64,
        succeeded,
        asked_ns: series.asked_ns.unwrap_or(NO_NS),
        pause_ns: pauses.sum_ns,
        freeable_ns: pauses.freeable_ns,
        first_pause_ns: pauses.first_ns,
        last_pause_ns: pauses.last_ns,
        grows: pauses.grow,
        total_ns: last.start_ns.saturating_sub(first.start_ns),
        path: series.exclusive_ns,
        lines: LinesOf {
            first_row: first.row,
            last_row: last.row,
        },
    };
    let members = if series.is_silent {
        Provenance::Stretches(vec![(first.task, first.row, last.row)])
    } else {
        Provenance::Rows(series.rows)
    };
    builder.add(row, members);
}

/// How long the pauses took, and how much of that could be saved.
struct Pauses {
    sum_ns: i64,
    freeable_ns: i64,
    first_ns: i64,
    last_ns: i64,
    grow: bool,
}

impl Pauses {
    fn new(pauses_ns: &[i64], succeeded: bool) -> Pauses {
        let sum_ns = pauses_ns.iter().sum();
        let first_ns = pauses_ns.first().copied().unwrap_or(0);
        let last_ns = pauses_ns.last().copied().unwrap_or(0);
        Pauses {
            sum_ns,
            freeable_ns: if succeeded { last_ns } else { sum_ns },
            first_ns,
            last_ns,
            grow: last_ns > first_ns.saturating_add(first_ns / 4),
        }
    }
}
