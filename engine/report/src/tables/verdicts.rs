//! The waits of the critical path that the trace alone shows, compared with what the kernel saw.

use parsers::{NO_ID, NO_NS};
use path::critical_path::segment::{Segment, What};
use path::critical_path::walk::{Waited, WalkListener, walk};
use path::critical_path::window::Window;
use path::waits::edge::{Confidence, Edge, WakeKind};
use path::waits::wakers::Wakers;
use path::waits::witness::Verdict;
use rustc_hash::FxHashMap;
use trace::store::event::{EventKind, NONE};
use trace::store::index::TaskId;
use trace::store::schema::schema;
use trace::store::table::{Table, ints, some_ints, texts};
use trace::store::text_columns::text_column;
use trace::store::trace::Trace;

schema! {
    pub VERDICTS: verdicts "Waits, with the waker that follows from the lines and what scheduler events of the kernel show.";
    times: Calls;
    columns {
        line: Count "Line of the call.",
        tid: Id "Thread that waited.",
        syscall: Text "Name of the system call.",
        dur_ns: Ns "Duration of the call.",
        on_path_ns: Ns "Time of the wait on the critical path, as the lines alone show it.",
        how: Text "How the waker was found in the lines; missing if none was.",
        sure: Text "Confidence in it.",
        waker_tid: Id "The waker that was found in the lines.",
        verdict: Text "What the kernel saw: task, outside, interrupt, not-blocked, unknown or not-covered.",
        seen_tid: Id "The thread that the kernel saw.",
        judgement: Text "right, wrong, missed, invented or open.",
    }
}

/// Time on the path of each call that waits, according to the lines alone.
#[derive(Default)]
struct PathOfCalls {
    /// In the call itself.
    charged_ns: FxHashMap<u32, i64>,
    /// In what it waited for; if that has too little, the rest is charged to the call, too.
    waited_ns: FxHashMap<u32, i64>,
}

impl PathOfCalls {
    fn ns(&self, row: u32) -> i64 {
        let of = |sums: &FxHashMap<u32, i64>| sums.get(&row).copied().unwrap_or(0);
        of(&self.charged_ns).max(of(&self.waited_ns))
    }
}

impl WalkListener for PathOfCalls {
    fn charged(&mut self, segment: Segment) {
        if let What::Call(row) | What::Resume(row) = segment.what {
            *self.charged_ns.entry(row).or_default() += segment.dur_ns();
        }
    }

    fn ends(&mut self, waited: &Waited) {
        *self.waited_ns.entry(waited.row).or_default() += waited.dur_ns;
    }
}

struct Compared {
    task: TaskId,
    row: u32,
    dur_ns: i64,
    edge: Option<Edge>,
    /// Whether the kernel saw that the waker of the lines ended it.
    is_confirmed: bool,
    verdict: Verdict,
}

/// One row per wait of at least this length that another task or event must have ended.
pub fn verdicts(trace: &Trace, windows: &[Window], at_least_ns: i64) -> Table {
    let wakers = Wakers::new(trace);
    let tasks = trace.tasks.keys().filter(|&task| {
        let capture = trace.tasks[task].capture;
        trace.scheduling(capture).is_some()
    });
    let rows: Vec<Compared> = tasks
        .flat_map(|task| compared(trace, &wakers, task, at_least_ns))
        .collect();
    let wakers = wakers.without_kernel();
    let mut on_path = PathOfCalls::default();
    for window in windows {
        walk(trace, &wakers, window, &mut on_path);
    }
    table(trace, &on_path, &rows)
}

