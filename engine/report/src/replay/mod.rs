//! The replay: when the window would have ended if some of its time were removed.
//!
//! ```text
//! captured   parent |--|------- wait4 -------|--|          removed: half of what the child does
//!            child     |---- sleep ----|-exit|
//! replayed   parent |--|--- wait4 ---|--|                  the wait ends with the child, the parent's own work stays
//!            child     |- sleep -|-exit|
//! ```
//!
//! Each task is a lane. What a task does by itself takes as long as it took. A wait ends as long after the event that
//! ended it as in the capture, but not before it begins. So a replay without changes gives the captured times, and less work
//! never gives later ones.
//!
//! Replaying a graph of waits with changed costs is the method of Curtsinger and Berger, "Coz: Finding code that counts with
//! causal profiling" (SOSP 2015), done on the recorded graph instead of the running program.

pub mod changes;
pub mod graph;
mod lane;
mod path;
mod polls;
pub mod question;
mod run;
pub mod scenario;
mod steps;
