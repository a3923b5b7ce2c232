//! A trace: captures in memory, as events and tasks.

use crate::store::by_task;
use crate::store::event::EventKind;
use crate::store::events::EventTable;
use crate::store::file_chunks::FileChunks;
use crate::store::index::{ShapeId, TaskId, TiSlice, TiVec};
use crate::store::pid_index::PidIndex;
use crate::store::program_names::ProgramNames;
use crate::store::programs::ProgramIndex;
use crate::store::recent_lines::RecentLines;
use crate::store::scheduling::Scheduling;
use crate::store::schema::schema;
use crate::store::shape_parts::ShapeParts;
use crate::store::tasks::{Tasks, main_task};
use parsers::{CaptureFacts, EnvelopeFacts, LineKind, NO_NS};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

schema! {
    pub SUMMARY_ROWS: summary_rows "Rows of tables that a tracer printed (strace -c).";
    times: Calls;
    columns {
        capture: Index "Number of the capture.",
        syscall: Text "Name of the system call.",
        calls: Count "Number of calls.",
        failed: Count "Number of calls that failed.",
        total_ns: Ns "Total as printed: CPU or wall time, depending on the tracer.",
    }
}

/// What the program that made a capture stored about it, apart from its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFacts {
    /// When the tracer let go of the tasks that still lived, in ns since 1970: calls that were open lasted at least until
    /// then. [`NO_NS`] if unknown.
    pub ended_ns: i64,
    /// Whether the tracer printed durations: a capture of open calls only does not show it.
    pub has_durations: bool,
    /// Threads that ran when the tracer attached: the ids of the process and of the thread.
    pub threads: Vec<(i32, i32)>,
    /// What these processes ran then: id, path and command line.
    pub programs: Vec<(i32, Vec<u8>, Vec<u8>)>,
    /// Their parents: the ids of the process and of its parent.
    pub parents: Vec<(i32, i32)>,
    /// How long the command took without the tracer; [`NO_NS`] if it was not run so.
    pub untraced_ns: i64,
}

/// One capture: a file, or several that belong together.
#[derive(Clone, Debug)]
pub struct Capture {
    /// As the user named it.
    pub path: String,
    /// Its files, in the order of their numbers, which begin at `first_file`.
    pub files: Vec<String>,
    /// Number of the first file in the trace.
    pub first_file: u32,
    /// Number of the tracer's run in the file, from 1: a file may have been appended to.
    pub run: u32,
    /// Number of runs in the file.
    pub runs: u32,
    /// Line of the file with which it begins.
    pub first_line: u64,
    /// Name of the format.
    pub format: &'static str,
    /// The contents and the meaning of its lines.
    pub facts: CaptureFacts,
    /// The wrapping of its lines, such as log prefixes.
    pub envelopes: EnvelopeFacts,
    /// Number of bytes, uncompressed.
    pub bytes: u64,
    /// Lines of each kind, in the order of [`LineKind::ALL`].
    pub accounting: Vec<u64>,
    /// The first line of each kind, 0 if none, in the order of [`LineKind::ALL`].
    pub first_lines: Vec<u64>,
    /// Calls that begin while another one of the same process is open, where lines name processes only.
    pub mixed_calls: u64,
    /// Whether a process creates threads, and lines name processes only.
    pub mixes_threads: bool,
    /// Lost events by [`LossCause`], and the first line that reports some; 0 if there is none.
    pub lost_by: [(u64, u64); LossCause::ALL.len()],
    /// Events that the tracer reports as lost. A report without a number counts as one.
    pub lost_events: u64,
    /// Its tasks.
    pub tasks: Range<TaskId>,
    /// Its events.
    pub rows: Range<u32>,
    /// Start of its first event; [`NO_NS`] without a clock.
    pub first_ns: i64,
    /// End of its last event.
    pub last_ns: i64,
    /// Whether the last line is cut or the compressed file ends early.
    pub cut: bool,
    /// Whether the last line is a first half after which the tracer printed a line of another task.
    pub lacks_next: bool,
    /// Lines whose stamp lies before that of an earlier line of the same file.
    pub backward_steps: u64,
    /// Children that were created but have no line in the capture.
    pub unseen_children: u64,
    /// Threads among them.
    pub unseen_threads: u64,
    /// The process that the tracer attached to with all its threads, and how many other than its main thread have no line.
    pub attached_process: Option<(i32, u32)>,
    /// Children that print other ids than their creators got, matched because no other child is possible.
    pub presumed_children: u64,
    /// Its clock shows whole seconds, and many calls in each of few seconds: which of them took the time is chance.
    pub is_too_coarse: bool,
    /// The order of lines of different files is not printed but inferred, and so are their times (`strace -ff -r`).
    pub is_order_inferred: bool,
    /// Calls whose printed interval begins at no earlier event of their task: lines before them are left out, or out of order.
    /// With the begin of the interval.
    pub unjoined: Vec<(u32, i64)>,
    /// Lines that stand for lines that were left out.
    pub elisions: Vec<u32>,
    /// The last lines that are not of the tracer: output of the program, prose.
    pub foreign_lines: RecentLines,
    /// Lines of other formats than its own.
    pub other_formats: Vec<OtherFormat>,
    /// Rows of summary tables.
    pub summary: Vec<SummaryRow>,
    /// Times of the whole run under such a table, in the order of [`parsers::line::RunTime`].
    pub run_ns: [Option<i64>; 3],
    /// What the program that made it stored about it.
    pub recorded: Option<RecordedFacts>,
}

