//! Open calls: the call of each task that has not returned when the capture ends or a signal kills the process, and the
//! tasks that could end it.
//!
//! ```text
//! pid 7   flock(3</run/lock>, LOCK_EX) = 0 | read(0,                the last line: blocked on its standard input
//! pid 8   flock(3</run/lock>, LOCK_EX <unfinished ...>              blocked on the lock that pid 7 holds
//! pid 9   flock(3</run/lock>, LOCK_EX <unfinished ...> | killed by SIGINT       the same, until the signal
//! ```

mod enders;
mod idle;
mod request;
mod threads;

use crate::tables::entropy_waits::awaited_source;
use crate::tables::open_calls::enders::{Ender, Enders};
use crate::tables::open_calls::threads::Threads;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use parsers::line::Ended;
use parsers::syscalls::{self, Action, Syscall, Transfer, Wait};
use parsers::{NO_ID, NO_NS, Outcome, Text};
use path::waits::effects::is_waiting_fcntl;
use path::waits::wait_kinds::{never_returned, wait_of_row, was_broken_off};
use trace::store::event::EventKind;
use trace::store::facts::{IsTorn, OpenFd};
use trace::store::index::TaskId;

table! {
    open_calls "Tasks whose last call did not return.";
    times: Calls;
    row {
        of: OfTask { program "Program of the task." },
        thread: MaybeId "Its thread id, if the process has several threads in the capture.",
        syscall: Text "The system call that had not returned when the capture ended.",
        op: Text "Sub-operation.",
        target: Text "What the call works on.",
        fd: MaybeNumber "The descriptor it works on, if its name is unknown.",
        stream: Words "What that descriptor is by convention: standard input, output or error.",
        kind: Words "The awaited kind of event: file lock, thread, child, signal, input, client, connection, peer, reader, event, message, time, random numbers, kernel.",
        seen_ns: Ns "From the start of the call to the end of the capture, or to the death of the process; missing without timestamps, and where no call of the capture returned and its end is unknown.",
        first: Flag "Whether the task made no such call before (kernel: no call of this name).",
        slept: Flag "Whether its result shows that a signal broke it off: only a call that waits can be broken off.",
        holder_pid: MaybeId "Process that holds the file lock.",
        holder_tid: MaybeId "Thread of the same process that took the lock last and has not released it.",
        child_pid: MaybeId "The living child that was created last.",
        peer_pid: MaybeId "Process that wrote to the other end before.",
        reader_pid: MaybeId "Process that read before what the call writes.",
        ender_program: Text "Program of the holder, child, peer or reader.",
        explained: Flag "Whether the holder, child or peer is in the capture and lives at its end.",
        held_by_write: Flag "Whether it waits for input or a child while another thread of the process is in a write that does not return.",
        at_work: Flag "Whether the peer, or a child that may be at the other end, runs when the capture ends.",
        deadlock: Flag "Whether the holder or child waits for this process in turn.",
        idle: Flag "Whether the task has nothing to do: a server without clients, a sleep, a thread of a pool.",
        request: Words "The last transfer of the task with a socket before: unanswered, a request that its process has not answered since; answered, or sent by itself; missing if there is none.",
        threads: SmallNumber "Number of living threads of the process.",
        silent: MaybeSmallNumber "Threads of the process that the tracer attached to, and that have no line; missing if there are none.",
        complete: Flag "Whether the capture has all threads of the process: it shows their start, or that the tracer attached to all of them.",
        quiet: Flag "Whether all threads of the process that have a line are in calls that wait.",
        inward: Flag "Whether all threads of the process wait for threads, and none for a client, an event or input.",
        quiet_ns: Ns "For how long all of them have waited; missing as seen_ns.",
        stuck: Flag "Whether each thread of the process waits for another one, without a time limit.",
        killed_by: Text "The signal that killed the process in the call; missing if it lives when the capture ends.",
        calls: Count "Number of open calls: 1.",
        path: PathTime { exclusive_ns "Critical-path time of the call." },
        lines: Lines {
            first_line "Line of the call.",
            last_line "Same as first_line.",
        },
    }
}

