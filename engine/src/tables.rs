//! The tables that rules ask. Each is one file and one line of this list, and its columns are described in
//! [`crate::schema`].

mod io;
mod lengths;
mod lookups;
mod outliers;
mod paths;
mod polls;
mod retries;
mod sleeps;
mod slow_targets;
mod sockets;
mod syncs;
mod timeouts;
mod turns;

use crate::sheet::Found;
use crate::view::View;

/// Makes a table.
pub type Make = fn(&View<'_>) -> Found;

/// All of these tables, by the names that users and rules say.
#[rustfmt::skip]
pub const TABLES: &[(&str, Make)] = &[
    ("io", io::found),
    ("lookups", lookups::found),
    ("loops", crate::loops::found),
    ("outliers", outliers::found),
    ("polls", polls::found),
    ("retries", retries::found),
    ("sleeps", sleeps::found),
    ("slow_targets", slow_targets::found),
    ("syncs", syncs::found),
    ("timeouts", timeouts::found),
];

/// How a table of this name is made.
pub fn by_name(name: &str) -> Option<Make> {
    TABLES.iter().find(|(known, _)| *known == name).map(|&(_, make)| make)
}
