//! How far a capture can be trusted: what tracing itself costs, and which kinds of calls it has at all.
//!
//! A call that does nothing (`getpid`, `umask`) takes a tenth of a microsecond. What the trace shows for it is the
//! tracer's work, and each other call has the same on top. The tracer stops the program again after a call, before the
//! next one begins, so the time from the start of such a call to the start of the next call of its task counts: the least
//! that was seen, for the program works there too.

use crate::critical_path::tracing::TracingCost;
use crate::critical_path::window;
use crate::critical_path::witnessed_cost::witnessed_cost;
use parsers::line::Ended;
use parsers::syscalls::{self, Action, Class, Effort, Syscall};
use parsers::{DurKind, LineKind, NO_NS, Outcome, Text};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use trace::store::classes;
use trace::store::event::{EventKind, Shape};
use trace::store::events::EventTable;
use trace::store::heuristics::{
    MAX_AFTER_CALL_RATIO, MAX_KIND_RATIO, MAX_QUICK_CALL_RATIO, MAX_SMALL_IO_BYTES,
    MAX_TRACER_DELAY_NS, MAX_TRACER_GAP_NS, MIN_CAPTURE_CALLS, MIN_COST_SHARE, MIN_MEAN_CALLS,
    MIN_TRIVIAL_CALLS, MIN_UNCLOSED_SOCKETS,
};
use trace::store::histogram::Histogram;
use trace::store::index::{ShapeId, TaskId, TiVec};
use trace::store::resolution::is_coarse;
use trace::store::trace::{Capture, Trace};

/// Kinds of calls that filters of tracers know.
const FAMILIES: [&str; 12] = [
    "file",
    "descriptor",
    "network",
    "process",
    "memory",
    "signal",
    "lock",
    "poll",
    "ipc",
    "sleep",
    "terminal",
    "other",
];
const DESCRIPTOR: usize = 1;
const NETWORK: usize = 2;
const MEMORY: usize = 4;
/// Shapes that a core looks at in one go.
const SHAPES_AT_ONCE: usize = 1 << 16;

/// How far a capture can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct Trust {
    /// Time that tracing adds to each call; none where too little was seen.
    pub overhead_floor_ns: Option<i64>,
    /// The part of it in the call. The rest is after it, before the next one.
    pub floor_in_call_ns: i64,
    /// What tracing adds to a call on average.
    pub tracing: TracingCost,
    /// What a call that does nothing usually takes: the least of the medians of such calls, by syscall; 0 if unknown.
    pub quick_ns: i64,
    /// The same for all calls, as part of the window.
    pub overhead_share: Option<f64>,
    /// Some calls are certainly missing: programs end without the call that ends them, or run without memory and files.
    pub filtered: bool,
    /// All calls are about sockets, although some were made: their reads, writes, waits and ends are missing.
    pub has_only_sockets: bool,
    /// The kinds of calls that were seen.
    pub families: Vec<&'static str>,
    /// Children were created, and nothing of any of them is in the capture.
    pub has_unfollowed_children: bool,
    /// Several tasks ran before the capture began. They may be threads, which wait for each other.
    pub has_several_attached: bool,
}

impl Trust {
    /// Whether waits for time, events and other threads are in the capture. A filter leaves them out, or they do not happen.
    pub fn has_waits(&self) -> bool {
        let has = |family: &&str| self.families.contains(family);
        // Nothing runs for long on calls of one kind, or on sockets alone: these were chosen, such as with `-e connect`.
        let are_chosen = self.families.len() == 1
            || has(&"network") && !["memory", "process", "file"].iter().any(has);
        if self.has_several_attached && !has(&"lock") {
            return false;
        }
        !self.filtered && !are_chosen || ["lock", "poll", "sleep"].iter().any(has)
    }
}

/// How far each capture can be trusted; `None` for those without a clock or events.
pub fn trusts(trace: &Trace) -> Vec<Option<Trust>> {
    (0..trace.captures.len() as u32)
        .map(|number| trust(trace, number))
        .collect()
}

