//! Shared parts of the tables: context, builder, groups, indexes and thresholds.

pub mod builder;
pub(crate) mod call_stats;
pub mod callers;
pub mod claims;
pub(crate) mod context;
pub(crate) mod evidence;
pub(crate) mod found_loops;
pub(crate) mod grouping;
pub mod kit;
pub(crate) mod limits;
pub(crate) mod moved;
pub mod provenance;
pub(crate) mod pruning;
pub(crate) mod shape_index;
pub(crate) mod stream_ends;
pub(crate) mod text_numbers;
pub mod threshold;
