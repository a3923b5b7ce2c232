//! What tracing adds to a call on average, where the kernel saw it: how long the tracer kept each task from going on.
//!
//! ```text
//! strace   |--- read ---------------|    gap     |--- write
//! kernel   run|stopped|run| blocked |stopped|run|
//!             ===1====               ===2===            1: within the call   2: after it
//! ```
//! To stop and to go on costs the task time of its own, too: at least what it runs between two stops of a call that does
//! nothing.

use crate::critical_path::tracing::TracingCost;
use trace::store::event::EventKind;
use trace::store::heuristics::MIN_COST_SHARE;
use trace::store::histogram::Histogram;
use trace::store::scheduling::{Scheduling, State};
use trace::store::trace::Trace;

/// Time of the tracer, and what it was spent on.
#[derive(Default)]
struct Spent {
    ns: i64,
    times: i64,
    /// How long tasks ran between two stops.
    runs: Histogram,
}

impl Spent {
    fn mean_ns(&self) -> i64 {
        self.ns / self.times.max(1)
    }
}

/// What tracing adds to a call of a capture on average; `None` if no call is covered by scheduler events.
pub(super) fn witnessed_cost(trace: &Trace, capture: u32) -> Option<TracingCost> {
    let kernel = trace.scheduling(capture)?;
    let events = &trace.events;
    let (mut calls, mut gaps) = (Spent::default(), Spent::default());
    for task in trace.captures.get(capture as usize)?.task_ids() {
        let tid = trace.tasks.get(task)?.tid;
        let rows = trace.rows_of(task).iter().copied();
        let of_calls = rows.filter(|&row| events.kind(row) == EventKind::Call);
        let mut last_end_ns = None;
        for row in of_calls {
            let start_ns = events.start_ns(row);
            if let Some(end_ns) = last_end_ns {
                gaps.add(kernel, tid, (end_ns, start_ns));
            }
            last_end_ns = events.end_ns(row);
            if let Some(end_ns) = last_end_ns {
                calls.add(kernel, tid, (start_ns, end_ns));
            }
        }
    }
    let own_ns = calls.runs.quantile(MIN_COST_SHARE);
    (calls.times > 0).then(|| TracingCost {
        in_call_ns: calls.mean_ns() + own_ns,
        gap_ns: gaps.mean_ns() + own_ns,
    })
}

impl Spent {
    fn add(&mut self, kernel: &Scheduling, tid: i32, (start_ns, end_ns): (i64, i64)) {
        if start_ns >= end_ns || !kernel.covers(start_ns, end_ns) {
            return;
        }
        self.times += 1;
        for stretch in kernel.stretches(tid, start_ns, end_ns) {
            let (from_ns, to_ns) = (stretch.start_ns.max(start_ns), stretch.end_ns.min(end_ns));
            match stretch.state {
                State::Stopped | State::Released => self.ns += to_ns - from_ns,
                State::Ready => kernel.ran(stretch.cpu, from_ns, to_ns, |runs, ns| {
                    if kernel.is_tracer(runs) {
                        self.ns += ns;
                    }
                }),
                State::Running => {
                    // strace takes its stamp before it decodes the arguments, so the run of a short call ends after its printed end.
                    let middle_ns = i64::midpoint(stretch.start_ns, stretch.end_ns);
                    if (start_ns..=end_ns).contains(&middle_ns) {
                        self.runs.add(stretch.end_ns - stretch.start_ns);
                    }
                }
                State::Blocked => {}
            }
        }
    }
}
