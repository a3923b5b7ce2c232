//! Requests on accepted connections, and the task that owes each answer: one of several workers, or the thread of the connection.
//!
//! ```text
//! server   |accept 4|~~~~~~~~ waits for clients ~~~~~~~~|accept 5|~~~~~ waits for clients ~~~~~
//! other      |read 4|-- the request of connection 4 --|write 4|
//! ```
//!
//! A server that waits for its next client is idle, but its last client waits for the task that owes the answer. So the time until
//! the answer is that task's. Between an answer and the next request, a task waits for its client: this time is part of no request.

use super::effects::ShapeEffects;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::shape_facts::Effect;
use crate::waits::times::end_ns;
use parsers::syscalls::Wait;
use parsers::{NO_NS, Outcome, Text};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;
use trace::parallel;
use trace::store::event::EventKind;
use trace::store::heuristics::MAX_CLIENT_SHARE;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Maximum number of requests on each side of the end of a wait that are compared.
const MAX_COMPARED: usize = 64;

/// The requests of a trace, as soon as a wait requires them.
#[derive(Default)]
pub(super) struct Requests {
    answered: OnceLock<Vec<Request>>,
}

/// From a request to its answer, or to the end of the task that owes it.
#[derive(Clone, Copy, Debug)]
struct Request {
    capture: u32,
    until_ns: i64,
    since_ns: i64,
    task: TaskId,
    /// Whether it is the first one on a connection that the task accepted itself: before that, it was idle, too.
    is_first: bool,
}

impl Requests {
    /// The task that owed an answer while a server waited for its next client.
    pub(super) fn owed(&self, shapes: &ShapeEffects, call: &Waiting<'_>) -> Option<Edge> {
        let answered = self.answered.get_or_init(|| requests(shapes, call.trace));
        let (start_ns, end_ns) = (call.span.start_ns, call.span.end_ns);
        let capture = call.trace.tasks[call.task].capture;
        let place_of = |at_ns: i64| {
            answered
                .partition_point(|request| (request.capture, request.until_ns) < (capture, at_ns))
        };
        let (first, end) = (place_of(start_ns.saturating_add(1)), place_of(end_ns));
        let earlier = answered[first.min(end)..end]
            .iter()
            .rev()
            .take(MAX_COMPARED);
        let later = answered[end..].iter().take(MAX_COMPARED);
        let fits = |request: &&Request| {
            let until_ns = request.until_ns.min(end_ns);
            request.capture == capture
                && request.task != call.task
                && request.since_ns < end_ns
                && until_ns > start_ns
                && (request.is_first || is_busy(start_ns, request.since_ns, until_ns))
        };
        let last = later.chain(earlier).filter(fits).max_by_key(|request| {
            let until_ns = request.until_ns.min(end_ns);
            (until_ns, std::cmp::Reverse(request.since_ns))
        })?;
        Some(Edge {
            task: last.task,
            at_ns: last.until_ns.min(end_ns),
            how: WakeKind::Beside,
            sure: Confidence::Inferred,
        })
    }
}

/// Whether a request that came at `since_ns` takes nearly all of the time from `start_ns` to its answer.
fn is_busy(start_ns: i64, since_ns: i64, until_ns: i64) -> bool {
    let client_ns = since_ns.saturating_sub(start_ns).max(0);
    client_ns as f64 <= MAX_CLIENT_SHARE * until_ns.saturating_sub(start_ns) as f64
}

/// All requests on accepted connections, in the order of their answers.
fn requests(shapes: &ShapeEffects, trace: &Trace) -> Vec<Request> {
    let accepted = accepted(shapes, trace);
    if accepted.is_empty() {
        return Vec::new();
    }
    let tasks: Vec<TaskId> = trace.tasks.keys().collect();
    let mut found =
        parallel::map(&tasks, |&task| requests_of(shapes, trace, task, &accepted)).concat();
    found.sort_unstable_by_key(|request: &Request| {
        (
            request.capture,
            request.until_ns,
            request.since_ns,
            request.task,
        )
    });
    found
}

/// The first accept of each client, and who accepted it, by capture and name of the client.
pub(super) type Accepted<'trace> = FxHashMap<(u32, &'trace [u8]), (i64, TaskId)>;

pub(super) fn accepted<'trace>(shapes: &ShapeEffects, trace: &'trace Trace) -> Accepted<'trace> {
    let tasks: Vec<TaskId> = trace.tasks.keys().collect();
    let mut accepted = Accepted::default();
    for (client, by) in parallel::map(&tasks, |&task| accepts_of(shapes, trace, task)).concat() {
        let first = accepted.entry(client).or_insert(by);
        *first = by.min(*first);
    }
    accepted
}

/// A client, by capture and name, with the end of the accept and who made it.
type Accept<'trace> = ((u32, &'trace [u8]), (i64, TaskId));

fn accepts_of<'trace>(
    shapes: &ShapeEffects,
    trace: &'trace Trace,
    task: TaskId,
) -> Vec<Accept<'trace>> {
    let capture = trace.tasks[task].capture;
    let accepts = trace.rows_of(task).iter().filter(|&&row| {
        shapes.of(trace, row).deed == Effect::Accepts && trace.events.outcome(row) == Outcome::Ok
    });
    accepts
        .filter_map(|&row| {
            let client = client_of(trace, trace.events.target(row))?;
            Some(((capture, client), (end_ns(trace, row), task)))
        })
        .collect()
}

