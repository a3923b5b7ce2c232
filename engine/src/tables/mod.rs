//! The tables that rules ask. Each is one file and one line of this list, and its columns are described in
//! [`crate::store::schema`].

pub mod calls;
pub mod gaps;
pub mod loops;
pub mod processes;
pub mod totals;

mod ancestor_walks;
mod captures;
mod children;
mod commands;
mod connects;
mod costs;
mod cpu;
mod families;
mod fd_sweeps;
mod forks;
mod gap_lengths;
mod idle;
mod io;
mod items;
mod kills;
mod lengths;
mod locks;
mod lookups;
mod metadata;
mod outliers;
mod passes;
mod paths;
mod polls;
mod requests;
mod rereads;
mod rescans;
mod retries;
mod siblings;
mod signals;
mod sleeps;
mod slow_targets;
mod sockets;
mod stages;
mod stops;
mod syncs;
mod timeouts;
mod traffic;
mod turns;

use crate::table_support::builder::{Found, Sheet};
use crate::table_support::context::View;
use crate::table_support::pruning::{Floor, Reached, reached};
pub(crate) use crate::tables::traffic::Moved;

/// Makes a table.
pub type Make = fn(&View<'_>) -> Found;

/// All of these tables, by the names that users and rules say.
#[rustfmt::skip]
pub const TABLES: &[(&str, Make)] = &[
    ("ancestor_walks", ancestor_walks::found),
    ("captures", captures::found),
    ("children", children::found),
    ("commands", commands::found),
    ("connects", connects::found),
    ("cpu", cpu::found),
    ("fd_sweeps", fd_sweeps::found),
    ("forks", forks::found),
    ("gap_lengths", gap_lengths::found),
    ("io", io::found),
    ("items", items::found),
    ("kills", kills::found),
    ("locks", locks::found),
    ("lookups", lookups::found),
    ("loops", loops::found),
    ("metadata", metadata::found),
    ("outliers", outliers::found),
    ("polls", polls::found),
    ("requests", requests::found),
    ("rereads", rereads::found),
    ("rescans", rescans::found),
    ("retries", retries::found),
    ("siblings", siblings::found),
    ("signals", signals::found),
    ("sleeps", sleeps::found),
    ("slow_targets", slow_targets::found),
    ("stages", stages::found),
    ("stops", stops::found),
    ("syncs", syncs::found),
    ("timeouts", timeouts::found),
];

/// How a table of this name is made.
pub fn by_name(name: &str) -> Option<Make> {
    listed(name).map(|(_, make)| make)
}

/// A table as it is listed.
pub fn listed(name: &str) -> Option<(&'static str, Make)> {
    TABLES.iter().find(|(known, _)| *known == name).copied()
}

/// A table; of it at least the rows that reach a floor, if there is one.
pub fn made(view: &View<'_>, (name, make): (&'static str, Make), floor: Option<&Floor>) -> Found {
    let Some(floor) = floor else { return make(view) };
    let view = &View { floor: Some(floor), ..*view };
    let Some((_, cost)) = costs::COSTS.iter().find(|(known, _)| *known == name) else { return make(view) };
    match reached(view, cost, floor) {
        Reached::All => make(view),
        Reached::Nothing => Sheet::new(view, name).finish(),
        Reached::Tasks(tasks) => make(&View { matters: Some(&tasks), ..*view }),
    }
}
