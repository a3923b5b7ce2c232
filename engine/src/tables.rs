//! The tables that rules ask. Each is one file and one line of this list, and its columns are described in
//! [`crate::schema`].

mod slow_targets;

use crate::sheet::Found;
use crate::view::View;

/// Makes a table.
pub type Make = fn(&View<'_>) -> Found;

/// All of these tables, by the names that users and rules say.
pub const TABLES: &[(&str, Make)] = &[("loops", crate::loops::found), ("slow_targets", slow_targets::found)];

/// How a table of this name is made.
pub fn by_name(name: &str) -> Option<Make> {
    TABLES.iter().find(|(known, _)| *known == name).map(|&(_, make)| make)
}
