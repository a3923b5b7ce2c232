//! Attempts: a lock that is busy, and that a task requests again and again, with pauses, until it gets it or gives up.
//!
//! ```text
//! F_SETLK EAGAIN | sleep | F_SETLK EAGAIN | sleep | F_SETLK EAGAIN | sleep | F_SETLK 0       one wait, 3 attempts
//! openat EEXIST  | sleep | openat EEXIST  | exit                                            a lock file; it gives up
//! rename ENOTEMPTY | sleep | rename 0                                                       one refusal; then it was free
//! ```
//! An open that creates fails with EEXIST only if the file must not exist yet (O_EXCL): then the file is the lock. So is the new
//! name of a link or of a folder that is renamed. A single refusal is a wait if the same call succeeds after a pause.

use super::{LockWait, contains};
use kit::table_support::context::TableContext;
use kit::table_support::shape_index::ShapeIndex;
use outcome::tables::endings::lines_of;
use parsers::facts::Created;
use parsers::syscalls::{Action, Wait};
use parsers::{Outcome, Text};
use path::waits::wait_kinds::wait_of_row;
use trace::store::event::{NONE, Shape};
use trace::store::events::EventTable;
use trace::store::heuristics::MAX_BETWEEN_ATTEMPTS_NS;
use trace::store::index::TaskId;

/// Locks that a task may try to get at once.
const MAX_PENDING: usize = 4;

/// What a call is to this.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The lock is busy.
    Refused,
    /// A lock is free, or it is another part of the file.
    Granted,
    Pause,
}

/// One wait for a lock: several attempts with pauses between them.
pub(super) struct Attempts {
    pub target: Text,
    pub number: i64,
    pub wait: LockWait,
}

pub(super) fn steps(context: &TableContext<'_>) -> ShapeIndex<Step> {
    let texts = &context.trace.events.texts;
    let step = |action: Action, shape: &Shape| {
        if matches!(action.wait(), Some(Wait::Sleep | Wait::Poll)) {
            return Some(Step::Pause);
        }
        let refuses = refusal(action, texts.bytes(shape.op))?;
        match shape.outcome {
            Outcome::Ok => Some(Step::Granted),
            Outcome::Failed if refuses.contains(&texts.bytes(shape.errno)) => Some(Step::Refused),
            _ => None,
        }
    };
    ShapeIndex::by_target(
        context,
        |action, part| step(action, part).is_some(),
        |_, action, shape| {
            step(action, shape).filter(|&step| step != Step::Refused || shape.target.is_some())
        },
    )
}

/// The errors of a call if the lock is busy.
fn refusal(action: Action, op: &[u8]) -> Option<&'static [&'static [u8]]> {
    const BUSY: &[&[u8]] = &[b"EAGAIN", b"EACCES", b"EWOULDBLOCK"];
    const EXISTS: &[&[u8]] = &[b"EEXIST"];
    const NOT_EMPTY: &[&[u8]] = &[b"EEXIST", b"ENOTEMPTY"];
    match action {
        Action::ControlsFile if contains(op, b"SETLK") && !contains(op, b"SETLKW") => Some(BUSY),
        Action::LocksFile if !contains(op, b"LOCK_UN") => Some(BUSY),
        Action::LocksRange => Some(BUSY),
        Action::Opens | Action::Creates | Action::Makes | Action::Links => Some(EXISTS),
        Action::Renames => Some(NOT_EMPTY),
        _ => None,
    }
}

/// The waits of a task for locks that it requests again and again.
pub(super) fn attempts(
    context: &TableContext<'_>,
    steps: &ShapeIndex<Step>,
    task: TaskId,
) -> Vec<Attempts> {
    let events = &context.trace.events;
    let mut all = OfTask {
        found: Vec::new(),
        pending: Vec::new(),
    };
    for (row, step) in steps.calls(context, task) {
        let (start_ns, Some(end_ns)) = (events.start_ns(row), events.end_ns(row)) else {
            continue;
        };
        let request = Request::of(events, row);
        match step {
            Step::Refused => all.refused(Pending::new(request, task, row, start_ns, end_ns)),
            Step::Granted => all.granted(request),
            Step::Pause if !is_pause(context, row) => {}
            Step::Pause => {
                let on_path = context.exclusive_ns(row) > 0;
                all.pending
                    .iter_mut()
                    .for_each(|each| each.pauses(end_ns - start_ns, end_ns, on_path));
            }
        }
    }
    let OfTask { mut found, pending } = all;
    found.extend(pending.into_iter().filter_map(Pending::settled));
    found.retain(|each| is_of_lock(context, each));
    found
}

