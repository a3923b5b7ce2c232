//! Connects that a process repeats, from one thread or, as runtimes do that share out their work, from several.
//!
//! ```text
//! thread 1   connect refused |                      | connect refused |
//! thread 2                   | epoll_wait 300 ms    |                 | futex 300 ms | connect refused
//! lftp       connect refused | select 20 ms | select 980 ms | connect refused | connect refused | select 1 s
//! ```
//! What a task does between its attempts, and in how many parts it waits, makes no difference. Where a filter leaves out the
//! waits, as `-e trace=network` does, the task pauses where it makes no call.

use crate::tables::polls::mean_ns;
use crate::tables::probe_series::pauses::Pause;
use crate::tables::probe_series::probes::is_temporary;
use kit::table_support::context::TableContext;
use kit::table_support::shape_index::{ShapeIndex, processes};
use parsers::syscalls::Action;
use parsers::{NO_NS, Outcome, Text};
use path::critical_path::trust::Trust;
use rustc_hash::FxHashMap;
use trace::store::event::EventKind;
use trace::store::facts::ConnectOutcome;
use trace::store::index::TaskId;

/// Attempts of a process to connect to one address.
pub(super) struct Series {
    /// The attempts, in order.
    pub attempts: Vec<Attempt>,
    /// How long the process paused between two attempts, where it did so for most of that time.
    pub pauses_ns: Vec<i64>,
    /// For how long it had asked, as a mean of the pauses where that is known.
    pub asked_ns: Option<i64>,
    /// The attempts, and the waits in the pauses.
    pub rows: Vec<u32>,
    /// Whether the pauses are time between the traced calls.
    pub is_silent: bool,
    /// Time on the path of these.
    pub exclusive_ns: i64,
}

/// One connect.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    pub task: TaskId,
    pub row: u32,
    pub start_ns: i64,
    /// When its outcome was known.
    pub end_ns: i64,
    /// NONE if it succeeded or its outcome is not known.
    pub errno: Text,
}

/// A wait of the process that ended because its time was over.
#[derive(Clone, Copy)]
struct Waited {
    start_ns: i64,
    end_ns: i64,
    asked_ns: Option<i64>,
    row: u32,
}

/// The waits between two attempts.
struct Between {
    paused_ns: i64,
    /// The sum of what the waits asked for, if they follow one another.
    asked_ns: Option<i64>,
    rows: Vec<u32>,
}

/// Repeated connects of each process.
pub(super) fn series(context: &TableContext<'_>, pauses: &[(TaskId, Vec<Pause>)]) -> Vec<Series> {
    let connects = ShapeIndex::new(context, |action, _| {
        (action == Action::Connects).then_some(())
    });
    if !connects.any(|()| true) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for tasks in processes(context) {
        let mut by_target: FxHashMap<Text, Vec<Attempt>> = FxHashMap::default();
        for call in connects.calls_of(context, &tasks, |_| true) {
            by_target
                .entry(context.trace.events.target(call.row))
                .or_default()
                .push(attempt(context, call.row));
        }
        // A library may look for a local service each time that its caller wakes up.
        let is_refused = |attempt: &Attempt| {
            attempt.errno.is_some() && context.trace.events.texts.bytes(attempt.errno) != b"ENOENT"
        };
        by_target.retain(|_, attempts| is_of_several(attempts) || attempts.iter().any(is_refused));
        if by_target.is_empty() {
            continue;
        }
        let waited = waited(context, &tasks, pauses);
        let mut lists: Vec<Vec<Attempt>> = by_target.into_values().collect();
        lists.sort_unstable_by_key(|attempts| attempts[0].row);
        for attempts in lists {
            // A failure that does not pass, or a success, is the last attempt of a series.
            let ends =
                |attempt: &Attempt| !is_temporary(context.trace.events.texts.bytes(attempt.errno));
            let all = attempts
                .split_inclusive(ends)
                .filter_map(|attempts| one(context, attempts, &waited));
            found.extend(all);
        }
    }
    found
}

fn is_of_several(attempts: &[Attempt]) -> bool {
    attempts
        .iter()
        .any(|attempt| attempt.task != attempts[0].task)
}

fn attempt(context: &TableContext<'_>, row: u32) -> Attempt {
    let events = &context.trace.events;
    let (task, start_ns) = (events.task(row), events.start_ns(row));
    let (errno, by) = match events.facts.get::<ConnectOutcome>(row).copied() {
        Some(connected) => (connected.errno, connected.by),
        None if is_in_progress(context, row) || events.outcome(row) != Outcome::Failed => {
            (Text::NONE, row)
        }
        None => (events.shape(row).errno, row),
    };
    let end_ns = if by == row {
        events.end_ns(row).unwrap_or(start_ns)
    } else {
        events.start_ns(by)
    };
    Attempt {
        task,
        row,
        start_ns,
        end_ns,
        errno,
    }
}

fn is_in_progress(context: &TableContext<'_>, row: u32) -> bool {
    matches!(
        context
            .trace
            .events
            .texts
            .bytes(context.trace.events.shape(row).errno),
        b"EINPROGRESS" | b"EINTR" | b"EAGAIN"
    )
}

