//! Messages of logs: their stages and items.

mod amounts;
pub(crate) mod endings;
pub(crate) mod entropy;
pub(crate) mod fit;
mod forms;
pub(crate) mod items;
pub(crate) mod pairs;
pub(crate) mod stages;
pub(crate) mod stated;
pub(crate) mod steps;
pub(crate) mod words;