/// Whether the refused call was about the lock. A link or rename that fails has created nothing, so only its line has the new
/// name, and the one that succeeded may have been about another.
fn is_of_lock(context: &TableContext<'_>, found: &Attempts) -> bool {
    let (events, refused) = (&context.trace.events, found.wait.row);
    if !gives_name(events.action(refused)) {
        return true;
    }
    let path = events.texts.string(found.target);
    let quoted = format!("{}\"", path.rsplit('/').next().unwrap_or(&path));
    lines_of(context, &[refused])
        .iter()
        .any(|line| line.contains(&quoted))
}

/// Whether a call gives a file another name.
fn gives_name(action: Action) -> bool {
    matches!(action, Action::Links | Action::Renames)
}

fn is_pause(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    wait_of_row(events, row) == Some(Wait::Sleep) || events.only_sleeps(row)
}

/// What a call requests.
#[derive(Clone, Copy)]
struct Request {
    /// The lock, or what becomes the lock by a link or another name.
    target: Text,
    syscall: Text,
    /// What the call created. A refused one creates nothing.
    created: Option<Text>,
    action: Action,
}

impl Request {
    fn of(events: &EventTable, row: u32) -> Request {
        Request {
            target: events.target(row),
            syscall: events.shape(row).syscall,
            created: events.facts.get::<Created>(row).copied(),
            action: events.action(row),
        }
    }

    /// Whether this is the call that was refused, and it succeeds now. An open that creates nothing is another one.
    fn succeeds(self, refused: Request) -> bool {
        let is_only_opened = self.action == Action::Opens && self.created.is_none();
        self.syscall == refused.syscall && !is_only_opened
    }
}

struct OfTask {
    found: Vec<Attempts>,
    pending: Vec<Pending>,
}

impl OfTask {
    fn refused(&mut self, new: Pending) {
        let known = self
            .pending
            .iter()
            .position(|each| each.request.target == new.request.target);
        match known.map(|at| &mut self.pending[at]) {
            Some(before) if before.continues(new.wait.start_ns) => before.again(new.wait.end_ns),
            Some(before) => self.found.extend(std::mem::replace(before, new).settled()),
            None => {
                if self.pending.len() == MAX_PENDING {
                    self.found.extend(self.pending.remove(0).settled());
                }
                self.pending.push(new);
            }
        }
    }

    fn granted(&mut self, request: Request) {
        let asked = self
            .pending
            .iter_mut()
            .filter(|each| each.request.target == request.target && each.paused_ns > 0);
        for each in asked {
            each.got = true;
            if request.succeeds(each.request) {
                each.got_by_same_call = true;
                each.request.created = request.created;
            }
        }
    }
}

/// Attempts without success so far.
struct Pending {
    request: Request,
    number: i64,
    /// To the end of the last attempt.
    wait: LockWait,
    /// Pauses since the last attempt, and when the last of them ended.
    paused_ns: i64,
    pause_end_ns: i64,
    /// Whether it seems that the lock was free after the last pause.
    got: bool,
    /// Whether the call that was refused shows it.
    got_by_same_call: bool,
}

impl Pending {
    fn new(request: Request, task: TaskId, row: u32, start_ns: i64, end_ns: i64) -> Pending {
        let wait = LockWait {
            row,
            task,
            start_ns,
            end_ns,
            at: NONE,
            holder: None,
            on_path: false,
        };
        Pending {
            request,
            number: 1,
            wait,
            paused_ns: 0,
            pause_end_ns: end_ns,
            got: false,
            got_by_same_call: false,
        }
    }

    /// Whether a task that is refused again mostly paused since the last time, and did not work on something else.
    fn continues(&self, start_ns: i64) -> bool {
        let between_ns = start_ns - self.wait.end_ns;
        between_ns <= MAX_BETWEEN_ATTEMPTS_NS || 2 * self.paused_ns >= between_ns
    }

    fn again(&mut self, end_ns: i64) {
        self.number += i64::from(self.paused_ns > 0);
        (
            self.wait.end_ns,
            self.paused_ns,
            self.pause_end_ns,
            self.got,
        ) = (end_ns, 0, end_ns, false);
    }

