//! Idle masters: they wait with a limit for news of their workers, again and again, while a worker serves a request.
//!
//! ```text
//! master   | poll, 1 s: timeout | poll, 1 s: timeout | poll, 1 s: timeout |      nothing else happens in it
//! worker     |poll: ready|recv|------------ serves the request ---------|send|poll …
//! ```
//!
//! The client is not in the capture, so no line shows that anybody waits for the worker. But it does work that was asked
//! for, and the master does none: the walk continues in the worker. It is inferred.
//!
//! A worker that accepted a connection and read from it owes an answer until it writes to it, whatever it waits for
//! meanwhile:
//!
//! ```text
//! worker   |accept 4|read 4|sendto 5|---- poll 5: timeout ----|sendto 5|---- poll 5: timeout ----|write 4|accept …
//! ```
//!
//! A server that gives each connection to a child of its own waits for the next client; the client of the child waits for that:
//!
//! ```text
//! server   |accept 4|fork|close 4|~~~~~ waits for clients ~~~~~|SIGCHLD|~~~ waits for clients ~~~
//! child              |------ serves the connection 4 ------|exit
//! ```

use super::child::Children;
use super::effects::ShapeEffects;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::Effect;
use crate::waits::times::end_ns;
use parsers::syscalls::{Class, Wait};
use parsers::{NO_NS, Outcome, Text};
use rustc_hash::FxHashMap;
use trace::store::event::EventKind;
use trace::store::events::EventTable;
use trace::store::heuristics::{MAX_CALLS_OF_REQUEST, MIN_SERVING_SHARE};
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Maximum number of workers that are examined.
const MAX_WORKERS: usize = 64;
/// Calls between two waits of an idle master that are looked at: it checks files and workers.
const CALLS_BETWEEN_WAITS: usize = 32;

/// The worker that serves a request while its master waits in vain.
pub(super) fn worker(
    shapes: &ShapeEffects,
    children: &Children,
    call: &Waiting<'_>,
) -> Option<Edge> {
    let trace = call.trace;
    if shapes.of(trace, call.span.row).wait != Some(Wait::Poll) || !idles(shapes, call) {
        return None;
    }
    let made = [
        children.made_by(trace, call.task),
        children.tasks_of(trace, call.task),
    ];
    let others = made.into_iter().flatten().copied();
    let serving = others
        .filter(|&task| task != call.task && lives(call, task))
        .take(MAX_WORKERS)
        .filter_map(|task| Some((serves(shapes, call, task)?, task)));
    let (stretch, task) = serving.min_by_key(|(stretch, _)| stretch.since_ns)?;
    Some(Edge {
        task,
        at_ns: stretch.until_ns,
        how: WakeKind::Beside,
        sure: Confidence::Inferred,
    })
}

/// The end of the child, if the wait of a server for its next client was broken off when a child ended to which it had handed
/// over a connection.
pub(super) fn handed_over(shapes: &ShapeEffects, call: &Waiting<'_>, ended: Edge) -> Option<Edge> {
    let trace = call.trace;
    let created_by = trace.tasks.get(ended.task)?.created_by;
    let rows = trace.rows_of(call.task);
    let fork = rows[..call.at].iter().rposition(|&row| row == created_by)?;
    let accepted = accepted_before(shapes, trace, &rows[..fork])?;
    let later = rows[fork..call.at].iter().copied();
    let closes = later.take(CALLS_BETWEEN_WAITS).any(|row| {
        shapes.of(trace, row).deed == Effect::Closes && is_connection(trace, accepted, row)
    });
    closes.then_some(Edge {
        sure: Confidence::Inferred,
        ..ended
    })
}

/// The last accept in these calls.
fn accepted_before(shapes: &ShapeEffects, trace: &Trace, rows: &[u32]) -> Option<u32> {
    let accepts =
        |&row: &u32| shapes.of(trace, row).deed == Effect::Accepts && trace.events.ret(row) >= 0;
    let earlier = rows.iter().rev().copied();
    earlier.take(CALLS_BETWEEN_WAITS).find(accepts)
}

