//! What messages of logs say: their stages, items, outages and stated durations.
#![deny(missing_docs)]

pub mod messages;
