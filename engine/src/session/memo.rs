//! The last answer to a question about a choice: many questions follow about the same.

use crate::query::selection::Criteria;
use crate::query::time_bounds::TimeBoundError;
use std::sync::{Arc, Mutex, PoisonError};

/// An answer, and the criteria it was computed for.
pub(crate) struct LastAnswer<T>(Mutex<Option<(Criteria, Arc<T>)>>);

impl<T> Default for LastAnswer<T> {
    fn default() -> LastAnswer<T> {
        LastAnswer(Mutex::new(None))
    }
}

impl<T> LastAnswer<T> {
    /// The answer for these criteria, computed unless it was the last one. Concurrent callers wait for it.
    pub(crate) fn of(
        &self,
        choice: &Criteria,
        answer: impl FnOnce() -> Result<T, TimeBoundError>,
    ) -> Result<Arc<T>, TimeBoundError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = kept.as_ref().filter(|(known, _)| known == choice) {
            return Ok(Arc::clone(known));
        }
        let answer = Arc::new(answer()?);
        *kept = Some((choice.clone(), Arc::clone(&answer)));
        Ok(answer)
    }
}