/// Why a tracer lost events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossCause {
    /// Its buffers were full.
    Buffers,
    /// DTrace had no space for variables.
    Variables,
    /// DTrace could not read an argument, and left out the line of the call.
    Argument,
}

impl LossCause {
    /// All of them, by number.
    pub const ALL: [LossCause; 3] = [
        LossCause::Buffers,
        LossCause::Variables,
        LossCause::Argument,
    ];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        ["full-buffers", "no-variable-space", "unreadable-argument"][self as usize]
    }

    /// The cause with this name, which readers give to lines; buffers if there is none.
    pub(crate) fn by_name(name: &[u8]) -> LossCause {
        LossCause::ALL
            .into_iter()
            .find(|cause| cause.name().as_bytes() == name)
            .unwrap_or(LossCause::Buffers)
    }
}

/// Lines of a capture that have another format than the capture.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherFormat {
    /// Name of the format; that of the capture, if only the layout of the lines differs.
    pub format: String,
    /// Number of lines.
    pub lines: u64,
    /// The first one.
    pub first_line: u64,
    /// The last one.
    pub last_line: u64,
}

/// A row of a summary table.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRow {
    /// Name of the syscall.
    pub syscall: String,
    /// Number of calls.
    pub calls: u64,
    /// Number of failed calls.
    pub failed: u64,
    /// Total as printed.
    pub total_ns: i64,
}

impl Capture {
    /// The step of printed durations: tracers that print them print microseconds, whatever the stamps are.
    pub fn dur_tick_ns(&self) -> i64 {
        let exact = self.facts.has_durations && self.facts.dur_kind == parsers::DurKind::Exact;
        if exact {
            self.facts.tick_ns.min(1_000)
        } else {
            self.facts.tick_ns
        }
    }

    /// A capture without lines, events and files.
    pub(crate) fn empty(format: &'static str, facts: CaptureFacts) -> Capture {
        Capture {
            path: String::new(),
            files: Vec::new(),
            first_file: 0,
            run: 1,
            runs: 1,
            first_line: 1,
            format,
            facts,
            envelopes: EnvelopeFacts::default(),
            bytes: 0,
            accounting: vec![0; LineKind::ALL.len()],
            first_lines: vec![0; LineKind::ALL.len()],
            mixed_calls: 0,
            mixes_threads: false,
            lost_by: [(0, 0); LossCause::ALL.len()],
            lost_events: 0,
            tasks: TaskId::new(0)..TaskId::new(0),
            rows: 0..0,
            first_ns: NO_NS,
            last_ns: NO_NS,
            cut: false,
            lacks_next: false,
            backward_steps: 0,
            unseen_children: 0,
            unseen_threads: 0,
            attached_process: None,
            presumed_children: 0,
            is_too_coarse: false,
            is_order_inferred: false,
            unjoined: Vec::new(),
            elisions: Vec::new(),
            foreign_lines: RecentLines::default(),
            other_formats: Vec::new(),
            summary: Vec::new(),
            run_ns: [None; 3],
            recorded: None,
        }
    }

    /// Its tasks.
    pub fn task_ids(&self) -> impl DoubleEndedIterator<Item = TaskId> + Clone + use<> {
        TaskId::all(self.tasks.clone())
    }

    /// Number of lines.
    pub fn lines(&self) -> u64 {
        self.accounting.iter().sum()
    }

    /// Line of the file with which it ends.
    pub fn last_line(&self) -> u64 {
        (self.first_line + self.lines()).saturating_sub(1)
    }

    /// Extend it to these moments.
    #[inline]
    pub(crate) fn lived(&mut self, from_ns: i64, to_ns: i64) {
        if self.first_ns == NO_NS || from_ns < self.first_ns {
            self.first_ns = from_ns;
        }
        self.last_ns = self.last_ns.max(to_ns);
    }

    /// Lines of a kind.
    pub fn lines_of(&self, kind: LineKind) -> u64 {
        self.accounting[kind as usize]
    }

