//! Kills followed by a pause: a process signals another to end, and sleeps for a fixed time without checking for its
//! exit.
//!
//! ```text
//! shell      |kill TERM|------- sleep 5 -------|kill KILL|        survivors 1, then_killed
//! service       still there ...............................|
//!
//! shell      |kill TERM|------- sleep 5 -------|                  exited after 0.1 s: 4.9 s needless
//! service    ..........writes back|
//!
//! supervisor |kill TERM|poll 1 s|poll 1 s|kill KILL|              one grace period in several parts: checks
//! service    still there ..........................|
//!
//! command    |write t|sleep 0.4|sleep 0.4|sleep 0.4|write k|      the same by order of a command: by is the supervisor
//! supervisor   |kill TERM|~~~~~~ waits for orders ~~~~~|kill KILL|
//! ```

mod ordered;

use super::probe_series::all_series;
use crate::tables::probe_series::pauses::{Pause, pauses};
use crate::tables::probe_series::probes::ProbeKind;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kill_victims::Victims;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::shape_index::ShapeIndex;
use parsers::facts::WaitedChild;
use parsers::syscalls::Action;
use parsers::{NO_NS, Outcome, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::event::NONE;
use trace::store::heuristics::MIN_INPUT_WAIT_NS;
use trace::store::index::TaskId;

table! {
    kills "Pauses after kills.";
    times: Calls;
    row {
        of: OfTask,
        signal: Text "Name of the last signal before the pause.",
        by: Words "Program that sent it by order of this one; missing if the process sent it itself.",
        target: Text "Id that it was sent to.",
        victim: Text "Program of that process.",
        victim_script: Words "Script that this program interprets.",
        names: List "Programs that were signaled to exit before the pause, or ids of processes that are not in the capture.",
        victims: Count "Number of processes in the capture that were signaled to exit before the pause.",
        survivors: Count "Number of them still running after the pause.",
        gone_ns: Ns "From the last signal until all of them had exited, if that was before the pause ended.",
        slept_ns: Ns "Duration of the pause.",
        needless_ns: Ns "Part of the pause after all of them had exited.",
        freeable_ns: Ns "needless_ns, or the whole pause if one of them had to be killed after it.",
        then_killed: Flag "Whether SIGKILL was sent to one of them later.",
        deaf: Text "Program of the process that had to be killed.",
        deaf_script: Words "Script that this program interprets.",
        pauses: Count "Number of pauses: 1, or the parts of a grace period that ended in SIGKILL.",
        checks: Flag "Whether it could see the exit in between: the pause has several parts, or is a wait.",
        path: PathTime { exclusive_ns "Critical-path time of the pauses, and of the calls meanwhile of the process that had to be killed, and of those that it started." },
        lines: Lines,
    }
}

/// A signal that requests a process to end.
#[derive(Clone, Copy)]
struct Kill {
    row: u32,
    /// The call of the pausing task that sent the signal: the kill itself, or the fork of the command that sent it.
    at: u32,
    victim: Option<TaskId>,
}

/// The kills before a pause.
#[derive(Default)]
struct Before {
    kills: Vec<Kill>,
    /// Whether SIGKILL was later sent to a victim of these kills.
    then_killed: bool,
    /// That victim, if it is in the capture.
    deaf: Option<TaskId>,
    /// Whether another process sent them by order of the one that pauses.
    is_ordered: bool,
}

/// Maximum number of names of a row.
const MAX_NAMES: usize = 8;
/// Maximum number of waits between a kill and a pause that are checked.
const MAX_WAITS_AFTER: usize = 256;

/// Builds the table, one row per pause after kills.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    let kills = kills(context);
    if kills.is_empty() {
        return builder.finish();
    }
    let looked = looked_after(context);
    let all_pauses = pauses(context);
    ordered::write(context, &kills, &all_pauses, &mut builder);
    for (task, pauses) in all_pauses {
        let Some(kills) = kills.get(&task) else {
            continue;
        };
        let mut before: Vec<Before> = pauses.iter().map(|_| Before::default()).collect();
        for &kill in kills {
            let next = pauses.partition_point(|pause| pause.at < kill.at);
            let is_last = is_kill(context, kill.row);
            for earlier in before.iter_mut().take(next).filter(|_| is_last) {
                if earlier
                    .kills
                    .iter()
                    .any(|known| is_same_victim(context, known, &kill))
                {
                    (earlier.then_killed, earlier.deaf) = (true, kill.victim);
                }
            }
            if let Some(before) = before.get_mut(next) {
                before.kills.push(kill);
            }
        }
        let in_parts = grace_periods(context, task, kills, &pauses, &mut builder);
        for (pause, before) in pauses.iter().zip(&mut before) {
            if in_parts.contains(&pause.row) {
                continue;
            }
            before
                .kills
                .retain(|kill| !observed_exit(context, task, kill, pause));
            let Some(kill) = before.kills.last().filter(|_| !pause.is_wait) else {
                continue;
            };
            if looked.get(&pause.row).is_none_or(|&look| look < kill.at) {
                write(
                    context,
                    task,
                    std::slice::from_ref(pause),
                    before,
                    &mut builder,
                );
            }
        }
    }
    builder.finish()
}