/// Whether a call is on the connection that was accepted. An accept prints the address of the client, and other calls both ends.
fn is_connection(trace: &Trace, accepted: u32, row: u32) -> bool {
    let name_of = |row: u32| trace.events.texts.bytes(trace.events.target(row));
    let (connection, name) = (name_of(accepted), name_of(row));
    let client = name.strip_suffix(b"]").unwrap_or(name);
    !connection.is_empty() && (name == connection || client.ends_with(connection))
}

/// Whether the wait is one of several equal ones with nothing but looks between them. One that is alone may be that for the
/// answer of this worker.
fn idles(shapes: &ShapeEffects, call: &Waiting<'_>) -> bool {
    let (trace, events) = (call.trace, &call.trace.events);
    let rows = trace.rows_of(call.task);
    let asked_ns = events.requested_ns(call.span.row);
    // The limit of a timer is what is left of its interval.
    let is_equal = |&&row: &&u32| {
        events.kind(row) == EventKind::Call
            && shapes.of(trace, row).wait == Some(Wait::Poll)
            && (events.requested_ns(row) == asked_ns || is_timer(shapes, call, row))
    };
    let until_work = |rows: &mut dyn Iterator<Item = &u32>| {
        let near = rows
            .take(CALLS_BETWEEN_WAITS)
            .take_while(|&&row| !moves_data(events, row));
        near.filter(is_equal).count() > 0
    };
    let next = rows.get(call.at + 1..).unwrap_or(&[]);
    until_work(&mut next.iter()) || until_work(&mut rows[..call.at].iter().rev())
}

fn moves_data(events: &EventTable, row: u32) -> bool {
    events.bytes(row).is_some_and(|bytes| bytes > 0)
}

/// Whether this wait, too, came to its limit, and both are for the same set of descriptors.
fn is_timer(shapes: &ShapeEffects, call: &Waiting<'_>, row: u32) -> bool {
    let events = &call.trace.events;
    let target = events.target(row);
    target.is_some()
        && target == events.target(call.span.row)
        && shapes.timed_out(call.trace, call.span.row)
        && shapes.timed_out(call.trace, row)
}

/// For how long a worker serves a request.
struct Stretch {
    since_ns: i64,
    until_ns: i64,
}

fn lives(call: &Waiting<'_>, task: TaskId) -> bool {
    let known = &call.trace.tasks[task];
    known.birth_ns <= call.span.start_ns && known.end_ns() > call.span.start_ns
}

/// The request that a task serves for most of a wait; `None` if it idles, too, or works for nobody.
fn serves(shapes: &ShapeEffects, call: &Waiting<'_>, task: TaskId) -> Option<Stretch> {
    let (trace, span) = (call.trace, call.span);
    let events = &trace.events;
    let rows = trace.rows_of(task);
    let begun = rows.partition_point(|&row| events.start_ns(row) <= span.end_ns);
    let last = *rows.get(begun.checked_sub(1)?)?;
    if let Some(stretch) = owes(shapes, call, &rows[..begun]) {
        return is_long_enough(call, stretch.until_ns).then_some(stretch);
    }
    let idles = waits_for_request(shapes, trace, last) && end_ns(trace, last) >= span.end_ns;
    let until_ns = if idles {
        events.start_ns(last)
    } else {
        span.end_ns.min(trace.tasks[task].end_ns())
    };
    if !is_long_enough(call, until_ns) {
        return None;
    }
    let before = &rows[..begun - usize::from(idles)];
    let since_ns = requested_ns(shapes, trace, before)?;
    Some(Stretch { since_ns, until_ns })
}

fn is_long_enough(call: &Waiting<'_>, until_ns: i64) -> bool {
    let (start_ns, end_ns) = (call.span.start_ns, call.span.end_ns);
    let served_ns = until_ns.saturating_sub(start_ns);
    served_ns as f64 >= MIN_SERVING_SHARE * (end_ns - start_ns) as f64
}

