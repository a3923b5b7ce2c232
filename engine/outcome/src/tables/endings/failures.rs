//! Last failures: the calls of a process that failed last, by call, error and target.
//!
//! ```text
//! openat("/opt/lib/x.so") ENOENT | openat("/usr/lib/x.so") = 3        the name is found elsewhere: recovered
//! connect([::1]:80) ECONNREFUSED | connect(127.0.0.1:80) = 0          the other address answers: recovered
//! bind(3, :8000) EADDRINUSE | bind(3, :8001) = 0                      the socket is bound to another port: recovered
//! connect(10.0.0.5:5432) ECONNREFUSED | write(2, "could not …") | exit_group(1)        the last one: not recovered
//! ```

use super::{EndedProcess, processes};
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use parsers::syscalls::Action;
use parsers::{NO_NS, Outcome, Text};
use rustc_hash::FxHashMap;
use trace::store::event::EventKind;
use trace::store::facts::ConnectOutcome;
use trace::store::index::TaskId;
use trace::store::paths;

table! {
    last_failures "The calls of these processes that failed last, by call, error and target.";
    times: Calls;
    row {
        of: OfTask { program "Program." },
        syscall: Text "Name of the system call.",
        op: Text "Sub-operation.",
        target: Text "What the call works on.",
        errno: Text "Name of the error.",
        calls: Count "Number of calls.",
        calls_after: Count "Number of calls of the thread after the last one.",
        last_ns: Ns (Same) "Duration of the last one, if the tracer printed it.",
        recovered: Flag "Whether a later call of this name succeeded with the same target, a path of the same last part, or another address with the same port; of a bind, if the same socket was bound to another port.",
        lines: Lines {
            first_line "Line of the first one.",
            last_line "Line of the last one.",
        },
    }
}

/// The last calls of each task that are looked at. What a program did not survive is near its end.
const MAX_CALLS: usize = 20_000;
/// Failures that are listed of each process.
const MAX_FAILURES: usize = 48;

/// Calls with the same name, error and target.
struct Failure {
    task: TaskId,
    /// The error; of a connect in progress, how it ended.
    errno: Text,
    calls: i64,
    first_row: u32,
    last_row: u32,
    /// Calls of the task after the last one.
    calls_after: i64,
    /// A later call of this name succeeded with the same target, a path of the same last part, or another address with the
    /// same port; or the same socket was bound to another port.
    is_recovered: bool,
}

/// Builds the table, one row per call, error and target.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for process in processes(context) {
        for failure in failures(context, &process) {
            write(context, &failure, &mut builder);
        }
    }
    builder.finish()
}

/// The last failures of a process, in the order of their last rows.
fn failures(context: &TableContext<'_>, process: &EndedProcess) -> Vec<Failure> {
    let mut found: Vec<Failure> = Vec::new();
    for &task in &process.tasks {
        found.extend(of_task(context, task));
    }
    found.sort_unstable_by_key(|failure| failure.last_row);
    found.split_off(found.len().saturating_sub(MAX_FAILURES))
}

fn of_task(context: &TableContext<'_>, task: TaskId) -> Vec<Failure> {
    let events = &context.trace.events;
    let mut later = Successes::default();
    let mut found: FxHashMap<(Text, Text, Text), Failure> = FxHashMap::default();
    let calls = context.calls_of(task).rev().take(MAX_CALLS);
    // From the end, so that each failure meets the calls that succeeded after it.
    for (after, row) in (0..).zip(calls) {
        let shape = events.shape(row);
        let connected = events.facts.get::<ConnectOutcome>(row);
        let errno = connected.map_or(shape.errno, |connected| connected.errno);
        let is_failed = events.kind(row) == EventKind::Call
            && shape.outcome == Outcome::Failed
            && errno.is_some();
        if !is_failed {
            if shape.outcome == Outcome::Ok || connected.is_some() {
                later.add(context, row);
            }
            continue;
        }
        let failure = found
            .entry((shape.syscall, errno, events.target(row)))
            .or_insert_with(|| Failure {
                task,
                errno,
                calls: 0,
                first_row: row,
                last_row: row,
                calls_after: after,
                is_recovered: later.has(context, row),
            });
        failure.calls += 1;
        failure.first_row = row;
    }
    found.into_values().collect()
}