/// Look at a capture: one pass over its events.
pub fn trust(trace: &Trace, number: u32) -> Option<Trust> {
    let capture = trace.captures.get(number as usize)?;
    let seen = seen(trace, capture);
    let floor = floor(capture, &seen);
    let floor_ns = floor.map(|floor| floor.step_ns);
    let wall_ns = window::window_of(trace, number, &window::WindowChoice::default())
        .map_or(0, |window| window.wall_ns());
    Some(Trust {
        overhead_floor_ns: floor_ns,
        floor_in_call_ns: floor.map_or(0, |floor| floor.in_call_ns),
        tracing: witnessed_cost(trace, number)
            .map(|cost| cost.mean)
            .or_else(|| floor.map(|floor| tracing_cost(capture, &seen, floor)))
            .unwrap_or_default(),
        quick_ns: quick_ns(&seen),
        overhead_share: floor_ns
            .filter(|_| wall_ns > 0)
            .map(|floor_ns| (floor_ns as f64 * seen.calls as f64 / wall_ns as f64).min(1.0)),
        filtered: is_filtered(trace, capture, &seen),
        has_only_sockets: has_only_sockets(&seen),
        families: (0..FAMILIES.len())
            .filter(|&family| seen.has(family))
            .map(|family| FAMILIES[family])
            .collect(),
        has_unfollowed_children: capture.unseen_children > 0 && !has_children(trace, capture),
        has_several_attached: capture
            .task_ids()
            .filter_map(|task| trace.tasks.get(task))
            .filter(|task| task.creator == TaskId::NONE)
            .nth(1)
            .is_some(),
    })
}

/// What the events of a capture have.
#[derive(Default)]
struct ObservedCalls {
    calls: u64,
    /// How long all calls took that returned.
    all: Histogram,
    /// How long calls took that do next to nothing, one for each syscall.
    light: Vec<Delays>,
    /// From the start of such a call to that of the next call of its task.
    steps: Histogram,
    /// From the end of a trivial call to the start of the next call of its task.
    gaps: Histogram,
    /// Reads and writes of a few bytes.
    pieces: Delays,
    families: u16,
    /// Calls that end a thread or process.
    exits: u64,
    /// Calls that every program makes when it starts.
    starts: u64,
    /// Calls that made or accepted a socket.
    sockets: u64,
}

impl ObservedCalls {
    fn has(&self, family: usize) -> bool {
        self.families & 1 << family != 0
    }

    fn with(mut self, other: ObservedCalls) -> ObservedCalls {
        self.calls += other.calls;
        self.light
            .iter_mut()
            .zip(&other.light)
            .for_each(|(mine, more)| mine.merge(more));
        self.steps.merge(&other.steps);
        self.gaps.merge(&other.gaps);
        self.all.merge(&other.all);
        self.pieces.merge(&other.pieces);
        self.families |= other.families;
        self.exits += other.exits;
        self.starts += other.starts;
        self.sockets += other.sockets;
        self
    }
}

/// Durations of calls.
#[derive(Clone, Default)]
struct Delays {
    each: Histogram,
    /// Each up to [`MAX_TRACER_DELAY_NS`].
    sum_ns: i64,
}

impl Delays {
    fn add(&mut self, dur_ns: i64) {
        self.each.add(dur_ns);
        self.sum_ns += dur_ns.clamp(0, MAX_TRACER_DELAY_NS);
    }

    fn merge(&mut self, other: &Delays) {
        self.each.merge(&other.each);
        self.sum_ns += other.sum_ns;
    }

    fn typical_ns(&self) -> i64 {
        self.each.quantile(0.5)
    }
}

