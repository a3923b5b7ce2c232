//! The kernel as witness: its scheduler events show what ended a wait.
//!
//! ```text
//! read     |--------------------------------------|
//! kernel    stopped|run| blocked     |ready|run|stopped
//!                                    ^ woken by 4711: the last long block counts, earlier ones were for nothing
//! ```
//! Where events were lost, where the tracer stood between, and for waits that are more than one call, evidence of the trace
//! decides as it does without scheduler events.

use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::waiting::Waiting;
use trace::store::heuristics::{MAX_EXIT_NS, MAX_LATE_CALL_NS, MIN_LAST_BLOCK_SHARE};
use trace::store::index::TaskId;
use trace::store::scheduling::{Scheduling, State, Stretch, Waker};

/// What the kernel saw of the end of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Events were lost, or recorded at another time.
    NotCovered,
    /// The call never waited.
    NotBlocked,
    /// The tracer ended it on behalf of something, or no event shows what did.
    Unknown,
    /// This task of the trace ended it at this moment.
    Task {
        /// The task.
        task: TaskId,
        /// When.
        at_ns: i64,
        /// Whether an interrupt may have done so that came while the task ran.
        is_perhaps: bool,
    },
    /// A thread outside of the trace.
    Outside(i32),
    /// A timer or a device.
    Interrupt,
}

impl Verdict {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::NotCovered => "not-covered",
            Verdict::NotBlocked => "not-blocked",
            Verdict::Unknown => "unknown",
            Verdict::Task { .. } => "task",
            Verdict::Outside(_) => "outside",
            Verdict::Interrupt => "interrupt",
        }
    }
}

/// What the kernel saw of the end of this call.
pub(super) fn verdict(kernel: &Scheduling, call: &Waiting<'_>) -> Verdict {
    let Some(task) = call.trace.tasks.get(call.task) else {
        return Verdict::NotCovered;
    };
    let (start_ns, end_ns) = (call.span.start_ns, call.span.end_ns);
    if !kernel.covers(start_ns, end_ns) {
        return Verdict::NotCovered;
    }
    let stretches = kernel.stretches(task.tid, start_ns, end_ns);
    let known_ns: i64 = stretches
        .iter()
        .map(|stretch| stretch.end_ns.min(end_ns) - stretch.start_ns.max(start_ns))
        .sum();
    if known_ns.saturating_mul(2) < end_ns - start_ns {
        return Verdict::NotCovered;
    }
    let Some(block) = last_long_block(stretches, start_ns) else {
        return Verdict::NotBlocked;
    };
    if block.end_ns > end_ns.saturating_add(MAX_LATE_CALL_NS) {
        return Verdict::Unknown;
    }
    let at_ns = block.end_ns.min(end_ns);
    let (tid, is_perhaps) = match block.waker {
        Waker::Unknown => return Verdict::Unknown,
        Waker::Interrupt => return Verdict::Interrupt,
        Waker::Thread(tid) if kernel.is_tracer(tid) => return Verdict::Unknown,
        Waker::Thread(tid) => (tid, false),
        Waker::Perhaps(tid) if kernel.is_tracer(tid) => return Verdict::Unknown,
        Waker::Perhaps(tid) => (tid, true),
    };
    match call.trace.task_with_tid(task.capture, tid, at_ns) {
        Some(task) => Verdict::Task {
            task,
            at_ns,
            is_perhaps,
        },
        // An interrupt may come while any thread runs.
        None if is_perhaps => Verdict::Interrupt,
        None => Verdict::Outside(tid),
    }
}

/// The last block in a call, apart from those that are short against the longest one.
fn last_long_block(stretches: &[Stretch], start_ns: i64) -> Option<&Stretch> {
    let length_ns = |stretch: &&Stretch| stretch.end_ns - stretch.start_ns.max(start_ns);
    let blocks = || {
        stretches
            .iter()
            .filter(|stretch| stretch.state == State::Blocked)
    };
    let longest_ns = blocks().map(|stretch| length_ns(&stretch)).max()?;
    blocks()
        .rev()
        .find(|stretch| length_ns(stretch).saturating_mul(MIN_LAST_BLOCK_SHARE) >= longest_ns)
}

/// The waker according to the kernel, where its events decide, else the inferred one.
pub(super) fn decided(
    kernel: &Scheduling,
    call: &Waiting<'_>,
    inferred: Option<Edge>,
    may_send: impl FnOnce(TaskId, i64) -> bool,
) -> Option<Edge> {
    // These are more than one call, or no wake-up ends them.
    if inferred.is_some_and(|edge| matches!(edge.how, WakeKind::Poll | WakeKind::Beside)) {
        return inferred;
    }
    let mains = call.trace.main_tasks();
    let main = |task: TaskId| mains.get(task).copied();
    match verdict(kernel, call) {
        Verdict::NotCovered => inferred,
        Verdict::Unknown => inferred.map(|edge| seen_to_exit(kernel, call, edge)),
        // The tracer passes the end of a task on, and it may have come before the wait.
        Verdict::NotBlocked | Verdict::Interrupt | Verdict::Outside(_) => inferred
            .filter(|edge| is_of_task_end(edge.how))
            .map(|edge| seen_to_exit(kernel, call, edge)),
        Verdict::Task {
            task,
            at_ns,
            is_perhaps,
        } => match inferred {
            Some(edge) if edge.task == task => Some(witnessed(edge)),
            Some(edge) if is_of_task_end(edge.how) && main(edge.task) == main(task) => {
                Some(witnessed(edge))
            }
            _ if task == call.task => inferred,
            _ if is_perhaps && !may_send(task, at_ns) => inferred,
            _ => Some(Edge {
                task,
                at_ns,
                how: inferred.map_or(WakeKind::Wake, |edge| edge.how),
                sure: Confidence::Witnessed,
            }),
        },
    }
}

fn witnessed(edge: Edge) -> Edge {
    Edge {
        sure: Confidence::Witnessed,
        ..edge
    }
}

fn is_of_task_end(how: WakeKind) -> bool {
    matches!(
        how,
        WakeKind::Child | WakeKind::Vfork | WakeKind::Join | WakeKind::Exit
    )
}

/// The tracer passes the ends of tasks on: the kernel saw the exit instead.
fn seen_to_exit(kernel: &Scheduling, call: &Waiting<'_>, edge: Edge) -> Edge {
    let waker = call.trace.tasks.get(edge.task);
    let exited = waker.is_some_and(|waker| {
        // The tracer has to notice the exit first.
        let from_ns = edge.at_ns.saturating_sub(MAX_EXIT_NS);
        kernel.exits(waker.tid, from_ns, call.span.end_ns)
    });
    if is_of_task_end(edge.how) && exited {
        witnessed(edge)
    } else {
        edge
    }
}
