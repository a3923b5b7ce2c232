//! Signals: deliveries to tasks, the calls that they interrupted, and the calls of their handlers.
//!
//! ```text
//! read EINTR | --- SIGALRM --- | handler: write, rt_sigreturn | read …
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::shape_index::ShapeIndex;
use parsers::syscalls::Action;
use parsers::{NO_NS, Text};
use path::waits::wait_kinds::was_broken_off;
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::event::EventKind;
use trace::store::index::TaskId;

table! {
    signals "Delivered signals, by task and name.";
    times: Calls;
    row {
        of: OfTask,
        signal: Text "Name of the signal.",
        delivered: Count "Number of deliveries.",
        interrupted: Count "Number of calls that it interrupted.",
        handled: Count "Number of times a handler ran.",
        handler_ns: Ns "Total time from the signal to the return of its handler.",
        timers: Count "Number of calls by the task that set a timer.",
        interval_ns: Ns (Same) "Mean time from one delivery to the next.",
        path: PathTime { exclusive_ns "Critical-path time of calls made by handlers." },
        lines: Lines,
    }
}

/// Maximum number of calls of a handler that are inspected.
const MAX_HANDLER_CALLS: usize = 64;

/// Deliveries of one signal to a task.
struct Signal {
    first_row: u32,
    last_row: u32,
    delivered: i64,
    interrupted: i64,
    handled: i64,
    handler_ns: i64,
    rows: Vec<u32>,
}

/// Builds the table of signals by task and name.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let timers = ShapeIndex::new(context, |action, _| {
        (action == Action::SetsTimer).then_some(())
    });
    let tasks: Vec<TaskId> = context
        .tasks()
        .filter(|&task| context.trace.tasks[task].signals > 0)
        .collect();
    let all: Vec<_> = parallel::map(&tasks, |&task| {
        (timers.calls(context, task).count(), of_task(context, task))
    });
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (&task, (timers, signals)) in tasks.iter().zip(all) {
        for (name, signal) in signals {
            write(context, task, name, signal, timers as i64, &mut builder);
        }
    }
    builder.finish()
}

fn of_task(context: &TableContext<'_>, task: TaskId) -> Vec<(Text, Signal)> {
    let events = &context.trace.events;
    let rows = context.trace.rows_of(task);
    let mut signals: FxHashMap<Text, Signal> = FxHashMap::default();
    for (at, &row) in rows.iter().enumerate() {
        if events.kind(row) != EventKind::Signal || !context.selection.has(row) {
            continue;
        }
        let signal = signals
            .entry(events.shape(row).syscall)
            .or_insert_with(|| Signal {
                first_row: row,
                last_row: row,
                delivered: 0,
                interrupted: 0,
                handled: 0,
                handler_ns: 0,
                rows: Vec::new(),
            });
        signal.delivered += 1;
        signal.last_row = row;
        let before = at.checked_sub(1).and_then(|at| rows.get(at)).copied();
        // The time of an interrupted call before the signal is not charged to the signal.
        let broken = before
            .is_some_and(|row| events.kind(row) == EventKind::Call && was_broken_off(events, row));
        signal.interrupted += i64::from(broken);
        handler(context, row, rows.get(at + 1..).unwrap_or(&[]), signal);
    }
    let mut signals: Vec<_> = signals.into_iter().collect();
    signals.sort_unstable_by_key(|(_, signal)| signal.first_row);
    signals
}

/// Adds the calls from the signal to the return from its handler, if there is a handler.
fn handler(context: &TableContext<'_>, row: u32, after: &[u32], signal: &mut Signal) {
    let events = &context.trace.events;
    let own = after
        .iter()
        .take(MAX_HANDLER_CALLS)
        .take_while(|&&row| events.kind(row) == EventKind::Call);
    let calls: Vec<u32> = own.copied().collect();
    let Some(end) = calls
        .iter()
        .position(|&row| events.action(row).ends_handler())
    else {
        return;
    };
    let calls = &calls[..=end];
    signal.handled += 1;
    let end_ns = calls.last().and_then(|&last| events.end_ns(last));
    if let Some(end_ns) = end_ns.filter(|_| events.start_ns(row) != NO_NS) {
        signal.handler_ns += end_ns.saturating_sub(events.start_ns(row)).max(0);
    }
    signal.rows.extend_from_slice(calls);
}

fn write(
    context: &TableContext<'_>,
    task: TaskId,
    name: Text,
    mut signal: Signal,
    timers: i64,
    builder: &mut TableBuilder<'_>,
) {
    let events = &context.trace.events;
    let length_ns = events
        .start_ns(signal.last_row)
        .saturating_sub(events.start_ns(signal.first_row));
    signal.rows.sort_unstable();
    signal.rows.dedup();
    let row = TableRow {
        of: TaskAt {
            task,
            row: signal.first_row,
        },
        signal: name,
        delivered: signal.delivered,
        interrupted: signal.interrupted,
        handled: signal.handled,
        handler_ns: signal.handler_ns,
        timers,
        interval_ns: if signal.delivered > 1 {
            length_ns / (signal.delivered - 1)
        } else {
            NO_NS
        },
        path: signal
            .rows
            .iter()
            .map(|&row| context.exclusive_ns(row))
            .sum(),
        lines: LinesOf {
            first_row: signal.first_row,
            last_row: signal.last_row,
        },
    };
    builder.add(row, Provenance::Rows(signal.rows));
}
