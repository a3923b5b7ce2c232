//! Lock contention: waiters, durations, and the tasks that held the lock.
//!
//! ```text
//! jail 1   |flock|--- holds ---|unlock
//! jail 2     |~~~~ flock ~~~~~~|--- holds ---|unlock            waits 3, convoy 2, holders 2
//! jail 3       |~~~~~~~~~~~~ flock ~~~~~~~~~~|--- holds …
//! ```
//! A futex counts as a lock if its waiters also wake others at the same address (`handed_on`). Threads that wait for
//! work or for a thread to end also wait at an address, but other threads wake them.

mod attempts;

use self::attempts::{Step, attempts, steps};
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::families::descends;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::shape_index::ShapeIndex;
use kit::table_support::threshold::CostScope;
use parsers::syscalls::{Action, Class, Wait};
use parsers::{NO_NS, Outcome, Text};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::parallel;
use trace::store::classes::class_of;
use trace::store::event::{NONE, Shape};
use trace::store::index::TaskId;
use trace::store::spans::Span;

table! {
    locks "Locks that tasks waited for.";
    times: Calls;
    row {
        of: OfTask { program "Program of the task that waited longest." },
        kind: Words "file, mutex or futex.",
        syscall: Text "The system call that waits.",
        op: Text "Sub-operation.",
        target: Text "The lock: the file, or the address in the process.",
        waiters: Number "Number of tasks that requested the lock.",
        holders: Number "Number of tasks that another task waited for.",
        calls: Count "Number of lock requests.",
        handed_on: Count "Number of waits ended by a task that also requests the lock, or by a child of such a task.",
        waking: MaybeNumber "Without a window: number of waiters that wake others at the same address.",
        wakes: MaybeNumber "Without a window: number of their calls that do so.",
        convoy: MaybeNumber "Maximum number of tasks waiting at the same time.",
        total_ns: Ns "Sum of all waits; summed over tasks, it can exceed wall time.",
        max_ns: Ns (Max) "Longest wait.",
        own_ns: Ns "Critical-path time in the waits themselves; the rest of exclusive_ns belongs to the holders.",
        path: PathTime { exclusive_ns "Critical-path time during which the path is blocked on this lock, including the work of the holders." },
        longest_hold_ns: Ns (Max) "Longest part of exclusive_ns in which the lock does not change hands.",
        could_free_ns: Ns "What could be saved without contention: exclusive_ns without the longest hold.",
        holder_pid: MaybeId "Process that ended the longest wait.",
        holder_program: Text "Program of that process.",
        outside: Flag "Whether no other process in the capture uses the file: a process outside the capture holds the lock.",
        holder_did: Words "Program and call in which the holder and its children spent most of that time.",
        lines: Lines {
            first_line "Line of the first wait.",
            last_line "Line of the last wait.",
        },
    }
}

/// Maximum number of waits per task that are retained individually; further waits are only summed.
const MAX_WAITS_OF_TASK: usize = 1 << 16;
/// Maximum number of locks for which the activity of the holder is computed.
const MAX_LOCKS_WITH_ACTIVITY: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Kind {
    File,
    Mutex,
    Futex,
}

impl Kind {
    fn name(self) -> &'static str {
        ["file", "mutex", "futex"][self as usize]
    }
}

fn kind(action: Action, op: &[u8]) -> Option<Kind> {
    let has = |word: &[u8]| contains(op, word);
    match action {
        Action::LocksFile if !has(b"LOCK_NB") && !has(b"LOCK_UN") => Some(Kind::File),
        Action::ControlsFile if has(b"SETLKW") => Some(Kind::File),
        Action::LocksRange => Some(Kind::File),
        Action::LocksMutex => Some(Kind::Mutex),
        Action::UsesUmtx if has(b"MUTEX") && has(b"WAIT") || has(b"MUTEX_LOCK") => {
            Some(Kind::Mutex)
        }
        Action::UsesFutex if op.starts_with(b"FUTEX_LOCK_PI") => Some(Kind::Mutex),
        Action::UsesFutex if op.starts_with(b"FUTEX_WAIT") => Some(Kind::Futex),
        Action::WaitsAtAddress => Some(Kind::Futex),
        _ => None,
    }
}

fn contains(op: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(op, word).is_some()
}

