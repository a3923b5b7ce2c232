//! Retries: a call that fails for a temporary reason and is repeated after a pause until it succeeds or the task gives
//! up.

use super::polls::asked_ns;
use super::turns::turns;
use crate::table_support::builder::{BuiltTable, TableBuilder};
use crate::table_support::context::TableContext;
use crate::table_support::provenance::Provenance;
use crate::tables::turns::looks::{ProbeKey, ProbeKind};

/// Builds the table, one row per series of attempts.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut sheet = TableBuilder::new(context, "retries");
    for turns in turns(context) {
        let (ProbeKind::Attempt, ProbeKey::Call(syscall, target)) = (turns.look, turns.key) else { continue };
        let succeeded = !turns.ends_failed;
        let pauses = turns.pauses.iter().map(|(_, pause)| pause.dur_ns);
        let (first_ns, last_ns) = (pauses.clone().next().unwrap_or(0), pauses.clone().next_back().unwrap_or(0));
        sheet.task_columns(turns.task, turns.first_row);
        sheet.text("syscall", syscall);
        sheet.text("op", context.trace.events.shape(turns.first_row).op);
        sheet.text("target", target);
        sheet.text("errno", turns.errno);
        sheet.int("attempts", turns.looks);
        sheet.int("failed", turns.failed);
        sheet.bool("succeeded", succeeded);
        sheet.some_int("asked_ns", asked_ns(&turns));
        let pause_ns = pauses.sum();
        sheet.int("pause_ns", pause_ns);
        sheet.int("freeable_ns", if succeeded { last_ns } else { pause_ns });
        sheet.int("first_pause_ns", first_ns);
        sheet.int("last_pause_ns", last_ns);
        sheet.bool("grows", last_ns > first_ns.saturating_add(first_ns / 4));
        sheet.int("total_ns", turns.total_ns);
        sheet.path_ns(turns.exclusive_ns);
        sheet.lines(turns.first_row, turns.last_row);
        sheet.members(Provenance::Rows(turns.rows));
    }
    sheet.finish()
}
