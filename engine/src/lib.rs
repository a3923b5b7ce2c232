//! Events to tables, and the border to Python.
//!
//! [`read`](crate::ingest::read::read) makes a [`Trace`](crate::store::trace::Trace) of captures; the tables of a trace are made from it, in one pass and without a threshold of taste.
#![deny(missing_docs)]

pub mod critical_path;
pub mod ingest;
pub(crate) mod logs;
pub(crate) mod parallel;
pub mod partition;
#[cfg(feature = "python")]
mod python;
pub mod query;
pub mod session;
pub mod store;
pub mod table_support;
pub mod tables;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod waits;