    /// When the tracer let go of the tasks that still lived, if that is known.
    pub fn ended_ns(&self) -> Option<i64> {
        let recorded = self.recorded.as_ref()?;
        let is_dated = self.facts.clock == parsers::Clock::Epoch && self.first_ns != NO_NS;
        (is_dated && recorded.ended_ns != NO_NS).then_some(recorded.ended_ns)
    }

    /// Whether its events have wall-clock times that can be divided.
    pub fn has_wall_clock(&self) -> bool {
        use parsers::Clock;
        !matches!(self.facts.clock, Clock::PerThread | Clock::None)
            && self.first_ns != NO_NS
            && !self.is_too_coarse
    }
}

/// Captures in memory.
#[derive(Default)]
pub struct Trace {
    /// All events; those of a capture are one range.
    pub events: EventTable,
    /// All tasks; those of a capture are one range.
    pub tasks: Tasks,
    /// The captures.
    pub captures: Vec<Capture>,
    /// Rows of each task in order of time; see [`Trace::rows_of`].
    pub(crate) task_rows: Vec<u32>,
    pub(crate) task_offsets: Vec<u32>,
    /// The chunks of each file that was read in chunks.
    pub(crate) cells: FxHashMap<String, FileChunks>,
    /// The tasks of each process id, computed on first use.
    pids: OnceLock<PidIndex>,
    /// The main task of the process of each task, computed on first use.
    mains: OnceLock<TiVec<TaskId, TaskId>>,
    /// The programs of each task, computed on first use.
    programs: OnceLock<ProgramIndex>,
    /// The names of programs, computed on first use.
    program_names: OnceLock<ProgramNames>,
    /// What tables need of each of `task_rows`; see [`Trace::shapes_of`].
    contiguous: OnceLock<Contiguous>,
    /// What the kernel saw, by capture.
    scheduling: FxHashMap<u32, Scheduling>,
    /// Capture, thread id, birth and number of each task, in order; computed on first use.
    by_tid: OnceLock<Vec<(u32, i32, i64, TaskId)>>,
}

/// All rows of a shorter task are looked at, which takes less time than to look up the rare ones.
const MIN_ROWS_TO_SKIP: usize = 1024;

/// What tables need of all rows, in the order of `Trace::task_rows`, where those of a task are contiguous. In the event
/// table they are far apart if many tasks work at the same time, and each one is a cache miss.
struct Contiguous {
    shapes: Vec<ShapeId>,
    /// A bit for each row: whether it is a call.
    calls: Vec<u64>,
    parts: Arc<ShapeParts>,
}

impl Contiguous {
    fn new(events: &EventTable, rows: &[u32]) -> Contiguous {
        let calls = |rows: &[u32]| {
            let bits = rows
                .iter()
                .zip(0..)
                .map(|(&row, bit)| u64::from(events.kind(row) == EventKind::Call) << bit);
            bits.fold(0, |word, bit| word | bit)
        };
        let shapes: Vec<ShapeId> = rows
            .par_iter()
            .map(|&row| events.shape_number(row))
            .collect();
        let parts = Arc::new(ShapeParts::new(&events.texts, events.shapes(), &shapes));
        Contiguous {
            shapes,
            calls: rows.par_chunks(64).map(calls).collect(),
            parts,
        }
    }
}

impl Trace {
    /// What the kernel saw of the tasks of a capture, if scheduler events were read with it.
    #[inline]
    pub fn scheduling(&self, capture: u32) -> Option<&Scheduling> {
        self.scheduling.get(&capture)
    }

    /// Whether scheduler events were read with any capture.
    pub fn has_scheduling(&self) -> bool {
        !self.scheduling.is_empty()
    }

    /// The task of a capture that had this thread id at a moment.
    pub fn task_with_tid(&self, capture: u32, tid: i32, at_ns: i64) -> Option<TaskId> {
        let by_tid = self.by_tid.get_or_init(|| {
            let mut all: Vec<_> = self
                .tasks
                .keys()
                .map(|number| {
                    let task = &self.tasks[number];
                    (task.capture, task.tid, task.birth_ns, number)
                })
                .collect();
            all.sort_unstable();
            all
        });
        let after = by_tid
            .partition_point(|&(of, id, birth_ns, _)| (of, id, birth_ns) <= (capture, tid, at_ns));
        let &(of, id, _, number) = by_tid.get(after.checked_sub(1)?)?;
        ((of, id) == (capture, tid)).then_some(number)
    }

    pub(crate) fn set_scheduling(&mut self, capture: u32, scheduling: Scheduling) {
        self.scheduling.insert(capture, scheduling);
    }

    /// The programs of each task over time. Valid after everything is read.
    pub fn program_index(&self) -> &ProgramIndex {
        self.programs.get_or_init(|| ProgramIndex::new(&self.tasks))
    }

