//! Files for programs that draw timelines.
//!
//! ```text
//! tasks ─► owners ─┐
//! events ─► slices ─┼─► formats ─► the file, a piece at a time
//! critical path ───┘
//! ```
#![deny(missing_docs)]

pub mod formats;
pub mod timeline;
