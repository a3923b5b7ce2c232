//! Who delayed the end.
//!
//! [`Wakers`](crate::waits::wakers::Wakers) knows what ended each wait, [`walk`](crate::critical_path::walk::walk) follows
//! the waits back from the end of a window, and [`Pieces`](crate::partition::pieces::Pieces) divide the time on the way.
#![deny(missing_docs)]

pub mod critical_path;
pub mod partition;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod waits;
