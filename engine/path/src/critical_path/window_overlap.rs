//! Calls that lie over an edge of a window: time on the path is cut there, but sums of calls have them whole.
//!
//! ```text
//! window        |------------------|
//! task 1    |--- read ---| |- write -|            2 calls; outside: the read's part before, the write's after
//! ```

use crate::critical_path::window::Window;
use query::selection::Selection;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Rows of a task before an edge that may be signals.
const ROWS_BEFORE: usize = 64;

/// The calls over the edges of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WindowOverlap {
    /// Their number.
    pub calls: u64,
    /// How much of their time lies outside, over all tasks.
    pub outside_ns: i64,
}

/// The calls that are chosen and lie over an edge of a window.
pub fn window_overlap(trace: &Trace, selection: &Selection<'_>, window: &Window) -> WindowOverlap {
    let Some(capture) = trace
        .captures
        .get(window.capture as usize)
        .filter(|_| window.root.is_some())
    else {
        return WindowOverlap::default();
    };
    let mut edges = WindowOverlap::default();
    for task in capture.task_ids() {
        let at_start = over(trace, task, window.start_ns);
        let at_end = over(trace, task, window.end_ns).filter(|&row| Some(row) != at_start);
        for row in at_start
            .into_iter()
            .chain(at_end)
            .filter(|&row| selection.has(row))
        {
            let (start_ns, end_ns) = (
                trace.events.start_ns(row),
                trace.events.end_ns(row).unwrap_or(window.end_ns),
            );
            let before_ns = (window.start_ns - start_ns).max(0);
            let gap_after_ns = (end_ns - window.end_ns).max(0);
            edges.calls += 1;
            edges.outside_ns = edges
                .outside_ns
                .saturating_add(before_ns)
                .saturating_add(gap_after_ns);
        }
    }
    edges
}

/// The call of a task that goes on at a moment.
fn over(trace: &Trace, task: TaskId, at_ns: i64) -> Option<u32> {
    let (events, rows) = (&trace.events, trace.rows_of(task));
    let until = rows.partition_point(|&row| events.start_ns(row) < at_ns);
    let mut calls = rows[..until]
        .iter()
        .rev()
        .take(ROWS_BEFORE)
        .filter(|&&row| events.kind(row) == EventKind::Call);
    calls
        .next()
        .copied()
        .filter(|&row| events.end_ns(row).is_some_and(|end_ns| end_ns > at_ns))
}

#[cfg(test)]
mod tests {
    use super::{WindowOverlap, window_overlap};
    use crate::critical_path::window;
    use crate::critical_path::window::windows;
    use query::cache::QueryCache;
    use query::selection::{Criteria, Selection};
    use trace::store::trace::Trace;
    use trace::testing::{build, task};

    #[test]
    fn calls_across_an_edge_report_their_time_outside() {
        let waiter = task(1)
            .exec(0, 1, "/bin/x")
            .call("read", 10, 40)
            .call("write", 50, 60)
            .call("read", 70, 95)
            .exit(100);
        let trace: Trace = build(vec![waiter, task(2).call("brk", 5, 95).exit(96)]);
        let overlap = |from_ns, to_ns| {
            let asked = window::WindowChoice {
                from_ns: Some(from_ns),
                to_ns: Some(to_ns),
                ..window::WindowChoice::default()
            };
            let selection = Selection::new(&trace, &Criteria::default(), &QueryCache::default())
                .expect("a choice of everything");
            window_overlap(&trace, &selection, &windows(&trace, &asked)[0])
        };
        assert_eq!(
            overlap(30, 80),
            WindowOverlap {
                calls: 3,
                outside_ns: 20 + 15 + 25 + 15
            }
        );
        assert_eq!(overlap(0, 100), WindowOverlap::default());
        assert_eq!(
            overlap(40, 50),
            WindowOverlap {
                calls: 1,
                outside_ns: 35 + 45
            },
            "what ends or begins there does not lie over it"
        );
    }
}
