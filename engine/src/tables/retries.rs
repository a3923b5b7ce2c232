//! Retries: a call that fails for a temporary reason and is repeated after a pause until it succeeds or the task gives
//! up.

mod by_process;

use super::polls::asked_ns;
use super::turns::{Turns, turns_between};
use crate::table_support::builder::{BuiltTable, TableBuilder};
use crate::table_support::context::TableContext;
use crate::table_support::provenance::Provenance;
use crate::tables::retries::by_process::Series;
use crate::tables::turns::looks::{ProbeKey, ProbeKind};
use crate::tables::turns::pauses::pauses;
use parsers::Text;
use rustc_hash::FxHashSet;

/// Builds the table, one row per series of attempts.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut sheet = TableBuilder::new(context, "retries");
    let pauses = pauses(context);
    let of_processes = by_process::series(context, &pauses);
    let taken: FxHashSet<u32> = of_processes.iter().flat_map(|series| &series.attempts).map(|one| one.row).collect();
    for turns in turns_between(context, &pauses) {
        let (ProbeKind::Attempt, ProbeKey::Call(syscall, target)) = (turns.look, turns.key) else { continue };
        if !taken.contains(&turns.first_row) {
            write_turns(context, turns, (syscall, target), &mut sheet);
        }
    }
    of_processes.into_iter().for_each(|series| write_series(context, series, &mut sheet));
    sheet.finish()
}

fn write_turns(
    context: &TableContext<'_>,
    turns: Turns,
    (syscall, target): (Text, Text),
    sheet: &mut TableBuilder<'_>,
) {
    sheet.task_columns(turns.task, turns.first_row);
    sheet.text("syscall", syscall);
    sheet.text("op", context.trace.events.shape(turns.first_row).op);
    sheet.text("target", target);
    sheet.text("errno", turns.errno);
    sheet.int("attempts", turns.looks);
    sheet.int("failed", turns.failed);
    sheet.bool("succeeded", !turns.ends_failed);
    sheet.some_int("asked_ns", asked_ns(&turns));
    let pauses_ns: Vec<i64> = turns.pauses.iter().map(|(_, pause)| pause.dur_ns).collect();
    write_pauses(&pauses_ns, !turns.ends_failed, sheet);
    sheet.int("total_ns", turns.total_ns);
    sheet.path_ns(turns.exclusive_ns);
    sheet.lines(turns.first_row, turns.last_row);
    sheet.members(Provenance::Rows(turns.rows));
}

fn write_series(context: &TableContext<'_>, series: Series, sheet: &mut TableBuilder<'_>) {
    let Some((first, last)) = series.attempts.first().zip(series.attempts.last()) else { return };
    let shape = context.trace.events.shape(first.row);
    let failed = series.attempts.iter().filter(|attempt| attempt.errno.is_some());
    sheet.task_columns(first.task, first.row);
    sheet.text("syscall", shape.syscall);
    sheet.text("op", shape.op);
    sheet.text("target", context.trace.events.target(first.row));
    sheet.text("errno", failed.clone().next_back().map_or(Text::NONE, |attempt| attempt.errno));
    sheet.int("attempts", series.attempts.len() as i64);
    sheet.int("failed", failed.count() as i64);
    sheet.bool("succeeded", !last.errno.is_some());
    sheet.some_int("asked_ns", None);
    write_pauses(&series.pauses_ns, !last.errno.is_some(), sheet);
    sheet.int("total_ns", last.start_ns.saturating_sub(first.start_ns));
    sheet.path_ns(series.exclusive_ns);
    sheet.lines(first.row, last.row);
    sheet.members(Provenance::Rows(series.rows));
}

/// How long the pauses took, and how much of that could be saved.
fn write_pauses(pauses_ns: &[i64], succeeded: bool, sheet: &mut TableBuilder<'_>) {
    let pause_ns = pauses_ns.iter().sum();
    let (first_ns, last_ns) = (pauses_ns.first().copied().unwrap_or(0), pauses_ns.last().copied().unwrap_or(0));
    sheet.int("pause_ns", pause_ns);
    sheet.int("freeable_ns", if succeeded { last_ns } else { pause_ns });
    sheet.int("first_pause_ns", first_ns);
    sheet.int("last_pause_ns", last_ns);
    sheet.bool("grows", last_ns > first_ns.saturating_add(first_ns / 4));
}
