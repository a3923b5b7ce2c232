//! Probes and attempts: calls that query the state of something, or try an operation that others may prevent.

use crate::tables::probe_series::Probe;
use crate::tables::probe_series::own_ends::OwnEnds;
use crate::tables::probe_series::pauses::Pause;
use kit::table_support::context::TableContext;
use kit::table_support::shape_index::ShapeIndex;
use parsers::line::Ended;
use parsers::syscalls::{self, Action, Wait, action_of};
use parsers::{Outcome, Text};
use path::waits::wait_kinds::is_probe;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::event::{EventKind, NONE, Shape};
use trace::store::facts::ConnectOutcome;
use trace::store::heuristics::MAX_PROBES_BETWEEN_PAUSES;
use trace::store::index::{ShapeId, TaskId};
use trace::store::outcomes::found_no_child;

/// The probed object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum ProbeKey {
    /// A call: syscall and target.
    Call(Text, Text),
    /// A command: its arguments.
    Command(Text),
}

/// The kind of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProbeKind {
    /// Queries a state: whether a file exists, a process lives, or data is available.
    State,
    /// Tries an operation that others may prevent for a time: a busy lock, or a peer that does not listen yet.
    Attempt,
    /// A child that runs a program.
    Command,
}

/// How the failure of a probe is determined.
#[derive(Clone, Copy)]
enum OutcomeTest {
    /// By the shape: either all calls of the shape failed, or none.
    ByShape(bool),
    /// By the return value: nothing is ready. Calls that may block are not probes.
    Polled,
    /// By the return value: no child has exited.
    Children,
    /// Calls of this shape have no result.
    Never,
}

/// The probes of a trace.
pub(super) struct ProbeIndex {
    kinds: ShapeIndex<(ProbeKind, OutcomeTest)>,
    may_fail: ShapeIndex<()>,
    own_ends: OwnEnds,
    /// Children that are not pauses, by creator: the call that created the child, and the child.
    children: FxHashMap<TaskId, Vec<(u32, TaskId)>>,
}

impl ProbeIndex {
    pub(super) fn new(
        context: &TableContext<'_>,
        all_pauses: &[(TaskId, Vec<Pause>)],
    ) -> ProbeIndex {
        let events = &context.trace.events;
        let text = |text: Text| events.texts.bytes(text);
        // A call that failed once because of others is a probe even where it succeeds.
        let parts = context.trace.shape_parts().parts();
        let failed = |fails: &dyn Fn(Text, &[u8]) -> bool| -> FxHashSet<(Text, Text)> {
            let has_failed = |shape: &&Shape| {
                shape.outcome == Outcome::Failed && fails(shape.syscall, text(shape.errno))
            };
            let has_any = parts.iter().any(|part| has_failed(&part));
            let failed = events
                .shapes()
                .iter()
                .filter(|shape| has_any && has_failed(shape));
            failed.map(|shape| (shape.syscall, shape.target)).collect()
        };
        let (mut hindered, starved) = (failed(&is_hindered), failed(&is_starved));
        let later = events
            .facts
            .all::<ConnectOutcome>()
            .iter()
            .filter(|(_, later)| is_temporary(text(later.errno)));
        hindered
            .extend(later.map(|&(row, _)| (events.shape(row).syscall, events.shape(row).target)));
        let classify = |action: Action, shape: &Shape| match (shape.syscall, shape.target) {
            of if hindered.contains(&of) => Some(ProbeKind::Attempt),
            of if starved.contains(&of) => Some(ProbeKind::State),
            _ => queries_state(action, shape, text(shape.op)).then_some(ProbeKind::State),
        };
        let may_query = |action: Action, part: &Shape| {
            let is_known = !hindered.is_empty() || !starved.is_empty();
            is_known || queries_target(action) || queries_state(action, part, text(part.op))
        };
        let kinds = ShapeIndex::by_target(context, may_query, |_, action, shape| {
            Some((
                classify(action, shape)?,
                outcome_test(action, shape.outcome),
            ))
        });
        let may_fail = |action: Action, part: &Shape| {
            let found_nothing = part.outcome == Outcome::Ok && finds_nothing(action);
            (part.outcome == Outcome::Failed || found_nothing) && may_query(action, part)
        };
        let may_fail = ShapeIndex::by_target(context, may_fail, |_, action, shape| {
            classify(action, shape).map(|_| ())
        });
        let sleepers: FxHashSet<TaskId> = all_pauses
            .iter()
            .flat_map(|(_, pauses)| pauses.iter().map(|pause| pause.sleeper))
            .collect();
        let mut children: FxHashMap<TaskId, Vec<(u32, TaskId)>> = FxHashMap::default();
        for (number, task) in context.trace.tasks.iter_enumerated() {
            let ran = !task.is_thread
                && task.creator != TaskId::NONE
                && task.created_by != NONE
                && !task.programs.is_empty();
            if ran && !sleepers.contains(&number) {
                children
                    .entry(task.creator)
                    .or_default()
                    .push((task.created_by, number));
            }
        }
        children
            .values_mut()
            .for_each(|children| children.sort_unstable());
        // Only probes between pauses are compared with them.
        let own_ends = if all_pauses.is_empty() {
            OwnEnds::default()
        } else {
            OwnEnds::new(context)
        };
        ProbeIndex {
            kinds,
            may_fail,
            own_ends,
            children,
        }
    }

