//! Hand-overs: two tasks that wait for each other again and again, each for a few bytes or a lock from the other.
//!
//! ```text
//! one     write | read ....... | write | read ....... | write         it waits for the other one each time
//! other   ..... read | write | ....... read | write |                 and the other one waits for it
//! cost          ==   ======= ==  ====  ==   =======                   the calls, and the time until each task continues
//! ```
//! A task that only receives, as at the end of a pipeline, hands nothing over.

mod by_order;

use crate::tables::handovers::by_order::by_order;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use parsers::Text;
use parsers::syscalls::{Action, Class, Wait};
use rustc_hash::FxHashMap;
use trace::store::event::EventKind;
use trace::store::heuristics::{MIN_MUTUAL_PERCENT, MIN_QUOTED_HANDOVERS};
use trace::store::index::TaskId;

table! {
    handovers "Tasks that wait for each other in turn, by pair.";
    times: Calls;
    row {
        of: OfTask {
            task "Number of the task that waits on the critical path more often.",
            pid "Its process id.",
            tid "Its thread id.",
            program "Its program.",
        },
        other_pid: Id "Process id of the other task.",
        other_tid: Id "Thread id of the other task.",
        other_program: Text "Program of the other task.",
        syscall: Text "The call in which the first of them waits most often.",
        target: Text "What the first task waits at: a pipe, a socket, or the address of a lock.",
        class: Words "What its waits are: ipc, lock, poll or network.",
        is_at_address: Flag "Whether it is the socket of a service, with an address that clients connect to.",
        rounds: Count "Number of times that one of the two waits for the other on the critical path.",
        each_bytes: Bytes (Same) "Mean number of bytes handed over.",
        mean_ns: Ns (Same) "exclusive_ns per hand-over.",
        path: PathTime { exclusive_ns "Critical-path time of both tasks in calls on pipes, local sockets, locks and polls." },
        lines: Lines,
    }
}

/// Maximum number of pairs of tasks, those with most hand-overs first. Rules report very few.
const MAX_PAIRS: usize = 64;
/// Maximum number of waits of a task that are examined.
const MAX_WAITS: usize = 1024;

/// Builds the table of hand-overs by pair of tasks.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut pairs: Vec<((TaskId, TaskId), u64)> = Vec::new();
    for (&(waiter, waker), &count) in context.attribution.walk_stats().handovers() {
        let opposite = context
            .attribution
            .walk_stats()
            .handovers()
            .get(&(waker, waiter))
            .copied()
            .unwrap_or(0);
        // The path may pass through the waits of one of the two only.
        if count + opposite >= MIN_QUOTED_HANDOVERS && (count, waiter) > (opposite, waker) {
            pairs.push(((waiter, waker), count + opposite));
        }
    }
    pairs.sort_unstable_by_key(|&(pair, count)| (std::cmp::Reverse(count), pair));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for ((waiter, waker), count) in pairs.into_iter().take(MAX_PAIRS) {
        if let Some(awaited) = waits_for(context, waiter, waker)
            && context.selection.touches_task(waiter)
            && waits_for(context, waker, waiter).is_some()
        {
            write(context, (waiter, waker), count, Some(awaited), &mut builder);
        }
    }
    for (pair, count) in counted_pairs(context) {
        write(context, pair, count, None, &mut builder);
    }
    builder.finish()
}

/// Pairs of tasks by the order of lines, in captures without a clock. Both give the other one about as often.
fn counted_pairs(context: &TableContext<'_>) -> Vec<((TaskId, TaskId), u64)> {
    let counts = by_order(context);
    let pair = |(&(waiter, waker), &count): (&(TaskId, TaskId), &u64)| {
        let opposite = counts.get(&(waker, waiter)).copied().unwrap_or(0);
        let is_mutual =
            100 * count.min(opposite) >= MIN_MUTUAL_PERCENT as u64 * count.max(opposite);
        let is_first = (count, waiter) > (opposite, waker);
        (is_first && is_mutual && count >= MIN_QUOTED_HANDOVERS).then_some(((waiter, waker), count))
    };
    let mut pairs: Vec<_> = counts.iter().filter_map(pair).collect();
    pairs.sort_unstable_by_key(|&(pair, count)| (std::cmp::Reverse(count), pair));
    pairs.truncate(MAX_PAIRS);
    pairs
}