fn kinds(context: &TableContext<'_>) -> ShapeIndex<Kind> {
    let kind = |action: Action, shape: &Shape| {
        // A task that still waits at the end of the capture never got the lock.
        let waits = matches!(shape.outcome, Outcome::Ok | Outcome::Open);
        kind(action, context.trace.events.texts.bytes(shape.op)).filter(|_| waits)
    };
    ShapeIndex::by_target(
        context,
        |action, part| kind(action, part).is_some(),
        |_, action, shape| {
            kind(action, shape).filter(|&kind| kind == Kind::File || shape.target.is_some())
        },
    )
}

/// A lock: capture, kind, process, target. A file is identified by name in a capture, a futex or mutex by address in a
/// process.
type Key = (u32, Kind, i32, Text);

/// A retained wait.
#[derive(Clone, Copy)]
struct LockWait {
    row: u32,
    task: TaskId,
    start_ns: i64,
    end_ns: i64,
    /// The index of the call among the rows of the task; [`NONE`] for several attempts.
    at: u32,
    /// The task that ended the wait, if known; see [`find_holders`].
    holder: Option<TaskId>,
    on_path: bool,
}

/// The waits of a task for a lock.
#[derive(Default)]
struct Sum {
    waits: i64,
    total_ns: i64,
    longest_ns: i64,
    own_ns: i64,
    retained: Vec<LockWait>,
}

impl Sum {
    fn of(requests: i64, wait: LockWait) -> Sum {
        let dur_ns = (wait.end_ns - wait.start_ns).max(0);
        Sum {
            waits: requests,
            total_ns: dur_ns,
            longest_ns: dur_ns,
            own_ns: 0,
            retained: vec![wait],
        }
    }

    fn add(&mut self, other: Sum) {
        self.waits += other.waits;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.own_ns = self.own_ns.saturating_add(other.own_ns);
        self.retained.extend(other.retained);
    }
}

/// Time that each task waited for file locks, in nanoseconds.
pub(super) fn lock_waits_ns(context: &TableContext<'_>) -> Vec<i64> {
    let kinds = kinds(context);
    let of_task = |task: TaskId| {
        let calls = kinds
            .calls(context, task)
            .filter(|&(_, kind)| kind == Kind::File);
        calls
            .map(|(row, _)| context.trace.events.dur_ns(row).max(0))
            .sum()
    };
    parallel::map_indices(context.trace.tasks.len(), |task| of_task(task.into()))
}

/// Builds the table of locks that tasks waited for.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = kinds(context);
    let tasks: Vec<TaskId> = context.tasks().collect();
    let sums: Vec<FxHashMap<Key, Sum>> =
        parallel::map(&tasks, |&task| of_task(context, &kinds, task));
    let mut locks: FxHashMap<Key, Sum> = FxHashMap::default();
    sums.into_iter()
        .flatten()
        .for_each(|(key, sum)| locks.entry(key).or_default().add(sum));
    let steps = steps(context);
    if steps.any(|step| step == Step::Refused) {
        let of_tasks: Vec<Vec<_>> = parallel::map(&tasks, |&task| attempts(context, &steps, task));
        for (&task, each) in tasks
            .iter()
            .zip(&of_tasks)
            .flat_map(|(task, all)| all.iter().map(move |each| (task, each)))
        {
            let capture = context.trace.tasks[task].capture;
            let sum = locks
                .entry((capture, Kind::File, 0, each.target))
                .or_default();
            sum.add(Sum::of(each.number, each.wait));
        }
    }
    let mut locks = reaching(context, locks);
    locks
        .iter_mut()
        .for_each(|(_, sum, _)| find_holders(context, &mut sum.retained));
    locks.sort_unstable_by_key(|(key, _, times)| (std::cmp::Reverse(times.path_ns()), *key));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (number, (key, sum, times)) in locks.iter().enumerate() {
        write(
            context,
            *key,
            sum,
            times,
            number < MAX_LOCKS_WITH_ACTIVITY,
            &mut builder,
        );
    }
    builder.finish()
}

/// The locks that can reach the caller's threshold, with their times.
fn reaching(context: &TableContext<'_>, locks: FxHashMap<Key, Sum>) -> Vec<(Key, Sum, Times)> {
    let timed = |(key, mut sum): (Key, Sum)| {
        sum.retained
            .sort_unstable_by_key(|wait| (wait.start_ns, wait.row));
        let times = Times::new(context, key.0, &sum);
        (key, sum, times)
    };
    let mut locks: Vec<(Key, Sum, Times)> = locks.into_iter().map(timed).collect();
    if let Some(threshold) = context
        .threshold
        .filter(|threshold| threshold.within == CostScope::Call)
    {
        locks.retain(|(key, _, times)| times.path_ns() >= threshold.least_of(key.0));
    }
    locks
}