/// What a shape is to this. A capture of distinct paths has nearly as many shapes as calls.
#[derive(Clone, Copy)]
struct Role {
    family: u8,
    /// Place of its syscall among the light ones; [`Role::NOT_LIGHT`] for others.
    light: u16,
    /// Whether it reads or writes a file.
    moves_bytes: bool,
    is_exit: bool,
    is_start: bool,
    makes_socket: bool,
}

impl Role {
    const NOT_LIGHT: u16 = u16::MAX;
}

fn role(events: &EventTable, shape: &Shape, light: &[Text]) -> Role {
    let (syscall, call) = (shape.syscall, syscalls::by_text(shape.syscall));
    let moves_bytes = matches!(
        call.map(|call| call.action),
        Some(Action::Reads | Action::ReadsAt | Action::Writes | Action::WritesAt)
    );
    // A fcntl that waits for a lock has the name of those that do nothing.
    let waits = events.texts.bytes(shape.op).ends_with(b"SETLKW");
    Role {
        family: call.map_or(FAMILIES.len() - 1, family) as u8,
        light: light
            .binary_search(&syscall)
            .ok()
            .filter(|_| !waits)
            .and_then(|at| u16::try_from(at).ok())
            .unwrap_or(Role::NOT_LIGHT),
        moves_bytes: moves_bytes
            && classes::class_of(syscall, events.texts.bytes(shape.target)) == Class::Disk,
        is_exit: call
            .is_some_and(|call| matches!(call.action, Action::EndsThread | Action::EndsProcess)),
        is_start: call.is_some_and(|call| call.is_at_start),
        makes_socket: shape.outcome == Outcome::Ok
            && call
                .is_some_and(|call| matches!(call.action, Action::Accepts | Action::MakesSocket)),
    }
}

/// The syscalls of a trace that do next to nothing.
fn light_syscalls(trace: &Trace) -> Vec<Text> {
    let of_some = |shapes: &[Shape]| -> FxHashSet<Text> {
        shapes
            .iter()
            .map(|shape| shape.syscall)
            .filter(|name| {
                syscalls::by_text(*name).is_some_and(|call| call.effort <= Effort::Light)
            })
            .collect()
    };
    let found = trace
        .events
        .shapes()
        .raw
        .par_chunks(SHAPES_AT_ONCE)
        .map(of_some);
    let found = found.reduce(FxHashSet::default, |one, other| {
        one.union(&other).copied().collect()
    });
    let mut light: Vec<Text> = found.into_iter().collect();
    light.sort_unstable();
    light
}

fn family(call: &Syscall) -> usize {
    match call.class {
        _ if is_about_signals(call.action) => 5,
        Class::Disk if call.args.contains(['p', 'n']) => 0,
        Class::Disk => DESCRIPTOR,
        Class::Network => 2,
        Class::Process | Class::Child => 3,
        Class::Memory => MEMORY,
        Class::Lock => 6,
        Class::Poll => 7,
        Class::Ipc => 8,
        Class::Sleep => 9,
        Class::Terminal => 10,
        _ => FAMILIES.len() - 1,
    }
}

fn is_about_signals(action: Action) -> bool {
    let sends_or_waits = matches!(
        action,
        Action::Signals | Action::SignalsThread | Action::WaitsForSignal
    );
    sends_or_waits
        || matches!(
            action,
            Action::HandlesSignals | Action::ReturnsFromHandler | Action::MakesSignalfd
        )
}

