//! The wait graph: what each process was blocked on, and its slack.
//!
//! ```text
//! parent  |-- work --|------- wait -------|          inclusive: all of it; waits for the child
//! child   |---------- work ---------------|          inclusive: its time on the path
//! other   |-- work --|       slack        |          ended here; the path returns to its waiter only there
//! ```
//!
//! For slack see `slack.rs`.

pub(crate) mod link_sums;

use crate::critical_path::segment::Segment;
use crate::critical_path::slack::{self, SlackQuery, slack_queries};
use crate::critical_path::wait_graph::link_sums::{LinkSums, WaitPairs};
use crate::critical_path::walk::Waited;
use crate::critical_path::window::Window;
use crate::waits::edge::{Confidence, WakeKind};
use crate::waits::wakers::Wakers;
use parsers::{NO_ID, NO_NS, Text};
use query::selection::Selection;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;
use trace::store::index::{TaskId, TiVec};
use trace::store::programs::ProgramIndex;
use trace::store::schema::schema;
use trace::store::table::{Table, ints, some_ints, texts};
use trace::store::text_columns::text_column;
use trace::store::trace::Trace;

schema! {
    pub CHAIN: chain "What each process was blocked on, and how much later it could have ended.";
    times: Calls;
    columns {
        task: Index "Number of the process's main task.",
        capture: Index "Number of the capture.",
        pid: Id "Process id.",
        program: Text "The last program it ran.",
        inclusive_ns: Ns "Critical-path time of the process, including the time it waited for others.",
        waits_for_task: Index "Main task of the process that it was blocked on longest on the critical path.",
        waits_for_pid: Id "Id of that process.",
        waits_for_ns: Ns "Critical-path time for which it was blocked on that process.",
        waits_for_how: Text "How the end of most of that wait is known, as in column `how` of the path.",
        waits_for_sure: Text "Confidence: measured (the trace shows it) or inferred (from times and parentage).",
        slack_ns: Ns "How much longer it could have run without delaying the end of the window, as far as the trace shows its waiters; missing where unknown.",
    }
}

/// How the waker was found, and with which confidence.
type EdgeKind = (WakeKind, Confidence);

/// The process that another one waited for longest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Longest {
    ns: i64,
    waker: TaskId,
    /// Of most of that time.
    known: EdgeKind,
}

/// What each process waited for on the path, as recorded by a walk.
#[derive(Debug, Default)]
struct WaitTotals {
    mains: TiVec<TaskId, TaskId>,
    sums: LinkSums,
    /// The processes that wait at this moment of the walk, and how often each does.
    waiting: Vec<TaskId>,
    depths: Vec<u32>,
}

impl WaitTotals {
    fn new(trace: &Trace) -> WaitTotals {
        let tasks = trace.tasks.len();
        let sums = LinkSums::new(tasks);
        WaitTotals {
            mains: trace.main_tasks().to_vec(),
            sums,
            depths: vec![0; tasks],
            ..WaitTotals::default()
        }
    }

    fn begins(&mut self, waiter: TaskId) {
        let process = self.main(waiter);
        self.waiting.push(process);
        if let Some(depth) = self.depths.get_mut(process.index()) {
            *depth += 1;
        }
    }

    fn ends(&mut self, waited: &Waited) {
        let (waiter, waker) = (self.main(waited.waiter), self.main(waited.waker));
        self.waiting.pop();
        if let Some(depth) = self.depths.get_mut(waiter.index()) {
            *depth = depth.saturating_sub(1);
        }
        // A process that polls for the exit of another one waits for the reaper, too: both wait for that process.
        let is_between = self.waits(waiter);
        let outer = if is_between {
            self.waiting.last().copied().unwrap_or(waiter)
        } else {
            waiter
        };
        if outer != waker && !self.waits(waker) {
            self.sums.add(outer, waker, waited.known, waited.dur_ns);
        }
    }

    fn main(&self, task: TaskId) -> TaskId {
        self.mains.get(task).copied().unwrap_or(task)
    }

    fn waits(&self, process: TaskId) -> bool {
        self.depths
            .get(process.index())
            .is_some_and(|&depth| depth > 0)
    }

    /// What each process waited for longest, for how long, and the evidence for most of it; by process.
    fn longest(&self) -> Vec<Option<Longest>> {
        let mut longest: Vec<Option<Longest>> = vec![None; self.mains.len()];
        for (waiter, waker, ns, known) in self.sums.pairs() {
            if let Some(best) = longest.get_mut(waiter.index()) {
                *best = (*best).max(Some(Longest { ns, waker, known }));
            }
        }
        longest
    }
}

