#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod ingest;
pub mod parallel;
pub mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

/// The readers of single lines, whose types events are made of.
pub use parsers;
