//! Hand-overs where there is no clock: the order of lines shows who wrote what a task reads.
//!
//! ```text
//! one     write p | read q ... | write p | read q ...
//! other   read p  | write q    | read p  | write q              each read takes what the other task wrote last
//! ```

use kit::table_support::context::TableContext;
use kit::table_support::shape_index::ShapeIndex;
use kit::table_support::stream_ends::{Ends, ends, is_end};
use parsers::Outcome;
use parsers::syscalls::{Action, Transfer, Wait};
use rustc_hash::FxHashMap;
use trace::store::event::Shape;
use trace::store::index::TaskId;
use trace::store::trace::Capture;

/// What waits at a pipe or pair.
#[derive(Clone, Copy)]
enum Waiting {
    /// What this task wrote.
    Data(TaskId),
    /// A task that reads.
    Reader(TaskId),
}

/// Numbers of hand-overs by receiver and giver, in captures without a clock.
pub(super) fn by_order(context: &TableContext<'_>) -> FxHashMap<(TaskId, TaskId), u64> {
    let (trace, events) = (context.trace, &context.trace.events);
    if trace.captures.iter().all(Capture::has_wall_clock) {
        return FxHashMap::default();
    }
    let moves = |action: Action, shape: &Shape| {
        let is_read = action.wait() == Some(Wait::Read);
        let moves = is_read || action.transfer() == Some(Transfer::Write);
        (shape.outcome == Outcome::Ok && moves).then_some(is_read)
    };
    let kinds = ShapeIndex::by_target(
        context,
        |action, part| moves(action, part).is_some(),
        |_, action, shape| {
            moves(action, shape).filter(|_| is_end(events.texts.bytes(shape.target)))
        },
    );
    let mut counts = FxHashMap::default();
    if !kinds.any(|_| true) {
        return counts;
    }
    let tasks = trace.tasks.keys().filter(|&task| !has_clock(context, task));
    let mut rows: Vec<(u32, bool)> = tasks.flat_map(|task| kinds.calls(context, task)).collect();
    rows.sort_unstable();
    let mut waiting: FxHashMap<Ends, Waiting> = FxHashMap::default();
    for (row, is_read) in rows.into_iter().filter(|&(row, _)| events.ret(row) > 0) {
        let Some(ends) = ends(events.texts.bytes(events.target(row))) else {
            continue;
        };
        let task = events.task(row);
        let pair = match (is_read, waiting.remove(&ends)) {
            (true, Some(Waiting::Data(giver))) if giver != task => (task, giver),
            // The read began before the write, so it is printed in two halves.
            (false, Some(Waiting::Reader(reader))) if reader != task => (reader, task),
            _ => {
                waiting.insert(
                    ends,
                    if is_read {
                        Waiting::Reader(task)
                    } else {
                        Waiting::Data(task)
                    },
                );
                continue;
            }
        };
        *counts.entry(pair).or_default() += 1;
    }
    counts
}

fn has_clock(context: &TableContext<'_>, task: TaskId) -> bool {
    context
        .capture_of(task)
        .is_none_or(|capture| capture.has_wall_clock())
}
