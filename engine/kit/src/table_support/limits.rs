//! Limits on the number of rows of a table.

/// Maximum number of groups in a table. Groups with less time on the critical path are merged by program.
pub const MAX_GROUPS: usize = 4096;

/// Maximum number of processes that tables inspect call by call; see [`crate::table_support::shape_index::costliest`].
pub const MAX_PROCESSES: usize = 256;
