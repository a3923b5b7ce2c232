//! What tracing adds to a call on average, where the kernel saw it: how long the tracer kept each task from going on.
//!
//! ```text
//! strace   |--- read ---------------|    gap     |--- write
//! kernel   run|stopped|run| blocked |stopped|run|
//!             ===1====               ===2===            1: within the call   2: after it
//! ```
//! Stopping and going on also costs the task CPU time of its own, mostly after a call. It is taken to be the lower quartile of
//! its CPU times between two calls: a program that computes there runs longer, but seldom after each call.

use crate::critical_path::tracing::TracingCost;
use trace::store::event::EventKind;
use trace::store::heuristics::{MAX_STOP_CPU_NS, MIN_COST_SHARE, MIN_STOP_CPU_SHARE};
use trace::store::histogram::Histogram;
use trace::store::scheduling::{Scheduling, State};
use trace::store::trace::Trace;

/// What the kernel saw tracing cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WitnessedCost {
    /// The mean of all, with the task's own share.
    pub mean: TracingCost,
    /// CPU time that stops cost the task itself.
    pub own: TracingCost,
}

/// Time of the tracer, and what it was spent on.
#[derive(Default)]
struct Spent {
    ns: i64,
    times: i64,
    /// CPU time of the task in each of them.
    runs: Histogram,
}

impl Spent {
    fn mean_ns(&self) -> i64 {
        self.ns / self.times.max(1)
    }

    /// The CPU time that this part of the calls has at least; 0 if no tracer stopped anything.
    fn own_ns(&self, share: f64) -> i64 {
        if self.ns == 0 {
            return 0;
        }
        self.runs.quantile(share).min(MAX_STOP_CPU_NS)
    }
}

/// What tracing adds to a call of a capture on average; `None` if no call is covered by scheduler events.
pub fn witnessed_cost(trace: &Trace, capture: u32) -> Option<WitnessedCost> {
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
    let own = TracingCost {
        in_call_ns: calls.own_ns(MIN_COST_SHARE),
        gap_ns: gaps.own_ns(MIN_STOP_CPU_SHARE),
    };
    (calls.times > 0).then(|| WitnessedCost {
        mean: TracingCost {
            in_call_ns: calls.mean_ns() + own.in_call_ns,
            gap_ns: gaps.mean_ns() + own.gap_ns,
        },
        own,
    })
}

impl Spent {
    fn add(&mut self, kernel: &Scheduling, tid: i32, (start_ns, end_ns): (i64, i64)) {
        if start_ns >= end_ns || !kernel.covers(start_ns, end_ns) {
            return;
        }
        self.times += 1;
        let mut ran_ns = 0;
        for stretch in kernel.stretches(tid, start_ns, end_ns) {
            let (from_ns, to_ns) = (stretch.start_ns.max(start_ns), stretch.end_ns.min(end_ns));
            match stretch.state {
                State::Stopped | State::Released => self.ns += to_ns - from_ns,
                State::Ready => kernel.ran(stretch.cpu, from_ns, to_ns, |runs, ns| {
                    if kernel.is_tracer(runs) {
                        self.ns += ns;
                    }
                }),
                State::Running => ran_ns += to_ns - from_ns,
                State::Blocked => {}
            }
        }
        self.runs.add(ran_ns);
    }
}