/// What the first three descriptors are, by convention.
const STREAMS: [&str; 3] = ["standard input", "standard output", "standard error"];

/// A task that is in a call when the capture ends.
#[derive(Clone, Copy)]
pub(super) struct OpenCall {
    pub task: TaskId,
    pub row: u32,
    /// What it waits for; `None` for work of the kernel or a device.
    pub wait: Option<Wait>,
    /// The signal that killed the process in this call.
    pub killed_by: Option<Text>,
}

/// Builds the table, one row per task whose last call did not return.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let open: Vec<OpenCall> = context
        .tasks()
        .filter_map(|task| open_call(context, task).or_else(|| broken_call(context, task)))
        .collect();
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    if !open.is_empty() {
        let (enders, threads) = (Enders::new(context, &open), Threads::new(context, &open));
        let is_shown = |call: &&OpenCall| {
            call.wait.is_some() && !may_return(context, call)
                || slept(context, call)
                || ends_capture(context, &open, call)
                || is_seen_open(context, call)
        };
        open.iter()
            .filter(is_shown)
            .for_each(|call| write(context, &enders, &threads, &open, call, &mut builder));
    }
    builder.finish()
}

/// The call in which a task is when the capture ends.
pub(super) fn open_call(context: &TableContext<'_>, task: TaskId) -> Option<OpenCall> {
    let events = &context.trace.events;
    let rows = context.trace.rows_of(task);
    let row = rows
        .iter()
        .rev()
        .copied()
        .find(|&row| events.kind(row) == EventKind::Call)?;
    let known = &context.trace.tasks[task];
    // Calls that read an id return at once: a line without a result was copied without it.
    let returns_at_once =
        syscalls::by_text(events.shape(row).syscall).is_some_and(Syscall::is_trivial);
    let is_open = match events.outcome(row) {
        Outcome::Open => !events.facts.has::<IsTorn>(row) && !returns_at_once,
        // Where the tracer detaches, it prints the call as interrupted. A signal of the task's own has a line.
        Outcome::Interrupted => rows.last() == Some(&row),
        _ => false,
    };
    let is_last = is_open && known.death_ns == NO_NS && known.ended.is_none() && !known.superseded;
    is_last.then(|| OpenCall {
        task,
        row,
        wait: wait(context, row),
        killed_by: None,
    })
}

/// The call in which a signal killed a process. Of several threads, each waits for something else, and the signal ends all.
fn broken_call(context: &TableContext<'_>, task: TaskId) -> Option<OpenCall> {
    let (trace, events) = (context.trace, &context.trace.events);
    let known = &trace.tasks[task];
    let Some(Ended::Killed(signal)) = known.ended.filter(|_| !known.is_thread) else {
        return None;
    };
    let row = trace
        .rows_of(task)
        .iter()
        .rev()
        .copied()
        .find(|&row| events.kind(row) == EventKind::Call)?;
    let is_open = never_returned(events.outcome(row)) || was_broken_off(events, row);
    let ends_task = matches!(events.action(row), Action::EndsThread | Action::EndsProcess);
    let is_alone = || threads::is_alone(context, task);
    (is_open && !ends_task && is_alone()).then(|| OpenCall {
        task,
        row,
        wait: wait(context, row),
        killed_by: Some(signal),
    })
}

/// Whether a signal broke off the call, as its result shows: only a call that waits can be broken off.
fn slept(context: &TableContext<'_>, call: &OpenCall) -> bool {
    was_broken_off(&context.trace.events, call.row)
}

/// Whether the call works on a descriptor that the capture does not name. Writes to files return at once, so a write that
/// does not return works on a pipe, a socket or a terminal.
fn is_unnamed(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    events.facts.get::<OpenFd>(row).is_some() && !events.target(row).is_some()
}

/// Whether the call is a write to an unnamed descriptor that returned at once before: of a program that writes, any write may
/// be the last line.
fn may_return(context: &TableContext<'_>, call: &OpenCall) -> bool {
    call.wait == Some(Wait::Peer)
        && is_unnamed(context, call.row)
        && context.trace.events.action(call.row).transfer() == Some(Transfer::Write)
        && !threads::is_first_of_kind(context, call)
}

