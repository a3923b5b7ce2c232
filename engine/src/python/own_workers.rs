//! Calls of the engine, from any number of threads of Python at the same time.
//!
//! Each running call has workers of its own. With common ones, the workers of a call may all wait for an answer that
//! another thread computes, which then never gets a worker.

use pyo3::marker::Ungil;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Held by the call that has the workers of the process.
static OF_PROCESS: Mutex<()> = Mutex::new(());
/// Workers of earlier calls.
static IDLE: Mutex<Vec<ThreadPool>> = Mutex::new(Vec::new());

/// Runs a call without the GIL, and with workers that no other call has.
pub(super) fn detached<T: Ungil + Send>(py: Python<'_>, call: impl FnOnce() -> T + Ungil + Send) -> T {
    py.detach(|| with_own_workers(call))
}

/// Runs a call with workers that no other call has.
pub(super) fn with_own_workers<T: Send>(call: impl FnOnce() -> T + Send) -> T {
    let free = match OF_PROCESS.try_lock() {
        Ok(free) => Some(free),
        Err(TryLockError::Poisoned(free)) => Some(free.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    };
    if let Some(_free) = free {
        return call();
    }
    let idle = locked(&IDLE).pop();
    let Some(workers) = idle.or_else(|| ThreadPoolBuilder::new().build().ok()) else {
        // The system starts no more threads.
        let _free = locked(&OF_PROCESS);
        return call();
    };
    let answer = workers.install(call);
    locked(&IDLE).push(workers);
    answer
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