/// What the walk of a window records about slack.
#[derive(Debug, Default)]
struct SlackProbe {
    /// In order of `from_ns`.
    queries: Vec<SlackQuery>,
    /// Processes that waited on the path, each with the one that ended the wait.
    waited: WaitPairs,
}

/// What a walk records about processes, by their main tasks.
#[derive(Debug, Default)]
pub struct WalkStats {
    waits: WaitTotals,
    /// Time on the path in each process, or while it waited.
    inclusive_ns: Vec<i64>,
    /// Where the latest stretch of each process seen so far begins; the walk goes back in time.
    begins_ns: Vec<i64>,
    /// Of the window that is walked.
    slack_probe: SlackProbe,
    /// Requests after this place are answered.
    open: usize,
    /// Number of waits for data or a lock, by the task that waited and the task that ended the wait.
    handovers: FxHashMap<(TaskId, TaskId), u64>,
    /// Of the windows before.
    windows: Vec<SlackProbe>,
    slack_ns: OnceLock<FxHashMap<TaskId, i64>>,
}

impl WalkStats {
    /// Nothing is walked yet.
    pub(crate) fn new(trace: &Trace) -> WalkStats {
        let (waits, none) = (WaitTotals::new(trace), vec![NO_NS; trace.tasks.len()]);
        WalkStats {
            waits,
            inclusive_ns: vec![0; trace.tasks.len()],
            begins_ns: none,
            ..WalkStats::default()
        }
    }

    /// The walk of a window begins.
    pub(crate) fn enter(&mut self, trace: &Trace, window: &Window) {
        self.leave();
        self.slack_probe.queries = slack_queries(trace, &self.waits.mains, window.capture);
        let capture = trace.captures.get(window.capture as usize);
        self.slack_probe.waited = capture
            .map(|capture| WaitPairs::new(capture.tasks.clone()))
            .unwrap_or_default();
        self.open = self
            .slack_probe
            .queries
            .partition_point(|query| query.from_ns <= window.end_ns);
        self.begins_ns.fill(NO_NS);
    }

    /// The walk of the last window is over.
    pub(crate) fn leave(&mut self) {
        self.windows.push(std::mem::take(&mut self.slack_probe));
    }

    /// See [`Listen::charged`](crate::critical_path::walk::Listen::charged).
    pub(crate) fn charged(&mut self, segment: &Segment) {
        let process = self.waits.main(segment.task);
        self.add(process, segment.dur_ns());
        while let Some(query) = self
            .open
            .checked_sub(1)
            .and_then(|last| self.slack_probe.queries.get_mut(last))
        {
            if query.from_ns < segment.start_ns {
                break;
            }
            let here = query.waiter == process && query.from_ns <= segment.end_ns;
            let later = self
                .begins_ns
                .get(query.waiter.index())
                .copied()
                .unwrap_or(NO_NS);
            query.next_ns = if here { query.from_ns } else { later };
            self.open -= 1;
        }
        if let Some(begins_ns) = self.begins_ns.get_mut(process.index()) {
            *begins_ns = segment.start_ns;
        }
    }

    /// See [`Listen::begins`](crate::critical_path::walk::Listen::begins).
    pub(crate) fn begins(&mut self, waiter: TaskId) {
        self.waits.begins(waiter);
    }

    /// See [`Listen::ends`](crate::critical_path::walk::Listen::ends).
    pub(crate) fn ends(&mut self, waited: &Waited) {
        self.waits.ends(waited);
        if matches!(waited.known.0, WakeKind::Stream | WakeKind::Futex) {
            *self
                .handovers
                .entry((waited.waiter, waited.waker))
                .or_default() += 1;
        }
        let process = self.waits.main(waited.waiter);
        self.slack_probe
            .waited
            .insert(process, self.waits.main(waited.waker));
        self.add(process, waited.dur_ns);
    }

    /// Add time to a process, unless it waits: then it gets all of that when the wait ends.
    fn add(&mut self, process: TaskId, ns: i64) {
        if self.waits.waits(process) {
            return;
        }
        if let Some(sum_ns) = self.inclusive_ns.get_mut(process.index()) {
            *sum_ns += ns;
        }
    }

    /// Number of waits on the path for data or a lock, by the task that waited and the task that ended the wait.
    pub fn handovers(&self) -> &FxHashMap<(TaskId, TaskId), u64> {
        &self.handovers
    }

