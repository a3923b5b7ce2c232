//! Series of probes: a task probes or tries something, pauses, and repeats this until the result changes or it gives
//! up.
//!
//! ```text
//! task    stat /run/x ENOENT | sleep 1 s | stat /run/x ENOENT | sleep 1 s | stat /run/x ok
//! shell   fork pgrep, exit 0 | fork sleep 1 | fork pgrep, exit 0 | fork sleep 1 | fork pgrep, exit 1
//! ```
//! A pause is a sleep, the sleep of a child that does nothing else, or a wait that timed out. Probes that occur in
//! consecutive stretches between pauses form a series.

mod own_ends;
pub(crate) mod pauses;
pub(crate) mod probes;
pub(crate) mod spins;

use crate::tables::probe_series::pauses::{Pause, pauses};
use crate::tables::probe_series::probes::{ProbeIndex, ProbeKey, ProbeKind};
use kit::table_support::context::TableContext;
use parsers::Text;
use parsers::syscalls::Wait;
use path::waits::wait_kinds::wait_of_row;
use trace::parallel;
use trace::store::index::TaskId;

/// Number of rows before the first and after the last pause that are searched for the first and the last probe.
const ROWS_AROUND: usize = 64;

/// A series of equal probes or attempts, with pauses in between.
pub(super) struct ProbeSeries {
    /// The task.
    pub task: TaskId,
    /// The probed object.
    pub key: ProbeKey,
    /// Kind of probe.
    pub kind: ProbeKind,
    /// Number of probes.
    pub probes: i64,
    /// Number of probes that failed or found nothing.
    pub failed: i64,
    /// Whether the last result differs from the first.
    pub changed: bool,
    /// Whether the last probe failed.
    pub ends_failed: bool,
    /// The error of the last failed probe.
    pub errno: Text,
    /// From the start of the first probe to the start of the last, in nanoseconds.
    pub total_ns: i64,
    /// The pauses, each with the probe before it.
    pub pauses: Vec<(u32, Pause)>,
    /// All its calls: probes, pauses, and the calls of commands.
    pub rows: Vec<u32>,
    /// Time on the critical path of these calls.
    pub exclusive_ns: i64,
    /// The first probe.
    pub first_row: u32,
    /// The last probe.
    pub last_row: u32,
    /// The first and the last child, if the probe is a command.
    pub children: Option<(TaskId, TaskId)>,
}

/// All series of probes with pauses, by task.
pub(super) fn all_series(context: &TableContext<'_>) -> Vec<ProbeSeries> {
    series_between(context, &pauses(context))
}

/// All series between these pauses.
pub(super) fn series_between(
    context: &TableContext<'_>,
    all_pauses: &[(TaskId, Vec<Pause>)],
) -> Vec<ProbeSeries> {
    if all_pauses.is_empty() {
        return Vec::new();
    }
    let probes = ProbeIndex::new(context, all_pauses);
    parallel::flat_map(all_pauses, |(task, pauses)| {
        let waited: Vec<Pause> = pauses
            .iter()
            .filter(|pause| pause.holds(context, *task))
            .copied()
            .collect();
        if waited.len() == pauses.len() {
            return of_task(context, &probes, *task, pauses);
        }
        // A child that sleeps beside the task interrupts no series of its own checks. A shell that hides its waits may run
        // commands with such pauses.
        let commands = of_task(context, &probes, *task, pauses).into_iter();
        let mut found: Vec<ProbeSeries> = commands
            .filter(|series| series.kind == ProbeKind::Command)
            .collect();
        let others = of_task(context, &probes, *task, &waited).into_iter();
        found.extend(others.filter(|series| series.kind != ProbeKind::Command));
        found.sort_by_key(|series| series.first_row);
        found
    })
}

/// A probe within one stretch between pauses.
#[derive(Clone, Copy)]
pub(super) struct Probe {
    pub key: ProbeKey,
    pub kind: ProbeKind,
    pub failed: bool,
    pub errno: Text,
    pub row: u32,
    /// The child that made the probe, if it is a command.
    pub child: TaskId,
}

