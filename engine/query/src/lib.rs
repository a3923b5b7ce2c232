//! Which events a request selects, and the source lines of a capture.
#![deny(missing_docs)]

pub mod cache;
pub mod event_rows;
pub mod filter;
pub mod selection;
pub mod source_lines;
pub mod time_bounds;