    /// Time on the path during which other processes waited for the process of a task.
    pub fn awaited_ns(&self, task: TaskId) -> i64 {
        let process = self.waits.main(task);
        self.waits.sums.awaited_ns(process)
    }

    /// See `slack.rs`. Processes with unknown slack are absent.
    pub fn slack_ns(&self, trace: &Trace, wakers: &Wakers) -> &FxHashMap<TaskId, i64> {
        self.slack_ns.get_or_init(|| {
            let mains = &self.waits.mains;
            self.windows
                .iter()
                .flat_map(|slack_probe| {
                    slack::slacks(
                        trace,
                        wakers,
                        mains,
                        &slack_probe.queries,
                        &slack_probe.waited,
                    )
                })
                .collect()
        })
    }
}

/// One row per process that the selection touches.
pub fn chain(
    trace: &Trace,
    wakers: &Wakers,
    stats: &WalkStats,
    selection: &Selection<'_>,
) -> Table {
    let chosen = trace
        .tasks
        .keys()
        .filter(|&task| selection.touches_task(task));
    let mut rows: Vec<TaskId> = chosen.map(|task| stats.waits.main(task)).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut table = links_table(
        trace,
        selection.program_index,
        &rows,
        &stats.waits.longest(),
    );
    let slack_ns = stats.slack_ns(trace, wakers);
    let inclusive_ns = rows
        .iter()
        .map(|&task| stats.inclusive_ns.get(task.index()).copied().unwrap_or(0));
    table
        .columns
        .push(("inclusive_ns".to_owned(), some_ints(inclusive_ns)));
    let slack_ns = rows
        .iter()
        .map(|task| slack_ns.get(task).copied().unwrap_or(NO_NS));
    table
        .columns
        .push(("slack_ns".to_owned(), some_ints(slack_ns)));
    table
}

/// The process in which the walk of a window starts, the process it waited for longest, and so on: one row each.
pub fn longest(
    trace: &Trace,
    WalkStats { waits, .. }: &WalkStats,
    windows: &[Window],
    programs: &ProgramIndex,
) -> Table {
    let longest = waits.longest();
    let roots = windows.iter().filter_map(|window| window.root);
    let rows: Vec<TaskId> = roots
        .flat_map(|root| links(waits.main(root), &longest))
        .collect();
    links_table(trace, programs, &rows, &longest)
}

/// A process, the process it waited for longest, and so on, until one repeats.
fn links(first: TaskId, longest: &[Option<Longest>]) -> Vec<TaskId> {
    const MAX_CHAIN: usize = 64;
    let mut links = vec![first];
    while let Some(Longest { waker: next, .. }) =
        links.last().and_then(|&last| *longest.get(last.index())?)
    {
        if links.contains(&next) || links.len() == MAX_CHAIN {
            break;
        }
        links.push(next);
    }
    links
}

fn links_table(
    trace: &Trace,
    programs: &ProgramIndex,
    rows: &[TaskId],
    longest: &[Option<Longest>],
) -> Table {
    let pid = |task: TaskId| match trace.tasks[task].pid {
        NO_ID => NO_NS,
        pid => i64::from(pid),
    };
    let program = |task: TaskId| {
        programs
            .name_of(task)
            .map_or(Text::NONE, |program| program.path)
    };
    let waits: Vec<Option<&Longest>> = rows
        .iter()
        .map(|&task| longest.get(task.index())?.as_ref())
        .collect();
    let of_waits = |value: &dyn Fn(&Longest) -> i64| {
        some_ints(waits.iter().map(|waits| waits.map_or(NO_NS, value)))
    };
    let named = |name: &dyn Fn(EdgeKind) -> &'static str| {
        texts(waits.iter().map(|waits| waits.map(|it| name(it.known))))
    };
    let columns = vec![
        ("task", ints(rows.iter().map(|&task| i64::from(task)))),
        (
            "capture",
            ints(
                rows.iter()
                    .map(|&task| i64::from(trace.tasks[task].capture)),
            ),
        ),
        ("pid", some_ints(rows.iter().map(|&task| pid(task)))),
        (
            "program",
            text_column(trace, rows.iter().map(|&task| program(task))),
        ),
        ("waits_for_task", of_waits(&|waits| i64::from(waits.waker))),
        ("waits_for_pid", of_waits(&|waits| pid(waits.waker))),
        ("waits_for_ns", of_waits(&|waits| waits.ns)),
        ("waits_for_how", named(&|(how, _)| how.name())),
        ("waits_for_sure", named(&|(_, sure)| sure.name())),
    ];
    Table::new("chain", columns)
}
