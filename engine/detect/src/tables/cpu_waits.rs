//! Time on the critical path during which a process could have run, and others had the processors: scheduler events of the
//! kernel show it, and nothing else does.
//!
//! ```text
//! path      |-- read --|      between calls          |-- write
//! kernel    blocked|ready|run|ready        |run|ready|run
//!                  ==1==     =======2=======   ==1==     1: cc1 had the processor   2: a backup had it
//! ```
//! Time in which the tracer or another program of the recording had the processor, or nobody had it yet, is not waiting
//! for others: the untraced program would not have it.
//!
//! If the process holds a lock meanwhile, a task that waits for the lock waits for these others, too. Where the priority of
//! the others is not above that of this task, the lock inverts the priorities.

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use parsers::Text;
use path::critical_path::segment::{Segment, What};
use path::critical_path::walk::{self, WalkListener};
use path::waits::edge::{Edge, WakeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use trace::store::index::TaskId;
use trace::store::scheduling::{Scheduling, State, Stretch};

table! {
    cpu_waits "Time on the critical path during which a process waited for a CPU, by process; needs scheduler events.";
    times: Gaps;
    row {
        of: OfTask { program "The program." },
        instead: Words "The name of the threads that had the CPUs longest meanwhile.",
        instead_ns: Ns "How long they had them.",
        is_one: Flag "Whether threads of that name had them more than half of the time.",
        rivals: Count "Number of threads that had the CPUs meanwhile.",
        traced_ns: Ns "How long tasks of the same capture had them.",
        waits: Count "How often it waited.",
        path: PathTime { exclusive_ns "Critical-path time during which it could have run, and others did." },
        cpu_ns: Ns "Critical-path time during which it ran.",
        inverted_ns: Ns "How long it held a lock meanwhile for which a task of at least the priority of those that ran waited.",
        waiter: Words "The program of that task.",
        lock: Text "The lock.",
        max_ns: Ns (Max) "The longest of these waits.",
        lines: Lines {
            first_line "Line of the call in or after which it waited longest.",
            last_line "Same as first_line.",
        },
    }
}

/// Builds the table of waits for a CPU by process.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    if !context.trace.has_scheduling() {
        return builder.finish();
    }
    let mut found = Waits {
        context,
        by_process: FxHashMap::default(),
        locks: Vec::new(),
    };
    for window in context.windows {
        found.locks.clear();
        walk::walk(context.trace, context.wakers, window, &mut found);
    }
    let mut waits: Vec<_> = found.by_process.into_iter().collect();
    waits.retain(|(_, waited)| waited.ns > 0);
    waits.sort_unstable_by_key(|(task, waited)| (Reverse(waited.ns), *task));
    let tasks = context.trace.tasks.iter();
    let traced: FxHashSet<(u32, i32)> = tasks.map(|task| (task.capture, task.tid)).collect();
    for (task, waited) in waits {
        write(context, &traced, task, waited, &mut builder);
    }
    builder.finish()
}

/// The waits of a process for a CPU.
#[derive(Default)]
struct Waited {
    ns: i64,
    cpu_ns: i64,
    times: i64,
    longest_ns: i64,
    longest_row: u32,
    /// Who had the processors meanwhile, by thread id.
    rivals: FxHashMap<i32, i64>,
    /// The calls after which it waited.
    gaps: Vec<u32>,
    inverted_ns: i64,
    /// The wait for its lock that lasted longest so, and how long.
    inverted: Option<(u32, i64)>,
}

/// A wait that the walk is in.
struct Awaited {
    waiter: TaskId,
    /// Who holds the lock; `None` if the wait is not for a lock.
    holder: Option<TaskId>,
    inverted_ns: i64,
}

struct Waits<'context> {
    context: &'context TableContext<'context>,
    by_process: FxHashMap<TaskId, Waited>,
    locks: Vec<Awaited>,
}

impl Waits<'_> {
    /// How long threads ran in a range that a holder of a lock could not precede, although who waits for it could.
    fn inverted_ns(
        &self,
        kernel: &Scheduling,
        holder: TaskId,
        stretch: &Stretch,
        range: (i64, i64),
    ) -> i64 {
        let tasks = &self.context.trace.tasks;
        let priority = |task: TaskId| tasks.get(task).and_then(|task| kernel.priority(task.tid));
        let Some(Awaited { waiter, .. }) =
            self.locks.last().filter(|wait| wait.holder == Some(holder))
        else {
            return 0;
        };
        let (Some(of_waiter), Some(of_holder)) = (priority(*waiter), priority(holder)) else {
            return 0;
        };
        let mut sum_ns = 0;
        kernel.ran(stretch.cpu, range.0, range.1, |tid, ns| {
            let between = |priority: i32| of_waiter <= priority && priority < of_holder;
            if tid != 0 && !kernel.is_of_recording(tid) && kernel.priority(tid).is_some_and(between)
            {
                sum_ns += ns;
            }
        });
        sum_ns
    }

    fn note_inversion(&mut self, kernel: &Scheduling, segment: &Segment, tid: i32) {
        for stretch in kernel.stretches(tid, segment.start_ns, segment.end_ns) {
            if stretch.state == State::Ready {
                let from_ns = stretch.start_ns.max(segment.start_ns);
                let to_ns = stretch.end_ns.min(segment.end_ns);
                let ns = self.inverted_ns(kernel, segment.task, stretch, (from_ns, to_ns));
                if let Some(wait) = self.locks.last_mut() {
                    wait.inverted_ns += ns;
                }
            }
        }
    }
}

