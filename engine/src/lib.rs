//! From captures to tables, and the binding to Python.
//!
//! [`read`](crate::ingest::read::read) reads captures into a [`Trace`](crate::store::trace::Trace), and a
//! [`Session`](crate::session::Session) computes the tables of a trace. Numbers of judgement are in
//! `store/heuristics.rs`.
#![deny(missing_docs)]

pub mod critical_path;
pub mod ingest;
pub(crate) mod logs;
pub(crate) mod parallel;
pub mod partition;
pub mod picture;
#[cfg(feature = "python")]
mod python;
pub mod query;
pub mod replay;
pub mod session;
pub mod store;
pub mod table_support;
pub mod tables;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod waits;
