//! Sleeps: calls that only wait for time to pass, with their requested and actual durations.
//!
//! ```text
//! shell    |--fork--|------------- wait4 --------------|         waited_by: the shell
//! sleep             |exec|-- clock_nanosleep 5 s --|             requested 5 s, ran 5.0001 s
//! ```
//! A select or poll without descriptors and a read of a timer are sleeps, too.

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::by_turns::turns;
use kit::table_support::call_stats::CallStats;
use kit::table_support::context::TableContext;
use kit::table_support::idle;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::lengths::two_digits;
use kit::table_support::process_ends::ProcessEnds;
use kit::table_support::provenance::Provenance;
use kit::table_support::shape_index::ShapeIndex;
use parsers::syscalls::{Action, Wait, action_of};
use parsers::{NO_NS, Outcome, Text};
use path::waits::wait_kinds::{is_timer, resumed, wait_of_row, was_broken_off};
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::event::Shape;
use trace::store::events::EventTable;
use trace::store::heuristics::{
    MAX_WATCHDOG_INTERVAL_NS, MIN_HARMLESS_SLEEPS_RATIO, MIN_INPUT_WAIT_NS, MIN_RHYTHM_WAITS,
    RESUMED_SLEEP_TOLERANCE_NS, WATCHDOG_SLEEPS_NS,
};
use trace::store::index::TaskId;

table! {
    sleeps "Sleeps, by task, program, syscall, requested duration and whether a signal ended them early.";
    times: Calls;
    row {
        of: OfTask,
        syscall: Text "Name of the system call.",
        asked_ns: Ns (Same) "Requested duration of each sleep, if the capture shows it.",
        calls: Count "Number of sleeps.",
        interrupted: Count "Number of sleeps that a signal ended early.",
        ran_ns: Ns "Total duration.",
        max_ns: Ns (Max) "Longest duration.",
        waited_by: Text "Program of the parent that waited for the longest of them.",
        turns: MaybeCount "Number of them that began when another thread, which had just paused, woke this one, as if whoever pauses held a lock. Missing if there are none.",
        paces: Flag "Whether no process waits for it: it paces a process that never ends, or the process then waits for something outside anyway.",
        path: PathTime,
        lines: Lines,
    }
}

/// Number of calls before and after a sleep that are searched for a request and the answer to it.
const MAX_CALLS_OF_ANSWER: usize = 64;

/// Whether the calls of a shape sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sleeps {
    /// Every call sleeps.
    Always,
    /// Calls that poll no descriptors sleep.
    WithoutDescriptors,
}

/// The shapes that sleep.
pub(super) fn sleeping(context: &TableContext<'_>) -> ShapeIndex<Sleeps> {
    let is_timer = |target: Text| is_timer(context.trace.events.texts.bytes(target));
    let wait = |shape: &Shape| action_of(resumed(shape.syscall, shape.op)).wait();
    let may_sleep = |_, part: &Shape| match wait(part) {
        Some(Wait::Read) => part.outcome == Outcome::Ok,
        wait => matches!(wait, Some(Wait::Sleep | Wait::Poll)),
    };
    ShapeIndex::by_target(context, may_sleep, |_, _, shape| match wait(shape)? {
        Wait::Sleep => Some(Sleeps::Always),
        Wait::Read if is_timer(shape.target) && shape.outcome == Outcome::Ok => {
            Some(Sleeps::Always)
        }
        Wait::Poll => Some(Sleeps::WithoutDescriptors),
        _ => None,
    })
}

/// The sleeps of a task, in order.
pub(super) fn sleeps_of<'a>(
    context: &'a TableContext<'_>,
    kinds: &'a ShapeIndex<Sleeps>,
    task: TaskId,
) -> impl Iterator<Item = u32> + 'a {
    let events = &context.trace.events;
    kinds
        .calls(context, task)
        .filter_map(move |(row, kind)| match kind {
            Sleeps::Always => Some(row),
            Sleeps::WithoutDescriptors => events.only_sleeps(row).then_some(row),
        })
}

