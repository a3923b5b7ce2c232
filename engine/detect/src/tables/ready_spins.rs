//! Spins on a descriptor that stays ready: polls return at once, again and again, and no call takes what is ready.
//!
//! ```text
//! epoll_wait = 1 | epoll_wait = 1 | epoll_wait = 1 | …       an eventfd that no call reads
//! poll = 1 | accept EMFILE | poll = 1 | accept EMFILE | …    a connection that cannot be accepted
//! poll = 1 | read = 0 | poll = 1 | read = 0 | …              the peer closed its end
//! epoll_ctl MOD | epoll_wait = 1 | epoll_ctl MOD | …         registered again, and not handled
//! ```
//! A poll that lasts was not ready before. A call that may take something ends a series, unless it works on a
//! descriptor of another kind. What other tasks take counts as well.

mod objects;

use crate::tables::polls::stretch_ns;
use crate::tables::ready_spins::objects::{ReadyObject, is_other_kind, stays_ready};
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::shape_index::ShapeIndex;
use parsers::facts::{Fds, Timeout};
use parsers::syscalls::{self, Action, Class, Transfer, Wait};
use parsers::{DurKind, Outcome, Text};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use trace::parallel;
use trace::store::events::EventTable;
use trace::store::facts::EdgeTriggered;
use trace::store::heuristics::{
    MAX_READY_GAP_NS, MAX_READY_POLL_NS, MAX_SLOW_POLLS_PERCENT, MAX_TAKEN_PERCENT, MIN_READY_POLLS,
};
use trace::store::index::{ShapeId, TaskId};
use trace::store::task_relations::same_process;

table! {
    ready_spins "Polls that return at once, by task and object.";
    times: Calls;
    costs: Cost { gaps: true, ..Cost::OF_TASK };
    row {
        of: OfTask,
        syscall: Text "System call that polls.",
        target: Text "The descriptor that is ready, as far as the capture identifies it.",
        fd: MaybeNumber "Number of that descriptor, as far as the capture contains it.",
        attempt: Text "System call that tries to read or accept after the polls, without success.",
        errno: Text "Error of these attempts.",
        empty: Text "System call that reads after the polls, and returns 0: the end of the data.",
        bare: Flag "Whether the task makes no other call between these polls.",
        proven: Flag "Whether the descriptor is of a kind that stays ready until a call takes something, or the attempts show it.",
        polls: Count "Number of polls in a row that return at once, in the longest series.",
        interval_ns: Ns (Same) "Mean time from one poll to the next.",
        total_ns: Ns "From the first poll to the last.",
        path: PathTime { exclusive_ns "Critical-path time in these calls and between them." },
        lines: Lines,
    }
}

/// Maximum number of series. The longest are retained.
const MAX_SERIES: usize = 256;

/// What a call means for a series of polls. Calls without a kind neither take anything nor wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Poll,
    /// It takes or gives something, or closes a descriptor.
    Move,
    /// It tried to, and failed for a reason that stays.
    Attempt,
    /// It may take something.
    Other,
}

/// The longest series of a task on one object.
struct Series {
    task: TaskId,
    object: ReadyObject,
    polls: usize,
    /// Polls that last too long for a ready descriptor.
    slow: usize,
    attempts: usize,
    /// The last call that failed, or that read 0 bytes.
    attempt: Option<u32>,
    first_row: u32,
    last_row: u32,
    shape: ShapeId,
}

/// Builds the table, one row per task and object.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = ShapeIndex::new(context, |action, shape| {
        let texts = &context.trace.events.texts;
        // A descriptor that is removed from the set is handled.
        let registers = action == Action::RegistersPoll
            && matches!(texts.bytes(shape.op), b"EPOLL_CTL_MOD" | b"EPOLL_CTL_ADD");
        if registers {
            return None;
        }
        kind(
            action,
            shape.syscall,
            shape.outcome,
            texts.bytes(shape.errno),
        )
    });
    let tasks: Vec<TaskId> = if kinds.any(|kind| kind == Kind::Poll) {
        context.tasks().collect()
    } else {
        Vec::new()
    };
    let found = parallel::flat_map(&tasks, |&task| of_task(context, &kinds, task));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for series in without_consumers(context, &kinds, found) {
        write(context, &series, &mut builder);
    }
    builder.finish()
}

