//! Watchdog threads: they sleep briefly, check and wake others, as language runtimes do (Go's `sysmon`).
//!
//! ```text
//! waiter   |------------- futex -------------|
//! watcher  | sleep | sleep | sleep | sleep |w|      on the path, and all it did was to look whether the worker is done
//! worker   ~~~~~~~~~~ its own code ~~~~~~~~~~       the real cause of the wait
//! ```
//!
//! A watchdog that wakes another thread is on the path, but its sleeps cannot be optimized: a thread of the same
//! process works meanwhile. So the walk continues in that thread for the length of each sleep. No line shows this: it
//! is inferred.

use super::child::Children;
use super::effects::ShapeEffects;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::times::end_ns;
use parsers::NO_NS;
use parsers::syscalls::{Class, Wait};
use trace::store::event::EventKind;
use trace::store::heuristics::{
    MAX_WATCHDOG_INTERVAL_NS, MAX_WATCHDOG_WORK_CALLS, MIN_WATCHDOG_SLEEPS, WATCHDOG_CALLS,
};
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Maximum number of threads of a process that are examined.
const THREADS: usize = 64;

/// The thread that works during a short sleep of this one.
pub(super) fn worker(
    shapes: &ShapeEffects,
    children: &Children,
    call: &Waiting<'_>,
) -> Option<Edge> {
    let trace = call.trace;
    trace.tasks.get(call.task).filter(|own| own.is_thread)?;
    let asked_ns = trace.events.requested_ns(call.span.row)?;
    if asked_ns > MAX_WATCHDOG_INTERVAL_NS || !only_watches(shapes, call) {
        return None;
    }
    let others = children
        .tasks_of(trace, call.task)
        .iter()
        .take(THREADS)
        .copied()
        .filter(|&task| task != call.task);
    let working =
        others.filter_map(|task| Some((works_since(trace, task, call.span.end_ns)?, task)));
    let (since_ns, task) = working.min()?;
    (since_ns < call.span.end_ns).then_some(Edge {
        task,
        at_ns: call.span.end_ns,
        how: WakeKind::Beside,
        sure: Confidence::Inferred,
    })
}

/// Whether a task did almost nothing but sleep, wait, check and wake others.
fn only_watches(shapes: &ShapeEffects, call: &Waiting<'_>) -> bool {
    let Waiting {
        trace, task, at, ..
    } = *call;
    let before = trace
        .rows_of(task)
        .get(at.saturating_sub(WATCHDOG_CALLS)..at)
        .unwrap_or(&[]);
    let (mut sleeps, mut works) = (0, 0);
    for &row in before
        .iter()
        .filter(|&&row| trace.events.kind(row) == EventKind::Call)
    {
        let known = shapes.of(trace, row);
        let moves = matches!(
            known.class,
            Class::Disk | Class::Network | Class::Ipc | Class::Terminal | Class::Child
        );
        sleeps += usize::from(known.wait == Some(Wait::Sleep));
        works += usize::from(moves && known.wait != Some(Wait::Poll));
    }
    sleeps >= MIN_WATCHDOG_SLEEPS && works <= MAX_WATCHDOG_WORK_CALLS
}

/// The end of the last call of a task, if the task is between two calls at this moment.
fn works_since(trace: &Trace, task: TaskId, at_ns: i64) -> Option<i64> {
    let events = &trace.events;
    let rows = trace.rows_of(task);
    let before = rows.partition_point(|&row| events.start_ns(row) <= at_ns);
    let last = *rows.get(before.checked_sub(1)?)?;
    let has_ended = events.kind(last) != EventKind::Call || events.end_ns(last).is_some();
    let since_ns = end_ns(trace, last);
    let lives = trace
        .tasks
        .get(task)
        .is_some_and(|task| task.end_ns() >= at_ns);
    (has_ended && lives && since_ns != NO_NS && since_ns < at_ns).then_some(since_ns)
}

#[cfg(test)]
mod tests {
    use crate::testing::on_path;
    use trace::store::trace::Trace;
    use trace::testing::{TaskPlan, build, task};

    /// Ten sleeps of a thread, each as long as requested, and then a wake of the main thread.
    fn watched(asked_ns: i64, between: impl Fn(TaskPlan, i64) -> TaskPlan) -> Trace {
        let end = 10 * asked_ns + 100;
        let sleeps = (0..10).fold(task(2).of_process(1), |plan, turn| {
            let at = 50 + turn * asked_ns;
            between(
                plan.call("nanosleep", at, at + asked_ns - 10)
                    .asks(asked_ns),
                at + asked_ns - 9,
            )
        });
        let watcher = sleeps
            .call("futex", end, end + 5)
            .op("FUTEX_WAKE_PRIVATE")
            .on("0x1")
            .returns(1);
        let worker =
            task(3)
                .of_process(1)
                .call("getpid", 20, 21)
                .call("getpid", end + 50, end + 60);
        let main = task(1)
            .exec(0, 1, "/bin/x")
            .spawn("clone", 1, 2, 2)
            .spawn("clone", 2, 3, 3);
        let main = main
            .call("futex", 40, end + 6)
            .op("FUTEX_WAIT_PRIVATE")
            .on("0x1")
            .returns(0)
            .exit(end + 90);
        build(vec![main, watcher, worker])
    }

    #[test]
    fn the_time_is_of_who_works_while_a_watcher_sleeps() {
        let [_, watcher, worker] = on_path(&watched(1_000_000, |plan, _| plan))[..] else {
            panic!()
        };
        // The first two sleeps are not yet enough evidence of a watchdog.
        assert!(
            worker > 7 * 1_000_000 && watcher < 3 * 1_000_000,
            "{worker} {watcher}"
        );
    }

    #[test]
    fn a_thread_that_works_between_its_sleeps_or_sleeps_long_keeps_them() {
        let reads = watched(1_000_000, |plan, at| {
            plan.call("read", at, at + 5).on("/a").returns(1)
        });
        assert!(on_path(&reads)[1] > 9 * 1_000_000);
        assert!(on_path(&watched(50_000_000, |plan, _| plan))[1] > 9 * 50_000_000);
    }
}
