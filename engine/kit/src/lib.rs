//! What tables are made of. A table declares itself with [`table!`](crate::table_support::kit::table), and is built from a
//! [`TableContext`](crate::table_support::context::TableContext).
#![deny(missing_docs)]

pub mod table_support;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