/// Finds the tasks that ended these waits. Most locks are below the threshold, and their waits are not looked into.
fn find_holders(context: &TableContext<'_>, waits: &mut [LockWait]) {
    let holder = |wait: &LockWait| {
        let span = Span {
            row: wait.row,
            start_ns: wait.start_ns,
            end_ns: wait.end_ns,
        };
        let is_one_call = wait.at != NONE && wait.end_ns > wait.start_ns;
        let edge = is_one_call.then(|| {
            context
                .wakers
                .waker(context.trace, wait.task, wait.at as usize, span)
        });
        edge.flatten().map(|edge| edge.task)
    };
    waits
        .par_iter_mut()
        .for_each(|wait| wait.holder = holder(wait));
}

fn of_task(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Kind>,
    task: TaskId,
) -> FxHashMap<Key, Sum> {
    let events = &context.trace.events;
    let mut sums: FxHashMap<Key, Sum> = FxHashMap::default();
    let known = &context.trace.tasks[task];
    let mut count = 0;
    let places = || context.attribution.places(context.trace, task).on_path();
    let (mut here, mut next) = (places(), places());
    let rows = context
        .trace
        .rows_of(task)
        .iter()
        .zip(context.trace.shapes_of(task));
    for (at, (&row, &shape)) in rows.enumerate() {
        let Some(kind) = kinds.of_shape(shape).filter(|_| context.selection.has(row)) else {
            continue;
        };
        // Without a name, the same descriptor may be another file in another process.
        let is_named = kind == Kind::File && events.target(row).is_some();
        let process = if is_named { 0 } else { known.pid };
        let wait = waited(context, task, at, (here.has(at), next.has(at + 1)));
        // Without timestamps, the duration alone is known.
        let dur_ns = if wait.start_ns == NO_NS {
            events.dur_ns(row).max(0)
        } else {
            (wait.end_ns - wait.start_ns).max(0)
        };
        let sum = sums
            .entry((known.capture, kind, process, events.target(row)))
            .or_default();
        sum.waits += 1;
        sum.total_ns = sum.total_ns.saturating_add(dur_ns);
        sum.longest_ns = sum.longest_ns.max(dur_ns);
        sum.own_ns += if here.has(at) {
            context.exclusive_ns(row)
        } else {
            0
        };
        if count < MAX_WAITS_OF_TASK {
            count += 1;
            sum.retained.push(wait);
        }
    }
    sums
}

/// A wait of a task. `may_be_on_path`: it, and the next event of the task.
fn waited(
    context: &TableContext<'_>,
    task: TaskId,
    at: usize,
    may_be_on_path: (bool, bool),
) -> LockWait {
    let (events, rows) = (&context.trace.events, context.trace.rows_of(task));
    let row = rows[at];
    let start_ns = events.start_ns(row);
    let end_ns = match events.outcome(row) {
        Outcome::Open if start_ns != NO_NS => capture_end_ns(context, task).max(start_ns),
        _ => events.end_ns(row).unwrap_or(start_ns),
    };
    let is_own = || context.exclusive_ns(row) > 0 || context.attribution.gap_after_ns(row) > 0;
    // Where the critical path passes through a wait, it includes the next call of the waiter.
    let is_next = || {
        rows.get(at + 1)
            .is_some_and(|&next| context.exclusive_ns(next) > 0)
    };
    let on_path = may_be_on_path.0 && is_own() || may_be_on_path.1 && is_next();
    LockWait {
        row,
        task,
        start_ns,
        end_ns,
        at: at as u32,
        holder: None,
        on_path,
    }
}

fn capture_end_ns(context: &TableContext<'_>, task: TaskId) -> i64 {
    let capture = context
        .trace
        .tasks
        .get(task)
        .map(|task| task.capture as usize);
    capture
        .and_then(|number| context.trace.captures.get(number))
        .map_or(NO_NS, |capture| capture.last_ns)
}

/// Times at which a task on the critical path waited for a lock.
struct Times {
    /// Disjoint intervals, in order, inside the window.
    waited: Vec<(i64, i64)>,
    /// The longest time without a handover of the lock.
    longest_hold_ns: i64,
    /// Maximum number of simultaneous waiters.
    convoy: i64,
    /// Sum of the waits in a capture without a window.
    elapsed_ns: Option<i64>,
}

