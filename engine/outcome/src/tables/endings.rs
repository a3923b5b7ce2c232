//! Endings: how the processes of a capture ended that decide how the run went.
//!
//! ```text
//! cargo     | … wait4 ─────────────────| exit_group(101)         started by the tracer: its end is that of the run
//! app       |  … write(2, "panic …") | killed by SIGABRT         abnormal: it may be why
//! sed       |  exit_group(0) |                                   ended well, and others say more: left out
//! ```
//! Eight tables describe the same processes: `endings`, one row each; `last_calls`, the calls in which their threads were;
//! `last_failures`, the calls that failed last; `last_targets`, what they worked on last; `last_texts`, what they printed or
//! received last; `last_questions`, the names that they asked name servers for; and `last_cycles`, what they repeat until
//! the end. Of the whole capture, `foreign_lines` has the last lines that are not of the tracer.

pub(super) mod calls;
pub(super) mod cycles;
pub(super) mod failures;
mod faults;
pub(super) mod foreign_lines;
mod kdump_data;
pub(super) mod questions;
pub(super) mod targets;
pub(super) mod texts;
mod untraced_child;

pub use faults::mapped_length;
use faults::{
    events_after, fault_row, first_delivery, last_fault_row, refused_calls, same_faults, unmapping,
    unpledged_row,
};
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::table;
use kit::table_support::process_ends::ProcessEnds;
use kit::table_support::provenance::Provenance;
use parsers::facts::{FaultAddress, FaultCode, RefusedCall, RefusedPromise};
use parsers::line::Ended;
use parsers::{NO_ID, Text};
use query::source_lines;
use trace::store::index::TaskId;
use trace::store::recent_lines::LinePlace;
use untraced_child::failed_child;

table! {
    endings "How processes ended that decide how the run went.";
    times: Calls;
    columns {
        of: OfTask { program "Program at its end." },
        argv: Text "Its arguments.",
        root: Flag "Whether no task of the capture created it: the tracer started it or attached to it.",
        born: Flag "Whether the capture shows its start.",
        exit_code: Number (Same) "Exit status; missing if it did not exit.",
        signal: Text "Signal that killed it.",
        fault: Text "The last signal among its last events that reported a fault of its own code, whether that killed it or not.",
        faults: Count "Deliveries of it among its last events that have the same address.",
        signal_code: Text "Why the signal was sent that killed it, or reported the fault, as printed: SEGV_MAPERR, SI_KERNEL.",
        fault_address: Text "Address that it could not use.",
        unmapped_line: LastLine (Same) "Line of the call that had unmapped this address.",
        refused_call: Text "The call that a filter of system calls (seccomp) refused, as SIGSYS reports it.",
        refused_calls: Words "All calls that a filter refused among its last events, the most frequent first: getpid 4 times.",
        refused_promise: Text "The promise of pledge(2) that its last refused call would have needed.",
        promise_call: Text "Name of that call.",
        promise_line: LastLine (Same) "Line of that call.",
        signal_line: LastLine (Same) "Line of the first delivery of that signal with this address.",
        events_after: Count "Number of its events after that delivery.",
        sender_pid: Id "Process that sent the signal.",
        last_call: Text "Name of its last call.",
        told_by: Text "Signal of another process that asked it to end.",
        told_line: LastLine (Same) "Line of the delivery of that signal.",
        child_pid: Id "The last child without lines that did not end with status 0, as a wait or a SIGCHLD reports.",
        child_end: Words "Its exit status, or the signal that killed it.",
        child_line: LastLine (Same) "Line of that report.",
        threads: Count "Number of its threads that have lines.",
        calls: Count "Number of calls.",
        failed: Count "Number of failed calls.",
        lines: Lines {
            first_line "Line of the first one.",
            last_line "Line of the last one.",
        },
    }
}

/// Processes that the tables describe: of more, those that were started first and those that ended abnormally last.
const MAX_PROCESSES: usize = 24;

/// A process whose end matters.
pub(super) struct EndedProcess {
    /// Its main task.
    pub main: TaskId,
    /// All of its tasks that have lines.
    pub tasks: Vec<TaskId>,
    /// No task of the capture created it: the tracer started it or attached to it.
    pub is_root: bool,
}

