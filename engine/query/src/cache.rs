//! The last answers to queries that cost a pass over the events or the source lines: many requests follow about the same.

use crate::filter::events::{EventFilter, Matched};
use crate::time_bounds::{self, NamedBounds, TimeBoundError, TimeBounds};
use std::sync::{Arc, Mutex, PoisonError};
use trace::store::trace::Trace;

/// The last condition on events and the last time bounds of one trace, with their results.
#[derive(Default)]
pub struct QueryCache {
    matched: Mutex<Option<(EventFilter, Arc<Matched>)>>,
    bounds: Mutex<Option<(NamedBounds, TimeBounds)>>,
}

impl QueryCache {
    /// The events that meet a condition.
    pub fn matched(&self, trace: &Trace, filter: &EventFilter) -> Arc<Matched> {
        let mut last = self.matched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, matched)) = last.as_ref().filter(|(known, _)| known == filter) {
            return Arc::clone(matched);
        }
        let matched = Arc::new(filter.matched(trace));
        *last = Some((filter.clone(), Arc::clone(&matched)));
        matched
    }

    /// The stretch of each capture between two moments that a user names.
    ///
    /// # Errors
    /// If one of them names none.
    pub(crate) fn bounds(
        &self,
        trace: &Trace,
        named: &NamedBounds,
    ) -> Result<TimeBounds, TimeBoundError> {
        let mut last = self.bounds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bounds)) = last.as_ref().filter(|(known, _)| known == named) {
            return Ok(bounds.clone());
        }
        let bounds = time_bounds::bounds(trace, named)?;
        *last = Some((named.clone(), bounds.clone()));
        Ok(bounds)
    }
}