fn kind(action: Action, syscall: Text, outcome: Outcome, errno: &[u8]) -> Option<Kind> {
    let is_move = matches!(
        action,
        Action::Reads
            | Action::Receives
            | Action::ReceivesMany
            | Action::Writes
            | Action::Sends
            | Action::SendsMany
            | Action::Accepts
            | Action::Closes
    );
    match outcome {
        Outcome::Ok if matches!(action, Action::Polls | Action::PollsEpoll) => Some(Kind::Poll),
        Outcome::Ok if is_move => Some(Kind::Move),
        Outcome::Failed if is_move && is_lasting(errno) => Some(Kind::Attempt),
        // The poll said that there is something.
        Outcome::Failed if takes(action) && matches!(errno, b"EAGAIN" | b"EWOULDBLOCK") => {
            Some(Kind::Attempt)
        }
        Outcome::Ok | Outcome::Failed if is_harmless(action, syscall) => None,
        Outcome::Interrupted if action.wait() == Some(Wait::Poll) => None,
        _ => Some(Kind::Other),
    }
}

/// Whether a call takes data, which other processes rarely take first. Clients may be accepted by another process.
fn takes(action: Action) -> bool {
    matches!(
        action,
        Action::Reads | Action::Receives | Action::ReceivesMany
    )
}

/// Whether a call with this error leaves things as they were, so that the next one fails, too.
fn is_lasting(errno: &[u8]) -> bool {
    const LASTING: [&[u8]; 9] = [
        b"EMFILE",
        b"ENFILE",
        b"ENOBUFS",
        b"ENOMEM",
        b"EPERM",
        b"EBADF",
        b"EINVAL",
        b"ENOTCONN",
        b"EPIPE",
    ];
    LASTING.contains(&errno)
}

/// Whether a call neither takes anything from a descriptor that can be polled nor waits.
fn is_harmless(action: Action, syscall: Text) -> bool {
    let is_plain = || {
        let call = syscalls::by_text(syscall);
        call.is_some_and(|call| call.is_trivial() || call.class == Class::Memory)
    };
    let is_harmless_action = matches!(
        action,
        Action::ReadsClock
            | Action::Yields
            | Action::ReturnsPid
            | Action::HandlesSignals
            | Action::ReturnsFromHandler
            | Action::SavesContext
            | Action::RestoresContext
            | Action::GetsRandom
            | Action::Stats
            | Action::Accesses
            | Action::ReadsLink
            | Action::ReturnsDirectory
            | Action::Lists
            | Action::Opens
            | Action::Seeks
            | Action::ReadsAt
            | Action::WritesAt
    );
    is_harmless_action || is_plain()
}

fn of_task(context: &TableContext<'_>, kinds: &ShapeIndex<Kind>, task: TaskId) -> Vec<Series> {
    let events = &context.trace.events;
    let mut found: Vec<Series> = Vec::new();
    let mut now: Option<Series> = None;
    for (row, kind) in kinds.calls(context, task) {
        match kind {
            Kind::Poll => now = polled(events, task, row, now.take(), &mut found),
            Kind::Other => keep(now.take(), &mut found),
            Kind::Attempt | Kind::Move => {
                let Some(series) = &mut now else { continue };
                if kind == Kind::Attempt || reads_nothing(events, row) {
                    if is_attempt_on(events, &series.object, row) {
                        (series.attempts, series.attempt) = (series.attempts + 1, Some(row));
                    }
                } else if may_take(events, &series.object, row) {
                    keep(now.take(), &mut found);
                }
            }
        }
    }
    keep(now, &mut found);
    found
}

