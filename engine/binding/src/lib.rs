//! A trace with its computed answers, and the binding to Python.
//!
//! A [`Session`](crate::session::Session) computes the tables of a trace.
#![deny(missing_docs)]

#[cfg(feature = "python")]
mod python;
pub mod session;

/// A trace may be larger than the memory.
#[global_allocator]
static ALLOCATOR: spill::Allocator = spill::Allocator;
