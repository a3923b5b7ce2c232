//! The critical path according to the kernel: when its tasks ran, were ready to run, waited, or stood still for the tracer.
//!
//! ```text
//! path     |------- read -------|  between calls  |-- write
//! kernel   stopped|run| blocked |run|stopped|ready|run|
//! ```

use crate::critical_path::segment::{Segment, What};
use crate::critical_path::tracing::TracingCost;
use crate::critical_path::walk::WalkListener;
use crate::critical_path::witnessed_cost::witnessed_cost;
use rustc_hash::FxHashMap;
use trace::store::index::TaskId;
use trace::store::scheduling::{Scheduling, State, Stretch};
use trace::store::trace::Trace;

/// Time on the path in one kind of place: in calls, or outside of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathTime {
    /// The task ran, less the CPU time that stops for the tracer cost it.
    pub cpu_ns: i64,
    /// It could have run, and another one had the processor.
    pub ready_ns: i64,
    /// It waited; outside of calls for memory that it touched.
    pub blocked_ns: i64,
    /// The tracer had stopped it or ran instead of it; also the CPU time that stops cost the task itself.
    pub tracing_ns: i64,
    /// No event covers this.
    pub unknown_ns: i64,
    /// Pages that it had to be given.
    pub faults: u64,
}

impl PathTime {
    /// All of it.
    pub fn sum_ns(&self) -> i64 {
        self.cpu_ns + self.ready_ns + self.blocked_ns + self.tracing_ns + self.unknown_ns
    }
}

/// The path according to the kernel.
pub struct WitnessedTime<'trace> {
    trace: &'trace Trace,
    /// Outside of calls.
    pub outside: PathTime,
    /// In calls.
    pub inside: PathTime,
    /// What ran while tasks were ready: time by capture and thread.
    instead: FxHashMap<(u32, i32), i64>,
    /// Time outside of calls by main task.
    pub by_process: FxHashMap<TaskId, PathTime>,
    /// CPU time that stops cost a task, by capture.
    stops: Vec<TracingCost>,
}

impl<'trace> WitnessedTime<'trace> {
    /// Nothing yet.
    pub fn new(trace: &'trace Trace) -> WitnessedTime<'trace> {
        WitnessedTime {
            trace,
            outside: PathTime::default(),
            inside: PathTime::default(),
            instead: FxHashMap::default(),
            by_process: FxHashMap::default(),
            stops: (0..trace.captures.len() as u32)
                .map(|capture| witnessed_cost(trace, capture).unwrap_or_default().own)
                .collect(),
        }
    }

    /// What ran while tasks of the path were ready to run, by the name of the thread, the longest first.
    pub fn ran_instead(&self) -> Vec<(Vec<u8>, i64)> {
        let mut by_name: FxHashMap<Vec<u8>, i64> = FxHashMap::default();
        for (&(capture, tid), &ns) in &self.instead {
            let kernel = self.trace.scheduling(capture);
            let name = kernel.map_or(Vec::new(), |kernel| kernel.name(tid).to_vec());
            *by_name.entry(name).or_default() += ns;
        }
        let mut all: Vec<_> = by_name.into_iter().collect();
        all.sort_unstable_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        all
    }

    /// A segment of the path as the kernel saw it; `None` in captures without scheduler events.
    pub fn divided(&mut self, segment: &Segment) -> Option<PathTime> {
        let task = self.trace.tasks.get(segment.task)?;
        let kernel = self.trace.scheduling(task.capture)?;
        let mut found = self.add(kernel, segment, task.tid);
        let stop = self.stops[task.capture as usize];
        found.take_off(match segment.what {
            What::Gap(_) => stop.gap_ns,
            What::Call(_) => stop.in_call_ns,
            _ => 0,
        });
        Some(found)
    }

    fn add(&mut self, kernel: &Scheduling, segment: &Segment, tid: i32) -> PathTime {
        let (start_ns, end_ns) = (segment.start_ns, segment.end_ns);
        let mut found = PathTime::default();
        let mut known_ns = 0;
        if kernel.covers(start_ns, end_ns) {
            for stretch in kernel.stretches(tid, start_ns, end_ns) {
                let (from_ns, to_ns) = (stretch.start_ns.max(start_ns), stretch.end_ns.min(end_ns));
                known_ns += to_ns - from_ns;
                self.divide(kernel, segment.task, stretch, (from_ns, to_ns), &mut found);
            }
            found.faults = kernel.faults(tid, start_ns, end_ns) as u64;
        }
        found.unknown_ns = end_ns - start_ns - known_ns;
        found
    }

    fn divide(
        &mut self,
        kernel: &Scheduling,
        task: TaskId,
        stretch: &Stretch,
        (from_ns, to_ns): (i64, i64),
        found: &mut PathTime,
    ) {
        let ns = to_ns - from_ns;
        match stretch.state {
            State::Running => found.cpu_ns += ns,
            State::Blocked => found.blocked_ns += ns,
            State::Stopped | State::Released => found.tracing_ns += ns,
            State::Ready => {
                let capture = self.trace.tasks.get(task).map_or(0, |task| task.capture);
                let mut traced_ns = 0;
                kernel.ran(stretch.cpu, from_ns, to_ns, |tid, ns| {
                    if kernel.is_tracer(tid) {
                        traced_ns += ns;
                    } else if tid != 0 {
                        *self.instead.entry((capture, tid)).or_default() += ns;
                    }
                });
                found.tracing_ns += traced_ns;
                found.ready_ns += ns - traced_ns;
            }
        }
    }
}

impl WalkListener for WitnessedTime<'_> {
    fn charged(&mut self, segment: Segment) {
        let Some(found) = self.divided(&segment) else {
            return;
        };
        if matches!(segment.what, What::Gap(_) | What::Spawn(_)) {
            self.outside.merge(&found);
            let main = self.trace.main_task_of(segment.task);
            self.by_process.entry(main).or_default().merge(&found);
        } else {
            self.inside.merge(&found);
        }
    }
}

impl PathTime {
    /// Counts so much of the CPU time as tracing.
    fn take_off(&mut self, own_ns: i64) {
        let own_ns = own_ns.min(self.cpu_ns);
        self.cpu_ns -= own_ns;
        self.tracing_ns += own_ns;
    }

    /// Adds other time.
    pub fn merge(&mut self, other: &PathTime) {
        self.cpu_ns += other.cpu_ns;
        self.ready_ns += other.ready_ns;
        self.blocked_ns += other.blocked_ns;
        self.tracing_ns += other.tracing_ns;
        self.unknown_ns += other.unknown_ns;
        self.faults += other.faults;
    }
}