fn seen(trace: &Trace, capture: &Capture) -> ObservedCalls {
    const PIECE_ROWS: usize = 1 << 16;
    let events = &trace.events;
    let light = light_syscalls(trace);
    let roles = events.shapes().raw.par_iter();
    let roles: Vec<Role> = roles.map(|shape| role(events, shape, &light)).collect();
    let roles: TiVec<ShapeId, Role> = roles.into();
    let new = || ObservedCalls {
        light: vec![Delays::default(); light.len()],
        ..ObservedCalls::default()
    };
    // Lines of one task mostly stand together; where another one's lie between, the call alone counts.
    let step_ns = |row: u32| {
        let next = Some(row + 1)
            .filter(|&next| next < capture.rows.end && events.task(next) == events.task(row))?;
        let (from_ns, to_ns) = (events.start_ns(row), events.start_ns(next));
        (from_ns != NO_NS && to_ns != NO_NS).then(|| to_ns - from_ns)
    };
    let one = |rows: std::ops::Range<u32>| {
        let mut seen = new();
        for row in rows.filter(|&row| events.kind(row) == EventKind::Call) {
            let role = roles[events.shape_number(row)];
            seen.calls += 1;
            seen.families |= 1 << role.family;
            seen.exits += u64::from(role.is_exit);
            seen.starts += u64::from(role.is_start);
            seen.sockets += u64::from(role.makes_socket);
            let dur_ns = events.dur_ns(row);
            let is_timed = dur_ns != NO_NS && events.outcome(row) == Outcome::Ok;
            if is_timed {
                seen.all.add(dur_ns);
            }
            if is_timed && role.light != Role::NOT_LIGHT {
                let place = usize::from(role.light);
                let step_ns = step_ns(row);
                seen.light[place].add(dur_ns);
                seen.steps.add(dur_ns.max(step_ns.unwrap_or(dur_ns)));
                step_ns
                    .into_iter()
                    .for_each(|step_ns| seen.gaps.add(step_ns - dur_ns));
            } else if role.moves_bytes
                && is_timed
                && (1..=MAX_SMALL_IO_BYTES).contains(&events.ret(row))
            {
                seen.pieces.add(dur_ns);
            }
        }
        seen
    };
    let (first, end) = (capture.rows.start, capture.rows.end);
    let starts = (first..end).into_par_iter().step_by(PIECE_ROWS);
    starts
        .map(|from| one(from..end.min(from.saturating_add(PIECE_ROWS as u32))))
        .reduce(new, ObservedCalls::with)
}

/// Minimum that tracing adds to a call.
#[derive(Clone, Copy)]
struct CostFloor {
    in_call_ns: i64,
    /// In it and after it.
    step_ns: i64,
}

fn floor(capture: &Capture, seen: &ObservedCalls) -> Option<CostFloor> {
    let is_timed = matches!(capture.facts.dur_kind, DurKind::Exact | DurKind::UpperBound);
    if !is_timed || seen.steps.number() < MIN_TRIVIAL_CALLS {
        return None;
    }
    let quick = quick(seen);
    if quick.each.number() < MIN_TRIVIAL_CALLS {
        return None;
    }
    let (in_call_ns, step_ns) = (
        quick.each.quantile(MIN_COST_SHARE),
        seen.steps.quantile(MIN_COST_SHARE),
    );
    let works_between = step_ns > in_call_ns.saturating_mul(MAX_AFTER_CALL_RATIO);
    let floor = CostFloor {
        in_call_ns,
        step_ns: if works_between { in_call_ns } else { step_ns },
    };
    // A clock that is too coarse gives 0.
    (floor.step_ns > 0).then_some(floor)
}

/// Calls that do next to nothing, of the kinds that agree with the other calls of the capture. Where the quickest calls of a
/// kind last many times as long as the quickest of all, it does something: a close may wait for a device.
fn quick(seen: &ObservedCalls) -> Delays {
    let least_ns = seen.all.quantile(MIN_COST_SHARE).max(1);
    let mut quick = Delays::default();
    seen.light
        .iter()
        .filter(|each| {
            each.each.quantile(MIN_COST_SHARE) <= least_ns.saturating_mul(MAX_KIND_RATIO)
        })
        .for_each(|each| quick.merge(each));
    quick
}

