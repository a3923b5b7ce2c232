//! The life of each traced thread, from scheduler events in order of time.

use crate::store::heuristics::MAX_EARLY_WAKE_NS;
use crate::store::scheduling::{Alignment, Run, Scheduling, State, Stretch, Waker};
use crate::store::trace::{Capture, Trace};
use parsers::sched::{Context, Left, Named, SchedChange, SchedEvent};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of processors of Linux (`NR_CPUS`): a larger number is damage.
const MAX_CPUS: u32 = 8192;
/// Threads of the kernel that do what others left to them. What woke them is the cause of what they do.
const DEPUTIES: [&[u8]; 2] = [b"kworker/", b"ksoftirqd/"];

/// What a thread does at this moment.
#[derive(Clone, Copy)]
struct Open {
    since_ns: i64,
    state: State,
}

/// Builds the lives.
pub(super) struct Lives {
    found: Scheduling,
    traced: FxHashSet<i32>,
    open: FxHashMap<i32, Open>,
    /// Wake-ups of threads that did not wait, with their time.
    early: FxHashMap<i32, (i64, Waker)>,
    /// What woke the deputies last.
    deputies: FxHashMap<i32, Waker>,
    last_of_cpu_ns: FxHashMap<u32, i64>,
    /// Runs whose beginning no event shows, by thread and the moment at which it was woken.
    missed_runs: FxHashSet<(i32, i64)>,
    offset_ns: i64,
}

impl Lives {
    pub(super) fn new(trace: &Trace, capture: u32, alignment: Alignment) -> Lives {
        let capture_tasks = trace
            .captures
            .get(capture as usize)
            .into_iter()
            .flat_map(Capture::task_ids);
        let tasks = capture_tasks.filter_map(|task| trace.tasks.get(task));
        Lives {
            found: Scheduling {
                alignment,
                range_ns: (i64::MAX, i64::MIN),
                ..Scheduling::default()
            },
            traced: tasks.map(|task| task.tid).collect(),
            open: FxHashMap::default(),
            early: FxHashMap::default(),
            deputies: FxHashMap::default(),
            last_of_cpu_ns: FxHashMap::default(),
            missed_runs: FxHashSet::default(),
            offset_ns: alignment.offset_ns,
        }
    }

    pub(super) fn take(&mut self, event: &SchedEvent) {
        let at_ns = event.time_ns.saturating_add(self.offset_ns);
        if event.cpu >= MAX_CPUS {
            return;
        }
        let (first_ns, last_ns) = self.found.range_ns;
        self.found.range_ns = (first_ns.min(at_ns), last_ns.max(at_ns));
        self.found.events += 1;
        match event.change {
            SchedChange::Switch { from, left, to } => self.switch(at_ns, event.cpu, from, left, to),
            SchedChange::Waking(tid) => self.wake(at_ns, tid, self.waker(event)),
            SchedChange::Woken(tid) => self.wake(at_ns, tid, Waker::Unknown),
            SchedChange::Fork(child) => self.begin(child, at_ns, State::Ready),
            SchedChange::Fault if self.traced.contains(&event.tid) => {
                self.found.faults.entry(event.tid).or_default().push(at_ns);
            }
            SchedChange::Exit if self.traced.contains(&event.tid) => {
                self.found.exits.entry(event.tid).or_default().push(at_ns);
            }
            SchedChange::Lost(number) => {
                let from_ns = self.last_of_cpu_ns.get(&event.cpu).copied();
                self.found
                    .lost
                    .push((from_ns.unwrap_or(first_ns.min(at_ns)), at_ns));
                self.found.lost_events = self.found.lost_events.saturating_add(number);
            }
            SchedChange::Exec | SchedChange::Exit | SchedChange::Fault => (),
        }
        self.last_of_cpu_ns.insert(event.cpu, at_ns);
    }

    pub(super) fn finish(mut self) -> Scheduling {
        let last_ns = self.found.range_ns.1;
        for (tid, open) in std::mem::take(&mut self.open) {
            self.push(tid, open, last_ns, 0, Waker::Unknown);
        }
        if !self.missed_runs.is_empty() {
            self.delay_missed_runs();
        }
        self.found
    }

    /// Until an idle processor runs a woken thread takes some microseconds. Where the beginning of the run was missed, it
    /// takes as long as it usually does.
    fn delay_missed_runs(&mut self) {
        let mut delays: Vec<i64> = Vec::new();
        for (&tid, stretches) in &self.found.threads {
            for pair in stretches.windows(2) {
                let is_missed = self.missed_runs.contains(&(tid, pair[1].start_ns));
                if pair[0].state == State::Released && pair[1].state == State::Running && !is_missed
                {
                    delays.push(pair[0].end_ns - pair[0].start_ns);
                }
            }
        }
        delays.sort_unstable();
        let delay_ns = delays.get(delays.len() / 2).copied().unwrap_or(0);
        for (&tid, stretches) in &mut self.found.threads {
            let mut delayed = Vec::with_capacity(stretches.len());
            for &stretch in stretches.iter() {
                let is_missed = stretch.state == State::Running
                    && self.missed_runs.contains(&(tid, stretch.start_ns));
                if !is_missed {
                    delayed.push(stretch);
                    continue;
                }
                // The thread ran at least as long as it waited for that.
                let lasts_ns = stretch.end_ns - stretch.start_ns;
                let start_ns = stretch.start_ns + delay_ns.min(lasts_ns / 2);
                delayed.push(Stretch {
                    end_ns: start_ns,
                    state: State::Released,
                    ..stretch
                });
                delayed.push(Stretch {
                    start_ns,
                    ..stretch
                });
            }
            delayed.retain(|stretch| stretch.end_ns > stretch.start_ns);
            *stretches = delayed;
        }
    }