/// Whether later lines of other tasks show that a call that need not wait took time.
fn is_seen_open(context: &TableContext<'_>, call: &OpenCall) -> bool {
    works(context, call) && seen_ns(context, call) > 0
}

/// Whether a call that has not returned could do so: a call that ends its thread cannot.
fn works(context: &TableContext<'_>, call: &OpenCall) -> bool {
    let events = &context.trace.events;
    let ends_task = matches!(
        events.action(call.row),
        Action::EndsThread | Action::EndsProcess
    );
    (events.outcome(call.row) == Outcome::Open || call.killed_by.is_some()) && !ends_task
}

/// Whether a call that need not wait is where the whole capture ends: no task does anything else. Of a program that works, any
/// line may be the last one, and a truncated file may end in any call.
fn ends_capture(context: &TableContext<'_>, open: &[OpenCall], call: &OpenCall) -> bool {
    let is_open = |task: TaskId| open.iter().any(|other| other.task == task);
    works(context, call)
        && call.killed_by.is_none()
        && context.capture_of(call.task).is_some_and(|capture| {
            let creates = context.trace.events.action(call.row).creates_task();
            let lacks_lines = capture.cut
                || capture.lacks_next
                    && (creates
                        || capture
                            .task_ids()
                            .any(|task| task != call.task && !has_ended(context, task)));
            !lacks_lines
                && capture
                    .task_ids()
                    .all(|task| is_open(task) || has_ended(context, task))
        })
}

fn has_ended(context: &TableContext<'_>, task: TaskId) -> bool {
    let known = &context.trace.tasks[task];
    known.death_ns != NO_NS || known.ended.is_some() || known.superseded
}

/// What a call waits for. Reads from a disk do not hang, and a write waits for its reader.
pub(super) fn wait(context: &TableContext<'_>, row: u32) -> Option<Wait> {
    let events = &context.trace.events;
    let shape = events.shape(row);
    let (action, op) = (events.action(row), events.texts.bytes(shape.op));
    match wait_of_row(events, row) {
        Some(Wait::Lock) if memchr::memmem::find(op, b"LOCK_NB").is_some() => None,
        Some(Wait::Read) if idle::is_file(context, row) => None,
        None if is_waiting_fcntl(action, op) => Some(Wait::Lock),
        None if action == Action::Connects => Some(Wait::Peer),
        None if action.transfer() == Some(Transfer::Write)
            && (idle::is_stream(context, row) || is_unnamed(context, row)) =>
        {
            Some(Wait::Peer)
        }
        wait => wait,
    }
}