/// Similar sleeps of a task.
struct Group {
    sum: CallStats,
    interrupted: i64,
    requested_ns: i64,
    requested: i64,
    rows: Vec<u32>,
}

impl Group {
    /// Adds a sleep. The calls with which it went on after signals count as one with the first.
    fn add(&mut self, context: &TableContext<'_>, sleep: &[u32], requested_ns: Option<i64>) {
        for &row in sleep {
            self.sum.add(context, row);
            self.rows.push(row);
        }
        self.sum.calls -= sleep.len() as i64 - 1;
        let is_cut = |&row: &u32| was_broken_off(&context.trace.events, row);
        self.interrupted += i64::from(sleep.last().is_some_and(is_cut));
        self.requested_ns = self.requested_ns.saturating_add(requested_ns.unwrap_or(0));
        self.requested += i64::from(requested_ns.is_some());
    }
}

/// Builds the table of sleeps by task, program, syscall and requested duration.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = sleeping(context);
    let tasks: Vec<TaskId> = context.tasks().collect();
    let ends = ProcessEnds::new(context);
    let groups: Vec<Vec<_>> = parallel::map(&tasks, |&task| of_task(context, &kinds, &ends, task));
    let mut rhythms: FxHashMap<(TaskId, Key), i64> = FxHashMap::default();
    for (&task, groups) in tasks.iter().zip(&groups) {
        for (key, group) in groups {
            let rhythm = (owner(context, task, group), key.of_rhythm(context, task));
            *rhythms.entry(rhythm).or_default() += group.sum.calls;
        }
    }
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (&task, groups) in tasks.iter().zip(groups) {
        let is_watchdog = watches(context, &kinds, task);
        for (key, group) in groups {
            let owner = owner(context, task, &group);
            let calls = rhythms
                .get(&(owner, key.of_rhythm(context, task)))
                .copied()
                .unwrap_or(0);
            // What only sleeps, for different lengths by turns, has a rhythm of those that recur.
            let recurs = group.sum.calls > 1 || is_thread(context, task);
            let again = calls >= MIN_RHYTHM_WAITS && recurs && !key.delays_end;
            let paces = again
                && !ends.ends_by_itself(context, owner)
                && !is_awaited(context, owner, &group)
                && (mixes_threads(context, task) || !delays_answers(context, task, &group))
                || delays_nothing(context, task, &group)
                || is_watchdog && key.alike_ns <= MAX_WATCHDOG_INTERVAL_NS;
            write(context, task, key, group, paces, &mut builder);
        }
    }
    builder.finish()
}

/// Whether a task sleeps as the watchdog of a language's runtime does, for which nothing waits.
pub(super) fn watches(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Sleeps>,
    task: TaskId,
) -> bool {
    let asks = |ns| {
        sleeps_of(context, kinds, task)
            .any(|row| context.trace.events.requested_ns(row) == Some(ns))
    };
    WATCHDOG_SLEEPS_NS.into_iter().all(asks)
}

/// Whether other processes waited on the critical path for the sleeping one, for at least half of the time that it
/// slept there.
fn is_awaited(context: &TableContext<'_>, owner: TaskId, group: &Group) -> bool {
    group.sum.exclusive_ns > 0
        && context.attribution.walk_stats().awaited_ns(owner) >= group.sum.exclusive_ns / 2
}

/// Whether most of these sleeps lie between a request and the answer to it, so that the client waits for them.
///
/// ```text
/// worker   |accept|receive from 7|------ sleep ------|send to 7|close 7|
/// ```
fn delays_answers(context: &TableContext<'_>, task: TaskId, group: &Group) -> bool {
    let count = group
        .rows
        .iter()
        .filter(|&&row| delays_answer(context, task, row))
        .count();
    2 * count > group.rows.len()
}