    fn pauses(&mut self, dur_ns: i64, end_ns: i64, on_path: bool) {
        self.paused_ns = self.paused_ns.saturating_add(dur_ns);
        self.pause_end_ns = end_ns;
        self.wait.on_path |= on_path;
    }

    fn settled(mut self) -> Option<Attempts> {
        if self.got && self.continues(self.pause_end_ns) {
            self.wait.end_ns = self.pause_end_ns;
        }
        let was_short = self.got_by_same_call && self.continues(self.pause_end_ns);
        // Without it, the lock has no name.
        let is_named = !gives_name(self.request.action) || self.request.created.is_some();
        let is_wait = is_named && (self.number > 1 || was_short);
        is_wait.then_some(Attempts {
            target: self.request.created.unwrap_or(self.request.target),
            number: self.number.max(2),
            wait: self.wait,
        })
    }
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    const MS: i64 = 1_000_000;
    const COLUMNS: [&str; 6] = [
        "syscall",
        "target",
        "calls",
        "max_ns",
        "outside",
        "could_free_ns",
    ];

    fn refused(plan: TaskPlan, from_ns: i64) -> TaskPlan {
        plan.call("fcntl", from_ns, from_ns + 1)
            .op("F_SETLK")
            .on("/db")
            .fails("EAGAIN")
    }

    fn paused(plan: TaskPlan, from_ns: i64, to_ns: i64) -> TaskPlan {
        plan.call("nanosleep", from_ns, to_ns).returns(0)
    }

    fn waiter() -> TaskPlan {
        let plan = paused(refused(task(1).exec(0, 1, "/bin/x"), 10), 11, 11 + 50 * MS);
        let plan = paused(refused(plan, 12 + 50 * MS), 13 + 50 * MS, 13 + 100 * MS);
        plan.call("fcntl", 14 + 100 * MS, 15 + 100 * MS)
            .op("F_SETLK")
            .on("/db")
            .returns(0)
    }

    #[test]
    fn attempts_with_pauses_are_one_wait() {
        let built = rows(
            &build(vec![waiter().exit(200 * MS)]),
            super::super::build,
            &COLUMNS,
        );
        assert_eq!(built, ["fcntl /db 2 100000003 true 100000003"]);
    }

    #[test]
    fn one_refusal_is_a_wait_if_the_same_call_succeeds_after_a_pause() {
        let plan = paused(refused(task(1).exec(0, 1, "/bin/x"), 10), 11, 11 + 50 * MS);
        let later = |plan: TaskPlan, call: &'static str, op: &'static str| {
            plan.call(call, 12 + 50 * MS, 13 + 50 * MS)
                .op(op)
                .on("/db")
                .returns(0)
                .exit(200 * MS)
        };
        let of = |plan| rows(&build(vec![plan]), super::super::build, &COLUMNS[..4]);
        assert_eq!(
            of(later(plan.clone(), "fcntl", "F_SETLK")),
            ["fcntl /db 2 50000001"]
        );
        // Another call says nothing of the lock that was refused.
        assert_eq!(of(later(plan, "flock", "LOCK_EX")), ["flock /db 1 1"]);
    }

    #[test]
    fn a_process_of_the_capture_that_uses_the_file_may_hold_the_lock() {
        let other = task(2).call("read", 5, 7).on("/db").exit(190 * MS);
        let built = rows(
            &build(vec![waiter().exit(200 * MS), other]),
            super::super::build,
            &COLUMNS[..5],
        );
        assert_eq!(built, ["fcntl /db 2 100000003 false"]);
    }

    #[test]
    fn work_between_attempts_is_not_a_wait() {
        let plan = refused(task(1).exec(0, 1, "/bin/x"), 10).call("fsync", 11, 100 * MS);
        let built = rows(
            &build(vec![refused(plan, 101 * MS).exit(200 * MS)]),
            super::super::build,
            &COLUMNS,
        );
        assert_eq!(built, Vec::<String>::new());
    }

    #[test]
    fn a_task_that_gives_up_waited_until_its_last_attempt() {
        let plan = paused(refused(task(1).exec(0, 1, "/bin/x"), 10), 11, 11 + 50 * MS);
        let plan = paused(refused(plan, 12 + 50 * MS), 13 + 50 * MS, 13 + 100 * MS);
        let built = rows(
            &build(vec![plan.exit(200 * MS)]),
            super::super::build,
            &COLUMNS[..4],
        );
        assert_eq!(built, ["fcntl /db 2 50000003"]);
    }
}