/// Writes a row per grace period that ended in SIGKILL and that the task spent in several pauses, or in waits for other
/// things: it checked for the exit in between. Returns these pauses.
fn grace_periods(
    context: &TableContext<'_>,
    task: TaskId,
    kills: &[Kill],
    pauses: &[Pause],
    builder: &mut TableBuilder<'_>,
) -> FxHashSet<u32> {
    let mut in_parts = FxHashSet::default();
    for last in kills.iter().filter(|kill| is_kill(context, kill.row)) {
        let Some(first) = kills
            .iter()
            .take_while(|kill| kill.at < last.at)
            .find(|kill| !is_kill(context, kill.row) && is_same_victim(context, kill, last))
        else {
            continue;
        };
        let from = pauses.partition_point(|pause| pause.at < first.at);
        let to = pauses.partition_point(|pause| pause.at < last.at);
        let here = pauses.get(from..to).unwrap_or(&[]);
        let lasts = here
            .iter()
            .filter(|pause| pause.dur_ns >= MIN_INPUT_WAIT_NS)
            .count();
        let is_one = lasts <= 1 && here.iter().all(|pause| !pause.is_wait);
        if is_one || here.iter().any(|pause| in_parts.contains(&pause.row)) {
            continue;
        }
        in_parts.extend(here.iter().map(|pause| pause.row));
        let before = Before {
            kills: vec![*first],
            then_killed: true,
            deaf: last.victim,
            is_ordered: false,
        };
        write(context, task, here, &before, builder);
    }
    in_parts
}

/// Whether two signals were sent to the same process. Of one that is not in the capture, the id is known.
fn is_same_victim(context: &TableContext<'_>, one: &Kill, other: &Kill) -> bool {
    let id = |kill: &Kill| context.trace.events.target(kill.row);
    one.victim == other.victim
        && (one.victim.is_some() || id(one).is_some() && id(one) == id(other))
}

/// Signals that request a process to end, by the task that may pause after them.
fn kills(context: &TableContext<'_>) -> FxHashMap<TaskId, Vec<Kill>> {
    let trace = context.trace;
    let texts = &trace.events.texts;
    let kinds = ShapeIndex::new(context, |action, shape| {
        (action == Action::Signals
            && shape.outcome == Outcome::Ok
            && requests_end(texts.bytes(shape.op)))
        .then_some(())
    });
    let victims = Victims::new(context);
    let mut found: FxHashMap<TaskId, Vec<Kill>> = FxHashMap::default();
    for task in context.tasks() {
        for (row, ()) in kinds.calls(context, task) {
            let victim = victims.of(task, row);
            if victim.is_some_and(|victim| trace.tasks[victim].pid == trace.tasks[task].pid) {
                continue;
            }
            found.entry(task).or_default().push(Kill {
                row,
                at: row,
                victim,
            });
            // If a command sends the signal, its creator pauses.
            let known = &trace.tasks[task];
            if known.creator != TaskId::NONE && known.created_by != NONE && !known.is_thread {
                found.entry(known.creator).or_default().push(Kill {
                    row,
                    at: known.created_by,
                    victim,
                });
            }
        }
    }
    found
        .values_mut()
        .for_each(|kills| kills.sort_by_key(|kill| kill.at));
    found
}