impl WalkListener for Waits<'_> {
    fn begins(&mut self, waiter: TaskId, edge: &Edge) {
        // A futex may be a mutex or an event that somebody waits for, and only a lock has a holder.
        let is_for_lock = edge.how == WakeKind::Lock;
        self.locks.push(Awaited {
            waiter,
            holder: is_for_lock.then_some(edge.task),
            inverted_ns: 0,
        });
    }

    fn ends(&mut self, waited: &walk::Waited) {
        let Some(wait) = self.locks.pop().filter(|wait| wait.inverted_ns > 0) else {
            return;
        };
        let holder = self.context.trace.main_task_of(waited.waker);
        let of_holder = self.by_process.entry(holder).or_default();
        of_holder.inverted_ns += wait.inverted_ns;
        if of_holder
            .inverted
            .is_none_or(|(_, longest_ns)| longest_ns < wait.inverted_ns)
        {
            of_holder.inverted = Some((waited.row, wait.inverted_ns));
        }
    }

    fn charged(&mut self, segment: Segment) {
        let trace = self.context.trace;
        let (Some(task), Some(row)) = (trace.tasks.get(segment.task), segment.what.event()) else {
            return;
        };
        let kernel = trace.scheduling(task.capture);
        let covering = kernel.filter(|kernel| kernel.covers(segment.start_ns, segment.end_ns));
        if let Some(kernel) = covering.filter(|_| self.context.selection.has(row)) {
            self.note_inversion(kernel, &segment, task.tid);
            let main = trace.main_task_of(segment.task);
            let waited = self.by_process.entry(main).or_default();
            waited.add(kernel, &segment, task.tid, row);
        }
    }
}

impl Waited {
    fn add(&mut self, kernel: &Scheduling, segment: &Segment, tid: i32, row: u32) {
        let mut in_segment_ns = 0;
        for stretch in kernel.stretches(tid, segment.start_ns, segment.end_ns) {
            let from_ns = stretch.start_ns.max(segment.start_ns);
            let to_ns = stretch.end_ns.min(segment.end_ns);
            match stretch.state {
                State::Running => self.cpu_ns += to_ns - from_ns,
                State::Ready => {
                    let ns = self.others(kernel, stretch.cpu, from_ns, to_ns);
                    self.times += i64::from(ns > 0);
                    in_segment_ns += ns;
                }
                State::Released | State::Blocked | State::Stopped => {}
            }
        }
        self.ns += in_segment_ns;
        if in_segment_ns > self.longest_ns {
            (self.longest_ns, self.longest_row) = (in_segment_ns, row);
        }
        if in_segment_ns > 0 && matches!(segment.what, What::Gap(_)) {
            self.gaps.push(row);
        }
    }

    /// How long others had a processor in a range.
    fn others(&mut self, kernel: &Scheduling, cpu: u32, from_ns: i64, to_ns: i64) -> i64 {
        let mut sum_ns = 0;
        kernel.ran(cpu, from_ns, to_ns, |tid, ns| {
            // Thread 0 is the idle one: the processor was free, and only had to be woken.
            if tid != 0 && !kernel.is_of_recording(tid) {
                *self.rivals.entry(tid).or_default() += ns;
                sum_ns += ns;
            }
        });
        sum_ns
    }
}

fn write(
    context: &TableContext<'_>,
    traced: &FxHashSet<(u32, i32)>,
    task: TaskId,
    waited: Waited,
    builder: &mut TableBuilder<'_>,
) {
    let capture = context.trace.tasks[task].capture;
    let kernel = context.trace.scheduling(capture);
    let name = |tid: i32| kernel.map_or(&[][..], |kernel| kernel.name(tid));
    let mut by_name: FxHashMap<&[u8], i64> = FxHashMap::default();
    for (&tid, &ns) in &waited.rivals {
        *by_name.entry(name(tid)).or_default() += ns;
    }
    let most = by_name
        .iter()
        .max_by_key(|&(&name, &ns)| (ns, Reverse(name)));
    let rivals = waited.rivals.iter();
    let of_capture = rivals.filter(|&(&tid, _)| traced.contains(&(capture, tid)));
    let traced_ns = of_capture.map(|(_, &ns)| ns).sum();
    let waiter = waited.inverted.map(|(row, _)| row);
    let row = TableRow {
        of: TaskAt {
            task,
            row: waited.longest_row,
        },
        instead: most.map(|(name, _)| String::from_utf8_lossy(name).into_owned()),
        instead_ns: most.map_or(0, |(_, &ns)| ns),
        is_one: most.is_some_and(|(_, &ns)| ns > waited.ns / 2),
        rivals: waited.rivals.len() as i64,
        traced_ns,
        waits: waited.times,
        path: waited.ns,
        cpu_ns: waited.cpu_ns,
        inverted_ns: waited.inverted_ns,
        waiter: waiter.map(|row| program_of(context, row)),
        lock: waiter.map_or(Text::NONE, |row| context.trace.events.target(row)),
        max_ns: waited.longest_ns,
        lines: LinesOf {
            first_row: waited.longest_row,
            last_row: waited.longest_row,
        },
    };
    builder.add(row, Provenance::Gaps(waited.gaps));
}

/// The last part of the path of the program that made a call.
fn program_of(context: &TableContext<'_>, row: u32) -> String {
    let events = &context.trace.events;
    let program = context.program(events.task(row), row);
    let path = events.texts.string(program);
    path.rsplit('/').next().unwrap_or(&path).to_owned()
}
