//! Looks and attempts: calls that ask for the state of something, or try what others may still prevent.

use crate::store::event::{EventKind, NONE, Shape};
use crate::table_support::context::TableContext;
use crate::table_support::shape_index::ShapeIndex;
use crate::tables::turns::Looked;
use crate::tables::turns::pauses::Pause;
use crate::waits::wait_kinds::is_probe;
use parsers::line::Ended;
use parsers::syscalls::{self, Action, Wait, action_of};
use parsers::{NO_NS, Outcome, Text};
use rustc_hash::{FxHashMap, FxHashSet};

/// More looks between two pauses are work, not a question.
const MAX_PROBES: usize = 128;

/// What is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum ProbeKey {
    /// By a call: syscall, target.
    Call(Text, Text),
    /// By a command: its arguments.
    Command(Text),
}

/// What kind of look it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProbeKind {
    /// Asks for a state: is the file there, does the process live, is there something to read?
    State,
    /// Tries to do something that others may prevent for a time: a busy lock, a peer that does not listen yet.
    Attempt,
    /// A child that runs a program.
    Command,
}

/// How it is told whether a look was in vain.
#[derive(Clone, Copy)]
enum OutcomeTest {
    /// Each of this shape was, or none.
    ByShape(bool),
    /// By a value: nothing is ready. Those that may wait are no looks.
    Polled,
    /// By a value: no child has ended.
    Children,
    /// Calls of this shape had no answer.
    Never,
}

/// The looks of a trace.
pub(super) struct Looks {
    kinds: ShapeIndex<(ProbeKind, OutcomeTest)>,
    may_fail: ShapeIndex<()>,
    /// Children that are no pauses, by creator: the call that made them, and they.
    children: FxHashMap<u32, Vec<(u32, u32)>>,
}

impl Looks {
    pub(super) fn new(context: &TableContext<'_>, all_pauses: &[(u32, Vec<Pause>)]) -> Looks {
        let events = &context.trace.events;
        let text = |text: Text| events.texts.bytes(text);
        // What failed once for want of others is a look also where it does not fail.
        let failed = |fails: &dyn Fn(Text, &[u8]) -> bool| -> FxHashSet<(Text, Text)> {
            let failed = events.shapes().iter().filter(|shape| shape.outcome == Outcome::Failed);
            let failed = failed.filter(|shape| fails(shape.syscall, text(shape.errno)));
            failed.map(|shape| (shape.syscall, shape.target)).collect()
        };
        let (hindered, starved) = (failed(&is_hindered), failed(&is_starved));
        let judge = |action: Action, shape: &Shape| match (shape.syscall, shape.target) {
            of if hindered.contains(&of) => Some(ProbeKind::Attempt),
            of if starved.contains(&of) => Some(ProbeKind::State),
            _ => asks_for_state(action, shape, text(shape.op)).then_some(ProbeKind::State),
        };
        let kinds =
            ShapeIndex::new(context, |action, shape| Some((judge(action, shape)?, told(action, shape.outcome))));
        let may_fail = ShapeIndex::new(context, |action, shape| {
            let found_nothing = shape.outcome == Outcome::Ok && finds_nothing(action);
            (shape.outcome == Outcome::Failed || found_nothing).then(|| judge(action, shape))?.map(|_| ())
        });
        let sleepers: FxHashSet<u32> =
            all_pauses.iter().flat_map(|(_, pauses)| pauses.iter().map(|pause| pause.sleeper)).collect();
        let mut children: FxHashMap<u32, Vec<(u32, u32)>> = FxHashMap::default();
        for (number, task) in (0..).zip(&context.trace.tasks) {
            let ran = !task.is_thread && task.creator != NONE && task.created_by != NONE && !task.programs.is_empty();
            if ran && !sleepers.contains(&number) {
                children.entry(task.creator).or_default().push((task.created_by, number));
            }
        }
        children.values_mut().for_each(|children| children.sort_unstable());
        Looks { kinds, may_fail, children }
    }

    /// The looks of a task between two pauses; at the ends only so many rows near the pause.
    pub(super) fn between(
        &self,
        context: &TableContext<'_>,
        task: u32,
        before: Option<&Pause>,
        behind: Option<&Pause>,
        around: usize,
    ) -> Vec<Looked> {
        let events = &context.trace.events;
        let rows = context.trace.rows_of(task);
        let place = |row: u32| rows.partition_point(|&other| before_or_at(context, other, row));
        let from = before.map_or(0, |pause| place(pause.at));
        let to = behind.map_or(rows.len(), |pause| place(pause.at).saturating_sub(1)).max(from);
        let (from, to) = match (before, behind) {
            (None, _) => (to.saturating_sub(around), to),
            (_, None) => (from, to.min(from + around)),
            _ => (from, to),
        };
        let rows = rows.get(from..to).unwrap_or(&[]);
        let mut found: Vec<Looked> = Vec::new();
        // A shell that is told of a child's end asks for others too: that is upkeep.
        let hears_of_child = |&row: &u32| {
            events.kind(row) == EventKind::Signal && events.texts.bytes(events.shape(row).syscall) == b"SIGCHLD"
        };
        let reaps = rows.iter().any(hears_of_child);
        let calls = rows.iter().filter(|&&row| events.kind(row) == EventKind::Call);
        for looked in calls.filter_map(|&row| self.looked(context, row, reaps)).take(MAX_PROBES + 1) {
            found.retain(|other| other.key != looked.key);
            found.push(looked);
        }
        let many = found.len() > MAX_PROBES;
        // A name that is found elsewhere right behind was searched, not waited for.
        let wakers = &context.wakers;
        found.retain(|looked| many || !looked.failed || !wakers.is_step_of_search(context.trace, task, looked.row));
        let bounds = rows.first().zip(rows.last());
        found.extend(
            bounds.into_iter().flat_map(|(&first, &last)| self.commands(context, task, first, last)).take(MAX_PROBES),
        );
        if many || found.len() > MAX_PROBES { Vec::new() } else { found }
    }

