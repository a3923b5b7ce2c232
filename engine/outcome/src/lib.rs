//! How a run ended, and what its last lines show: tables that rules and verdicts read.
#![deny(missing_docs)]

pub mod tables;