fn requests_end(op: &[u8]) -> bool {
    matches!(
        op,
        b"SIGTERM"
            | b"SIGKILL"
            | b"SIGINT"
            | b"SIGHUP"
            | b"SIGQUIT"
            | b"SIGABRT"
            | b"15"
            | b"9"
            | b"2"
            | b"1"
    )
}

fn is_kill(context: &TableContext<'_>, row: u32) -> bool {
    matches!(
        context
            .trace
            .events
            .texts
            .bytes(context.trace.events.shape(row).op),
        b"SIGKILL" | b"9"
    )
}

/// Maps pauses of polling loops whose probe result changed to the probes before them. A task that polls after the kill
/// waits only until it notices the exit.
fn looked_after(context: &TableContext<'_>) -> FxHashMap<u32, u32> {
    let of = all_series(context)
        .into_iter()
        .filter(|series| series.changed && series.kind != ProbeKind::Attempt);
    of.flat_map(|series| {
        series
            .pauses
            .into_iter()
            .map(|(look, pause)| (pause.row, look))
    })
    .collect()
}

/// Whether a wait before the pause already reported the victim's exit. If so, the pause has another reason.
fn observed_exit(context: &TableContext<'_>, task: TaskId, kill: &Kill, pause: &Pause) -> bool {
    let events = &context.trace.events;
    let Some(victim) = kill
        .victim
        .and_then(|victim| context.trace.tasks.get(victim))
    else {
        return false;
    };
    let waits = events
        .facts
        .after::<WaitedChild>(kill.at)
        .iter()
        .take_while(|&&(row, _)| row < pause.at)
        .take(MAX_WAITS_AFTER);
    waits
        .into_iter()
        .any(|&(row, pid)| pid == victim.tid && events.task(row) == task)
}

/// The wait after a pause that returned a victim which had exited during the pause. From the exit on, the time is
/// charged to this wait.
fn reaped(
    context: &TableContext<'_>,
    task: TaskId,
    pause: &Pause,
    victims: &[TaskId],
) -> Option<u32> {
    let events = &context.trace.events;
    let is_victim = |pid: i32| {
        victims
            .iter()
            .any(|&victim| context.trace.tasks[victim].tid == pid)
    };
    let here = events
        .facts
        .after::<WaitedChild>(pause.last_row)
        .iter()
        .take(64)
        .filter(|&&(row, pid)| events.task(row) == task && pid != 0);
    here.take(1)
        .find(|&&(_, pid)| is_victim(pid))
        .map(|&(row, _)| row)
}