    /// Whether calls of a shape may be looks in vain.
    pub(super) fn may_fail(&self, shape: u32) -> bool {
        self.may_fail.of_shape(shape).is_some()
    }

    /// A call as a look; `reaps` if the task was just told of the end of a child.
    pub(super) fn looked(&self, context: &TableContext<'_>, row: u32, reaps: bool) -> Option<Looked> {
        let events = &context.trace.events;
        let (look, told) = self.kinds.of_shape(events.shape_number(row))?;
        let failed = match told {
            OutcomeTest::ByShape(failed) => failed,
            OutcomeTest::Polled if events.requested_ns(row) == Some(0) => events.ret(row) == 0,
            // Of one child it is asked on purpose.
            OutcomeTest::Children if !reaps || events.target(row).is_some() => events.ret(row) == 0,
            OutcomeTest::Polled | OutcomeTest::Children | OutcomeTest::Never => return None,
        };
        let shape = events.shape(row);
        let key = ProbeKey::Call(shape.syscall, events.target(row));
        Some(Looked { key, look, failed, errno: shape.errno, row, child: NONE })
    }

    /// Children that were made between two calls, run a program and ended.
    fn commands<'a>(
        &'a self,
        context: &'a TableContext<'_>,
        task: u32,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = Looked> + 'a {
        let children = self.children.get(&task).map_or(&[][..], Vec::as_slice);
        let from = children.partition_point(|&(row, _)| row < first);
        let here = children[from..].iter().take_while(move |&&(row, _)| row <= last);
        here.filter_map(move |&(row, child)| {
            let known = context.trace.tasks.get(child as usize)?;
            let program = known.programs.last()?;
            let failed = known.ended? != Ended::Exited(0);
            let words = if program.argv.is_some() { program.argv } else { program.path };
            Some(Looked {
                key: ProbeKey::Command(words),
                look: ProbeKind::Command,
                failed,
                errno: Text::NONE,
                row,
                child,
            })
        })
    }
}

/// Whether a row comes before another one of its task, or is it.
fn before_or_at(context: &TableContext<'_>, row: u32, other: u32) -> bool {
    let events = &context.trace.events;
    match (events.start_ns(row), events.start_ns(other)) {
        (NO_NS, _) | (_, NO_NS) => row <= other,
        (start_ns, other_ns) => (start_ns, row) <= (other_ns, other),
    }
}

fn told(action: Action, outcome: Outcome) -> OutcomeTest {
    let is_wait = action.wait() == Some(Wait::Child);
    match outcome {
        Outcome::Failed if !is_wait => OutcomeTest::ByShape(true),
        Outcome::Ok if is_wait => OutcomeTest::Children,
        Outcome::Ok if is_poll(action) => OutcomeTest::Polled,
        Outcome::Ok => OutcomeTest::ByShape(false),
        _ => OutcomeTest::Never,
    }
}

/// Whether a call says by its value that there is nothing.
fn finds_nothing(action: Action) -> bool {
    action.wait() == Some(Wait::Child) || is_poll(action)
}

fn is_poll(action: Action) -> bool {
    matches!(action, Action::Polls | Action::PollsEpoll)
}

fn asks_for_state(action: Action, shape: &Shape, op: &[u8]) -> bool {
    match action {
        Action::Stats | Action::Accesses | Action::Opens | Action::ReadsLink => shape.target.is_some(),
        Action::Signals => is_probe(op),
        _ => finds_nothing(action),
    }
}

/// Whether a call failed because there was nothing to read yet.
fn is_starved(syscall: Text, errno: &[u8]) -> bool {
    action_of(syscall).wait() == Some(Wait::Read) && matches!(errno, b"EAGAIN" | b"EWOULDBLOCK")
}

/// Whether a call failed for a reason that may pass by itself.
fn is_hindered(syscall: Text, errno: &[u8]) -> bool {
    let action = action_of(syscall);
    match errno {
        b"EAGAIN" | b"EWOULDBLOCK" | b"EACCES" => match action {
            Action::LocksFile | Action::LocksRange | Action::ControlsFile => true,
            // With a limit, it may just have come to it.
            Action::ChangesSemaphore => syscalls::by_text(syscall).is_some_and(|call| !call.has_timeout()),
            _ => false,
        },
        b"EBUSY" | b"ETXTBSY" | b"ECONNREFUSED" | b"ECONNRESET" | b"EHOSTUNREACH" | b"ENETUNREACH" | b"EHOSTDOWN"
        | b"EADDRINUSE" | b"EADDRNOTAVAIL" | b"ENOTEMPTY" | b"EDEADLK" | b"ENOMEM" | b"ENOBUFS" | b"ENOLCK"
        | b"EMFILE" | b"ENFILE" | b"ESTALE" => true,
        b"ETIMEDOUT" | b"ENOENT" => action == Action::Connects,
        _ => false,
    }
}