/// Builds the table, one row per process.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    let ends = ProcessEnds::new(context);
    for process in processes(context) {
        write(context, &ends, &process, &mut builder);
    }
    builder.finish()
}

/// The processes whose ends matter, in the order of their first lines.
pub(super) fn processes(context: &TableContext<'_>) -> Vec<EndedProcess> {
    let trace = context.trace;
    let mut found: Vec<EndedProcess> = Vec::new();
    for tasks in context.selected_processes().groups() {
        let Some(main) = tasks.first().map(|&task| trace.main_tasks()[task]) else {
            continue;
        };
        let known = &trace.tasks[main];
        let is_root = known.creator == TaskId::NONE;
        let is_abnormal = !matches!(known.ended, None | Some(Ended::Exited(0)));
        let has_lines = tasks.iter().any(|&task| !trace.rows_of(task).is_empty());
        if has_lines && (is_root || is_abnormal) {
            let tasks = tasks.to_vec();
            found.push(EndedProcess {
                main,
                tasks,
                is_root,
            });
        }
    }
    if found.len() > MAX_PROCESSES {
        let (mut roots, mut others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|one| one.is_root);
        roots.truncate(MAX_PROCESSES / 2);
        let room = MAX_PROCESSES - roots.len();
        roots.extend(others.drain(others.len().saturating_sub(room)..));
        found = roots;
    }
    found.sort_by_key(|process| trace.tasks[process.main].first_line);
    found
}

fn write(
    context: &TableContext<'_>,
    ends: &ProcessEnds,
    process: &EndedProcess,
    builder: &mut TableBuilder<'_>,
) {
    let (trace, events) = (context.trace, &context.trace.events);
    let known = &trace.tasks[process.main];
    let (last_row, first_row) = (last_row(context, process), first_row(context, process));
    let exec = trace.program_index().of(process.main).last();
    let (exit_code, signal) = match ended(context, process) {
        Some(Ended::Exited(code)) => (Some(i64::from(code)), Text::NONE),
        Some(Ended::Killed(signal)) => (None, signal),
        None => (None, Text::NONE),
    };
    let last_fault = last_fault_row(context, process);
    let fault = fault_row(context, process, signal).or(last_fault);
    let code = fault.and_then(|row| events.facts.get::<FaultCode>(row));
    let address = fault.and_then(|row| events.facts.get::<FaultAddress>(row));
    let told = ends.told(context, process.main);
    builder.task_columns(process.main, last_row);
    builder.text("argv", exec.map_or(Text::NONE, |program| program.argv));
    builder.bool("root", process.is_root);
    builder.bool("born", known.born);
    builder.some_int("exit_code", exit_code);
    builder.text("signal", signal);
    builder.text(
        "fault",
        last_fault.map_or(Text::NONE, |row| events.shape(row).syscall),
    );
    builder.int(
        "faults",
        last_fault.map_or(0, |row| same_faults(context, row)),
    );
    builder.text("signal_code", code.copied().unwrap_or(Text::NONE));
    let address = address.copied().map(shown_address);
    builder.string("fault_address", address.as_deref());
    let unmapped = fault.and_then(|row| unmapping(context, process, first_delivery(context, row)));
    builder.some_int(
        "unmapped_line",
        unmapped.map(|row| i64::from(events.line(row))),
    );
    let refused = fault.and_then(|row| events.facts.get::<RefusedCall>(row));
    builder.text("refused_call", refused.copied().unwrap_or(Text::NONE));
    builder.string("refused_calls", refused_calls(context, process).as_deref());
    let unpledged = unpledged_row(context, process);
    let promise = unpledged.and_then(|row| events.facts.get::<RefusedPromise>(row));
    builder.text("refused_promise", promise.copied().unwrap_or(Text::NONE));
    builder.text(
        "promise_call",
        unpledged.map_or(Text::NONE, |row| events.shape(row).syscall),
    );
    builder.some_int(
        "promise_line",
        unpledged.map(|row| i64::from(events.line(row))),
    );
    let first = fault.map(|row| first_delivery(context, row));
    builder.some_int("signal_line", first.map(|row| i64::from(events.line(row))));
    builder.int(
        "events_after",
        fault.map_or(0, |row| events_after(context, row)),
    );
    builder.some_int(
        "sender_pid",
        fault
            .map(|row| events.sender(row))
            .filter(|&pid| pid != NO_ID && pid != known.pid)
            .map(i64::from),
    );
    builder.text("last_call", last_call(context, process));
    builder.text(
        "told_by",
        told.map_or(Text::NONE, |row| events.shape(row).syscall),
    );
    builder.some_int("told_line", told.map(|row| i64::from(events.line(row))));
    let child = failed_child(context, process);
    builder.some_int(
        "child_pid",
        child.as_ref().map(|child| i64::from(child.pid)),
    );
    builder.string("child_end", child.as_ref().map(|child| child.how.as_str()));
    builder.some_int(
        "child_line",
        child.map(|child| i64::from(events.line(child.row))),
    );
    builder.int("threads", process.tasks.len() as i64);
    builder.int("calls", sum(context, process, |task| task.calls));
    builder.int("failed", sum(context, process, |task| task.failed));
    builder.int("first_line", i64::from(events.line(first_row)));
    builder.int("last_line", i64::from(events.line(last_row)));
    builder.members(Provenance::Rows(vec![last_row]));
}