fn write(
    context: &TableContext<'_>,
    enders: &Enders,
    threads: &Threads,
    open: &[OpenCall],
    call: &OpenCall,
    builder: &mut TableBuilder<'_>,
) {
    let OpenCall { task, row, .. } = *call;
    let (trace, events) = (context.trace, &context.trace.events);
    let ender = enders.of(context, call);
    let pid = |of: fn(&Ender) -> Option<TaskId>| {
        ender
            .as_ref()
            .and_then(of)
            .map(|task| i64::from(trace.tasks[task].pid))
            .filter(|&pid| pid > 0)
    };
    let other = ender.as_ref().and_then(Ender::task);
    let shape = events.shape(row);
    let process = threads.of(context, call);
    let target = Some(events.target(row)).filter(|target| target.is_some());
    let fd = events
        .facts
        .get::<OpenFd>(row)
        .copied()
        .filter(|_| !events.target(row).is_some());
    let owner = ender
        .as_ref()
        .and_then(Ender::owner)
        .map(|task| i64::from(trace.tasks[task].tid));
    let killed_with =
        |_: TaskId| call.killed_by.is_some() && ender.as_ref().and_then(Ender::child).is_some();
    let is_explained =
        other.is_some_and(|other| enders::is_alive(context, call, other) || killed_with(other));
    let values = TableRow {
        of: TaskAt { task, row },
        thread: Some(trace.tasks[task].tid)
            .filter(|&tid| tid != NO_ID && process.threads > 1)
            .map(i64::from),
        syscall: shape.syscall,
        op: shape.op,
        target: target
            .or_else(|| awaited_source(context, row))
            .unwrap_or(Text::NONE),
        fd: fd.map(i64::from),
        stream: fd
            .and_then(|fd| STREAMS.get(usize::try_from(fd).ok()?).copied())
            .map(str::to_owned),
        kind: Some(kind(context, call).to_owned()),
        seen_ns: threads.seen_ns(context, call),
        first: threads::is_first_of_kind(context, call),
        slept: slept(context, call),
        holder_pid: pid(Ender::holder),
        holder_tid: owner.filter(|&tid| tid > 0),
        child_pid: pid(Ender::child),
        peer_pid: pid(Ender::peer),
        reader_pid: pid(Ender::reader),
        ender_program: other.map_or(Text::NONE, |other| context.program(other, row)),
        explained: is_explained,
        held_by_write: idle::is_held_by_write(context, open, call),
        at_work: enders::is_at_work(context, open, call, other),
        deadlock: enders.is_circle(context, open, call),
        idle: idle::is_idle(context, open, call),
        request: request::request(context, call).map(str::to_owned),
        threads: process.threads,
        silent: Some(process.silent).filter(|&silent| silent > 0),
        complete: threads::is_complete(context, call),
        quiet: process.is_quiet,
        inward: process.is_inward,
        quiet_ns: process.quiet_ns,
        stuck: process.is_stuck,
        killed_by: call.killed_by.unwrap_or(Text::NONE),
        calls: 1,
        path: context.exclusive_ns(row),
        lines: LinesOf {
            first_row: row,
            last_row: row,
        },
    };
    builder.add(values, Provenance::Rows(vec![row]));
}

/// The kind of the wait, as users read it.
pub(super) fn kind(context: &TableContext<'_>, call: &OpenCall) -> &'static str {
    match (call.wait, context.trace.events.action(call.row)) {
        (None, _) => "kernel",
        (Some(Wait::Read | Wait::Poll), _) if awaited_source(context, call.row).is_some() => {
            "random numbers"
        }
        (Some(Wait::Child), _) => "child",
        (Some(Wait::Signal), _) => "signal",
        (Some(Wait::Read), _) => "input",
        (Some(Wait::Poll), _) => "event",
        (Some(Wait::Peer), Action::Accepts) => "client",
        (Some(Wait::Peer), Action::Connects) => "connection",
        (Some(Wait::Peer), action) if action.transfer() == Some(Transfer::Write) => "reader",
        (Some(Wait::Peer), _) => "peer",
        (Some(Wait::Lock), Action::LocksFile | Action::LocksRange | Action::ControlsFile) => {
            "file lock"
        }
        (Some(Wait::Lock), _) => "thread",
        (Some(Wait::Message), _) => "message",
        (Some(Wait::Sleep), _) => "time",
    }
}

/// From the start of the call to the death of the process, or to the last timestamp of the capture.
pub(super) fn seen_ns(context: &TableContext<'_>, call: &OpenCall) -> i64 {
    let start_ns = context.trace.events.start_ns(call.row);
    let capture = context
        .capture_of(call.task)
        .filter(|capture| capture.has_wall_clock());
    let end_ns = capture.map(|capture| match call.killed_by {
        Some(_) => context.trace.tasks[call.task].end_ns(),
        None => capture.last_ns,
    });
    match end_ns {
        Some(end_ns) if start_ns != NO_NS => (end_ns - start_ns).max(0),
        _ => NO_NS,
    }
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{build, task};

    #[test]
    fn only_the_last_call_of_a_living_task_is_open() {
        let plans = vec![
            task(1).call("read", 0, 1).open("wait4", 5),
            task(2).open("read", 2).exit(3),
            task(3).call("read", 1, 9),
        ];
        assert_eq!(
            rows(&build(plans), super::build, &["pid", "kind", "seen_ns"]),
            ["1 child 4"]
        );
    }
}