fn of_task(
    context: &TableContext<'_>,
    probes: &ProbeIndex,
    task: TaskId,
    pauses: &[Pause],
) -> Vec<ProbeSeries> {
    let between: Vec<Vec<Probe>> = (0..=pauses.len())
        .map(|at| {
            let before = at.checked_sub(1).and_then(|at| pauses.get(at));
            probes.between(context, task, before, pauses.get(at), ROWS_AROUND)
        })
        .collect();
    let mut found = Vec::new();
    let mut first = 0;
    while first + 1 < between.len() {
        let Some(key) = common(&between[first], &between[first + 1]) else {
            first += 1;
            continue;
        };
        let run: Vec<Probe> = between[first..]
            .iter()
            .map_while(|here| here.iter().rev().find(|probe| probe.key == key))
            .copied()
            .collect();
        let last = first + run.len() - 1;
        // A task that gives up after one more pause also waited through that pause without success.
        let failed = run
            .last()
            .is_some_and(|last| last.failed && last.kind == ProbeKind::Attempt);
        let is_last = between
            .get(last + 1)
            .is_some_and(|next| common(&between[last], next).is_none());
        let gives_up = failed && is_last && pauses.get(last).is_some_and(|pause| !pause.is_wait);
        found.extend(of_run(
            context,
            task,
            &run,
            &pauses[first..last + usize::from(gives_up)],
        ));
        first = last;
    }
    found
}

/// The probe that two consecutive stretches share. Commands come first, then failed attempts, failed queries of a state,
/// and probes that succeeded.
fn common(here: &[Probe], next: &[Probe]) -> Option<ProbeKey> {
    let both = here
        .iter()
        .filter(|probe| next.iter().any(|other| other.key == probe.key));
    both.max_by_key(|probe| rank(probe)).map(|probe| probe.key)
}

fn rank(probe: &Probe) -> i32 {
    match (probe.kind, probe.failed) {
        (ProbeKind::Command, _) => 4,
        (ProbeKind::Attempt, true) => 3,
        (_, true) => 2,
        (ProbeKind::Attempt, false) => 0,
        (_, false) => 1,
    }
}

fn of_run(
    context: &TableContext<'_>,
    task: TaskId,
    run: &[Probe],
    pauses: &[Pause],
) -> Option<ProbeSeries> {
    let (first, last) = (run.first()?, run.last()?);
    // A wait that timed out is a pause only between failed probes. An event loop with periodic work is idle.
    let all_failed = run[..run.len() - 1].iter().all(|probe| probe.failed);
    let events = &context.trace.events;
    // An event loop that starts with pending input is idle, too, and so is one that looks for ended children now and then.
    let looks = first.child == TaskId::NONE
        && match wait_of_row(events, first.row) {
            Some(Wait::Poll) => true,
            Some(Wait::Child) => !events.target(first.row).is_some(),
            _ => false,
        };
    if pauses.iter().any(|pause| pause.is_wait) && (looks || !all_failed) {
        return None;
    }
    if first.child == TaskId::NONE
        && pauses
            .iter()
            .any(|pause| pause.is_work_beside(context, first.row))
    {
        return None;
    }
    let mut rows: Vec<u32> = Vec::new();
    for probe in run {
        match probe.child {
            TaskId::NONE => rows.push(probe.row),
            child => rows.extend(context.calls_of(child)),
        }
    }
    rows.extend(pauses.iter().flat_map(|pause| pause.rows(context)));
    let starts = (events.start_ns(first.row), events.start_ns(last.row));
    Some(ProbeSeries {
        task,
        key: first.key,
        kind: first.kind,
        probes: run.len() as i64,
        failed: run.iter().filter(|probe| probe.failed).count() as i64,
        changed: last.failed != first.failed,
        ends_failed: last.failed,
        errno: run
            .iter()
            .rev()
            .find(|probe| probe.failed)
            .map_or(Text::NONE, |probe| probe.errno),
        total_ns: starts.1.saturating_sub(starts.0),
        pauses: run
            .iter()
            .map(|probe| probe.row)
            .zip(pauses.iter().copied())
            .collect(),
        exclusive_ns: rows.iter().map(|&row| context.exclusive_ns(row)).sum(),
        rows,
        first_row: first.row,
        last_row: last.row,
        children: (last.child != TaskId::NONE).then_some((first.child, last.child)),
    })
}
