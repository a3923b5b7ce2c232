//! Loops of tasks, as the table of loops searches them. Two questions follow about the same: for a report the loops with
//! enough time on the critical path, and for its document the longest of all tasks.

use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use trace::store::index::TaskId;

/// A loop that was found, before its calls are looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundLoop {
    /// The task that repeats them.
    pub task: TaskId,
    /// From the first event to the last, as indexes among the rows of the task.
    pub places: Range<usize>,
    /// Row of the first call.
    pub first_row: u32,
    /// Time of all iterations.
    pub total_ns: i64,
    /// Number of iterations.
    pub iterations: u64,
    /// Shapes of the most frequent iteration.
    pub body: Vec<u32>,
    /// How the length of the iterations changes.
    pub trend: Trend,
    /// The loop that encloses this one.
    pub around: Option<Around>,
}

/// An enclosing loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Around {
    /// Number of iterations.
    pub iterations: u64,
    /// Its most frequent iteration.
    pub body: Vec<u32>,
    /// Whether its iterations grow.
    pub trend: Trend,
}

/// Growth of the iterations of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trend {
    /// Time of the last quarter of the iterations relative to the first.
    pub time: Option<f64>,
    /// Calls per iteration in the last eighth relative to the first; `None` unless each eighth has more than the one
    /// before.
    pub calls: Option<f64>,
}

/// Loops of tasks with fewer events are searched again: they may take as much memory as the events.
const MIN_EVENTS: usize = 1 << 14;

/// The loops of long tasks, each searched on first use.
#[derive(Default)]
pub struct LoopMemo(Mutex<FxHashMap<TaskId, Arc<LoopsOfTask>>>);

/// Empty until the search is over.
type LoopsOfTask = OnceLock<Arc<Vec<FoundLoop>>>;

impl LoopMemo {
    /// The loops of a task of so many events, searched unless they are known.
    pub fn of(
        &self,
        task: TaskId,
        events: usize,
        search: impl FnOnce() -> Vec<FoundLoop>,
    ) -> Arc<Vec<FoundLoop>> {
        if events < MIN_EVENTS {
            return Arc::new(search());
        }
        let of_task = Arc::clone(
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(task)
                .or_default(),
        );
        // Others wait: a search gives no work to other cores, so it ends without their help.
        Arc::clone(of_task.get_or_init(|| Arc::new(search())))
    }
}