/// From the request on a connection that a task accepted to its answer, as far as that is in these events.
fn owes(shapes: &ShapeEffects, call: &Waiting<'_>, rows: &[u32]) -> Option<Stretch> {
    let (trace, events) = (call.trace, &call.trace.events);
    // By connection, the last one first: when it was answered, and when the request came.
    let mut stretches: FxHashMap<Text, (i64, i64)> = FxHashMap::default();
    let calls = rows.iter().rev().copied().filter(|&row| {
        let has_succeeded = events.outcome(row) == Outcome::Ok;
        events.kind(row) == EventKind::Call && has_succeeded && events.target(row).is_some()
    });
    for row in calls.take(MAX_CALLS_OF_REQUEST) {
        let known = shapes.of(trace, row);
        match known.deed {
            Effect::Writes | Effect::Moves | Effect::Closes => {
                let answered_ns = end_ns(trace, row).min(call.span.end_ns);
                let stretch = stretches.entry(events.target(row));
                stretch.or_insert((answered_ns, NO_NS));
            }
            Effect::Accepts => {
                let (until_ns, since_ns) = stretches.get(&events.target(row)).copied()?;
                return (since_ns != NO_NS).then_some(Stretch { since_ns, until_ns });
            }
            _ if known.wait == Some(Wait::Read) && events.ret(row) > 0 => {
                let stretch = stretches
                    .entry(events.target(row))
                    .or_insert_with(|| (call.span.end_ns, NO_NS));
                stretch.1 = events.start_ns(row);
            }
            _ => {}
        }
    }
    None
}

/// When the request came that a task serves after these events: it received data after its last idle wait.
fn requested_ns(shapes: &ShapeEffects, trace: &Trace, rows: &[u32]) -> Option<i64> {
    let events = &trace.events;
    let mut received_ns = None;
    for &row in rows.iter().rev().take(MAX_CALLS_OF_REQUEST) {
        if events.kind(row) != EventKind::Call || events.outcome(row) != Outcome::Ok {
            continue;
        }
        let known = shapes.of(trace, row);
        if waits_for_request(shapes, trace, row) && received_ns.is_some() {
            break;
        }
        if shapes.timed_out(trace, row) {
            return None;
        }
        let is_peer = matches!(known.class, Class::Network | Class::Ipc);
        let has_data = known.wait == Some(Wait::Read) && events.ret(row) > 0;
        if is_peer && has_data {
            received_ns = Some(events.start_ns(row));
        }
    }
    received_ns
}

/// Whether a task is in this call while it has nothing to do.
fn waits_for_request(shapes: &ShapeEffects, trace: &Trace, row: u32) -> bool {
    let known = shapes.of(trace, row);
    trace.events.kind(row) == EventKind::Call
        && matches!(known.wait, Some(Wait::Poll | Wait::Message))
        || known.deed == Effect::Accepts
}

#[cfg(test)]
mod tests {
    use crate::testing::on_path;
    use trace::store::trace::Trace;
    use trace::testing::{TaskPlan, build, task};

    const MS: i64 = 1_000_000;

    /// A master that waits four times for 100 ms in vain, and a worker with these calls until then.
    fn served(worker: impl Fn(TaskPlan) -> TaskPlan) -> Trace {
        let master = task(1).exec(0, 1, "/bin/x").fork(2, 3, 2);
        let waits = (0..4).fold(master, |plan, turn| {
            let at = (10 + 100 * turn) * MS;
            plan.call("poll", at, at + 99 * MS).asks(99 * MS).returns(0)
        });
        let own = worker(task(2).call("getpid", 4, 5));
        build(vec![waits.exit(412 * MS), own])
    }

    #[test]
    fn the_time_is_of_the_worker_that_serves_a_request() {
        let trace = served(|plan| {
            plan.call("poll", 6, 12 * MS)
                .returns(1)
                .call("recvfrom", 12 * MS, 13 * MS)
                .on("TCP:[1.2.3.4:80->5.6.7.8:9]")
                .returns(80)
                .call("nanosleep", 14 * MS, 400 * MS)
                .asks(386 * MS)
                .call("sendto", 401 * MS, 402 * MS)
                .on("TCP:[1.2.3.4:80->5.6.7.8:9]")
                .returns(80)
        });
        let times = on_path(&trace);
        assert!(times[1] > 380 * MS && times[0] < 30 * MS, "{times:?}");
    }

