//! Last targets: what a process worked on last, with success: the files, devices and peers of its last calls.
//!
//! ```text
//! open("/dev/graphics/fb0") = 4 | ioctl(4, FBIOGET_VSCREENINFO) | SIGSEGV       it crashed soon after it had these
//! ```

use super::processes;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use parsers::syscalls::Transfer;
use parsers::{Outcome, Text};
use trace::store::index::TaskId;
use trace::store::targets::TargetKind;

table! {
    last_targets "What these processes worked on last, with success.";
    times: Calls;
    row {
        of: OfTask { program "Program." },
        syscall: Text "Name of the system call.",
        op: Text "Sub-operation.",
        target: Text "What the call works on.",
        calls: Count "Number of calls.",
        peer_closed: Flag "Whether the last of these calls found that the other side had closed the connection.",
        lines: Lines {
            first_line "Line of the first one.",
            last_line "Line of the last one.",
        },
    }
}

/// The last calls of each task that are looked at.
const MAX_CALLS: usize = 200;
/// Targets that are listed of each process.
const MAX_TARGETS: usize = 6;

/// Calls with the same name, request and target.
struct Step {
    key: (Text, Text, Text),
    calls: i64,
    first_row: u32,
    last_row: u32,
}

/// Builds the table, one row per call and target, in the order of the last rows of each process.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for process in processes(context) {
        let mut steps: Vec<Step> = Vec::new();
        for &task in &process.tasks {
            add_steps(context, task, &mut steps);
        }
        steps.sort_unstable_by_key(|step| step.last_row);
        for step in steps.split_off(steps.len().saturating_sub(MAX_TARGETS)) {
            write(context, &step, &mut builder);
        }
    }
    builder.finish()
}

fn add_steps(context: &TableContext<'_>, task: TaskId, steps: &mut Vec<Step>) {
    let events = &context.trace.events;
    let from = steps.len();
    for row in context.calls_of(task).rev().take(MAX_CALLS) {
        let (shape, target) = (events.shape(row), events.target(row));
        if !target.is_some() || shape.outcome != Outcome::Ok {
            continue;
        }
        let key = (shape.syscall, shape.op, target);
        match steps[from..].iter_mut().find(|step| step.key == key) {
            Some(step) => {
                step.calls += 1;
                step.first_row = row;
            }
            None => steps.push(Step {
                key,
                calls: 1,
                first_row: row,
                last_row: row,
            }),
        }
    }
}

/// Whether a read from a peer returned nothing, which is the end of the connection.
fn is_end_of_connection(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let target = events.texts.bytes(events.target(row));
    // A pipe ends when its writer has written all.
    let is_other = [&b"/dev/"[..], b"UDP", b"pipe:", b"anon_inode:"];
    let is_connection = TargetKind::of(target) == TargetKind::Peer
        && !is_other.iter().any(|prefix| target.starts_with(prefix));
    is_connection && events.ret(row) == 0 && events.action(row).transfer() == Some(Transfer::Read)
}

fn write(context: &TableContext<'_>, step: &Step, builder: &mut TableBuilder<'_>) {
    let (syscall, op, target) = step.key;
    let row = TableRow {
        of: TaskAt {
            task: context.trace.events.task(step.last_row),
            row: step.last_row,
        },
        syscall,
        op,
        target,
        calls: step.calls,
        peer_closed: is_end_of_connection(context, step.last_row),
        lines: LinesOf {
            first_row: step.first_row,
            last_row: step.last_row,
        },
    };
    builder.add(row, Provenance::Rows(vec![step.last_row]));
}
