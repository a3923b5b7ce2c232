//! Calls on the critical path by process and kind, with how much of their time may be the program's own.
//!
//! ```text
//! truss    7: 1.5498 1.5300 0.0001 open("/b")  = 4      the program may have computed before it
//! truss    7: read(0, 0x08, 1)  (sleeping...)
//!          7: 4.5498 3.0000 0.0001 read(0, "x", 1) = 1  it was in the call
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::evidence::may_be_outside;
use kit::table_support::grouping::{CallGroup, Grouping, limit_groups};
use kit::table_support::kit::table;
use kit::table_support::provenance::Provenance;
use kit::table_support::shape_index::{ShapeIndex, costliest};
use parsers::Text;
use path::waits::wait_kinds::failed_at_once;
use trace::parallel;
use trace::store::index::TaskId;

table! {
    call_bounds "Calls on the critical path whose durations may contain time of the program, by process.";
    times: Calls;
    row {
        group: OfProcesses { program "Program that made these calls." },
        syscall: Text "The system call.",
        op: Text "Sub-operation.",
        unproven_ns: Ns "The part of exclusive_ns that may be the program's own time: upper bounds of calls in which nothing shows the task.",
        refused_ns: Ns "The part of unproven_ns in calls that would have blocked, and usually fail at once (EAGAIN).",
        longest_ns: Ns (Max) "The largest part of one call.",
        sum: CallSums { calls "Number of calls on the critical path." },
    }
}

/// Syscall and operation.
type Kind = (Text, Text);

/// Builds the table.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = ShapeIndex::new(context, |_, shape| Some((shape.syscall, shape.op)));
    let processes = costliest(context, &kinds);
    let groups = parallel::flat_map(&processes, |tasks| of_process(context, &kinds, tasks));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for group in limit_groups(context, groups, |&kind| kind) {
        write(context, &group, &mut builder);
    }
    builder.finish()
}

fn of_process(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Kind>,
    tasks: &[TaskId],
) -> Vec<CallGroup<Kind>> {
    let mut groups: Grouping<(Text, Kind)> = Grouping::default();
    let calls = tasks
        .iter()
        .flat_map(|&task| kinds.by_program(context, task));
    for call in calls.filter(|call| context.exclusive_ns(call.row) > 0) {
        groups.add((call.program, call.kind), call.row);
    }
    groups
        .groups
        .into_iter()
        .map(|((program, kind), rows)| CallGroup::of_one(tasks[0], program, kind, rows))
        .collect()
}

fn write(context: &TableContext<'_>, group: &CallGroup<Kind>, builder: &mut TableBuilder<'_>) {
    let ((syscall, op), events) = (group.key, &context.trace.events);
    let on_path = |&row: &u32| context.exclusive_ns(row);
    let outside = group
        .rows
        .iter()
        .filter(|&&row| may_be_outside(context, row));
    let refused = group
        .rows
        .iter()
        .filter(|&&row| may_be_outside(context, row) && failed_at_once(events, row));
    let row = TableRow {
        group: group.into(),
        syscall,
        op,
        unproven_ns: outside.map(on_path).sum(),
        refused_ns: refused.map(on_path).sum(),
        longest_ns: group.rows.iter().map(on_path).max().unwrap_or(0),
        sum: group.sum(context),
    };
    builder.add(row, Provenance::Rows(group.rows.clone()));
}