/// Whether lines name processes instead of threads: then another thread may have slept than the one that answers.
fn mixes_threads(context: &TableContext<'_>, task: TaskId) -> bool {
    context
        .capture_of(task)
        .is_some_and(|capture| capture.mixes_threads)
}

fn delays_answer(context: &TableContext<'_>, task: TaskId, sleep: u32) -> bool {
    let events = &context.trace.events;
    let rows = context.trace.rows_of(task);
    let Some(at) = context.trace.place_of(task, sleep) else {
        return false;
    };
    let before = rows[..at].iter().rev().copied().take(MAX_CALLS_OF_ANSWER);
    let asked = before
        .take_while(|&row| !waits_for_input(events, row) || events.action(row).returns_bytes())
        .find(|&row| {
            let action = events.action(row);
            matches!(action, Action::Reads | Action::Receives) && events.ret(row) > 0
        });
    let Some(client) = asked
        .map(|row| events.target(row))
        .filter(|target| target.is_some())
    else {
        return false;
    };
    let after = rows.iter().skip(at + 1).copied().take(MAX_CALLS_OF_ANSWER);
    after
        .take_while(|&row| !waits_for_input(events, row))
        .any(|row| {
            let action = events.action(row);
            matches!(action, Action::Writes | Action::Sends) && events.target(row) == client
        })
}

fn waits_for_input(events: &EventTable, row: u32) -> bool {
    let lasts = events.dur_ns(row) >= MIN_INPUT_WAIT_NS || events.dur_ns(row) == NO_NS;
    lasts && wait_of_row(events, row).is_some_and(|wait| wait != Wait::Lock)
}

/// Whether the task waits for external input after nearly all of these sleeps anyway.
fn delays_nothing(context: &TableContext<'_>, task: TaskId, group: &Group) -> bool {
    let (mut idle, mut busy) = (0, 0);
    for waits in group
        .rows
        .iter()
        .filter_map(|&row| idle::waits_after(context, task, row))
    {
        *if waits { &mut idle } else { &mut busy } += 1;
    }
    idle > MIN_HARMLESS_SLEEPS_RATIO * busy
}

/// The task that a sleep is charged to: the creator if the child does hardly anything else.
fn owner(context: &TableContext<'_>, task: TaskId, group: &Group) -> TaskId {
    let Some(known) = context
        .trace
        .tasks
        .get(task)
        .filter(|known| known.creator != TaskId::NONE)
    else {
        return task;
    };
    let life_ns = known.end_ns().saturating_sub(known.birth_ns);
    let fills = known.birth_ns == NO_NS || group.sum.total_ns.saturating_mul(2) >= life_ns;
    let is_all = !known.is_thread && !known.programs.is_empty() && fills;
    if is_all { known.creator } else { task }
}

/// What similar sleeps have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    program: Text,
    syscall: Text,
    /// The requested duration, rounded.
    alike_ns: i64,
    /// Whether the process had been told to end.
    delays_end: bool,
    /// Whether a signal ended the sleep early: what it waited for came.
    is_cut: bool,
}

impl Key {
    /// What sleeps of one rhythm have in common. A helper thread may sleep longer while there is nothing to do, and so may
    /// what ran before the capture and does nothing but sleep.
    fn of_rhythm(self, context: &TableContext<'_>, task: TaskId) -> Key {
        let helps = is_thread(context, task)
            || context
                .trace
                .tasks
                .get(task)
                .is_some_and(|known| !known.born && only_sleeps(context, task));
        Key {
            alike_ns: if helps { NO_NS } else { self.alike_ns },
            is_cut: false,
            ..self
        }
    }
}

fn is_thread(context: &TableContext<'_>, task: TaskId) -> bool {
    let known = context.trace.tasks.get(task);
    known.is_some_and(|task| task.is_thread)
}