/// The client of a connection. An accept prints the address of the client, and other calls both ends.
pub(super) fn client_of(trace: &Trace, target: Text) -> Option<&[u8]> {
    let name = trace.events.texts.bytes(target);
    let name = name.strip_suffix(b"]").unwrap_or(name);
    let arrow = name.windows(2).rposition(|pair| pair == b"->");
    let client = arrow.map_or(name, |at| &name[at + 2..]);
    // An address with a port is that of one connection.
    client.contains(&b':').then_some(client)
}

/// What a task has done on a connection so far.
struct Connection {
    is_own: bool,
    since_ns: i64,
    answered_ns: i64,
}

impl Connection {
    /// An answer. A connection that is closed after one was kept open for the client.
    fn answer(&mut self, at_ns: i64, closes: bool) {
        let is_late = closes && self.answered_ns != NO_NS;
        if self.since_ns != NO_NS && !is_late {
            self.answered_ns = at_ns;
        }
    }

    /// The last request, when another one arrives, if it was answered.
    fn request(&mut self, row_ns: (i64, i64)) -> Option<Connection> {
        let (since_ns, arrived_ns) = row_ns;
        if self.since_ns == NO_NS {
            self.since_ns = since_ns;
        }
        if self.answered_ns == NO_NS {
            return None;
        }
        let next = Connection {
            is_own: false,
            since_ns: arrived_ns,
            answered_ns: NO_NS,
        };
        Some(std::mem::replace(self, next))
    }
}

/// The requests that a task answered, or still owes an answer to.
fn requests_of(
    shapes: &ShapeEffects,
    trace: &Trace,
    task: TaskId,
    accepted: &Accepted<'_>,
) -> Vec<Request> {
    let events = &trace.events;
    let known = &trace.tasks[task];
    let mut found = Vec::new();
    let mut connections: FxHashMap<Text, Option<Connection>> = FxHashMap::default();
    let mut add = |connection: Connection| {
        if connection.since_ns != NO_NS {
            let is_answered = connection.answered_ns != NO_NS;
            found.push(Request {
                capture: known.capture,
                until_ns: if is_answered {
                    connection.answered_ns
                } else {
                    known.end_ns()
                },
                since_ns: connection.since_ns,
                task,
                is_first: connection.is_own,
            });
        }
    };
    for &row in trace.rows_of(task) {
        let does = shapes.of(trace, row);
        let answers = matches!(does.deed, Effect::Writes | Effect::Moves | Effect::Closes);
        let reads = does.wait == Some(Wait::Read) && events.ret(row) > 0;
        if !(answers || reads) || events.kind(row) != EventKind::Call {
            continue;
        }
        let target = events.target(row);
        let connection = connections.entry(target).or_insert_with(|| {
            let client = client_of(trace, target)?;
            let &(accepted_ns, by) = accepted.get(&(known.capture, client))?;
            (accepted_ns <= end_ns(trace, row)).then_some(Connection {
                is_own: by == task,
                since_ns: NO_NS,
                answered_ns: NO_NS,
            })
        });
        let Some(connection) = connection else {
            continue;
        };
        if answers {
            connection.answer(end_ns(trace, row), does.deed == Effect::Closes);
        } else if let Some(last) = connection.request((events.start_ns(row), end_ns(trace, row))) {
            add(last);
        }
    }
    connections.into_values().flatten().for_each(add);
    found
}

#[cfg(test)]
mod tests {
    use crate::testing::on_path;
    use trace::store::trace::Trace;
    use trace::testing::{TaskPlan, build, task};

    const MS: i64 = 1_000_000;
    const CLIENT: &str = "TCP:[1.2.3.4:80->5.6.7.8:9]";

    /// A worker that waits for its next client from 10 ms to 800 ms, and another one with these calls meanwhile.
    fn beside(other: impl Fn(TaskPlan) -> TaskPlan) -> Trace {
        let idle = task(1)
            .call("accept4", 10 * MS, 800 * MS)
            .on("TCP:[1.2.3.4:80->5.6.7.8:10]")
            .returns(7)
            .call("getpid", 801 * MS, 802 * MS);
        build(vec![idle, other(task(2).call("getpid", 1, 2))])
    }

    fn accepts(plan: TaskPlan, from_ms: i64) -> TaskPlan {
        plan.call("accept4", 5 * MS, from_ms * MS)
            .on(CLIENT)
            .returns(7)
            .call("read", (from_ms + 1) * MS, (from_ms + 2) * MS)
            .on(CLIENT)
            .returns(80)
    }

    fn answers(plan: TaskPlan, at_ms: i64) -> TaskPlan {
        plan.call("write", at_ms * MS, (at_ms + 1) * MS)
            .on(CLIENT)
            .returns(80)
    }

    #[test]
    fn the_time_is_of_the_worker_that_owes_an_answer() {
        let trace = beside(|plan| {
            let plan = accepts(plan, 300).call("fsync", 310 * MS, 500 * MS);
            answers(plan, 501)
                .call("close", 790 * MS, 791 * MS)
                .on(CLIENT)
        });
        let times = on_path(&trace);
        // After its answer the worker kept the connection open for the client.
        assert!(times[1] >= 190 * MS && times[0] >= 290 * MS, "{times:?}");
    }

    #[test]
    fn the_time_is_of_the_worker_that_has_not_answered_yet() {
        let trace = beside(|plan| accepts(plan, 20).call("fsync", 30 * MS, 900 * MS));
        assert!(on_path(&trace)[1] > 760 * MS);
    }

    #[test]
    fn a_worker_that_only_waits_for_its_client_owes_nothing() {
        let next = |plan: TaskPlan| plan.call("read", 31 * MS, 700 * MS).on(CLIENT).returns(80);
        let trace = beside(|plan| answers(next(answers(accepts(plan, 8), 30)), 701));
        assert!(on_path(&trace)[0] > 700 * MS);
    }
}
