//! What reports show: their tables, the timeline, and the replay of what-if questions.
#![deny(missing_docs)]

pub mod picture;
pub mod replay;
pub mod tables;
