//! Events to tables, and the border to Python.
//!
//! [`read`](crate::read::read) makes a [`Trace`](crate::trace::Trace) of captures; every other module makes a small
//! table of a trace, in one pass and without a threshold of taste.
#![deny(missing_docs)]

pub mod analysis;
mod assemble;
#[cfg(feature = "python")]
mod border;
pub mod build;
mod by_task;
pub mod calls;
mod cells;
pub mod chain;
pub mod charges;
pub mod claims;
pub mod classes;
mod clock;
mod descriptors;
pub mod edges;
pub mod events;
pub mod few;
pub mod filter;
pub mod floor;
pub mod fold;
pub mod gaps;
pub mod histogram;
pub mod items;
mod kept;
pub mod kinds;
pub mod listing;
pub mod loops;
pub mod members;
pub mod merge;
pub mod moments;
pub mod normalise;
mod outline;
mod owners;
pub mod partition;

pub mod path;
mod paths;
pub mod processes;
pub mod quote;
pub mod read;
mod relay;
pub mod schema;
mod segment;
pub mod select;
pub mod sheet;
mod slack;
mod spans;
pub mod spent;
pub mod stays;
pub mod stops;
pub mod table;
pub mod tables;
pub mod tasks;
pub mod totals;
pub mod trace;
pub mod trust;
pub mod view;
pub mod wakers;
pub mod window;
