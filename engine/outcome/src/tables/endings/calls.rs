//! Last calls: the call in which each thread of a process was when the capture or the process ended.
//!
//! ```text
//! 101   futex(0x7f28…, FUTEX_WAIT <unfinished …      open: it never returned
//! 102   write(1, "tick", 4) = 4 | exit_group         not listed: its last call returned
//! ```

use super::processes;
use crate::tables::open_calls::{OpenCall, kind, seen_ns, wait};
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use parsers::line::Ended;
use parsers::syscalls::Action;
use parsers::{NO_NS, Outcome, Text};
use path::waits::wait_kinds::{never_returned, was_broken_off};
use trace::store::event::{EventKind, ThreadWait};
use trace::store::facts::{IsTorn, OpenFd, OpenThreadWait};
use trace::store::index::TaskId;

table! {
    last_calls "The call in which each of their threads was when the capture or the process ended.";
    times: Calls;
    row {
        of: OfTask { program "Program." },
        syscall: Text "Name of the system call.",
        op: Text "Sub-operation.",
        target: Text "What the call works on.",
        fd: MaybeId "Descriptor, if its target is unknown.",
        standard_input: Flag "Whether it is about descriptor 0.",
        kind: Words "What it waits for: client, child, event, input, thread, kernel, …",
        bytes: MaybeBytes "Bytes to be moved.",
        requested_ns: Ns (Same) "Limit of the wait.",
        limited: Flag "Whether the wait has a limit, even if its length is not known.",
        contended: Flag "Whether it expects the state of a lock for which threads wait.",
        before: Count "Number of calls of the thread before it.",
        same_before: Count "Number of those with the same name and target.",
        killed_by: Text "Signal that killed the process in this call.",
        signals: Flag "Whether it sends a signal.",
        gone: Flag "Whether the tracer printed that the process was gone from this call, and the rest of the system went on.",
        rows_after: Count "Number of events of the capture that are known to be after it.",
        seen_ns: Ns (Same) "From its start to the end of the capture, or to the death of the process; missing without timestamps.",
        lines: Lines {
            first_line "Line of the first one.",
            last_line "Line of the last one.",
        },
    }
}

/// Threads that are listed of each process.
const MAX_THREADS: usize = 64;

/// Builds the table, one row per thread.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for process in processes(context) {
        let calls = process
            .tasks
            .iter()
            .filter_map(|&task| Some((task, unreturned(context, task)?)));
        for (task, row) in calls.take(MAX_THREADS) {
            write(context, process.main, task, row, &mut builder);
        }
    }
    builder.finish()
}

/// The last call of a task, if it did not return.
fn unreturned(context: &TableContext<'_>, task: TaskId) -> Option<u32> {
    let events = &context.trace.events;
    let known = &context.trace.tasks[task];
    let rows = context.trace.rows_of(task).iter().rev().copied();
    let row = rows
        .take(64)
        .find(|&row| events.kind(row) == EventKind::Call)?;
    let ends_task = matches!(events.action(row), Action::EndsThread | Action::EndsProcess);
    let is_broken = never_returned(events.outcome(row)) || was_broken_off(events, row);
    let exited = matches!(known.ended, Some(Ended::Exited(_))) && !known.is_thread;
    (is_broken && !ends_task && !exited && !known.superseded && !events.facts.has::<IsTorn>(row))
        .then_some(row)
}

fn write(
    context: &TableContext<'_>,
    main: TaskId,
    task: TaskId,
    row: u32,
    builder: &mut TableBuilder<'_>,
) {
    let (trace, events) = (context.trace, &context.trace.events);
    let call = OpenCall {
        task,
        row,
        wait: wait(context, row),
        killed_by: match trace.tasks[main].ended {
            Some(Ended::Killed(signal)) => Some(signal),
            _ => None,
        },
    };
    let shape = events.shape(row);
    let fd = events.facts.get::<OpenFd>(row).copied();
    let values = TableRow {
        of: TaskAt { task, row },
        syscall: shape.syscall,
        op: shape.op,
        target: events.target(row),
        fd: fd.filter(|_| !events.target(row).is_some()).map(i64::from),
        standard_input: fd == Some(0),
        kind: Some(kind(context, &call).to_owned()),
        bytes: events.bytes(row),
        requested_ns: events.requested_ns(row).unwrap_or(NO_NS),
        limited: is_limited(context, row),
        contended: events.facts.get::<OpenThreadWait>(row) == Some(&ThreadWait::Lock),
        before: calls_before(context, task, row),
        same_before: same_before(context, task, row),
        killed_by: call.killed_by.unwrap_or(Text::NONE),
        signals: matches!(events.action(row), Action::Signals | Action::SignalsThread),
        gone: is_gone(context, task, row),
        rows_after: i64::from(last_row_of(context, task).saturating_sub(row)),
        seen_ns: seen_ns(context, &call),
        lines: LinesOf {
            first_row: row,
            last_row: row,
        },
    };
    builder.add(values, Provenance::Rows(vec![row]));
}

/// Whether a time limit ends the wait: its length, or the moment of a clock that no stamp can be compared with.
fn is_limited(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let until = events.facts.get::<OpenThreadWait>(row);
    events.requested_ns(row).is_some_and(|ns| ns != NO_NS)
        || matches!(until, Some(ThreadWait::Limited))
}

/// Whether a call is printed as one that never returned, and the thread makes no other one, has no end, and others go on.
fn is_gone(context: &TableContext<'_>, task: TaskId, row: u32) -> bool {
    let events = &context.trace.events;
    events.outcome(row) == Outcome::NoReturn
        && context.trace.tasks[task].ended.is_none()
        && last_row_of(context, task) > row
}

/// The number of calls that the task made before.
fn calls_before(context: &TableContext<'_>, task: TaskId, row: u32) -> i64 {
    let calls = context.calls_of(task);
    calls.take_while(|&other| other != row).count() as i64
}

/// The number of calls of this name on the same target that the task made before.
fn same_before(context: &TableContext<'_>, task: TaskId, row: u32) -> i64 {
    let events = &context.trace.events;
    let is_same = |&other: &u32| {
        events.shape(other).syscall == events.shape(row).syscall
            && events.target(other) == events.target(row)
    };
    let calls = context.calls_of(task);
    calls
        .take_while(|&other| other != row)
        .filter(is_same)
        .count() as i64
}

/// The last row of the capture of a task. Files of single threads without timestamps have no common order, so there it is the
/// last one of the task.
fn last_row_of(context: &TableContext<'_>, task: TaskId) -> u32 {
    let Some(capture) = context.capture_of(task) else {
        return 0;
    };
    let has_order = capture.files.len() < 2 || capture.has_wall_clock();
    let last = if has_order {
        capture.rows.end.checked_sub(1)
    } else {
        context.trace.rows_of(task).last().copied()
    };
    last.unwrap_or(0)
}