    #[test]
    fn a_worker_that_waits_for_a_timeout_still_owes_its_answer() {
        let client = "UNIX-STREAM:[7->8,\"/run/php.sock\"]";
        let server = "UDP:[127.0.0.1:9->127.0.0.53:53]";
        let trace = served(|plan| {
            let asks = |plan: TaskPlan, at: i64| {
                plan.call("sendto", at * MS, (at + 1) * MS)
                    .on(server)
                    .returns(33)
                    .call("poll", (at + 2) * MS, (at + 180) * MS)
                    .on(server)
                    .asks(178 * MS)
                    .returns(0)
            };
            let plan = plan
                .call("accept", 6, 12 * MS)
                .on(client)
                .returns(4)
                .call("read", 12 * MS, 13 * MS)
                .on(client)
                .returns(80);
            asks(asks(plan, 20), 205)
                .call("write", 390 * MS, 391 * MS)
                .on(client)
                .returns(80)
                .open("accept", 392 * MS)
        });
        let times = on_path(&trace);
        assert!(times[1] > 350 * MS && times[0] < 60 * MS, "{times:?}");
    }

    /// A server that closes this connection after it forked a child for the one that it accepted, and waits for clients.
    fn forking(closes: &'static str) -> Trace {
        let server = task(1)
            .exec(0, 1, "/bin/x")
            .call("accept", 2, 3)
            .on("5.6.7.8:9")
            .returns(4)
            .fork(4, 5, 2)
            .call("close", 6, 7)
            .on(closes)
            .call("pselect6", 8, 401 * MS)
            .fails("EINTR")
            .signal("SIGCHLD", 401 * MS)
            .call("rt_sigreturn", 402 * MS, 402 * MS + 1)
            .call("pselect6", 403 * MS, 803 * MS)
            .exit(804 * MS);
        let child = task(2)
            .call("getpid", 6, 7)
            .call("nanosleep", 10, 400 * MS)
            .exit(401 * MS);
        build(vec![server, child])
    }

    #[test]
    fn the_time_is_of_the_child_that_serves_a_connection() {
        assert!(on_path(&forking("TCP:[1.2.3.4:21->5.6.7.8:9]"))[1] > 390 * MS);
    }

    #[test]
    fn a_child_without_a_connection_serves_nobody() {
        assert!(on_path(&forking("/etc/hosts"))[1] < 10 * MS);
    }

    #[test]
    fn the_limits_of_a_timer_differ() {
        let client = "TCP:[1.2.3.4:80->5.6.7.8:9]";
        let limits = [22, 100, 99, 100, 78];
        let master = task(1).exec(0, 1, "/bin/x").fork(2, 3, 2);
        let (master, end) = limits.iter().fold((master, 10), |(plan, at), &limit| {
            let waits = plan
                .call("epoll_wait", at * MS, (at + limit) * MS)
                .on("anon_inode:[eventpoll]")
                .asks(limit * MS)
                .returns(0)
                .call("getpid", (at + limit) * MS + 1, (at + limit) * MS + 2);
            (waits, at + limit + 1)
        });
        let worker = task(2)
            .call("getpid", 4, 5)
            .call("recvfrom", 12 * MS, 13 * MS)
            .on(client)
            .returns(80)
            .call("nanosleep", 14 * MS, 400 * MS)
            .asks(386 * MS)
            .call("sendto", 401 * MS, 402 * MS)
            .on(client)
            .returns(80);
        let times = on_path(&build(vec![master.exit(end * MS), worker]));
        assert!(times[1] > 370 * MS && times[0] < 40 * MS, "{times:?}");
    }

    #[test]
    fn a_worker_that_sleeps_by_itself_serves_nobody() {
        let trace = served(|plan| {
            let sleeps = (0..4).fold(plan, |plan, turn| {
                let at = (12 + 98 * turn) * MS;
                plan.call("nanosleep", at, at + 97 * MS).asks(97 * MS)
            });
            sleeps.call("stat", 405 * MS, 406 * MS)
        });
        assert!(on_path(&trace)[0] > 380 * MS);
    }
}
