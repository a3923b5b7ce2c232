//! What tables share: their context, builder, groups, indexes and thresholds.

pub mod builder;
pub mod claims;
pub mod context;
pub mod grouping;
pub mod provenance;
pub mod pruning;
pub mod shape_index;