/// Whether all calls of a task are sleeps.
fn only_sleeps(context: &TableContext<'_>, task: TaskId) -> bool {
    let events = &context.trace.events;
    context.calls_of(task).all(|row| {
        events.action(row) == Action::Restarts || wait_of_row(events, row) == Some(Wait::Sleep)
    })
}

/// The sleeps of a task, each with the calls that continue it after signals.
fn whole_sleeps(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Sleeps>,
    ends: &ProcessEnds,
    task: TaskId,
) -> Vec<Vec<u32>> {
    let events = &context.trace.events;
    let ignored = ends.ignored(context, task);
    // Of a process that slept until SIGKILL came, nobody knows what it slept for.
    let is_deaf = |&row: &u32| {
        ignored.is_some_and(|asked| {
            ends.cut(context, task, row) || context.trace.starts_before(asked, row)
        })
    };
    let mut sleeps: Vec<Vec<u32>> = Vec::new();
    for row in sleeps_of(context, kinds, task).filter(|row| !is_deaf(row)) {
        let before = sleeps.last_mut().filter(|sleep| {
            sleep
                .last()
                .is_some_and(|&last| continues(events, last, row))
        });
        match before {
            Some(sleep) => sleep.push(row),
            None => sleeps.push(vec![row]),
        }
    }
    sleeps
}

/// Whether a sleep continues one before it, which a signal broke off.
fn continues(events: &EventTable, broken: u32, row: u32) -> bool {
    was_broken_off(events, broken) && is_rest(events, broken, row)
}

fn of_task(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Sleeps>,
    ends: &ProcessEnds,
    task: TaskId,
) -> Vec<(Key, Group)> {
    let events = &context.trace.events;
    let mut groups: FxHashMap<Key, Group> = FxHashMap::default();
    for sleep in whole_sleeps(context, kinds, ends, task) {
        let (Some(&first), Some(&last)) = (sleep.first(), sleep.last()) else {
            continue;
        };
        let requested_ns = events.requested_ns(first);
        let key = Key {
            program: context.program(task, first),
            syscall: events.shape(first).syscall,
            alike_ns: requested_ns.map_or(NO_NS, two_digits),
            delays_end: ends.was_told_before(context, task, first),
            is_cut: was_broken_off(events, last),
        };
        let group = groups.entry(key).or_insert_with(|| Group {
            sum: CallStats::new(first),
            interrupted: 0,
            requested_ns: 0,
            requested: 0,
            rows: Vec::new(),
        });
        group.add(context, &sleep, requested_ns);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|(_, group)| group.sum.first_row);
    join_rest(context, task, &mut groups);
    groups
}

/// Where a tracer attached during a sleep, that sleep is printed with the time that was left of it. It belongs to those
/// after it.
fn join_rest(context: &TableContext<'_>, task: TaskId, groups: &mut Vec<(Key, Group)>) {
    let is_cut = context.trace.tasks.get(task).is_some_and(|task| !task.born);
    let [(rest, one), (key, _), ..] = &groups[..] else {
        return;
    };
    let is_first = context.calls_of(task).next() == Some(one.sum.first_row) && one.sum.calls == 1;
    if is_cut
        && is_first
        && rest.alike_ns < key.alike_ns
        && (Key {
            alike_ns: key.alike_ns,
            ..*rest
        }) == *key
    {
        let (_, one) = groups.remove(0);
        let joined = &mut groups[0].1;
        joined.sum.add(context, one.sum.first_row);
        joined.requested_ns = joined.requested_ns.saturating_add(one.requested_ns);
        joined.requested += one.requested;
        joined.interrupted += one.interrupted;
        joined.rows.insert(0, one.sum.first_row);
    }
}

