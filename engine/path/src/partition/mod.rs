//! The partition: wall time summed by task, program, class and call, and grouped for rules and reports.

pub(crate) mod buckets;
pub mod group_by;
pub mod piece;
pub mod pieces;
pub(crate) mod reaching;
pub mod scope;
pub mod stack_times;
pub mod sums;
