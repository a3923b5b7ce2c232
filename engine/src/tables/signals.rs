//! Signals: which were delivered to a task, which calls they broke off, and what their handlers did.
//!
//! ```text
//! read EINTR | --- SIGALRM --- | handler: write, rt_sigreturn | read …
//! ```

use crate::store::event::EventKind;
use crate::table_support::builder::{BuiltTable, TableBuilder};
use crate::table_support::context::TableContext;
use crate::table_support::provenance::Provenance;
use crate::table_support::shape_index::ShapeIndex;
use crate::waits::wait_kinds::was_broken_off;
use parsers::syscalls::Action;
use parsers::{NO_NS, Text};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Calls of a handler that are looked at.
const CALLS_OF_HANDLER: usize = 64;

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

/// Signals by task and name.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let timers = ShapeIndex::new(context, |action, _| (action == Action::SetsTimer).then_some(()));
    let tasks: Vec<u32> = context.tasks().filter(|&task| context.trace.tasks[task as usize].signals > 0).collect();
    let all: Vec<_> =
        tasks.par_iter().map(|&task| (timers.calls(context, task).count(), of_task(context, task))).collect();
    let mut sheet = TableBuilder::new(context, "signals");
    for (&task, (timers, signals)) in tasks.iter().zip(all) {
        for (name, signal) in signals {
            write(context, task, name, signal, timers as i64, &mut sheet);
        }
    }
    sheet.finish()
}

fn of_task(context: &TableContext<'_>, task: u32) -> Vec<(Text, Signal)> {
    let events = &context.trace.events;
    let rows = context.trace.rows_of(task);
    let mut signals: FxHashMap<Text, Signal> = FxHashMap::default();
    for (at, &row) in rows.iter().enumerate() {
        if events.kind(row) != EventKind::Signal || !context.selection.has(row) {
            continue;
        }
        let new = || Signal {
            first_row: row,
            last_row: row,
            delivered: 0,
            interrupted: 0,
            handled: 0,
            handler_ns: 0,
            rows: Vec::new(),
        };
        let signal = signals.entry(events.shape(row).syscall).or_insert_with(new);
        signal.delivered += 1;
        signal.last_row = row;
        let before = at.checked_sub(1).and_then(|at| rows.get(at)).copied();
        // What a broken call took until then is not the signal's.
        let broken = before.is_some_and(|row| events.kind(row) == EventKind::Call && was_broken_off(events, row));
        signal.interrupted += i64::from(broken);
        handler(context, row, rows.get(at + 1..).unwrap_or(&[]), signal);
    }
    let mut signals: Vec<_> = signals.into_iter().collect();
    signals.sort_unstable_by_key(|(_, signal)| signal.first_row);
    signals
}

/// The calls from the signal to the return from its handler, if it has one.
fn handler(context: &TableContext<'_>, row: u32, behind: &[u32], signal: &mut Signal) {
    let events = &context.trace.events;
    let returns = |&row: &u32| events.action(row).ends_handler();
    let own = behind.iter().take(CALLS_OF_HANDLER).take_while(|&&row| events.kind(row) == EventKind::Call);
    let calls: Vec<u32> = own.copied().collect();
    let Some(end) = calls.iter().position(returns) else { return };
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
    task: u32,
    name: Text,
    mut signal: Signal,
    timers: i64,
    sheet: &mut TableBuilder<'_>,
) {
    let events = &context.trace.events;
    let length_ns = events.start_ns(signal.last_row).saturating_sub(events.start_ns(signal.first_row));
    signal.rows.sort_unstable();
    signal.rows.dedup();
    sheet.task_columns(task, signal.first_row);
    sheet.text("signal", name);
    sheet.int("delivered", signal.delivered);
    sheet.int("interrupted", signal.interrupted);
    sheet.int("handled", signal.handled);
    sheet.int("handler_ns", signal.handler_ns);
    sheet.int("timers", timers);
    sheet.some_int("interval_ns", (signal.delivered > 1).then(|| length_ns / (signal.delivered - 1)));
    sheet.path_ns(signal.rows.iter().map(|&row| context.exclusive_ns(row)).sum());
    sheet.lines(signal.first_row, signal.last_row);
    sheet.members(Provenance::Rows(signal.rows));
}
