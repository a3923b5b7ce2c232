//! Messages of logs: their stages and items.

pub(crate) mod fit;
pub(crate) mod items;
pub(crate) mod stages;
pub(crate) mod words;
