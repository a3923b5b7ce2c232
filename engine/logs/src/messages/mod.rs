//! Messages of logs: their stages and items.

mod amounts;
pub mod endings;
pub mod entropy;
pub(crate) mod fit;
mod forms;
pub mod items;
pub mod pairs;
pub mod stages;
pub mod stated;
pub mod steps;
pub mod words;
