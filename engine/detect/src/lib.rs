//! The tables that rules read.
#![deny(missing_docs)]

pub mod tables;
