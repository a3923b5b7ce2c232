//! Whether a task that is in a call at the end of the capture has nothing to do.
//!
//! ```text
//! server   accept | read | write | close | accept                 waits for its next client
//! worker   futex                          its main thread works    waits for work
//! client   connect | sendto | poll                                 waits for an answer: not idle
//! ```

use super::OpenCall;
use super::threads::is_first_of_kind;
use crate::tables::entropy_waits::awaited_source;
use kit::table_support::context::TableContext;
use parsers::Outcome;
use parsers::facts::IsFifo;
use parsers::syscalls::{Action, Transfer, Wait};
use path::waits::wait_kinds::wait_of_row;
use trace::store::event::EventKind;
use trace::store::events::EventTable;
use trace::store::index::TaskId;
use trace::store::targets::{ACCEPTED, is_server_side, may_be_stream};
use trace::store::task_relations::same_process;

/// Number of calls before a wait that are searched for an unanswered request.
const MAX_ROWS_BEFORE: usize = 4;

/// Whether the task is idle: a server without a client, a sleep, a thread of a pool.
pub(super) fn is_idle(context: &TableContext<'_>, open: &[OpenCall], call: &OpenCall) -> bool {
    let events = &context.trace.events;
    let action = events.action(call.row);
    // Threads of a door server wait for the next caller, or for the end of the last one.
    if action == Action::AnswersDoor
        || events.texts.bytes(events.shape(call.row).syscall) == b"door_unref"
    {
        return true;
    }
    match call.wait {
        // A thread of a server that waits for the next call through its door.
        _ if action == Action::AnswersDoor => true,
        Some(Wait::Sleep) => true,
        // Processes that take turns to accept clients wait for their turn.
        Some(Wait::Message) => accepts(context, call),
        Some(Wait::Lock)
            if matches!(
                action,
                Action::LocksFile | Action::LocksRange | Action::ControlsFile
            ) =>
        {
            accepts(context, call)
        }
        Some(Wait::Poll) if awaited_source(context, call.row).is_some() => false,
        Some(Wait::Signal | Wait::Poll) => !has_sent(context, call),
        Some(Wait::Peer) => action == Action::Accepts,
        Some(Wait::Read) => serves(context, call) || awaits_supervisor(context, call),
        Some(Wait::Lock) if action == Action::UsesFutex || action == Action::Parks => {
            has_busy_threads(context, open, call)
        }
        _ => false,
    }
}

/// Whether a call reads a regular file or a device other than a terminal.
pub(super) fn is_file(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let target = events.texts.bytes(events.target(row));
    let is_path = target.starts_with(b"/") && !target.starts_with(b"/dev/");
    is_path && !events.facts.has::<IsFifo>(row)
}

/// Whether a call works on a pipe, a fifo or a socket.
pub(super) fn is_stream(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    may_be_stream(events.texts.bytes(events.target(row))) || events.facts.has::<IsFifo>(row)
}

/// Whether the task sent a request right before it began to wait.
fn has_sent(context: &TableContext<'_>, call: &OpenCall) -> bool {
    let events = &context.trace.events;
    let rows = context.trace.rows_of(call.task).iter().rev().copied();
    let before = rows
        .skip_while(|&row| row != call.row)
        .skip(1)
        .filter(|&row| events.kind(row) == EventKind::Call);
    let sends = |row: u32| match events.action(row) {
        Action::Connects => true,
        Action::Sends | Action::SendsMany | Action::Writes => asks_others(events, row),
        _ => false,
    };
    before
        .take(MAX_ROWS_BEFORE)
        .take_while(|&row| wait_of_row(events, row).is_none() || sends(row))
        .any(sends)
}

/// Whether a call works on a socket, other than one of an own client.
fn asks_others(events: &EventTable, row: u32) -> bool {
    let target = events.texts.bytes(events.target(row));
    let is_own_client = target.ends_with(ACCEPTED) || is_server_side(target);
    may_be_stream(target) && !target.starts_with(b"pipe:") && !is_own_client
}

/// Whether a read waits for the next request of a client that the process accepted.
fn serves(context: &TableContext<'_>, call: &OpenCall) -> bool {
    let events = &context.trace.events;
    let target = events.texts.bytes(events.target(call.row));
    target.ends_with(ACCEPTED) || is_server_side(target) || accepts(context, call)
}

/// ```text
/// main     |~~ read 4<pipe:[7]> ~~~~~~~~~~~~~~~~~~~~~~    attached; makes no other call
/// worker   | accept | read | write | close |                attached, too: the server answers its clients
/// ```
///
/// Whether a task of a server that the tracer attached to has read from a pipe all the time while others served clients: what
/// its supervisor writes there stops it.
fn awaits_supervisor(context: &TableContext<'_>, call: &OpenCall) -> bool {
    let (trace, events) = (context.trace, &context.trace.events);
    let is_pipe = events
        .texts
        .bytes(events.target(call.row))
        .starts_with(b"pipe:");
    let is_attached = |task: TaskId| !trace.tasks[task].born;
    is_pipe
        && is_attached(call.task)
        && trace.rows_of(call.task) == [call.row]
        && context.capture_of(call.task).is_some_and(|capture| {
            let mut others = capture.task_ids();
            others.any(|task| is_attached(task) && has_accepted(context, task))
        })
}

/// Whether a client connected to the task.
fn has_accepted(context: &TableContext<'_>, task: TaskId) -> bool {
    let events = &context.trace.events;
    context
        .calls_of(task)
        .any(|row| events.action(row) == Action::Accepts && events.outcome(row) == Outcome::Ok)
}

/// Whether the task accepts clients.
fn accepts(context: &TableContext<'_>, call: &OpenCall) -> bool {
    context
        .calls_of(call.task)
        .any(|row| context.trace.events.action(row) == Action::Accepts)
}

/// Whether another thread of the process is in a write that does not return: what reads the answer, or waits for the end of the
/// program at the other end, waits for that write.
pub(super) fn is_held_by_write(
    context: &TableContext<'_>,
    open: &[OpenCall],
    call: &OpenCall,
) -> bool {
    let tasks = &context.trace.tasks;
    if !matches!(call.wait, Some(Wait::Read | Wait::Child)) {
        return false;
    }
    open.iter().any(|other| {
        let writes = context.trace.events.action(other.row).transfer() == Some(Transfer::Write);
        let both_attached = !tasks[other.task].born && !tasks[call.task].born;
        let may_be_thread = both_attached || same_process(context.trace, other.task, call.task);
        other.task != call.task
            && other.wait == Some(Wait::Peer)
            && writes
            && may_be_thread
            && is_first_of_kind(context, other)
    })
}

/// Whether another thread of the process does something else than to wait for a thread. Of tasks that the tracer attached
/// to, the process is unknown: they may be threads of one.
fn has_busy_threads(context: &TableContext<'_>, open: &[OpenCall], call: &OpenCall) -> bool {
    let waits_alike = |task: TaskId| {
        open.iter()
            .any(|other| other.task == task && other.wait == Some(Wait::Lock))
    };
    context.capture_of(call.task).is_some_and(|capture| {
        capture.task_ids().any(|other| {
            let tasks = &context.trace.tasks;
            let both_attached = !tasks[other].born && !tasks[call.task].born;
            let may_be_thread = other != call.task
                && (both_attached || same_process(context.trace, other, call.task));
            may_be_thread && tasks[other].ended.is_none() && !waits_alike(other)
        })
    })
}
