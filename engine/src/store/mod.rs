//! The trace as data: events, tasks, captures and their texts; tables of columns.

pub(crate) mod by_task;
pub mod classes;
pub(crate) mod columns_mmap;
pub mod events;
pub mod histogram;
pub mod normalise;
pub(crate) mod paths;
pub mod schema;
pub(crate) mod segment;
pub(crate) mod spans;
pub mod table;
pub mod tasks;
pub mod trace;