impl Times {
    fn new(context: &TableContext<'_>, capture: u32, sum: &Sum) -> Times {
        let window = context
            .windows
            .iter()
            .find(|window| window.capture == capture && window.root.is_some());
        let clipped = |wait: &LockWait| {
            let window = window?;
            let (from, to) = (
                wait.start_ns.max(window.start_ns),
                wait.end_ns.min(window.end_ns),
            );
            (from < to && wait.start_ns != NO_NS).then_some((from, to))
        };
        let mut waited: Vec<(i64, i64)> = Vec::new();
        for (from, to) in sum
            .retained
            .iter()
            .filter(|wait| wait.on_path)
            .filter_map(clipped)
        {
            match waited.last_mut().filter(|last| from <= last.1) {
                Some(last) => last.1 = last.1.max(to),
                None => waited.push((from, to)),
            }
        }
        let lives: Vec<(i64, i64)> = sum
            .retained
            .iter()
            .filter(|wait| wait.start_ns != NO_NS)
            .map(|wait| (wait.start_ns, wait.end_ns))
            .collect();
        let longest_hold_ns = longest_hold_ns(&waited, sum);
        let elapsed_ns = window.is_none().then_some(sum.own_ns);
        Times {
            waited,
            longest_hold_ns,
            convoy: kit::table_support::families::overlap(&lives).most,
            elapsed_ns,
        }
    }

    fn path_ns(&self) -> i64 {
        self.elapsed_ns
            .unwrap_or_else(|| self.waited.iter().map(|(from, to)| to - from).sum())
    }
}

/// The longest part of these intervals between the ends of two waits. Each end of a wait is an acquisition.
fn longest_hold_ns(times: &[(i64, i64)], sum: &Sum) -> i64 {
    let mut ends: Vec<i64> = sum.retained.iter().map(|wait| wait.end_ns).collect();
    ends.sort_unstable();
    let longest = |&(from, to): &(i64, i64)| {
        let inside =
            &ends[ends.partition_point(|&end| end <= from)..ends.partition_point(|&end| end < to)];
        let cuts: Vec<i64> = std::iter::once(from)
            .chain(inside.iter().copied())
            .chain([to])
            .collect();
        cuts.windows(2)
            .map(|pair| pair[1] - pair[0])
            .max()
            .unwrap_or(0)
    };
    times.iter().map(longest).max().unwrap_or(0)
}

fn write(
    context: &TableContext<'_>,
    key: Key,
    sum: &Sum,
    times: &Times,
    look_into: bool,
    builder: &mut TableBuilder<'_>,
) {
    let Some(first) = sum.retained.first() else {
        return;
    };
    let known_ns = |wait: &&LockWait| {
        if wait.start_ns == NO_NS {
            context.trace.events.dur_ns(wait.row)
        } else {
            wait.end_ns - wait.start_ns
        }
    };
    let longest = sum.retained.iter().max_by_key(known_ns).unwrap_or(first);
    let waiters: FxHashSet<TaskId> = sum.retained.iter().map(|wait| wait.task).collect();
    let holders: FxHashSet<TaskId> = sum.retained.iter().filter_map(|wait| wait.holder).collect();
    let handed_on = sum
        .retained
        .iter()
        .filter_map(|wait| wait.holder)
        .filter(|&by| is_of(context, by, &waiters))
        .count();
    let wakes = if times.elapsed_ns.is_some() {
        wakes(context, key, &waiters)
    } else {
        Vec::new()
    };
    let shape = context.trace.events.shape(longest.row);
    let holder = longest
        .holder
        .and_then(|by| context.trace.tasks.get(by).map(|task| (by, task)));
    let is_outside =
        look_into && holders.is_empty() && is_used_by_waiters_only(context, key, &waiters);
    let did = holder
        .filter(|_| look_into)
        .and_then(|(by, _)| meanwhile(context, by, longest));
    let rows = || sum.retained.iter().map(|wait| wait.row).collect();
    let row = TableRow {
        of: TaskAt {
            task: longest.task,
            row: longest.row,
        },
        kind: Some(key.1.name().to_owned()),
        syscall: shape.syscall,
        op: shape.op,
        target: key.3,
        waiters: waiters.len() as i64,
        holders: holders.len() as i64,
        calls: sum.waits,
        handed_on: handed_on as i64,
        waking: times
            .elapsed_ns
            .map(|_| wakes.iter().collect::<FxHashSet<_>>().len() as i64),
        wakes: times.elapsed_ns.map(|_| wakes.len() as i64),
        convoy: Some(times.convoy).filter(|_| times.elapsed_ns.is_none()),
        total_ns: sum.total_ns,
        max_ns: sum.longest_ns,
        own_ns: sum.own_ns,
        path: times.path_ns(),
        longest_hold_ns: times.longest_hold_ns,
        could_free_ns: could_free_ns(times, holders.is_empty()),
        holder_pid: holder.map(|(_, task)| i64::from(task.pid)),
        holder_program: holder.map_or(Text::NONE, |(by, _)| context.program(by, longest.row)),
        outside: is_outside,
        holder_did: did,
        lines: LinesOf {
            first_row: first.row,
            last_row: sum
                .retained
                .iter()
                .map(|wait| wait.row)
                .max()
                .unwrap_or(first.row),
        },
    };
    builder.add(
        row,
        match times.elapsed_ns {
            Some(_) => Provenance::Rows(rows()),
            None => Provenance::Times {
                capture: key.0,
                times: times.waited.clone(),
            },
        },
    );
}

