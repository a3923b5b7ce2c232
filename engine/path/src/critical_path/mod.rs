//! The critical path: the window, the walk through it, and the time it attributes to calls and gaps.

pub mod attribution;
pub mod segment;
pub(crate) mod slack;
pub mod time_index;
pub mod timeline;
pub mod tracing;
pub mod trust;
pub mod wait_graph;
pub mod walk;
pub mod window;
pub mod window_overlap;
mod witnessed_cost;
pub mod witnessed_time;
