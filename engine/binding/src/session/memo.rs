//! The last answer to a question about a choice: many questions follow about the same.

use query::time_bounds::TimeBoundError;
use std::sync::{Arc, Mutex, PoisonError};

/// An answer and its key.
pub(crate) struct LastAnswer<K, T>(Mutex<Option<(K, Arc<T>)>>);

impl<K, T> Default for LastAnswer<K, T> {
    fn default() -> LastAnswer<K, T> {
        LastAnswer(Mutex::new(None))
    }
}

impl<K: Clone + PartialEq, T> LastAnswer<K, T> {
    /// The answer for this key, computed unless it was the last one. Concurrent callers wait for it.
    pub(crate) fn of(
        &self,
        key: &K,
        answer: impl FnOnce() -> Result<T, TimeBoundError>,
    ) -> Result<Arc<T>, TimeBoundError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = kept.as_ref().filter(|(known, _)| known == key) {
            return Ok(Arc::clone(known));
        }
        let answer = Arc::new(answer()?);
        *kept = Some((key.clone(), Arc::clone(&answer)));
        Ok(answer)
    }
}
