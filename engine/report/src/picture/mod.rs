//! The data of a drawn timeline, within a number of bytes: lanes of tasks, the critical path through them, wake-ups.
//!
//! ```text
//! lanes      a task each, from birth to death, in tree order
//! cells      per lane: the class with most time in each of 1,024 columns, then of 8,192 columns, while bytes are left
//! path       all segments of the critical path; short ones are merged if there are too many, with all sums unchanged
//! intervals  the longest calls, exactly
//! sources    of a log, instead of tasks: who wrote, and the longest times between the messages of each
//! ```
//! Sums are exact at any budget. Cells are for painting only.

pub mod cells;
pub mod codec;
pub mod columns;
pub mod evidence;
pub mod grid;
pub mod intervals;
pub mod lane;
pub mod lanes;
pub mod messages;
pub mod overview;
pub mod packing;
pub mod path_rows;
pub mod sections;
pub mod strings;
pub mod wakes;

pub use sections::{Picture, picture};
