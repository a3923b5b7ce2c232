//! The tables that rules query. Each is one file, which declares it (see [`kit::table_support::kit`]), and one name in
//! the list below, or in that of [`outcome::tables`].

mod probe_series;

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::TableSpec;
use kit::table_support::pruning::{Pruning, prune};
use kit::table_support::threshold::Threshold;
use path::critical_path::{timeline, wait_graph};
use path::partition::{group_by, stack_times};
use query::event_rows;
use report::tables::{calls, gaps, intervals, loops, processes, verdicts};
use trace::store::schema::TableSchema;
use trace::store::trace::SUMMARY_ROWS;

kit::tables! {
    ancestor_walks,
    blocked_writers,
    call_bounds,
    children,
    commands,
    connects,
    copies,
    cpu,
    cpu_waits,
    fd_sweeps,
    forks,
    gap_lengths,
    handovers,
    io,
    items,
    kills,
    locks,
    lookups,
    memory_waits,
    metadata,
    outliers,
    polls,
    ready_spins,
    requests,
    rereads,
    rescans,
    retries,
    siblings,
    signals,
    silences,
    sleeps,
    slow_targets,
    stages,
    stated_durations,
    stops,
    syncs,
    timeouts,
    ;
}

/// Tables that need more than a name: arguments, or a place of their own in the interface.
static OTHERS: &[&TableSchema] = &[
    &event_rows::EVENTS,
    &calls::CALLS,
    &processes::TASKS,
    &processes::PROCESSES,
    &gaps::GAPS,
    &intervals::CALL_INTERVALS,
    &intervals::PATH_INTERVALS,
    &wait_graph::CHAIN,
    &verdicts::VERDICTS,
    &group_by::PARTITION,
    &timeline::PATH,
    &stack_times::STACK_TIMES,
    &stack_times::STACK_FRAMES,
    &SUMMARY_ROWS,
];

/// All tables that rules can request by name.
pub fn all() -> impl Iterator<Item = &'static TableSpec> {
    [&loops::TABLE]
        .into_iter()
        .chain(outcome::tables::TABLES.iter().copied())
        .chain(TABLES.iter().copied())
}

/// What all tables contain.
pub fn schemas() -> impl Iterator<Item = &'static TableSchema> {
    OTHERS
        .iter()
        .copied()
        .chain(all().map(|table| &table.schema))
}

/// Looks up what a table contains by its name.
pub fn schema_of(name: &str) -> Option<&'static TableSchema> {
    schemas().find(|schema| schema.name == name)
}

/// Looks up a table by name.
pub fn by_name(name: &str) -> Option<&'static TableSpec> {
    all().find(|table| table.schema.name == name)
}

/// Builds a table. With a threshold, rows below it may be missing.
pub fn made(
    context: &TableContext<'_>,
    table: &TableSpec,
    threshold: Option<&Threshold>,
) -> BuiltTable {
    let Some(threshold) = threshold else {
        return (table.build)(context);
    };
    let context = &TableContext {
        threshold: Some(threshold),
        ..*context
    };
    let Some(costs) = &table.costs else {
        return (table.build)(context);
    };
    match prune(context, costs, threshold) {
        Pruning::All => (table.build)(context),
        Pruning::Nothing => TableBuilder::new(context, &table.schema).finish(),
        Pruning::Tasks(tasks) => (table.build)(&TableContext {
            matters: Some(&tasks),
            ..*context
        }),
    }
}
