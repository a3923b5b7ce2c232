//! Messages of logs: their stages and items.

pub mod fit;
pub mod items;
pub(crate) mod stages;
pub(crate) mod words;
