//! Calls of the engine, from any number of threads at the same time.
//!
//! Each running call has workers of its own. With common ones, the workers of a call may all wait for an answer that
//! another thread computes, which then never gets a worker.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Held by the call that has the workers of the process.
static OF_PROCESS: Mutex<()> = Mutex::new(());
/// Workers of earlier calls.
static IDLE: Mutex<Vec<ThreadPool>> = Mutex::new(Vec::new());

/// Workers that one call has.
enum Workers {
    OfProcess(MutexGuard<'static, ()>),
    Own(ThreadPool),
}

/// Runs a call with workers that no other call has.
pub fn with_own_workers<T: Send>(call: impl FnOnce() -> T + Send) -> T {
    match Workers::left() {
        Some(workers) => workers.run(call),
        None => {
            let _turn = locked(&OF_PROCESS);
            call()
        }
    }
}

/// Runs a part of a call at the same time as the rest of it. Does nothing if no workers are left: the rest may have
/// those of the process, and it waits for this part.
pub(crate) fn with_further_workers(part: impl FnOnce() + Send) {
    if let Some(workers) = Workers::left() {
        workers.run(part);
    }
}

impl Workers {
    /// None if another call has the workers of the process, and the system starts no more threads.
    fn left() -> Option<Workers> {
        match OF_PROCESS.try_lock() {
            Ok(free) => return Some(Workers::OfProcess(free)),
            Err(TryLockError::Poisoned(free)) => {
                return Some(Workers::OfProcess(free.into_inner()));
            }
            Err(TryLockError::WouldBlock) => (),
        }
        let idle = locked(&IDLE).pop();
        idle.or_else(|| ThreadPoolBuilder::new().build().ok())
            .map(Workers::Own)
    }

    fn run<T: Send>(self, call: impl FnOnce() -> T + Send) -> T {
        match self {
            Workers::OfProcess(_turn) => call(),
            Workers::Own(workers) => {
                let answer = workers.install(call);
                locked(&IDLE).push(workers);
                answer
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
