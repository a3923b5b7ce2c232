//! The tables that rules query. Each is one file and one line of [`TABLES`]; [`crate::store::schema`] describes its
//! columns.

pub mod calls;
pub mod chart_rows;
pub mod gaps;
pub(crate) mod loops;
pub mod processes;
pub mod totals;
pub mod tree;
pub mod work;

mod ancestor_walks;
mod blocked_writers;
mod call_bounds;
mod captures;
mod children;
mod commands;
mod connects;
mod copies;
mod costs;
mod cpu;
mod endings;
mod entropy_waits;
pub mod errors;
mod excerpts;
mod families;
mod fd_sweeps;
mod forks;
mod gap_lengths;
mod handovers;
mod idle;
mod io;
mod items;
mod kill_victims;
mod kills;
mod lengths;
mod locks;
mod lookups;
mod messages;
mod metadata;
mod open_calls;
mod outliers;
mod passes;
mod paths;
mod polls;
mod probe_series;
mod process_ends;
mod ready_spins;
mod requests;
mod rereads;
mod rescans;
mod retries;
mod siblings;
mod signals;
mod silences;
mod sleeps;
mod slow_targets;
mod sockets;
mod stages;
mod stated_durations;
mod stops;
mod syncs;
mod timeouts;
mod traffic;

use crate::table_support::builder::{BuiltTable, TableBuilder};
use crate::table_support::context::TableContext;
use crate::table_support::pruning::{Pruning, prune};
use crate::table_support::threshold::Threshold;

/// Builds a table.
pub type Make = fn(&TableContext<'_>) -> BuiltTable;

/// All of these tables, by the names that users and rules refer to.
#[rustfmt::skip]
pub const TABLES: &[(&str, Make)] = &[
    ("ancestor_walks", ancestor_walks::build),
    ("blocked_writers", blocked_writers::build),
    ("call_bounds", call_bounds::build),
    ("captures", captures::build),
    ("children", children::build),
    ("commands", commands::build),
    ("connects", connects::build),
    ("copies", copies::build),
    ("cpu", cpu::build),
    ("endings", endings::build),
    ("entropy_waits", entropy_waits::build),
    ("excerpts", excerpts::build),
    ("fd_sweeps", fd_sweeps::build),
    ("forks", forks::build),
    ("gap_lengths", gap_lengths::build),
    ("handovers", handovers::build),
    ("io", io::build),
    ("items", items::build),
    ("kills", kills::build),
    ("last_calls", endings::calls::build),
    ("last_failures", endings::failures::build),
    ("last_targets", endings::targets::build),
    ("last_texts", endings::texts::build),
    ("locks", locks::build),
    ("lookups", lookups::build),
    ("loops", loops::build),
    ("metadata", metadata::build),
    ("open_calls", open_calls::build),
    ("outliers", outliers::build),
    ("polls", polls::build),
    ("ready_spins", ready_spins::build),
    ("requests", requests::build),
    ("rereads", rereads::build),
    ("rescans", rescans::build),
    ("retries", retries::build),
    ("siblings", siblings::build),
    ("signals", signals::build),
    ("silences", silences::build),
    ("sleeps", sleeps::build),
    ("slow_targets", slow_targets::build),
    ("stages", stages::build),
    ("stated_durations", stated_durations::build),
    ("stops", stops::build),
    ("syncs", syncs::build),
    ("timeouts", timeouts::build),
];

/// Looks up the builder of a table by name.
pub fn by_name(name: &str) -> Option<Make> {
    listed(name).map(|(_, make)| make)
}

/// Looks up the name and the builder of a table.
pub fn listed(name: &str) -> Option<(&'static str, Make)> {
    TABLES.iter().find(|(known, _)| *known == name).copied()
}

/// Builds a table. With a threshold, rows below it may be missing.
pub fn made(
    context: &TableContext<'_>,
    (name, make): (&'static str, Make),
    threshold: Option<&Threshold>,
) -> BuiltTable {
    let Some(threshold) = threshold else {
        return make(context);
    };
    let context = &TableContext {
        threshold: Some(threshold),
        ..*context
    };
    let Some((_, cost)) = costs::COSTS.iter().find(|(known, _)| *known == name) else {
        return make(context);
    };
    match prune(context, cost, threshold) {
        Pruning::All => make(context),
        Pruning::Nothing => TableBuilder::new(context, name).finish(),
        Pruning::Tasks(tasks) => make(&TableContext {
            matters: Some(&tasks),
            ..*context
        }),
    }
}
