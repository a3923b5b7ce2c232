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

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use path::critical_path::segment::{Segment, What};
use path::critical_path::walk::{self, WalkListener};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use trace::store::index::TaskId;
use trace::store::scheduling::{Scheduling, State};

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
    let mut captures = 0..context.trace.captures.len() as u32;
    if !captures.any(|capture| context.trace.scheduling(capture).is_some()) {
        return builder.finish();
    }
    let mut found = Waits {
        context,
        by_process: FxHashMap::default(),
    };
    for window in context.windows {
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
}

struct Waits<'context> {
    context: &'context TableContext<'context>,
    by_process: FxHashMap<TaskId, Waited>,
}

impl WalkListener for Waits<'_> {
    fn charged(&mut self, segment: Segment) {
        let trace = self.context.trace;
        let (Some(task), Some(row)) = (trace.tasks.get(segment.task), segment.what.event()) else {
            return;
        };
        let kernel = trace.scheduling(task.capture);
        let covering = kernel.filter(|kernel| kernel.covers(segment.start_ns, segment.end_ns));
        if let Some(kernel) = covering.filter(|_| self.context.selection.has(row)) {
            let mains = trace.main_tasks();
            let main = mains.get(segment.task).copied().unwrap_or(segment.task);
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
        max_ns: waited.longest_ns,
        lines: LinesOf {
            first_row: waited.longest_row,
            last_row: waited.longest_row,
        },
    };
    builder.add(row, Provenance::Gaps(waited.gaps));
}