    /// The names of programs. Valid after everything is read.
    pub fn program_names(&self) -> &ProgramNames {
        self.program_names
            .get_or_init(|| ProgramNames::new(&self.events.texts, self.program_index()))
    }

    /// The tasks of each process id. Valid after everything is read.
    pub fn pids(&self) -> &PidIndex {
        self.pids.get_or_init(|| PidIndex::new(&self.tasks))
    }

    /// The main task of the process of each task. Valid after everything is read.
    pub fn main_tasks(&self) -> &TiSlice<TaskId, TaskId> {
        self.mains.get_or_init(|| {
            self.tasks
                .keys()
                .map(|task| main_task(&self.tasks, task))
                .collect()
        })
    }

    /// The main task of the process of a task.
    pub fn main_task_of(&self, task: TaskId) -> TaskId {
        self.main_tasks().get(task).copied().unwrap_or(task)
    }

    /// The chunks of a file, if it was read in chunks.
    pub fn cells(&self, path: &str) -> Option<&FileChunks> {
        self.cells.get(path)
    }

    /// Rows of a task in order of their starts.
    #[inline]
    pub fn rows_of(&self, task: TaskId) -> &[u32] {
        self.task_rows.get(self.places_of(task)).unwrap_or(&[])
    }

    /// Shape numbers of these rows, in the same order. Most tables need few shapes and find their rows here. Valid after
    /// everything is read.
    pub fn shapes_of(&self, task: TaskId) -> &[ShapeId] {
        self.contiguous()
            .shapes
            .get(self.places_of(task))
            .unwrap_or(&[])
    }

    /// Whether each of these rows is a call, by its index among them. Valid after everything is read.
    pub fn are_calls(&self, task: TaskId) -> impl Fn(usize) -> bool + use<'_> {
        let (bits, first) = (&self.contiguous().calls, self.places_of(task).start);
        move |at| {
            bits.get((first + at) / 64)
                .is_some_and(|word| word >> ((first + at) % 64) & 1 == 1)
        }
    }

    /// The shapes without their targets. Valid after everything is read.
    pub fn shape_parts(&self) -> &Arc<ShapeParts> {
        &self.contiguous().parts
    }

    /// The rows of a task that have rare parts, as indexes among its rows, or `None` if the task is short.
    pub fn rare_places(&self, task: TaskId) -> Option<impl Iterator<Item = usize> + use<'_>> {
        let range = self.places_of(task);
        let rows =
            (range.len() >= MIN_ROWS_TO_SKIP).then(|| self.contiguous().parts.rare_rows(&range))?;
        Some(rows.iter().map(move |&row| row as usize - range.start))
    }

    fn contiguous(&self) -> &Contiguous {
        self.contiguous
            .get_or_init(|| Contiguous::new(&self.events, &self.task_rows))
    }

    /// The range of a task's rows in the list of all rows.
    #[inline]
    fn places_of(&self, task: TaskId) -> Range<usize> {
        let bounds = self
            .task_offsets
            .get(task.index())
            .zip(self.task_offsets.get(task.index() + 1));
        bounds.map_or(0..0, |(&from, &to)| from as usize..to as usize)
    }

    /// Rows of a task from an index on, in order of their starts.
    pub fn rows_from(&self, task: TaskId, row: u32) -> &[u32] {
        let rows = self.rows_of(task);
        // Without a clock the rows are in the order of their lines.
        let at = self
            .place_of(task, row)
            .unwrap_or_else(|| rows.partition_point(|&other| other < row));
        rows.get(at..).unwrap_or(&[])
    }

    /// The index of a row among the rows of its task, which are in order of their starts.
    pub fn place_of(&self, task: TaskId, row: u32) -> Option<usize> {
        let rows = self.rows_of(task);
        let start_ns = self.events.start_ns(row);
        let from = rows.partition_point(|&other| self.events.start_ns(other) < start_ns);
        rows[from..]
            .iter()
            .position(|&other| other == row)
            .map(|at| from + at)
    }

    /// Whether a row starts before another one. Without times, or at the same time, the order of the lines decides.
    pub fn starts_before(&self, row: u32, other: u32) -> bool {
        match (self.events.start_ns(row), self.events.start_ns(other)) {
            (NO_NS, _) | (_, NO_NS) => row < other,
            (start_ns, other_ns) => (start_ns, row) < (other_ns, other),
        }
    }

    /// Order the columns of the rows, if nothing but the rows will be read.
    pub(crate) fn order_rows_only(&mut self) {
        self.events.order_columns();
    }

    /// Sort each task's rows. Called once, after everything is read.
    pub(crate) fn index(&mut self) {
        self.events.order_lists();
        (self.task_offsets, self.task_rows) = by_task::rows(&self.events, self.tasks.len());
    }
}
