//! Events to tables, and the border to Python.
//!
//! [`read`](crate::read::read) makes a [`Trace`](crate::trace::Trace) of captures; every other module makes a small
//! table of a trace, in one pass and without a threshold of taste.
#![deny(missing_docs)]

pub mod events;
pub mod normalise;
pub mod table;
pub mod tasks;
pub mod trace;
