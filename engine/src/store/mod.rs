//! The trace as data: events, tasks, captures and their texts; tables of columns.

pub(crate) mod by_task;
pub(crate) mod classes;
pub(crate) mod columns_mmap;
pub mod event;
pub(crate) mod events;
pub(crate) mod file_chunks;
pub(crate) mod heuristics;
pub(crate) mod histogram;
pub(crate) mod normalise;
pub(crate) mod outcomes;
pub(crate) mod paths;
pub mod programs;
pub(crate) mod resolution;
pub(crate) mod runtime_frames;
pub mod schema;
pub(crate) mod segment;
pub mod spans;
pub mod stacks;
pub mod table;
pub(crate) mod targets;
pub(crate) mod task_relations;
pub mod tasks;
pub(crate) mod text_columns;
pub mod time_limits;
pub mod trace;