/// Adds a poll to the series of its descriptor, or starts a new one.
fn polled(
    events: &EventTable,
    task: TaskId,
    row: u32,
    now: Option<Series>,
    found: &mut Vec<Series>,
) -> Option<Series> {
    let is_wakeup =
        events.ret(row) > 0 && may_sleep(events, row) && !events.facts.has::<EdgeTriggered>(row);
    let object = ReadyObject::of(events, row);
    let shape = events.shape_number(row);
    if let Some(mut series) = now {
        let is_same = series.shape == shape
            && series.object == object
            && polls_same(events, series.last_row, row);
        let is_exact = events.dur_kind(row) != DurKind::UpperBound;
        let max_ns = if is_exact {
            MAX_READY_POLL_NS
        } else {
            MAX_READY_GAP_NS
        };
        let slow = series.slow + usize::from(events.dur_ns(row) > max_ns);
        // On a busy machine, a ready poll may wait for the processor now and then.
        if is_wakeup && is_same && slow * 100 <= series.polls * MAX_SLOW_POLLS_PERCENT {
            (series.polls, series.slow, series.last_row) = (series.polls + 1, slow, row);
            return Some(series);
        }
        keep(Some(series), found);
    }
    let new = Series {
        task,
        object,
        polls: 1,
        slow: 0,
        attempts: 0,
        attempt: None,
        first_row: row,
        last_row: row,
        shape,
    };
    is_wakeup.then_some(new)
}

/// Whether a poll would sleep if nothing were ready. With a limit of 0, or one that is not printed, it may be a glance
/// between other work.
fn may_sleep(events: &EventTable, row: u32) -> bool {
    let limit = events.facts.get::<Timeout>(row);
    limit.is_some_and(|&limit_ns| limit_ns != 0)
}

/// Whether two polls wait for the same descriptors.
fn polls_same(events: &EventTable, one: u32, other: u32) -> bool {
    events.facts.get::<Fds>(one) == events.facts.get::<Fds>(other)
}

fn reads_nothing(events: &EventTable, row: u32) -> bool {
    events.ret(row) == 0 && matches!(events.action(row), Action::Reads | Action::Receives)
}

/// Whether a call that took nothing was meant for the object, as far as both have names.
fn is_attempt_on(events: &EventTable, object: &ReadyObject, row: u32) -> bool {
    let target = events.target(row);
    let is_same = target == object.target || !target.is_some() || !object.target.is_some();
    is_same && events.action(row) != Action::Closes
}

fn may_take(events: &EventTable, object: &ReadyObject, row: u32) -> bool {
    let (ready, target) = (
        events.texts.bytes(object.target),
        events.texts.bytes(events.target(row)),
    );
    !is_other_kind(
        ready,
        target,
        events.action(row).transfer() == Some(Transfer::Write),
    )
}

/// Ends a series. Of those on one object, the longest is retained.
fn keep(series: Option<Series>, found: &mut Vec<Series>) {
    let Some(series) = series.filter(|series| series.polls >= MIN_READY_POLLS) else {
        return;
    };
    match found
        .iter_mut()
        .find(|known| known.object == series.object && known.shape == series.shape)
    {
        Some(known) if known.polls >= series.polls => {}
        Some(known) => *known = series,
        None => found.push(series),
    }
}

/// The series in which no other task takes what is ready.
fn without_consumers(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Kind>,
    mut found: Vec<Series>,
) -> Vec<Series> {
    if found.is_empty() {
        return found;
    }
    found.sort_unstable_by_key(|series| (Reverse(series.polls), series.first_row));
    found.truncate(MAX_SERIES);
    found.sort_unstable_by_key(|series| series.first_row);
    let events = &context.trace.events;
    let tasks: Vec<TaskId> = context.trace.tasks.keys().collect();
    let of_tasks: FxHashSet<TaskId> = found.iter().map(|series| series.task).collect();
    let targets = found
        .iter()
        .map(|series| series.object.target)
        .filter(|target| target.is_some());
    let targets: FxHashSet<Text> = targets.collect();
    let mut moves: Vec<(u32, TaskId)> = parallel::flat_map(&tasks, |&task| {
        let may_share = of_tasks
            .iter()
            .any(|&other| may_share(context, task, other));
        let moves = kinds
            .calls(context, task)
            .filter(|&(_, kind)| matches!(kind, Kind::Move | Kind::Other));
        let wanted = moves.filter(|&(row, _)| may_share || targets.contains(&events.target(row)));
        wanted.map(|(row, _)| (row, task)).collect::<Vec<_>>()
    });
    moves.sort_unstable();
    found.retain(|series| {
        let from = moves.partition_point(|&(row, _)| row < series.first_row);
        let within = moves[from..]
            .iter()
            .take_while(|&&(row, _)| row <= series.last_row);
        let others = within
            .filter(|&&(row, task)| task != series.task && is_consumer(context, series, row, task));
        let limit = series.polls * MAX_TAKEN_PERCENT / 100;
        others.take(limit + 1).count() <= limit
    });
    found
}

