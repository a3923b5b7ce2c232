//! Whether a task waits while a client waits for it: it has read a request, and nothing of its process has written to that
//! client since.
//!
//! ```text
//! recvfrom(9 client) = 40 | epoll_wait ……                     in the middle of a request: for a lock, another server
//! recvfrom(9 client) = 40 | sendto(9 client) | epoll_wait ……   waits for the next one
//! ```

use super::OpenCall;
use kit::table_support::context::TableContext;
use parsers::syscalls::Transfer;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::targets::may_be_stream;
use trace::store::task_relations::same_process;

/// Maximum number of calls before the wait that are searched for the request.
const MAX_CALLS_BEFORE: usize = 256;

/// What the last transfer of the task with a socket says: unanswered if it is a read, and nobody of the process has
/// written to that socket since; else answered. `None` if there is no transfer.
pub(super) fn request(context: &TableContext<'_>, call: &OpenCall) -> Option<&'static str> {
    let rows = context.trace.rows_of(call.task).iter().rev().copied();
    let (row, transfer) = rows
        .skip_while(|&row| row != call.row)
        .skip(1)
        .take(MAX_CALLS_BEFORE)
        .find_map(|row| of_socket(context, row).map(|transfer| (row, transfer)))?;
    let is_read = transfer == Transfer::Read;
    if is_read && !others_answer(context, call.task, row) {
        Some("unanswered")
    } else {
        Some("answered")
    }
}

/// How a call moved bytes between the task and a socket; `None` for other calls, and at the end of a stream.
fn of_socket(context: &TableContext<'_>, row: u32) -> Option<Transfer> {
    let events = &context.trace.events;
    let target = events.texts.bytes(events.target(row));
    let is_socket = may_be_stream(target) && !target.starts_with(b"pipe:");
    let moved = events.kind(row) == EventKind::Call && events.ret(row) > 0;
    events.action(row).transfer().filter(|_| is_socket && moved)
}

/// Whether another thread of the process writes to the same socket later.
fn others_answer(context: &TableContext<'_>, task: TaskId, request: u32) -> bool {
    let (trace, events) = (context.trace, &context.trace.events);
    let (target, since_ns) = (events.target(request), events.start_ns(request));
    let answers =
        |row: u32| events.target(row) == target && of_socket(context, row) == Some(Transfer::Write);
    let mut others = context
        .tasks()
        .filter(|&other| other != task && same_process(trace, task, other));
    others.any(|other| {
        let rows = trace.rows_of(other).iter().rev().copied();
        rows.take_while(|&row| events.start_ns(row) >= since_ns)
            .any(answers)
    })
}

#[cfg(test)]
mod tests {
    use crate::tables::open_calls;
    use kit::testing::rows;
    use trace::testing::{build, task};

    #[test]
    fn a_request_without_an_answer_is_seen() {
        let client = "UNIX-STREAM:[9->8]";
        let asked = |id: i32, bytes: i64| {
            let plan = task(id).call("recvfrom", 0, 1);
            plan.on(client).returns(bytes)
        };
        let answered = asked(2, 4).call("sendto", 2, 3).on(client).returns(4);
        let plans = vec![
            asked(1, 4).open("epoll_wait", 5),
            answered.open("epoll_wait", 5),
            asked(3, 0).open("epoll_wait", 5),
        ];
        assert_eq!(
            rows(&build(plans), open_calls::build, &["pid", "request"]),
            ["1 unanswered", "2 answered", "3 -"]
        );
    }
}