/// For each call by which a waiter wakes others at the same address: the waiter. Without timestamps, nothing else shows that
/// they hand on a lock.
fn wakes(
    context: &TableContext<'_>,
    (_, kind, _, address): Key,
    waiters: &FxHashSet<TaskId>,
) -> Vec<TaskId> {
    let events = &context.trace.events;
    let is_wake = |row: u32| {
        let (action, op) = (events.action(row), events.texts.bytes(events.shape(row).op));
        let wakes =
            action == Action::Wakes || action == Action::UsesFutex && op.starts_with(b"FUTEX_WAKE");
        wakes && events.target(row) == address
    };
    if kind == Kind::File {
        Vec::new()
    } else {
        waiters
            .iter()
            .flat_map(|&task| {
                context
                    .calls_of(task)
                    .filter(|&row| is_wake(row))
                    .map(move |_| task)
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}

/// Upper bound of the time that could be saved. With unlimited parallelism only the longest hold remains. If no holder
/// is known, the whole wait could be saved.
fn could_free_ns(times: &Times, has_no_holder: bool) -> i64 {
    if has_no_holder {
        times.path_ns()
    } else {
        times.path_ns() - times.longest_hold_ns
    }
}

/// Whether no other process of the capture does anything with the file of a lock.
fn is_used_by_waiters_only(
    context: &TableContext<'_>,
    key: Key,
    waiters: &FxHashSet<TaskId>,
) -> bool {
    let (trace, (capture, kind, _, target)) = (context.trace, key);
    let pids: FxHashSet<i32> = waiters.iter().map(|&task| trace.tasks[task].pid).collect();
    let others: Vec<TaskId> = trace.captures[capture as usize].task_ids().collect();
    kind == Kind::File
        && target.is_some()
        && !others
            .into_par_iter()
            .filter(|&task| !pids.contains(&trace.tasks[task].pid))
            .any(|task| {
                trace
                    .rows_of(task)
                    .iter()
                    .any(|&row| trace.events.target(row) == target)
            })
}

/// Whether a task or its creator waited for the lock. The last process that inherited a lock file descriptor releases
/// the lock.
fn is_of(context: &TableContext<'_>, task: TaskId, waiters: &FxHashSet<TaskId>) -> bool {
    let creator = context.trace.tasks.get(task).map(|task| task.creator);
    waiters.contains(&task) || creator.is_some_and(|creator| waiters.contains(&creator))
}

/// The program and syscall on which the holder and its descendants spent most time during a wait, apart from waits
/// among themselves.
fn meanwhile(context: &TableContext<'_>, holder: TaskId, wait: &LockWait) -> Option<String> {
    let (trace, events) = (context.trace, &context.trace.events);
    let capture = trace
        .captures
        .get(trace.tasks.get(holder)?.capture as usize)?;
    let mut sums: FxHashMap<(Text, Text), i64> = FxHashMap::default();
    let lock = events.shape(wait.row);
    let alive = |task: &TaskId| {
        let known = &trace.tasks[*task];
        known.birth_ns < wait.end_ns
            && known.end_ns() > wait.start_ns
            && descends(trace, *task, holder)
    };
    for task in capture.task_ids().filter(alive) {
        let rows = trace.rows_of(task);
        // The previous call may extend into the wait.
        let from = rows
            .partition_point(|&row| events.start_ns(row) < wait.start_ns)
            .saturating_sub(1);
        for &row in rows[from..]
            .iter()
            .take_while(|&&row| events.start_ns(row) < wait.end_ns)
        {
            let shape = events.shape(row);
            let class = class_of(shape.syscall, b"");
            let is_for_others =
                class == Class::Child || events.action(row).wait() == Some(Wait::Signal);
            // Before it got the lock, the holder waited for it, too.
            if !is_for_others && (shape.syscall, shape.target) != (lock.syscall, lock.target) {
                let end_ns = events
                    .end_ns(row)
                    .unwrap_or_else(|| events.start_ns(row))
                    .min(wait.end_ns);
                let inside_ns = end_ns - events.start_ns(row).max(wait.start_ns);
                *sums
                    .entry((context.program(task, row), shape.syscall))
                    .or_default() += inside_ns.max(0);
            }
        }
    }
    let ((program, syscall), _) = sums
        .into_iter()
        .max_by_key(|&(what, ns)| (ns, std::cmp::Reverse(what)))?;
    let program = events
        .texts
        .string(program)
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned();
    Some(
        format!("{program} {}", events.texts.string(syscall))
            .trim_start()
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    fn jail(tid: i32, from_ns: i64, has_ns: i64, to_ns: i64) -> TaskPlan {
        let jail = task(tid)
            .call("flock", from_ns, has_ns)
            .op("LOCK_EX")
            .on("/run/lock")
            .returns(0);
        jail.call("read", has_ns, to_ns)
            .on("/etc/rc.conf")
            .call("flock", to_ns, to_ns + 1)
            .op("LOCK_UN")
            .on("/run/lock")
            .returns(0)
            .exit(to_ns + 2)
    }

    const COLUMNS: [&str; 9] = [
        "kind",
        "waiters",
        "holders",
        "calls",
        "handed_on",
        "convoy",
        "max_ns",
        "exclusive_ns",
        "could_free_ns",
    ];

    #[test]
    fn tasks_that_hold_a_lock_in_sequence_are_a_convoy() {
        let host = task(1)
            .fork(0, 1, 2)
            .fork(1, 2, 3)
            .fork(2, 3, 4)
            .wait4(3, 102, 2)
            .wait4(102, 202, 3)
            .wait4(202, 302, 4);
        let plans = vec![
            host.exit(303),
            jail(2, 3, 4, 100),
            jail(3, 4, 101, 200),
            jail(4, 5, 201, 300),
        ];
        assert_eq!(
            rows(&build(plans), super::build, &COLUMNS),
            ["file 3 2 3 2 2 196 198 98"]
        );
    }

    #[test]
    fn holder_did_includes_calls_started_before_the_wait() {
        let waiter = task(9)
            .call("flock", 10, 101)
            .op("LOCK_EX")
            .on("/l")
            .returns(0)
            .exit(110);
        let holder = task(2)
            .call("flock", 1, 2)
            .op("LOCK_EX")
            .on("/l")
            .returns(0)
            .call("fsync", 3, 99);
        let holder = holder
            .call("flock", 100, 101)
            .op("LOCK_UN")
            .on("/l")
            .returns(0)
            .exit(105);
        assert_eq!(
            rows(
                &build(vec![holder, waiter]),
                super::build,
                &["holder_pid", "holder_did"]
            ),
            ["2 fsync"]
        );
    }

    #[test]
    fn an_uncontended_lock_costs_nothing() {
        let plans = vec![jail(2, 3, 4, 100)];
        assert_eq!(
            rows(&build(plans), super::build, &COLUMNS[..7]),
            ["file 1 0 1 0 1 1"]
        );
    }

    #[test]
    fn threads_waiting_for_work_do_not_hand_on_a_lock() {
        let main = task(1)
            .call("read", 0, 50)
            .call("futex", 50, 51)
            .op("FUTEX_WAKE_PRIVATE")
            .on("0x1")
            .call("read", 51, 99)
            .exit(100);
        let worker = task(2)
            .of_process(1)
            .call("futex", 1, 51)
            .op("FUTEX_WAIT_PRIVATE")
            .on("0x1")
            .returns(0)
            .call("write", 52, 60);
        assert_eq!(
            rows(
                &build(vec![main, worker]),
                super::build,
                &["kind", "waiters", "handed_on"]
            ),
            ["futex 1 0"]
        );
    }
}
