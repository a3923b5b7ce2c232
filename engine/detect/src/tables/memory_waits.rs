//! Time on the critical path during which a process waited for memory that it touched: pages of a mapped file, of its
//! program, or of swap, which have to be read first. Scheduler events of the kernel show it, and nothing else does.
//!
//! ```text
//! path      |-- mmap --|            between calls               |-- munmap
//! kernel         run   |run|  blocked  |run| blocked |ready|run |
//!                          ====1======     ===1=====                1: a device woke it: the page was read
//! ```
//! A wait that another thread of the capture ended is one for that thread: it held the lock of the address space.

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use outcome::tables::endings::{lines_of, mapped_length};
use parsers::{Outcome, Text};
use path::critical_path::segment::{Segment, What};
use path::critical_path::walk::{self, WalkListener};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use trace::store::index::TaskId;
use trace::store::scheduling::{Scheduling, State, Stretch, Waker};

/// Calls that map files, of each thread, that are read again.
const MAX_MAPPINGS: usize = 256;

table! {
    memory_waits "Time on the critical path during which a process waited for memory that it touched, by process; needs scheduler events.";
    times: Gaps;
    row {
        of: OfTask { program "The program." },
        waits: Count "How often it waited.",
        path: PathTime { exclusive_ns "Critical-path time during which it waited for memory." },
        cpu_ns: Ns "Critical-path time during which it ran.",
        max_ns: Ns (Max) "The longest of these waits.",
        mapped: Text "The file of which it had mapped most.",
        mapped_bytes: MaybeBytes "How much of that file.",
        lines: Lines {
            first_line "Line of the call after which it waited longest.",
            last_line "Same as first_line.",
        },
    }
}

/// Builds the table of waits for memory by process.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    if !context.trace.has_scheduling() {
        return builder.finish();
    }
    let tasks = context.trace.tasks.iter();
    let mut found = Waits {
        context,
        traced: tasks.map(|task| (task.capture, task.tid)).collect(),
        by_process: FxHashMap::default(),
    };
    for window in context.windows {
        walk::walk(context.trace, context.wakers, window, &mut found);
    }
    let mut waits: Vec<_> = found.by_process.into_iter().collect();
    waits.retain(|(_, waited)| waited.ns > 0);
    waits.sort_unstable_by_key(|(task, waited)| (Reverse(waited.ns), *task));
    for (task, waited) in waits {
        write(context, task, waited, &mut builder);
    }
    builder.finish()
}

/// The waits of a process for memory.
#[derive(Default)]
struct Waited {
    ns: i64,
    cpu_ns: i64,
    times: i64,
    longest_ns: i64,
    longest_row: u32,
    longest_sum_ns: i64,
    /// The calls after which it waited.
    gaps: Vec<u32>,
}

struct Waits<'context> {
    context: &'context TableContext<'context>,
    /// All threads, by capture.
    traced: FxHashSet<(u32, i32)>,
    by_process: FxHashMap<TaskId, Waited>,
}

impl WalkListener for Waits<'_> {
    fn charged(&mut self, segment: Segment) {
        let trace = self.context.trace;
        // What a process waits for in a call is that call's.
        let What::Gap(row) = segment.what else {
            return;
        };
        let Some(task) = trace.tasks.get(segment.task) else {
            return;
        };
        let kernel = trace.scheduling(task.capture);
        let covering = kernel.filter(|kernel| kernel.covers(segment.start_ns, segment.end_ns));
        if let Some(kernel) = covering.filter(|_| self.context.selection.has(row)) {
            let main = trace.main_task_of(segment.task);
            let is_traced = |tid| self.traced.contains(&(task.capture, tid));
            let waited = self.by_process.entry(main).or_default();
            waited.add(kernel, &segment, (task.tid, row), is_traced);
        }
    }
}

impl Waited {
    fn add(
        &mut self,
        kernel: &Scheduling,
        segment: &Segment,
        (tid, row): (i32, u32),
        is_traced: impl Fn(i32) -> bool,
    ) {
        let mut in_gap_ns = 0;
        for stretch in kernel.stretches(tid, segment.start_ns, segment.end_ns) {
            let ns = stretch.end_ns.min(segment.end_ns) - stretch.start_ns.max(segment.start_ns);
            if stretch.state == State::Running {
                self.cpu_ns += ns;
            } else if is_for_memory(stretch, &is_traced) {
                self.times += 1;
                self.longest_ns = self.longest_ns.max(ns);
                in_gap_ns += ns;
            }
        }
        if in_gap_ns == 0 {
            return;
        }
        self.ns += in_gap_ns;
        self.gaps.push(row);
        if in_gap_ns > self.longest_sum_ns {
            (self.longest_sum_ns, self.longest_row) = (in_gap_ns, row);
        }
    }
}

/// Whether a thread that waits between its calls waits for a page, and not for another thread that changes the mappings.
fn is_for_memory(stretch: &Stretch, is_traced: impl Fn(i32) -> bool) -> bool {
    let is_for_thread = matches!(stretch.waker, Waker::Thread(tid) if is_traced(tid));
    stretch.state == State::Blocked && !is_for_thread
}

fn write(context: &TableContext<'_>, task: TaskId, waited: Waited, builder: &mut TableBuilder<'_>) {
    let (mapped, mapped_bytes) = most_mapped(context, task, waited.longest_row).unzip();
    let row = TableRow {
        of: TaskAt {
            task,
            row: waited.longest_row,
        },
        waits: waited.times,
        path: waited.ns,
        cpu_ns: waited.cpu_ns,
        max_ns: waited.longest_ns,
        mapped: mapped.unwrap_or(Text::NONE),
        mapped_bytes,
        lines: LinesOf {
            first_row: waited.longest_row,
            last_row: waited.longest_row,
        },
    };
    builder.add(row, Provenance::Gaps(waited.gaps));
}

/// The file of which a process has mapped most until a call, and how many bytes.
fn most_mapped(context: &TableContext<'_>, process: TaskId, until: u32) -> Option<(Text, i64)> {
    let (trace, events) = (context.trace, &context.trace.events);
    let maps = |row: &u32| {
        let name = events.texts.bytes(events.shape(*row).syscall);
        *row <= until
            && matches!(name, b"mmap" | b"mmap2" | b"mmap64")
            && events.outcome(*row) == Outcome::Ok
            && events.target(*row).is_some()
    };
    let of_process = trace.main_tasks().iter_enumerated();
    let threads = of_process.filter_map(|(thread, &main)| (main == process).then_some(thread));
    let mut rows: Vec<u32> = Vec::new();
    for thread in threads {
        rows.extend(
            context
                .calls_of(thread)
                .rev()
                .filter(maps)
                .take(MAX_MAPPINGS),
        );
    }
    let mut by_file: FxHashMap<Text, i64> = FxHashMap::default();
    for (&row, line) in rows.iter().zip(&lines_of(context, &rows)) {
        let length = mapped_length(line).and_then(|length| i64::try_from(length).ok());
        let sum = by_file.entry(events.target(row)).or_default();
        *sum = sum.saturating_add(length.unwrap_or(0));
    }
    by_file
        .into_iter()
        .filter(|&(_, bytes)| bytes > 0)
        .max_by_key(|&(file, bytes)| (bytes, Reverse(events.texts.bytes(file))))
}