/// How the process ended. Where the line of its main thread is missing, another thread was killed by the same signal.
fn ended(context: &TableContext<'_>, process: &EndedProcess) -> Option<Ended> {
    let of = |task: TaskId| context.trace.tasks[task].ended;
    of(process.main).or_else(|| {
        process
            .tasks
            .iter()
            .find_map(|&task| of(task).filter(|ended| matches!(ended, Ended::Killed(_))))
    })
}

fn sum(
    context: &TableContext<'_>,
    process: &EndedProcess,
    of: impl Fn(&trace::store::tasks::Task) -> u32,
) -> i64 {
    let tasks = process.tasks.iter();
    tasks
        .map(|&task| i64::from(of(&context.trace.tasks[task])))
        .sum()
}

fn first_row(context: &TableContext<'_>, process: &EndedProcess) -> u32 {
    let rows = process.tasks.iter();
    rows.filter_map(|&task| context.trace.rows_of(task).first().copied())
        .min()
        .unwrap_or(0)
}

fn last_row(context: &TableContext<'_>, process: &EndedProcess) -> u32 {
    let rows = process.tasks.iter();
    rows.filter_map(|&task| context.trace.rows_of(task).last().copied())
        .max()
        .unwrap_or(0)
}

/// The name of the last call of a process.
fn last_call(context: &TableContext<'_>, process: &EndedProcess) -> Text {
    let tasks = process.tasks.iter();
    let last = tasks
        .filter_map(|&task| context.calls_of(task).next_back())
        .max();
    last.map_or(Text::NONE, |row| context.trace.events.shape(row).syscall)
}

/// The texts of the lines of rows, in their order.
pub fn lines_of(context: &TableContext<'_>, rows: &[u32]) -> Vec<String> {
    let events = &context.trace.events;
    lines_at(
        context,
        &rows
            .iter()
            .map(|&row| LinePlace {
                file: events.event(row).file,
                line: events.line(row),
            })
            .collect::<Vec<_>>(),
    )
}

/// The texts of lines, in their order. Each file is read once.
pub(super) fn lines_at(context: &TableContext<'_>, places: &[LinePlace]) -> Vec<String> {
    let trace = context.trace;
    let mut found = vec![String::new(); places.len()];
    let mut wanted: Vec<(u32, usize)> = (0..)
        .zip(places)
        .map(|(at, place)| (place.file, at))
        .collect();
    wanted.sort_unstable();
    let paths = || trace.captures.iter().flat_map(|capture| &capture.files);
    for of_file in wanted.chunk_by(|one, other| one.0 == other.0) {
        let Some(path) = paths().nth(of_file[0].0 as usize) else {
            continue;
        };
        let lines: Vec<u64> = of_file
            .iter()
            .map(|&(_, at)| u64::from(places[at].line))
            .collect();
        let texts = source_lines::quote(path, &lines, trace.cells(path)).unwrap_or_default();
        for (&(_, at), text) in of_file.iter().zip(texts) {
            found[at] = text;
        }
    }
    found
}

/// An address as tracers print it.
fn shown_address(address: u64) -> String {
    if address == 0 {
        "NULL".to_owned()
    } else {
        format!("{address:#x}")
    }
}