/// Whether a sleep continues one that a signal interrupted: the kernel restarts it, or the task sleeps for the
/// remaining time or until the same moment.
fn is_rest(events: &EventTable, broken: u32, row: u32) -> bool {
    if events.action(row) == Action::Restarts {
        return true;
    }
    let Some((requested_ns, rest_ns)) = events.requested_ns(broken).zip(events.requested_ns(row))
    else {
        return false;
    };
    let left_ns =
        |at_ns: i64| requested_ns.saturating_sub(at_ns.saturating_sub(events.start_ns(broken)));
    let from_ns = left_ns(events.start_ns(row)).saturating_sub(RESUMED_SLEEP_TOLERANCE_NS);
    let to_ns =
        left_ns(events.end_ns(broken).unwrap_or(NO_NS)).saturating_add(RESUMED_SLEEP_TOLERANCE_NS);
    events.shape(row).syscall == events.shape(broken).syscall
        && (from_ns..=to_ns).contains(&rest_ns)
}

fn write(
    context: &TableContext<'_>,
    task: TaskId,
    key: Key,
    group: Group,
    paces: bool,
    builder: &mut TableBuilder<'_>,
) {
    let Group {
        sum,
        interrupted,
        requested_ns,
        requested,
        rows,
    } = group;
    // Without durations, complete sleeps took at least the requested time.
    let is_bound = sum.total_ns == NO_NS && sum.exclusive_ns > 0;
    let row = TableRow {
        of: TaskAt {
            task,
            row: sum.first_row,
        },
        syscall: key.syscall,
        asked_ns: if requested > 0 {
            requested_ns / requested.max(1)
        } else {
            NO_NS
        },
        calls: sum.calls,
        interrupted,
        ran_ns: if is_bound {
            sum.exclusive_ns
        } else {
            sum.total_ns
        },
        max_ns: sum.max_ns,
        waited_by: waiter(context, task, sum.longest_row).unwrap_or(Text::NONE),
        turns: turns(context, task, &rows),
        paces,
        path: sum.exclusive_ns,
        lines: LinesOf {
            first_row: sum.first_row,
            last_row: sum.last_row,
        },
    };
    builder.add(row, Provenance::Rows(rows));
}

