//! From bytes to a trace: files are read, lines joined to events, ids to tasks.

pub(crate) mod assemble;
pub mod capture;
pub(crate) mod clock;
pub(crate) mod coarse_lines;
pub(crate) mod connecting;
pub(crate) mod descriptors;
pub mod merge;
pub(crate) mod pipeline;
pub mod read;
pub mod scheduling;
pub(crate) mod task_ids;
