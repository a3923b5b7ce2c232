//! Totals: the first numbers of a report.

use parsers::Outcome;
use query::selection::Selection;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Counts of processes, threads (all tasks, including main ones), calls, failed, interrupted and open calls, and
/// signals.
pub fn totals(trace: &Trace, selection: &Selection<'_>) -> [(&'static str, u64); 7] {
    let mains = trace.main_tasks();
    let tasks: Vec<TaskId> = trace
        .tasks
        .keys()
        .filter(|&task| selection.touches_task(task))
        .collect();
    let mut processes: Vec<TaskId> = tasks.iter().map(|&task| mains[task]).collect();
    processes.sort_unstable();
    processes.dedup();
    let [calls, failed, interrupted, open, signals] = counts(trace, selection);
    [
        ("processes", processes.len() as u64),
        ("threads", tasks.len() as u64),
        ("calls", calls),
        ("failed", failed),
        ("interrupted", interrupted),
        ("open", open),
        ("signals", signals),
    ]
}

/// Counts of calls, of failed, interrupted and open calls, and of signals.
fn counts(trace: &Trace, selection: &Selection<'_>) -> [u64; 5] {
    let endings = trace.events.endings(|row| selection.has(row));
    let [failed, interrupted, open] = [Outcome::Failed, Outcome::Interrupted, Outcome::Open]
        .map(|outcome| endings.of(EventKind::Call, outcome));
    [
        endings.of_kind(EventKind::Call),
        failed,
        interrupted,
        open,
        endings.of_kind(EventKind::Signal),
    ]
}