/// The program of the process that waited for this one during the sleep.
fn waiter(context: &TableContext<'_>, task: TaskId, row: u32) -> Option<Text> {
    let trace = context.trace;
    let creator = trace
        .tasks
        .get(task)
        .map(|task| task.creator)
        .filter(|&creator| creator != TaskId::NONE)?;
    let end_ns = trace.events.end_ns(row)?;
    let rows = trace.rows_of(creator);
    let before = rows.partition_point(|&other| trace.events.start_ns(other) < end_ns);
    let last = *rows.get(before.checked_sub(1)?)?;
    let waits = matches!(
        wait_of_row(&trace.events, last),
        Some(Wait::Child | Wait::Signal)
    );
    waits.then(|| context.program(creator, last))
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    const COLUMNS: &[&str] = &[
        "pid",
        "syscall",
        "calls",
        "interrupted",
        "ran_ns",
        "waited_by",
        "exclusive_ns",
    ];

    #[test]
    fn a_sleep_reports_the_sleeper_and_the_waiting_parent() {
        let trace = build(vec![
            task(1)
                .exec(0, 1, "/bin/sh")
                .fork(2, 3, 2)
                .wait4(4, 90, 2)
                .exit(100),
            task(2)
                .exec(10, 11, "/bin/sleep")
                .call("nanosleep", 20, 80)
                .exit(90),
        ]);
        assert_eq!(
            rows(&trace, super::build, COLUMNS),
            ["2 nanosleep 1 0 60 /bin/sh 60"]
        );
    }

    #[test]
    fn interrupted_sleeps_have_a_row_of_their_own() {
        let trace = build(vec![
            task(1)
                .exec(0, 1, "/x")
                .call("nanosleep", 2, 12)
                .fails("EINTR")
                .call("nanosleep", 20, 30)
                .exit(40),
        ]);
        assert_eq!(
            rows(&trace, super::build, COLUMNS),
            ["1 nanosleep 1 1 10 - 10", "1 nanosleep 1 0 10 - 10"]
        );
    }

    #[test]
    fn a_sleep_resumed_for_the_rest_counts_once() {
        const MS: i64 = 1_000_000;
        let whole = task(1)
            .exec(0, 1, "/x")
            .call("nanosleep", 2, 50 * MS)
            .fails("EINTR")
            .asks(200 * MS);
        let rest = whole
            .call("nanosleep", 60 * MS, 120 * MS)
            .fails("EINTR")
            .asks(150 * MS);
        let last = rest
            .call("nanosleep", 121 * MS, 211 * MS)
            .asks(90 * MS)
            .exit(220 * MS);
        assert_eq!(
            rows(&build(vec![last]), super::build, COLUMNS),
            ["1 nanosleep 1 0 199999998 - 199999998"]
        );
    }

    #[test]
    fn a_sleep_before_a_wait_for_external_input_paces() {
        const MS: i64 = 1_000_000;
        let iteration = |plan: TaskPlan, at_ms: i64, waits_ms: i64| {
            let (slept, came) = (at_ms + 50, at_ms + 50 + waits_ms);
            let plan = plan.call("nanosleep", at_ms * MS, slept * MS).call(
                "accept",
                slept * MS,
                came * MS,
            );
            plan.call("close", came * MS, came * MS + 1)
        };
        let paces = |waits_ms: [i64; 2]| {
            let plan = iteration(
                iteration(task(1).exec(0, 1, "/x"), 10, waits_ms[0]),
                100,
                waits_ms[1],
            );
            rows(
                &build(vec![plan.exit(260 * MS)]),
                super::build,
                &["calls", "paces"],
            )
        };
        assert_eq!(paces([20, 20]), ["2 true"]);
        // The client was already waiting.
        assert_eq!(paces([20, 0]), ["2 false"]);
        let closes =
            task(1)
                .exec(0, 1, "/x")
                .call("nanosleep", 2, 50 * MS)
                .call("close", 50 * MS, 51 * MS);
        let closes = closes.call("accept", 51 * MS, 99 * MS).exit(100 * MS);
        assert_eq!(
            rows(&build(vec![closes]), super::build, &["calls", "paces"]),
            ["1 false"]
        );
        // The last sleep, before the exit.
        let ends =
            iteration(task(1).exec(0, 1, "/x"), 10, 20).call("nanosleep", 200 * MS, 250 * MS);
        let ends = ends
            .call("close", 250 * MS, 251 * MS)
            .open("exit_group", 251 * MS)
            .exit(252 * MS);
        assert_eq!(
            rows(&build(vec![ends]), super::build, &["calls", "paces"]),
            ["2 true"]
        );
    }

    #[test]
    fn a_sleeping_server_delays_its_clients() {
        let server = (0..4).fold(task(2), |plan, iteration| {
            let at = 10 + 100 * iteration;
            plan.call("nanosleep", at, at + 80)
                .asks(80)
                .call("write", at + 81, at + 82)
                .on("pipe:[7]")
                .returns(1)
        });
        let client = |reads: bool| {
            (0..4).fold(task(1).exec(0, 1, "/x").fork(2, 3, 2), |plan, iteration| {
                let (at, target) = (10 + 100 * iteration, if reads { "pipe:[7]" } else { "/a" });
                plan.call("read", at, at + 83).on(target).returns(1)
            })
        };
        let paces = |reads: bool| {
            let trace = build(vec![client(reads).exit(400), server.clone()]);
            rows(&trace, super::build, &["calls", "paces", "exclusive_ns"])
        };
        assert_eq!(
            (paces(true), paces(false)),
            (vec!["4 false 320".to_owned()], vec!["4 true 0".to_owned()])
        );
    }

    #[test]
    fn a_poll_with_descriptors_is_not_a_sleep() {
        let trace = build(vec![task(1).call("poll", 0, 10).returns(0).exit(40)]);
        assert_eq!(rows(&trace, super::build, COLUMNS), Vec::<String>::new());
    }
}
