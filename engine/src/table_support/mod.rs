//! Shared parts of the tables: context, builder, groups, indexes and thresholds.

pub mod builder;
pub(crate) mod call_stats;
pub mod claims;
pub mod context;
pub mod grouping;
pub(crate) mod limits;
pub(crate) mod moved;
pub mod provenance;
pub mod pruning;
pub mod shape_index;
pub mod threshold;
