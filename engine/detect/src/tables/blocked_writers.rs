//! Blocked writers: tasks whose writes wait until the reader at the other end makes room. They are seldom on the critical
//! path, which goes on at the reader.
//!
//! ```text
//! writer   |-- write --||-- write --||-- write --|      blocked 3 times, nearly all of its lifetime
//! reader   |work|read  |work    |read|work   |read      on the critical path
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::shape_index::ShapeIndex;
use parsers::syscalls::{Class, Transfer};
use parsers::{NO_NS, Outcome, Text};
use path::waits::edge::WakeKind;
use trace::parallel;
use trace::store::heuristics::MIN_BLOCKED_WRITE_NS;
use trace::store::index::TaskId;

table! {
    blocked_writers "Tasks whose writes were blocked, each with the pipe or socket that blocked it longest.";
    times: Calls;
    row {
        of: OfTask { program "Program that writes." },
        target: Text "The pipe or socket that was full.",
        reader_pid: Id "Process that reads at the other end.",
        reader_program: Text "Program of that process.",
        calls: Count "Number of writes that were blocked until the reader made room.",
        blocked_ns: Ns "Total duration of these writes, on the critical path or not.",
        blocked_share: Share "blocked_ns as a share of the lifetime of the task.",
        path: PathTime { exclusive_ns "Critical-path time of these writes." },
        lines: Lines,
    }
}

/// Maximum number of writes of a task whose reader is searched. The others are assumed to have the same one.
const MAX_WRITES: usize = 256;

struct Blocked {
    task: TaskId,
    reader: TaskId,
    target: Text,
    rows: Vec<u32>,
    total_ns: i64,
}

/// Builds the table of blocked writers by task: the pipe or socket that blocks it longest.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let writes = ShapeIndex::new(context, |action, shape| {
        let moves = matches!(action.transfer(), Some(Transfer::Write | Transfer::Copy));
        (moves && shape.outcome == Outcome::Ok).then_some(())
    });
    let tasks: Vec<TaskId> = if writes.any(|()| true) {
        context.tasks().collect()
    } else {
        Vec::new()
    };
    let found = parallel::flat_map(&tasks, |&task| {
        Vec::from_iter(of_task(context, &writes, task))
    });
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    found
        .iter()
        .for_each(|blocked| write(context, blocked, &mut builder));
    builder.finish()
}

fn of_task(context: &TableContext<'_>, writes: &ShapeIndex<()>, task: TaskId) -> Option<Blocked> {
    let (trace, events) = (context.trace, &context.trace.events);
    let slow: Vec<u32> = writes
        .calls(context, task)
        .map(|(row, ())| row)
        .filter(|&row| events.dur_ns(row) != NO_NS && events.dur_ns(row) >= MIN_BLOCKED_WRITE_NS)
        .filter(|&row| {
            matches!(
                context.wakers.class(trace, row),
                Class::Ipc | Class::Network
            )
        })
        .collect();
    let longest = slow
        .iter()
        .copied()
        .max_by_key(|&row| (events.dur_ns(row), std::cmp::Reverse(row)))?;
    let target = events.waited_target(longest);
    let rows: Vec<u32> = slow
        .into_iter()
        .filter(|&row| events.waited_target(row) == target)
        .collect();
    let reader_of = |&row: &u32| {
        let edge = context.wakers.waker(
            trace,
            task,
            trace.place_of(task, row)?,
            trace.printed_span(row),
        )?;
        (edge.how == WakeKind::Drain).then_some(edge.task)
    };
    let known = rows
        .iter()
        .take(MAX_WRITES)
        .filter(|&row| reader_of(row).is_some())
        .count();
    let reader =
        reader_of(&longest).or_else(|| rows.iter().take(MAX_WRITES).find_map(reader_of))?;
    let total_ns: i64 = rows.iter().map(|&row| events.dur_ns(row)).sum();
    // Most of them have to be known.
    (2 * known > rows.len().min(MAX_WRITES)).then_some(Blocked {
        task,
        reader,
        target,
        rows,
        total_ns,
    })
}

fn write(context: &TableContext<'_>, blocked: &Blocked, builder: &mut TableBuilder<'_>) {
    let trace = context.trace;
    let (Some(&first_row), Some(&last_row)) = (blocked.rows.first(), blocked.rows.last()) else {
        return;
    };
    let known = &trace.tasks[blocked.task];
    let lifetime_ns = known.end_ns().saturating_sub(known.birth_ns);
    let row = TableRow {
        of: TaskAt {
            task: blocked.task,
            row: first_row,
        },
        target: blocked.target,
        reader_pid: trace.tasks[blocked.reader].pid,
        reader_program: context.program(blocked.reader, last_row),
        calls: blocked.rows.len() as i64,
        blocked_ns: blocked.total_ns,
        blocked_share: (lifetime_ns > 0).then(|| blocked.total_ns as f64 / lifetime_ns as f64),
        path: blocked
            .rows
            .iter()
            .map(|&row| context.exclusive_ns(row))
            .sum(),
        lines: LinesOf {
            first_row,
            last_row,
        },
    };
    builder.add(row, Provenance::Rows(Vec::new()));
}
