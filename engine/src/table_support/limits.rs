//! How many rows a table may have.

/// A table has no more rows of single processes than this; what has less time is taken together by program.
pub const MAX_GROUPS: usize = 4096;

/// See [`costliest`].
pub const MAX_PROCESSES: usize = 256;