/// What tracing adds on average. Delays of the tracer hit it as often after a call as within one, but only durations of calls
/// that do nothing show them: gaps have the work of the program too.
fn tracing_cost(capture: &Capture, seen: &ObservedCalls, floor: CostFloor) -> TracingCost {
    let quick = quick(seen);
    let typical_ns = quick.typical_ns();
    let delay_ns = match capture.facts.dur_kind {
        DurKind::Exact => mean_ns(seen, &quick).map_or(0, |mean_ns| (mean_ns - typical_ns).max(0)),
        // The program works in these durations.
        _ => 0,
    };
    let least_gap_ns = seen.gaps.quantile(MIN_COST_SHARE);
    let gap_ns = if is_coarse(&capture.facts) {
        // Times between calls are unknown. The tracer stops a task once in a call and once after it.
        typical_ns + delay_ns
    } else if least_gap_ns
        > MAX_TRACER_GAP_NS.max(floor.in_call_ns.saturating_mul(MAX_AFTER_CALL_RATIO))
    {
        0
    } else {
        seen.gaps.quantile(0.5).min(2 * least_gap_ns) + delay_ns
    };
    let in_call_ns = match capture.facts.dur_kind {
        DurKind::Exact => typical_ns + delay_ns,
        // They last until the next call starts, so they include the tracer's work after them. The program may compute
        // in them, too, but only a little in calls that never wait, so the mean is the most that tracing costs.
        _ => mean_ns(seen, &quick)
            .unwrap_or(0)
            .max(seen.steps.quantile(0.5).min(2 * floor.step_ns)),
    };
    TracingCost { in_call_ns, gap_ns }
}

/// The mean duration of calls that return at once.
fn mean_ns(seen: &ObservedCalls, quick: &Delays) -> Option<i64> {
    let are_quick = seen.pieces.typical_ns() <= MAX_QUICK_CALL_RATIO * quick.typical_ns();
    let all = [Some(quick), Some(&seen.pieces).filter(|_| are_quick)];
    let (number, sum_ns) = all
        .into_iter()
        .flatten()
        .fold((0, 0), |(number, sum_ns), each| {
            (number + each.each.number(), sum_ns + each.sum_ns)
        });
    (number >= MIN_MEAN_CALLS).then(|| sum_ns / number as i64)
}

/// A median would measure a busy or sometimes slow machine, and a single slow syscall proves nothing.
fn quick_ns(seen: &ObservedCalls) -> i64 {
    seen.light
        .iter()
        .filter(|each| each.each.number() >= MIN_TRIVIAL_CALLS)
        .map(Delays::typical_ns)
        .min()
        .unwrap_or(0)
}

fn is_filtered(trace: &Trace, capture: &Capture, seen: &ObservedCalls) -> bool {
    let tasks = || capture.task_ids().filter_map(|task| trace.tasks.get(task));
    let exited = capture.lines_of(LineKind::Exit) > 0
        && tasks().any(|task| matches!(task.ended, Some(Ended::Exited(_))));
    let ran =
        || tasks().any(|task| !task.programs.is_empty() && task.born && task.death_ns != NO_NS);
    let lacks_basics = !seen.has(MEMORY) && !seen.has(DESCRIPTOR);
    let lacks_starts =
        capture.format == "strace" && seen.calls >= MIN_CAPTURE_CALLS && seen.starts == 0;
    let lacks_exits = capture.facts.prints_exits && exited && seen.exits == 0;
    seen.calls > 0
        && (!capture.facts.prints_waits
            || lacks_exits
            || has_only_sockets(seen)
            || ((lacks_basics || lacks_starts) && ran()))
}

/// Whether a program makes sockets and does nothing but what only sockets can do: it neither waits for them nor closes them.
fn has_only_sockets(seen: &ObservedCalls) -> bool {
    seen.sockets >= MIN_UNCLOSED_SOCKETS && seen.families == 1 << NETWORK
}

fn has_children(trace: &Trace, capture: &Capture) -> bool {
    let mut tasks = capture
        .task_ids()
        .skip(1)
        .filter_map(|task| trace.tasks.get(task));
    tasks.any(|task| !task.is_thread)
}
