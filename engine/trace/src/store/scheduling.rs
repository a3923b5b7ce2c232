//! What the kernel saw of the threads of a capture: when each ran, and what ended each of its waits.
//!
//! ```text
//! strace   |--- read ---------------------------|    gap    |--- write
//! kernel   run| stopped |run|  blocked  |ready|run|stopped|r|run|
//!              tracing           ^ woken by 4711      tracing
//! ```

use parsers::sched::Comm;
use rustc_hash::{FxHashMap, FxHashSet};

/// Names of programs that trace and record.
const RECORDERS: [&[u8]; 3] = [b"perf", b"strace", b"tracealyze"];

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// It could run, and another thread has the processor.
    Ready,
    /// The same, after the tracer let it go on.
    Released,
    /// It waits. Outside of calls, that is for memory that it touched.
    Blocked,
    /// The tracer stopped it.
    Stopped,
}

/// What made a thread runnable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waker {
    /// No event shows it.
    Unknown,
    /// This thread.
    Thread(i32),
    /// Something done on behalf of this thread, or an interrupt that came while it ran.
    Perhaps(i32),
    /// A timer or a device.
    Interrupt,
}

/// A stretch of the life of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// From when.
    pub start_ns: i64,
    /// To when.
    pub end_ns: i64,
    /// What it does.
    pub state: State,
    /// The processor on which it runs afterwards, if it is ready, or runs.
    pub cpu: u32,
    /// What ended it, if it is blocked.
    pub waker: Waker,
}

/// A thread runs on a processor from here until the next one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// From when.
    pub start_ns: i64,
    /// Which thread; 0 if it is idle.
    pub tid: i32,
}

/// How the clock of the kernel's events was related to that of the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// What was added to the times of the events.
    pub offset_ns: i64,
    /// Whether the recording of the events contains that. If not, it follows from starts and ends of tasks.
    pub is_printed: bool,
    /// Starts and ends of tasks that both have.
    pub compared: u64,
    /// Those that fit.
    pub fitting: u64,
}

/// What the kernel saw of the threads of one capture, on the clock of the capture.
#[derive(Clone, Debug, Default)]
pub struct Scheduling {
    /// Stretches by thread id, in order.
    pub(crate) threads: FxHashMap<i32, Vec<Stretch>>,
    /// Moments at which threads touched memory that they had to be given, in order.
    pub(crate) faults: FxHashMap<i32, Vec<i64>>,
    /// Moments at which threads exit, in order.
    pub(crate) exits: FxHashMap<i32, Vec<i64>>,
    /// By processor.
    pub(crate) runs: Vec<Vec<Run>>,
    /// Names of threads.
    pub(crate) names: FxHashMap<i32, Comm>,
    /// Their last priorities; a lower number precedes a higher one.
    pub(crate) priorities: FxHashMap<i32, i32>,
    /// Threads that let others go on that they had stopped.
    pub(crate) tracers: FxHashSet<i32>,
    /// Ranges in which events were lost.
    pub(crate) lost: Vec<(i64, i64)>,
    /// Number of lost events.
    pub(crate) lost_events: u64,
    /// Number of events.
    pub(crate) events: u64,
    /// The first and the last moment.
    pub(crate) range_ns: (i64, i64),
    /// How its clock was found.
    pub(crate) alignment: Alignment,
}

impl Scheduling {
    /// Whether everything that happened in this range was recorded.
    pub fn covers(&self, start_ns: i64, end_ns: i64) -> bool {
        let (first_ns, last_ns) = self.range_ns;
        first_ns <= start_ns
            && end_ns <= last_ns
            && !self
                .lost
                .iter()
                .any(|&(from_ns, to_ns)| from_ns < end_ns && start_ns < to_ns)
    }

    /// The stretches of a thread that reach into a range, in order.
    pub fn stretches(&self, tid: i32, start_ns: i64, end_ns: i64) -> &[Stretch] {
        let all = self.threads.get(&tid).map_or(&[][..], Vec::as_slice);
        let from = all.partition_point(|stretch| stretch.end_ns <= start_ns);
        let to = all.partition_point(|stretch| stretch.start_ns < end_ns);
        all.get(from..to).unwrap_or(&[])
    }

    /// Number of faults of a thread in a range.
    pub fn faults(&self, tid: i32, start_ns: i64, end_ns: i64) -> usize {
        let all = self.faults.get(&tid).map_or(&[][..], Vec::as_slice);
        let before = |ns: i64| all.partition_point(|&at_ns| at_ns < ns);
        before(end_ns).saturating_sub(before(start_ns))
    }

    /// Whether a thread exits in a range.
    pub fn exits(&self, tid: i32, start_ns: i64, end_ns: i64) -> bool {
        let all = self.exits.get(&tid).map_or(&[][..], Vec::as_slice);
        all.iter()
            .any(|&at_ns| start_ns <= at_ns && at_ns <= end_ns)
    }

    /// Whether a thread traces others.
    pub fn is_tracer(&self, tid: i32) -> bool {
        self.tracers.contains(&tid)
    }

    /// Whether a thread only runs because others are traced: it traces them, or records what they do.
    pub fn is_of_recording(&self, tid: i32) -> bool {
        self.is_tracer(tid) || RECORDERS.contains(&self.name(tid))
    }

    /// What ran on a processor in a range, with how long.
    pub fn ran(&self, cpu: u32, start_ns: i64, end_ns: i64, mut take: impl FnMut(i32, i64)) {
        let runs = self.runs.get(cpu as usize).map_or(&[][..], Vec::as_slice);
        let first = runs
            .partition_point(|run| run.start_ns <= start_ns)
            .saturating_sub(1);
        for (at, run) in runs.iter().enumerate().skip(first) {
            if run.start_ns >= end_ns {
                break;
            }
            let until_ns = runs
                .get(at + 1)
                .map_or(end_ns, |next| next.start_ns)
                .min(end_ns);
            let ns = until_ns - run.start_ns.max(start_ns);
            if ns > 0 {
                take(run.tid, ns);
            }
        }
    }

    /// The name of a thread.
    pub fn name(&self, tid: i32) -> &[u8] {
        let name = self.names.get(&tid).map_or(&[][..], |comm| &comm[..]);
        name.split(|&byte| byte == 0).next().unwrap_or(&[])
    }

    /// The priority of a thread: 120 is nice 0, and a lower number precedes a higher one.
    pub fn priority(&self, tid: i32) -> Option<i32> {
        self.priorities.get(&tid).copied()
    }

    /// How its clock was found.
    pub fn alignment(&self) -> Alignment {
        self.alignment
    }

    /// Number of events, and of those that were lost.
    pub fn events(&self) -> (u64, u64) {
        (self.events, self.lost_events)
    }
}
