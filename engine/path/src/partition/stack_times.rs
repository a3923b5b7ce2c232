//! The partition by stack: the same time as [`crate::partition::pieces`], divided further by the stacks of calls.
//!
//! ```text
//! piece        quota ioctl /dev/zfs 9.74 s
//! by stack     quota ioctl /dev/zfs 9.70 s   main, quota_lookup
//!              quota ioctl /dev/zfs 0.04 s   main, quota_print
//! ```

use crate::critical_path::attribution::{Attribution, Charge};
use crate::partition::piece::{Piece, piece_of, program_of};
use parsers::{NO_NS, Text};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use trace::store::event::NONE;
use trace::store::index::{ShapeId, TaskId, TiSlice};
use trace::store::schema::schema;
use trace::store::stacks::Frame;
use trace::store::table::{Table, TextColumn, Values, ints, some_ints, texts};
use trace::store::text_columns::{ids, push_text, text_column};
use trace::store::trace::Trace;

schema! {
    pub STACK_FRAMES: stack_frames "The frames of these stacks.";
    times: Calls;
    columns {
        stack: Number "Number of the stack.",
        depth: Number "Position of the frame, from 0 for the outermost.",
        function: Text "The function; missing where the tracer found no symbol.",
        source: Text "Source file and line, where the tracer prints them.",
        module: Text "File that contains the function.",
    }
}

schema! {
    pub STACK_TIMES: stack_times "The partition, divided further by the stacks of calls.";
    times: Calls;
    columns {
        of: OfTask { program "Program at that moment." },
        class: Text "What the time was spent on.",
        syscall: Text "The system call, if the time was spent in one.",
        op: Text "Sub-operation; for a log message, the subsystem.",
        target: Text "What the call worked on; for a log message, its text.",
        exclusive_ns: Ns "Critical-path time. All rows sum to the window.",
        calls: Number "Number of calls charged with the time.",
        resolved: Flag "False for a wait that nothing in the trace ended.",
        tag: Text "As in the partition.",
        stack: Number "Number of the stack of these calls in table stack_frames; missing without one.",
    }
}

/// What the parts of a task's path in one row have in common: program, shape apart from its outcome, kind, stack.
type StackKey = (Text, ShapeId, u32, u32);

/// The stack of a part of the path: that of its call. Time between calls has none.
fn stack_of(trace: &Trace, task: TaskId, charge: &Charge) -> Option<u32> {
    let is_call = !charge.is_gap && charge.row != NONE && trace.events.task(charge.row) == task;
    if is_call {
        trace.events.stacks.of(charge.row)
    } else {
        None
    }
}

/// The rows of a task, in the order of their first parts.
fn of_task(
    trace: &Trace,
    attribution: &Attribution,
    twins: &TiSlice<ShapeId, ShapeId>,
    task: TaskId,
) -> Vec<(Piece, Option<u32>)> {
    let mut places: FxHashMap<StackKey, usize> = FxHashMap::default();
    let mut rows: Vec<(Piece, Option<u32>)> = Vec::new();
    attribution.each(trace, task, |charge| {
        let program = program_of(trace, trace.program_index(), attribution, task, charge);
        let piece = piece_of(trace, task, program, charge);
        let stack = stack_of(trace, task, charge);
        let shape = twins.get(piece.shape).copied().unwrap_or(ShapeId::NONE);
        let at = *places
            .entry((program, shape, charge.kind(), stack.unwrap_or(NONE)))
            .or_insert(rows.len());
        match rows.get_mut(at) {
            Some((known, _)) => known.take(trace, &piece),
            None => rows.push((piece, stack)),
        }
    });
    rows
}

/// Critical-path time by task, program, call and stack, the largest first.
pub fn stack_times(trace: &Trace, attribution: &Attribution) -> Table {
    // Computed before all cores request it at once.
    trace.program_index();
    let twins = trace.events.twins();
    let tasks = trace.tasks.keys().collect::<Vec<_>>().into_par_iter();
    let mut rows: Vec<_> = tasks
        .flat_map_iter(|task| of_task(trace, attribution, &twins, task))
        .collect();
    rows.sort_by_key(|(piece, _)| Reverse(piece.exclusive_ns));
    let pieces = || rows.iter().map(|(piece, _)| piece);
    let tasks: Vec<TaskId> = pieces().map(|piece| piece.task).collect();
    let known = |task: TaskId| &trace.tasks[task];
    Table::new(
        "stack_times",
        vec![
            (
                "capture",
                ints(tasks.iter().map(|&task| i64::from(known(task).capture))),
            ),
            ("task", ints(tasks.iter().map(|&task| i64::from(task)))),
            ("pid", ids(&tasks, |task| known(task).pid)),
            ("tid", ids(&tasks, |task| known(task).tid)),
            (
                "program",
                text_column(trace, pieces().map(|piece| piece.program)),
            ),
            (
                "class",
                texts(pieces().map(|piece| Some(piece.class.name()))),
            ),
            (
                "syscall",
                text_column(trace, pieces().map(|piece| piece.name(trace).0)),
            ),
            (
                "op",
                text_column(trace, pieces().map(|piece| piece.name(trace).1)),
            ),
            (
                "target",
                text_column(trace, pieces().map(|piece| piece.target)),
            ),
            (
                "exclusive_ns",
                ints(pieces().map(|piece| piece.exclusive_ns)),
            ),
            ("calls", ints(pieces().map(|piece| i64::from(piece.calls)))),
            (
                "resolved",
                Values::Bool(pieces().map(|piece| Some(piece.resolved)).collect()),
            ),
            ("tag", texts(pieces().map(|piece| piece.tag.name()))),
            (
                "stack",
                some_ints(rows.iter().map(|(_, stack)| stack.map_or(NO_NS, i64::from))),
            ),
        ],
    )
}

/// The frames of these stacks, from the outermost to the innermost.
pub fn stack_frames(trace: &Trace, stacks: &[u32]) -> Table {
    let of = |&stack: &u32| {
        let frames = trace.events.stacks.frames(stack);
        (0i64..)
            .zip(frames)
            .map(move |(depth, frame)| (stack, depth, frame))
    };
    let rows: Vec<(u32, i64, Frame)> = stacks.iter().flat_map(of).collect();
    let text = |part: fn(&Frame) -> Text| {
        let mut column = TextColumn::default();
        rows.iter()
            .for_each(|(.., frame)| push_text(&mut column, &trace.events, part(frame)));
        column.finish()
    };
    Table::new(
        "stack_frames",
        vec![
            (
                "stack",
                ints(rows.iter().map(|&(stack, ..)| i64::from(stack))),
            ),
            ("depth", ints(rows.iter().map(|&(_, depth, _)| depth))),
            ("function", text(|frame| frame.function)),
            ("source", text(|frame| frame.source)),
            ("module", text(|frame| frame.module)),
        ],
    )
}