/// What a task waits for, if another task ended most of its waits.
fn waits_for(context: &TableContext<'_>, task: TaskId, other: TaskId) -> Option<(Text, Class)> {
    let trace = context.trace;
    let (mut waits, mut ended, mut target) = (0, 0, None);
    for (at, &row) in trace.rows_of(task).iter().enumerate() {
        let is_semaphore = || trace.events.action(row) == Action::ChangesSemaphore;
        let is_wait = trace.events.kind(row) == EventKind::Call
            && match context.wakers.wait(trace, row) {
                Some(Wait::Read | Wait::Lock | Wait::Poll) => true,
                Some(Wait::Message) => is_semaphore(),
                _ => false,
            };
        if is_wait && context.wakers.needs_waker(trace, row) {
            let edge = context
                .wakers
                .waker(trace, task, at, trace.printed_span(row));
            waits += 1;
            if edge.is_some_and(|edge| edge.task == other) {
                ended += 1;
                target = target.or(Some((
                    trace.events.waited_target(row),
                    context.wakers.class(trace, row),
                )));
            }
        }
        if waits == MAX_WAITS {
            break;
        }
    }
    target.filter(|_| 100 * ended >= MIN_MUTUAL_PERCENT * waits)
}

/// The system call of most of the waits of a task.
fn most_frequent(context: &TableContext<'_>, task: TaskId) -> Text {
    let events = &context.trace.events;
    let mut counts: FxHashMap<Text, usize> = FxHashMap::default();
    for row in context
        .calls_of(task)
        .filter(|&row| context.wakers.needs_waker(context.trace, row))
        .take(MAX_WAITS)
    {
        *counts.entry(events.shape(row).syscall).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|&(syscall, count)| (count, std::cmp::Reverse(syscall)))
        .map_or(Text::NONE, |(syscall, _)| syscall)
}

fn write(
    context: &TableContext<'_>,
    (waiter, waker): (TaskId, TaskId),
    count: u64,
    awaited: Option<(Text, Class)>,
    builder: &mut TableBuilder<'_>,
) {
    let (trace, events) = (context.trace, &context.trace.events);
    let mut rows: Vec<u32> = [waiter, waker]
        .iter()
        .flat_map(|&task| context.calls_of(task))
        .filter(|&row| {
            matches!(
                context.wakers.class(trace, row),
                Class::Ipc | Class::Lock | Class::Poll
            )
        })
        .collect();
    rows.sort_unstable();
    let (Some(&first_row), Some(&last_row)) = (rows.first(), rows.last()) else {
        return;
    };
    let bytes: i64 = rows.iter().map(|&row| events.bytes(row).unwrap_or(0)).sum();
    let in_calls_ns: i64 = rows.iter().map(|&row| context.exclusive_ns(row)).sum();
    let (target, class) = awaited.unwrap_or((Text::NONE, Class::Ipc));
    let rounds = i64::try_from(count).unwrap_or(i64::MAX).max(1);
    let row = TableRow {
        of: TaskAt {
            task: waiter,
            row: first_row,
        },
        other_pid: trace.tasks[waker].pid,
        other_tid: trace.tasks[waker].tid,
        other_program: context.program(waker, last_row),
        syscall: most_frequent(context, waiter),
        target,
        class: Some(class.name().to_owned()),
        is_at_address: events.socket_paths.contains_key(&target),
        rounds,
        // Each task writes once and reads once.
        each_bytes: bytes / (4 * rounds),
        mean_ns: in_calls_ns / rounds,
        // Without a clock, the waits of the two overlap by an unknown time.
        path: awaited.map_or(0, |_| in_calls_ns),
        lines: LinesOf {
            first_row,
            last_row,
        },
    };
    builder.add(row, Provenance::Rows(rows));
}