    /// The probes of a task between two pauses. Before the first and after the last pause, only `around` rows are
    /// searched.
    pub(super) fn between(
        &self,
        context: &TableContext<'_>,
        task: TaskId,
        before: Option<&Pause>,
        after: Option<&Pause>,
        around: usize,
    ) -> Vec<Probe> {
        let events = &context.trace.events;
        let rows = context.trace.rows_of(task);
        let place = |row: u32| {
            rows.partition_point(|&other| other == row || context.trace.starts_before(other, row))
        };
        let from = before.map_or(0, |pause| place(pause.at));
        let to = after
            .map_or(rows.len(), |pause| place(pause.at).saturating_sub(1))
            .max(from);
        let (from, to) = match (before, after) {
            (None, _) => (to.saturating_sub(around), to),
            (_, None) => (from, to.min(from + around)),
            _ => (from, to),
        };
        let rows = rows.get(from..to).unwrap_or(&[]);
        let mut found: Vec<Probe> = Vec::new();
        // A shell that was notified of a child's exit also checks for other children. These checks are not probes.
        let is_child_signal = |&row: &u32| {
            events.kind(row) == EventKind::Signal
                && events.texts.bytes(events.shape(row).syscall) == b"SIGCHLD"
        };
        let reaps = rows.iter().any(is_child_signal);
        let calls = rows
            .iter()
            .filter(|&&row| events.kind(row) == EventKind::Call);
        let probes = calls.filter_map(|&row| self.probe(context, row, reaps));
        // A process that finds its own wake-up pipe empty has not probed anything.
        let probes = probes.filter(|probe| !self.own_ends.has_all(context, probe.row));
        for probe in probes.take(MAX_PROBES_BETWEEN_PAUSES + 1) {
            found.retain(|other| other.key != probe.key);
            found.push(probe);
        }
        let many = found.len() > MAX_PROBES_BETWEEN_PAUSES;
        // A failed lookup right before a successful one elsewhere is a step of a search, not a probe.
        let wakers = &context.wakers;
        found.retain(|probe| {
            many || !probe.failed || !wakers.is_step_of_search(context.trace, task, probe.row)
        });
        let bounds = rows.first().zip(rows.last());
        found.extend(
            bounds
                .into_iter()
                .flat_map(|(&first, &last)| self.commands(context, task, first, last))
                .take(MAX_PROBES_BETWEEN_PAUSES),
        );
        if many || found.len() > MAX_PROBES_BETWEEN_PAUSES {
            Vec::new()
        } else {
            found
        }
    }

    /// Whether calls of a shape may be failed probes.
    pub(super) fn may_fail(&self, shape: ShapeId) -> bool {
        self.may_fail.of_shape(shape).is_some()
    }

    /// Converts a call into a probe. `reaps` is set if the task was just notified of a child's exit.
    pub(super) fn probe(&self, context: &TableContext<'_>, row: u32, reaps: bool) -> Option<Probe> {
        let events = &context.trace.events;
        let (kind, test) = self.kinds.of_shape(events.shape_number(row))?;
        let failed = match test {
            OutcomeTest::ByShape(failed) => failed,
            OutcomeTest::Polled if events.requested_ns(row) == Some(0) => events.ret(row) == 0,
            // A wait for one specific child is a deliberate probe.
            OutcomeTest::Children if !reaps || events.target(row).is_some() => {
                found_no_child(events, row)
            }
            OutcomeTest::Polled | OutcomeTest::Children | OutcomeTest::Never => return None,
        };
        let shape = events.shape(row);
        let (failed, errno) = match events.facts.get::<ConnectOutcome>(row).copied() {
            Some(connected) => (connected.errno.is_some(), connected.errno),
            None if events.texts.bytes(shape.errno) == b"EINPROGRESS" => return None,
            None => (failed, shape.errno),
        };
        let target = events.target(row);
        let key = ProbeKey::Call(shape.syscall, target);
        Some(Probe {
            key,
            kind,
            failed,
            errno,
            row,
            child: TaskId::NONE,
        })
    }