/// Whether two tasks may be threads of one process. Where the tracer attached, threads do not show whose they are.
fn may_share(context: &TableContext<'_>, one: TaskId, other: TaskId) -> bool {
    let attached = |task: TaskId| {
        let known = context.trace.tasks.get(task)?;
        (known.creator == TaskId::NONE && !known.born).then_some(known.capture)
    };
    same_process(context.trace, one, other)
        || attached(one).is_some_and(|capture| attached(other) == Some(capture))
}

/// Whether a call of another task may take what is ready, or makes it ready again.
fn is_consumer(context: &TableContext<'_>, series: &Series, row: u32, task: TaskId) -> bool {
    let events = &context.trace.events;
    if may_share(context, task, series.task) {
        return may_take(events, &series.object, row);
    }
    let is_same = events.target(row).is_some() && events.target(row) == series.object.target;
    is_same && objects::is_unique(events.texts.bytes(series.object.target))
}

/// Whether the task makes no other call from the first poll to the last, apart from those that cannot take anything.
fn is_bare(context: &TableContext<'_>, series: &Series) -> bool {
    let within = context.calls_of(series.task).filter(|&row| {
        (series.first_row..=series.last_row).contains(&row) && counts_as_call(context, row)
    });
    within.take(series.polls + 1).count() == series.polls
}

fn counts_as_call(context: &TableContext<'_>, row: u32) -> bool {
    !matches!(
        context.trace.events.action(row),
        Action::ReadsClock
            | Action::RegistersPoll
            | Action::ReturnsPid
            | Action::ReturnsFromHandler
            | Action::HandlesSignals
            | Action::Yields
    )
}