/// What the signals before a pause were sent to: names of programs, or ids of processes that are not in the capture.
fn names(context: &TableContext<'_>, kills: &[Kill]) -> Vec<String> {
    let texts = &context.trace.events.texts;
    let name = |kill: &Kill| {
        if let Some(script) = kill
            .victim
            .and_then(|victim| context.script(victim, kill.row))
        {
            return script;
        }
        let program = kill
            .victim
            .map_or(Text::NONE, |victim| context.program(victim, kill.row));
        let known = if program.is_some() {
            program
        } else {
            context.trace.events.target(kill.row)
        };
        file_name(texts.string(known).as_ref()).to_owned()
    };
    let mut names: Vec<String> = Vec::new();
    for name in kills.iter().map(name).filter(|name| !name.is_empty()) {
        if !names.contains(&name) && names.len() < MAX_NAMES {
            names.push(name);
        }
    }
    names
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The calls in which a process is during the pauses, although it was asked to end, and those of the processes that it started
/// (a shell script sleeps in another process). A pause that looks for its end is told as time of that process. A call that
/// began before the signal goes on after it, because the signal is ignored.
fn calls_of_deaf(context: &TableContext<'_>, before: &Before, from: u32, to: u32) -> Vec<u32> {
    let Some(deaf) = before.deaf else {
        return Vec::new();
    };
    let tasks = context
        .tasks()
        .filter(|&task| is_started_by(context, task, deaf));
    let asked_ns = context.trace.events.start_ns(from);
    let goes_on = |row: u32| {
        let end_ns = context.trace.events.end_ns(row);
        row < from && end_ns.is_some_and(|end_ns| end_ns > asked_ns)
    };
    let calls = tasks.flat_map(|task| context.calls_of(task));
    calls
        .filter(|&row| (from..=to).contains(&row) || goes_on(row))
        .collect()
}

/// The critical-path time of a call after a moment.
fn exclusive_after_ns(context: &TableContext<'_>, row: u32, from_ns: i64) -> i64 {
    let events = &context.trace.events;
    let exclusive_ns = context.exclusive_ns(row);
    match events.end_ns(row) {
        Some(end_ns) if events.start_ns(row) < from_ns => exclusive_ns.min(end_ns - from_ns),
        _ => exclusive_ns,
    }
}

/// Whether a task is another one, or was started by it or by what it started.
fn is_started_by(context: &TableContext<'_>, task: TaskId, ancestor: TaskId) -> bool {
    const MAX_GENERATIONS: usize = 16;
    let tasks = &context.trace.tasks;
    let creator = |&task: &TaskId| tasks.get(task).map(|known| known.creator);
    std::iter::successors(Some(task), creator)
        .take(MAX_GENERATIONS)
        .any(|each| each == ancestor)
}

fn write(
    context: &TableContext<'_>,
    task: TaskId,
    pauses: &[Pause],
    before: &Before,
    builder: &mut TableBuilder<'_>,
) {
    let (trace, events) = (context.trace, &context.trace.events);
    let (Some(kill), Some(pause), Some(last)) =
        (before.kills.last(), pauses.first(), pauses.last())
    else {
        return;
    };
    let start_ns = events.start_ns(pause.row);
    let end_ns = events
        .end_ns(last.last_row)
        .unwrap_or_else(|| events.start_ns(last.row).saturating_add(last.dur_ns));
    let slept_ns = pauses.iter().map(|pause| pause.dur_ns).sum();
    let mut victims: Vec<TaskId> = before.kills.iter().filter_map(|kill| kill.victim).collect();
    victims.sort_unstable();
    victims.dedup();
    let unknown = before.kills.iter().any(|kill| kill.victim.is_none());
    let deaths = victims.iter().map(|&victim| trace.tasks[victim].death_ns);
    let survivors = deaths
        .clone()
        .filter(|&death_ns| death_ns == NO_NS || death_ns >= end_ns)
        .count();
    let all_gone = !unknown && survivors == 0 && !victims.is_empty();
    let gone_ns = deaths.max().filter(|_| all_gone);
    let mut rows: Vec<u32> = pauses
        .iter()
        .flat_map(|pause| pause.rows(context))
        .collect();
    rows.extend(reaped(context, task, last, &victims));
    rows.extend(calls_of_deaf(context, before, kill.row, last.row));
    let asked_ns = events.start_ns(kill.row);
    let script = |task: Option<TaskId>| task.and_then(|task| context.script(task, kill.row));
    let needless_ns = gone_ns.map_or(0, |ns| end_ns.saturating_sub(ns.max(start_ns)));
    let row = TableRow {
        of: TaskAt {
            task,
            row: pause.at,
        },
        signal: events.shape(kill.row).op,
        by: before.is_ordered.then(|| {
            let program = context.program(events.task(kill.row), kill.row);
            file_name(events.texts.string(program).as_ref()).to_owned()
        }),
        target: events.target(kill.row),
        victim: kill
            .victim
            .map_or(Text::NONE, |victim| context.program(victim, kill.row)),
        victim_script: script(kill.victim),
        names: names(context, &before.kills),
        victims: victims.len() as i64,
        survivors: survivors as i64,
        gone_ns: gone_ns
            .map(|ns| ns.saturating_sub(events.start_ns(kill.row)).max(0))
            .unwrap_or(NO_NS),
        slept_ns,
        needless_ns,
        freeable_ns: if before.then_killed {
            slept_ns
        } else {
            needless_ns
        },
        then_killed: before.then_killed,
        deaf: before
            .deaf
            .map_or(Text::NONE, |deaf| context.program(deaf, kill.row)),
        deaf_script: script(before.deaf),
        pauses: pauses.len() as i64,
        checks: pauses.len() > 1 || pause.is_wait,
        path: rows
            .iter()
            .map(|&row| exclusive_after_ns(context, row, asked_ns))
            .sum(),
        lines: LinesOf {
            first_row: kill.row,
            last_row: last.row,
        },
    };
    builder.add(row, Provenance::Rows(rows));
}