/// The waits of a process that ended because their time was over, in the order of their starts.
fn waited(
    context: &TableContext<'_>,
    tasks: &[TaskId],
    pauses: &[(TaskId, Vec<Pause>)],
) -> Vec<Waited> {
    let events = &context.trace.events;
    let own = pauses
        .iter()
        .filter(|(task, _)| tasks.contains(task))
        .flat_map(|(_, pauses)| pauses);
    let mut waited: Vec<Waited> = own
        .filter(|pause| {
            events.kind(pause.row) == EventKind::Call && events.start_ns(pause.row) != NO_NS
        })
        .map(|pause| {
            let start_ns = events.start_ns(pause.row);
            Waited {
                start_ns,
                end_ns: start_ns.saturating_add(pause.dur_ns),
                asked_ns: pause.asked_ns,
                row: pause.row,
            }
        })
        .collect();
    waited.sort_unstable_by_key(|waited| (waited.start_ns, waited.row));
    waited
}

/// The waits that lie between two moments, or reach into the time between them.
fn between(waited: &[Waited], from_ns: i64, to_ns: i64) -> Between {
    let mut between = Between {
        paused_ns: 0,
        asked_ns: Some(0),
        rows: Vec::new(),
    };
    let mut until_ns = from_ns;
    for wait in waited
        .iter()
        .take_while(|wait| wait.start_ns < to_ns)
        .filter(|wait| wait.end_ns > from_ns)
    {
        let asked = between.asked_ns.zip(wait.asked_ns);
        between.asked_ns = asked
            .filter(|_| wait.start_ns >= until_ns)
            .map(|(sum_ns, asked_ns)| sum_ns.saturating_add(asked_ns));
        let end_ns = wait.end_ns.min(to_ns);
        let new_ns = end_ns.saturating_sub(wait.start_ns.max(until_ns)).max(0);
        between.paused_ns = between.paused_ns.saturating_add(new_ns);
        until_ns = until_ns.max(end_ns);
        between.rows.push(wait.row);
    }
    between
}

/// The longest time between two calls of a task between two moments, and the call before it, if its waits were not traced.
fn silence(
    context: &TableContext<'_>,
    task: TaskId,
    (from_ns, to_ns): (i64, i64),
) -> Option<(u32, i64)> {
    let are_traced = context.trust_of(task).is_none_or(Trust::has_waits);
    if are_traced {
        return None;
    }
    let events = &context.trace.events;
    let rows = context.trace.rows_of(task);
    let first = rows.partition_point(|&row| events.start_ns(row) < from_ns);
    let near = &rows[first.saturating_sub(1)..];
    near.windows(2)
        .take_while(|pair| events.start_ns(pair[0]) < to_ns)
        .filter_map(|pair| {
            let until_ns = events.start_ns(pair[1]).min(to_ns);
            let silent_ns = until_ns.saturating_sub(events.end_ns(pair[0])?.max(from_ns));
            Some((pair[0], silent_ns))
        })
        .max_by_key(|&(_, silent_ns)| silent_ns)
}

fn one(context: &TableContext<'_>, attempts: &[Attempt], waited: &[Waited]) -> Option<Series> {
    let mut series = Series {
        attempts: attempts.to_vec(),
        pauses_ns: Vec::new(),
        asked_ns: None,
        rows: Vec::new(),
        is_silent: false,
        exclusive_ns: 0,
    };
    let (mut asked, mut silences): (Vec<i64>, Vec<u32>) = (Vec::new(), Vec::new());
    let is_alone = !is_of_several(attempts);
    for pair in attempts.windows(2) {
        let (from_ns, to_ns) = (pair[0].end_ns, pair[1].start_ns);
        let mut between = between(waited, from_ns, to_ns);
        let gap_ns = to_ns.saturating_sub(from_ns);
        if is_alone
            && between.rows.is_empty()
            && let Some((row, silent_ns)) = silence(context, pair[0].task, (from_ns, to_ns))
        {
            between.paused_ns = silent_ns;
            silences.push(row);
        }
        if gap_ns > 0 && between.paused_ns.saturating_mul(2) >= gap_ns {
            series.pauses_ns.push(between.paused_ns);
            series.rows.append(&mut between.rows);
            asked.extend(between.asked_ns);
        }
    }
    series.asked_ns = mean_ns(&asked);
    series.is_silent = series.rows.is_empty();
    if series.pauses_ns.is_empty() {
        return None;
    }
    series.rows.sort_unstable();
    series.rows.dedup();
    let waited_ns: i64 = series
        .rows
        .iter()
        .map(|&row| context.exclusive_ns(row))
        .sum();
    let silent_ns: i64 = silences
        .iter()
        .map(|&row| context.attribution.gap_after_ns(row))
        .sum();
    let connects_ns: i64 = attempts
        .iter()
        .map(|attempt| context.exclusive_ns(attempt.row))
        .sum();
    // Waits reach out of the pauses.
    series.exclusive_ns = (waited_ns + silent_ns).min(series.pauses_ns.iter().sum()) + connects_ns;
    series
        .rows
        .extend(attempts.iter().map(|attempt| attempt.row));
    Some(series)
}