    /// Children created between two calls that ran a program and exited.
    fn commands<'a>(
        &'a self,
        context: &'a TableContext<'_>,
        task: TaskId,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = Probe> + 'a {
        let children = self.children.get(&task).map_or(&[][..], Vec::as_slice);
        let from = children.partition_point(|&(row, _)| row < first);
        let here = children[from..]
            .iter()
            .take_while(move |&&(row, _)| row <= last);
        here.filter_map(move |&(row, child)| {
            let known = context.trace.tasks.get(child)?;
            let program = known.programs.last()?;
            let failed = known.ended? != Ended::Exited(0);
            let words = if program.argv.is_some() {
                program.argv
            } else {
                program.path
            };
            Some(Probe {
                key: ProbeKey::Command(words),
                kind: ProbeKind::Command,
                failed,
                errno: Text::NONE,
                row,
                child,
            })
        })
    }
}

fn outcome_test(action: Action, outcome: Outcome) -> OutcomeTest {
    let is_wait = action.wait() == Some(Wait::Child);
    match outcome {
        Outcome::Failed if !is_wait => OutcomeTest::ByShape(true),
        Outcome::Ok if is_wait => OutcomeTest::Children,
        Outcome::Ok if is_poll(action) => OutcomeTest::Polled,
        Outcome::Ok => OutcomeTest::ByShape(false),
        _ => OutcomeTest::Never,
    }
}

/// Whether the return value of a call indicates that there was nothing.
fn finds_nothing(action: Action) -> bool {
    action.wait() == Some(Wait::Child) || is_poll(action)
}

fn is_poll(action: Action) -> bool {
    matches!(action, Action::Polls | Action::PollsEpoll)
}

/// Whether a call queries the state of its target, if it has one.
fn queries_target(action: Action) -> bool {
    matches!(
        action,
        Action::Stats | Action::Accesses | Action::Opens | Action::ReadsLink
    )
}

fn queries_state(action: Action, shape: &Shape, op: &[u8]) -> bool {
    match action {
        _ if queries_target(action) => shape.target.is_some(),
        Action::Signals => is_probe(op),
        _ => finds_nothing(action),
    }
}

/// Whether a call failed because there was nothing to read yet.
fn is_starved(syscall: Text, errno: &[u8]) -> bool {
    action_of(syscall).wait() == Some(Wait::Read) && matches!(errno, b"EAGAIN" | b"EWOULDBLOCK")
}

/// Whether a connect failed for a reason that may pass by itself.
pub(crate) fn is_temporary(errno: &[u8]) -> bool {
    is_hindrance(errno) || matches!(errno, b"ETIMEDOUT" | b"ENOENT")
}

/// Whether a call failed for a reason that may pass by itself.
fn is_hindered(syscall: Text, errno: &[u8]) -> bool {
    match errno {
        b"EAGAIN" | b"EWOULDBLOCK" | b"EACCES" => match action_of(syscall) {
            Action::LocksFile | Action::LocksRange | Action::ControlsFile => true,
            // With a timeout, the call may have failed because the timeout was reached.
            Action::ChangesSemaphore => {
                syscalls::by_text(syscall).is_some_and(|call| !call.has_timeout())
            }
            _ => false,
        },
        b"ETIMEDOUT" | b"ENOENT" => action_of(syscall) == Action::Connects,
        _ => is_hindrance(errno),
    }
}

/// Whether an error is one that may pass by itself, whatever fails with it.
fn is_hindrance(errno: &[u8]) -> bool {
    matches!(
        errno,
        b"EBUSY"
            | b"ETXTBSY"
            | b"ECONNREFUSED"
            | b"ECONNRESET"
            | b"EHOSTUNREACH"
            | b"ENETUNREACH"
            | b"EHOSTDOWN"
            | b"EADDRINUSE"
            | b"EADDRNOTAVAIL"
            | b"ENOTEMPTY"
            | b"EDEADLK"
            | b"ENOMEM"
            | b"ENOBUFS"
            | b"ENOLCK"
            | b"EMFILE"
            | b"ENFILE"
            | b"ESTALE"
    )
}