/// What calls succeeded with.
#[derive(Default)]
struct Successes {
    /// By syscall and target.
    targets: FxHashMap<(Text, Text), ()>,
    /// Hashes of the last parts of paths, and of ports.
    names: FxHashMap<u64, ()>,
    /// Hash of the host that a socket is bound to, while no other socket was created in between.
    bound: Option<u64>,
}

impl Successes {
    fn add(&mut self, context: &TableContext<'_>, row: u32) {
        let events = &context.trace.events;
        match events.action(row) {
            Action::Binds => self.bound = host_of(context, row),
            Action::MakesSocket => self.bound = None,
            _ => {}
        }
        let target = events.target(row);
        if !target.is_some() {
            return;
        }
        let key = (events.shape(row).syscall, target);
        let is_new = self.targets.insert(key, ()).is_none();
        if let Some(name) = is_new.then(|| name_of(context, row)).flatten() {
            self.names.insert(name, ());
        }
    }

    fn has(&self, context: &TableContext<'_>, row: u32) -> bool {
        let events = &context.trace.events;
        let target = events.target(row);
        let key = (events.shape(row).syscall, target);
        let is_found = || name_of(context, row).is_some_and(|name| self.names.contains_key(&name));
        // Of two sockets, one for each family of addresses, both have to be bound.
        let is_bound = events.action(row) == Action::Binds
            && self.bound.is_some()
            && self.bound == host_of(context, row);
        is_bound || target.is_some() && (self.targets.contains_key(&key) || is_found())
    }
}

/// What is the same where a call finds elsewhere what it looks for: the last part of a path, the port of an address.
fn name_of(context: &TableContext<'_>, row: u32) -> Option<u64> {
    let events = &context.trace.events;
    let target = events.texts.bytes(events.target(row));
    if events.action(row) == Action::Connects {
        let port = target.get(memchr::memrchr(b':', target)?..)?;
        return Some(paths::hash(port));
    }
    let is_lookup = events.action(row).lookup().is_some();
    is_lookup.then(|| paths::hash(paths::split(target).1))
}

/// Hash of the host of an address with a port.
fn host_of(context: &TableContext<'_>, row: u32) -> Option<u64> {
    let events = &context.trace.events;
    let target = events.texts.bytes(events.target(row));
    let host = target.get(..memchr::memrchr(b':', target)?)?;
    Some(paths::hash(host))
}

/// How long the last call took; [`NO_NS`] unless the tracer printed it.
fn last_ns(context: &TableContext<'_>, failure: &Failure) -> i64 {
    let has_durations = context
        .capture_of(failure.task)
        .is_some_and(|capture| capture.facts.has_durations);
    if has_durations {
        context.trace.events.dur_ns(failure.last_row)
    } else {
        NO_NS
    }
}

fn write(context: &TableContext<'_>, failure: &Failure, builder: &mut TableBuilder<'_>) {
    let events = &context.trace.events;
    let shape = events.shape(failure.last_row);
    let row = TableRow {
        of: TaskAt {
            task: failure.task,
            row: failure.last_row,
        },
        syscall: shape.syscall,
        op: shape.op,
        target: events.target(failure.last_row),
        errno: failure.errno,
        calls: failure.calls,
        calls_after: failure.calls_after,
        last_ns: last_ns(context, failure),
        recovered: failure.is_recovered,
        lines: LinesOf {
            first_row: failure.first_row,
            last_row: failure.last_row,
        },
    };
    builder.add(row, Provenance::Rows(vec![failure.last_row]));
}