fn write(context: &TableContext<'_>, series: &Series, builder: &mut TableBuilder<'_>) {
    let (
        events,
        &Series {
            task,
            first_row,
            last_row,
            ..
        },
    ) = (&context.trace.events, series);
    let attempt = series
        .attempt
        .filter(|_| series.attempts * 10 >= series.polls * 9);
    let shape = attempt.map(|row| events.shape(row));
    let name = |failed: bool| shape.filter(|shape| (shape.outcome == Outcome::Failed) == failed);
    let total_ns = events
        .start_ns(last_row)
        .saturating_sub(events.start_ns(first_row))
        .max(0);
    let row = TableRow {
        of: TaskAt {
            task,
            row: first_row,
        },
        syscall: events.shape(first_row).syscall,
        target: series.object.target,
        fd: series.object.fd.map(i64::from),
        attempt: name(true).map_or(Text::NONE, |shape| shape.syscall),
        errno: name(true).map_or(Text::NONE, |shape| shape.errno),
        empty: name(false).map_or(Text::NONE, |shape| shape.syscall),
        bare: is_bare(context, series),
        proven: attempt.is_some() || stays_ready(events.texts.bytes(series.object.target)),
        polls: series.polls as i64,
        interval_ns: total_ns / (series.polls as i64 - 1).max(1),
        total_ns,
        path: stretch_ns(context, task, first_row, last_row),
        lines: LinesOf {
            first_row,
            last_row,
        },
    };
    builder.add(
        row,
        Provenance::Stretch {
            task,
            first_row,
            last_row,
        },
    );
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use parsers::NO_NS;
    use trace::testing::{TaskPlan, build, task};

    const COLUMNS: [&str; 4] = ["syscall", "target", "proven", "polls"];

    fn repeated(times: i64, calls: impl Fn(TaskPlan, i64) -> TaskPlan) -> TaskPlan {
        (0..times).fold(task(1), |plan, at| calls(plan, at * 100))
    }

    fn poll(plan: TaskPlan, at: i64) -> TaskPlan {
        plan.call("poll", at, at + 5)
            .on("anon_inode:[eventfd]")
            .asks(NO_NS)
    }

    #[test]
    fn polls_of_a_ready_eventfd_are_a_spin() {
        let plan = repeated(20, |plan, at| {
            poll(plan, at).call("gettid", at + 10, at + 11)
        });
        let expected = ["poll anon_inode:[eventfd] true 20"];
        assert_eq!(
            rows(&build(vec![plan.exit(9999)]), super::build, &COLUMNS),
            expected
        );
    }

    #[test]
    fn an_eventfd_that_is_read_each_time_is_no_spin() {
        let plan = repeated(20, |plan, at| {
            poll(plan, at)
                .call("read", at + 10, at + 11)
                .on("anon_inode:[eventfd]")
        });
        assert!(rows(&build(vec![plan.exit(9999)]), super::build, &COLUMNS).is_empty());
        let unnamed = repeated(20, |plan, at| poll(plan, at).call("read", at + 10, at + 11));
        assert!(rows(&build(vec![unnamed.exit(9999)]), super::build, &COLUMNS).is_empty());
    }

    #[test]
    fn what_another_thread_reads_is_consumed() {
        let reader = (0..20).fold(task(2).of_process(1), |plan, at| {
            plan.call("read", at * 100 + 50, at * 100 + 51)
        });
        let plans = vec![repeated(20, poll).exit(9999), reader.exit(9999)];
        // Neither shows who created it, as where the tracer attached.
        assert!(rows(&build(plans), super::build, &COLUMNS).is_empty());
    }

    #[test]
    fn polls_with_a_limit_of_0_are_glances() {
        let plan = repeated(20, |plan, at| poll(plan, at).asks(0));
        assert!(rows(&build(vec![plan.exit(9999)]), super::build, &COLUMNS).is_empty());
    }

    #[test]
    fn polls_that_last_or_time_out_are_no_spin() {
        let slow = repeated(20, |plan, at| {
            plan.call("poll", at * 100_000, at * 100_000 + 2_000_000)
                .on("pipe:[7]")
                .asks(NO_NS)
        });
        assert!(rows(&build(vec![slow.exit(999_999_999)]), super::build, &COLUMNS).is_empty());
        let timed_out = repeated(20, |plan, at| poll(plan, at).returns(0));
        assert!(rows(&build(vec![timed_out.exit(9999)]), super::build, &COLUMNS).is_empty());
    }

    #[test]
    fn failing_accepts_leave_the_listener_ready() {
        let plan = repeated(20, |plan, at| {
            let plan = plan.call("poll", at, at + 5).on("socket:[7]").asks(NO_NS);
            plan.call("accept", at + 10, at + 11)
                .on("socket:[7]")
                .fails("EMFILE")
        });
        let columns = ["target", "attempt", "errno", "proven", "polls"];
        let expected = ["socket:[7] accept EMFILE true 20"];
        assert_eq!(
            rows(&build(vec![plan.exit(9999)]), super::build, &columns),
            expected
        );
    }

    #[test]
    fn connections_that_others_accept_are_no_spin() {
        let plan = repeated(20, |plan, at| {
            let plan = plan.call("poll", at, at + 5).on("socket:[7]").asks(NO_NS);
            plan.call("accept", at + 10, at + 11)
                .on("socket:[7]")
                .fails("EAGAIN")
        });
        assert!(rows(&build(vec![plan.exit(9999)]), super::build, &COLUMNS).is_empty());
    }
}