fn compared(trace: &Trace, wakers: &Wakers, task: TaskId, at_least_ns: i64) -> Vec<Compared> {
    let rows = trace.rows_of(task).len();
    let spans = trace.spans_of(task, 0..rows, NO_NS);
    let long = spans.filter(|(_, span)| {
        span.end_ns.saturating_sub(span.start_ns) >= at_least_ns
            && span.row != NONE
            && trace.events.kind(span.row) == EventKind::Call
    });
    let found = long.filter_map(|(at, span)| {
        let edge = wakers.inferred(trace, task, at, span);
        if edge.is_none() && !wakers.needs_waker(trace, span.row) {
            return None;
        }
        Some(Compared {
            task,
            row: span.row,
            dur_ns: span.end_ns - span.start_ns,
            edge,
            is_confirmed: wakers.waker(trace, task, at, span).is_some_and(|known| {
                known.sure == Confidence::Witnessed
                    && edge.is_some_and(|edge| edge.task == known.task)
            }),
            verdict: wakers.verdict(trace, task, at, span)?,
        })
    });
    found.collect()
}

/// A thread of the same process is as good where a process ends.
fn judgement(trace: &Trace, row: &Compared) -> &'static str {
    let mains = trace.main_tasks();
    let main = |task: TaskId| mains.get(task).copied();
    if row.is_confirmed {
        return "right";
    }
    // These waits are more than one call: no single wake-up ends them.
    match (row.verdict, row.edge) {
        (_, Some(edge)) if is_composed(edge) => "open",
        (Verdict::NotCovered | Verdict::Unknown, _) => "open",
        (Verdict::Task { task, .. }, Some(edge)) if main(edge.task) == main(task) => "right",
        (Verdict::Task { .. }, Some(_)) => "wrong",
        (Verdict::Task { task, .. }, None) if task == row.task => "open",
        (Verdict::Task { .. }, None) => "missed",
        (Verdict::NotBlocked | Verdict::Outside(_) | Verdict::Interrupt, Some(_)) => "invented",
        (Verdict::NotBlocked | Verdict::Outside(_) | Verdict::Interrupt, None) => "right",
    }
}

fn is_composed(edge: Edge) -> bool {
    matches!(edge.how, WakeKind::Poll | WakeKind::Beside)
}

fn table(trace: &Trace, on_path: &PathOfCalls, rows: &[Compared]) -> Table {
    let events = &trace.events;
    let tid = |task: TaskId| trace.tasks.get(task).map_or(NO_ID, |task| task.tid);
    let id = |tid: i32| if tid == NO_ID { NO_NS } else { i64::from(tid) };
    let seen = |row: &Compared| match row.verdict {
        Verdict::Task { task, .. } => tid(task),
        Verdict::Outside(tid) => tid,
        _ => NO_ID,
    };
    let on_path_ns = |row: &Compared| on_path.ns(row.row);
    let edge = |row: &Compared| row.edge;
    let columns = vec![
        (
            "line",
            ints(rows.iter().map(|row| i64::from(events.line(row.row)))),
        ),
        ("tid", some_ints(rows.iter().map(|row| id(tid(row.task))))),
        (
            "syscall",
            text_column(trace, rows.iter().map(|row| events.shape(row.row).syscall)),
        ),
        ("dur_ns", ints(rows.iter().map(|row| row.dur_ns))),
        ("on_path_ns", ints(rows.iter().map(on_path_ns))),
        (
            "how",
            texts(rows.iter().map(|row| edge(row).map(|edge| edge.how.name()))),
        ),
        (
            "sure",
            texts(
                rows.iter()
                    .map(|row| edge(row).map(|edge| edge.sure.name())),
            ),
        ),
        (
            "waker_tid",
            some_ints(
                rows.iter()
                    .map(|row| edge(row).map_or(NO_NS, |edge| id(tid(edge.task)))),
            ),
        ),
        (
            "verdict",
            texts(rows.iter().map(|row| Some(row.verdict.name()))),
        ),
        ("seen_tid", some_ints(rows.iter().map(|row| id(seen(row))))),
        (
            "judgement",
            texts(rows.iter().map(|row| Some(judgement(trace, row)))),
        ),
    ];
    Table::new("verdicts", columns)
}