    fn switch(&mut self, at_ns: i64, cpu: u32, from: Named, left: Left, to: Named) {
        self.name(from);
        self.name(to);
        let cpu_place = cpu as usize;
        if cpu_place >= self.found.runs.len() {
            self.found.runs.resize(cpu_place + 1, Vec::new());
        }
        self.begin_missed_run(from.tid, cpu);
        let run = Run {
            start_ns: at_ns,
            tid: to.tid,
        };
        self.found.runs[cpu_place].push(run);
        if let Some(open) = self.open.remove(&from.tid) {
            self.push(from.tid, open, at_ns, cpu, Waker::Unknown);
        }
        match left {
            Left::Preempted => self.begin(from.tid, at_ns, State::Ready),
            Left::Blocked | Left::Uninterruptible => self.begin(from.tid, at_ns, State::Blocked),
            Left::Traced => self.begin(from.tid, at_ns, State::Stopped),
            Left::Dead => (),
        }
        if let Some(open) = self.open.remove(&to.tid) {
            let early = self.early.remove(&to.tid);
            let waker = early
                .filter(|&(woken_ns, _)| open.since_ns - woken_ns <= MAX_EARLY_WAKE_NS)
                .map_or(Waker::Unknown, |(_, waker)| waker);
            self.push(to.tid, open, at_ns, cpu, waker);
        }
        self.begin(to.tid, at_ns, State::Running);
    }

    /// A thread leaves a processor, and no event shows that it came there: perf does not see all switches of an idle
    /// processor. It ran from when it was woken, or from when the processor became idle.
    fn begin_missed_run(&mut self, tid: i32, cpu: u32) {
        let Some(&open) = self.open.get(&tid) else {
            return;
        };
        let is_woken = matches!(open.state, State::Ready | State::Released);
        let Some(runs) = self.found.runs.get_mut(cpu as usize).filter(|_| is_woken) else {
            return;
        };
        let Some(idle) = runs.last().copied().filter(|run| run.tid == 0) else {
            return;
        };
        let start_ns = open.since_ns.max(idle.start_ns);
        runs.push(Run { start_ns, tid });
        self.push(tid, open, start_ns, cpu, Waker::Unknown);
        self.begin(tid, start_ns, State::Running);
        self.missed_runs.insert((tid, start_ns));
    }

    fn begin(&mut self, tid: i32, since_ns: i64, state: State) {
        if self.traced.contains(&tid) {
            self.open.insert(tid, Open { since_ns, state });
        }
    }

    fn wake(&mut self, at_ns: i64, tid: i32, waker: Waker) {
        if !self.traced.contains(&tid) {
            if self.is_deputy(tid) && waker != Waker::Unknown {
                self.deputies.insert(tid, waker);
            }
            return;
        }
        let Some(open) = self.state_before(tid) else {
            return;
        };
        let next = match open.state {
            State::Blocked => State::Ready,
            State::Stopped => {
                if let Waker::Thread(tracer) | Waker::Perhaps(tracer) = waker {
                    // A signal to a stopped thread wakes it, too, and comes from another traced one.
                    if !self.traced.contains(&tracer) {
                        self.found.tracers.insert(tracer);
                    }
                }
                State::Released
            }
            State::Running | State::Ready | State::Released => {
                self.early.insert(tid, (at_ns, waker));
                return;
            }
        };
        self.push(tid, open, at_ns, 0, waker);
        self.begin(tid, at_ns, next);
    }

    /// What a thread does that is woken. One without earlier events has waited since the recording began.
    fn state_before(&self, tid: i32) -> Option<Open> {
        if let Some(&open) = self.open.get(&tid) {
            return Some(open);
        }
        let is_new = !self.found.threads.contains_key(&tid);
        is_new.then_some(Open {
            since_ns: self.found.range_ns.0,
            state: State::Blocked,
        })
    }

    /// The thread that ran, or what it does that for.
    fn waker(&self, event: &SchedEvent) -> Waker {
        if event.context == Context::HardInterrupt || event.tid == 0 {
            return Waker::Interrupt;
        }
        if self.is_deputy(event.tid) {
            return match self.deputies.get(&event.tid) {
                Some(&Waker::Thread(tid) | &Waker::Perhaps(tid)) => Waker::Perhaps(tid),
                Some(Waker::Interrupt) => Waker::Interrupt,
                _ => Waker::Unknown,
            };
        }
        match event.context {
            Context::Thread => Waker::Thread(event.tid),
            _ => Waker::Perhaps(event.tid),
        }
    }

    fn is_deputy(&self, tid: i32) -> bool {
        self.found
            .names
            .get(&tid)
            .is_some_and(|comm| DEPUTIES.iter().any(|name| comm.starts_with(name)))
    }

    fn name(&mut self, named: Named) {
        if named.comm[0] != 0 {
            self.found.names.insert(named.tid, named.comm);
        }
        if let Some(priority) = named.priority {
            self.found.priorities.insert(named.tid, priority);
        }
    }

    fn push(&mut self, tid: i32, open: Open, end_ns: i64, cpu: u32, waker: Waker) {
        if end_ns <= open.since_ns {
            return;
        }
        self.found.threads.entry(tid).or_default().push(Stretch {
            start_ns: open.since_ns,
            end_ns,
            state: open.state,
            cpu,
            waker,
        });
    }
}
