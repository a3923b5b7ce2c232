//! Calls grouped by any keys, with counts, failures and durations.

use crate::critical_path::attribution::Attribution;
use crate::query::selection::Selection;
use crate::store::event::{EventKind, NONE, SEGMENT_ROWS, Shape};
use crate::store::events::EventTable;
use crate::store::histogram::Histogram;
use crate::store::table::{Table, TextColumn, Values, ints, some_ints};
use crate::store::text_columns::{push_text, shape_text};
use crate::store::trace::Trace;
use parsers::syscalls::action_of;
use parsers::{NO_NS, Outcome, Text};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// The keys that calls can be grouped by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKey {
    /// Name of the syscall.
    Syscall,
    /// Operation of the syscall.
    Op,
    /// Syscall, operation, normalised target and outcome combined.
    Shape,
    /// Target as printed.
    Target,
    /// Name of the error.
    Errno,
    /// Outcome of the call.
    Outcome,
    /// Program at the time of the call.
    Program,
    /// Process id.
    Pid,
    /// Thread id.
    Tid,
    /// Task number.
    Task,
}

impl CallKey {
    /// All keys with their names.
    pub const ALL: [(&'static str, CallKey); 10] = [
        ("syscall", CallKey::Syscall),
        ("op", CallKey::Op),
        ("shape", CallKey::Shape),
        ("target", CallKey::Target),
        ("errno", CallKey::Errno),
        ("outcome", CallKey::Outcome),
        ("program", CallKey::Program),
        ("pid", CallKey::Pid),
        ("tid", CallKey::Tid),
        ("task", CallKey::Task),
    ];

    /// Looks up a key by name.
    pub fn by_name(name: &str) -> Option<CallKey> {
        CallKey::ALL.iter().find(|(known, _)| *known == name).map(|&(_, key)| key)
    }

    /// The value of this key for all calls of a shape, or `None` if the shape does not determine it.
    fn of_shape(self, number: u32, shape: &Shape) -> Option<u32> {
        match self {
            CallKey::Syscall => Some(shape.syscall.0),
            CallKey::Op => Some(shape.op.0),
            CallKey::Shape => Some(number),
            CallKey::Errno => Some(shape.errno.0),
            _ => None,
        }
    }
}

const MAX_KEYS: usize = CallKey::ALL.len();
type Group = [u32; MAX_KEYS];

#[derive(Clone)]
struct Sums {
    calls: u64,
    failed: u64,
    timed: u64,
    total_ns: i64,
    cpu_ns: i64,
    min_ns: i64,
    max_ns: i64,
    bytes: i64,
    first_row: u32,
    last_row: u32,
    exclusive_ns: i64,
    durations: Histogram,
}

impl Sums {
    fn new(row: u32) -> Sums {
        Sums {
            calls: 0,
            failed: 0,
            timed: 0,
            total_ns: 0,
            cpu_ns: NO_NS,
            min_ns: i64::MAX,
            max_ns: 0,
            bytes: 0,
            first_row: row,
            last_row: row,
            exclusive_ns: 0,
            durations: Histogram::default(),
        }
    }

    fn add(&mut self, events: &EventTable, row: u32, moves: bool, quantiles: bool) {
        let outcome = events.outcome(row);
        self.calls += 1;
        self.failed += u64::from(outcome == Outcome::Failed);
        self.last_row = self.last_row.max(row);
        self.first_row = self.first_row.min(row);
        if moves && outcome == Outcome::Ok {
            self.bytes = self.bytes.saturating_add(events.ret(row).max(0));
        }
        self.cpu_ns = sum_of_known(self.cpu_ns, events.cpu_ns(row));
        let dur_ns = events.dur_ns(row);
        if dur_ns != NO_NS {
            self.timed += 1;
            self.total_ns = self.total_ns.saturating_add(dur_ns);
            self.min_ns = self.min_ns.min(dur_ns);
            self.max_ns = self.max_ns.max(dur_ns);
            if quantiles {
                self.durations.add(dur_ns);
            }
        }
    }

    fn merge(&mut self, other: &Sums) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.timed += other.timed;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.cpu_ns = sum_of_known(self.cpu_ns, other.cpu_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.exclusive_ns = self.exclusive_ns.saturating_add(other.exclusive_ns);
        self.first_row = self.first_row.min(other.first_row);
        self.last_row = self.last_row.max(other.last_row);
        self.durations.merge(&other.durations);
    }
}

/// The sum of two times, each [`NO_NS`] if unknown.
pub(crate) fn sum_of_known(one_ns: i64, other_ns: i64) -> i64 {
    match (one_ns, other_ns) {
        (NO_NS, known_ns) | (known_ns, NO_NS) => known_ns,
        (one_ns, other_ns) => one_ns.saturating_add(other_ns),
    }
}

type Groups = FxHashMap<Group, Sums>;

/// Groups calls by `keys`, the largest total first.
///
/// Totals are sums over tasks, so they may exceed the wall time. `quantiles` of durations cost more than all other
/// columns.
pub fn calls(
    trace: &Trace,
    keys: &[CallKey],
    selection: &Selection<'_>,
    attribution: &Attribution,
    quantiles: bool,
) -> Table {
    let keys = &keys[..keys.len().min(MAX_KEYS)];
    let moves: Vec<bool> = trace.events.shapes().iter().map(|shape| action_of(shape.syscall).returns_bytes()).collect();
    let add = |sums: &mut Sums, row: u32| {
        sums.add(&trace.events, row, moves[trace.events.shape_number(row) as usize], quantiles);
        sums.exclusive_ns += within_call_ns(trace, attribution, row);
    };
    let groups = grouped(trace, keys, selection, add);
    let mut sorted: Vec<(Group, Sums)> = groups.into_iter().collect();
    sorted.sort_unstable_by_key(|(_, sums)| {
        (std::cmp::Reverse(sums.total_ns), std::cmp::Reverse(sums.calls), sums.first_row)
    });
    table(trace, keys, &sorted, quantiles)
}

/// Time on the critical path inside a call. What follows the end of the call is attributed to it as well: the delay until
/// a poll loop checks, and the start of the task that it creates. It is not the call's own.
fn within_call_ns(trace: &Trace, attribution: &Attribution, row: u32) -> i64 {
    let dur_ns = trace.events.dur_ns(row);
    attribution.in_call_ns(row).min(if dur_ns == NO_NS { i64::MAX } else { dur_ns })
}

fn grouped(trace: &Trace, keys: &[CallKey], selection: &Selection<'_>, add: impl Fn(&mut Sums, u32) + Sync) -> Groups {
    let events = &trace.events;
    let known = KnownGroups::new(trace, keys);
    let one = |segment: usize| {
        let mut groups = Numbered::default();
        let mut of_shapes: Vec<Option<Box<Sums>>> = vec![None; known.groups.len()];
        let mut recent = Recent::new(trace, keys);
        let from = (segment * SEGMENT_ROWS) as u32;
        let to = events.len().min(from + SEGMENT_ROWS as u32);
        for row in (from..to).filter(|&row| events.kind(row) == EventKind::Call && selection.has(row)) {
            let shape = events.shape_number(row) as usize;
            let sums = match known.of_shape.get(shape).and_then(|&at| of_shapes.get_mut(at as usize)) {
                Some(sums) => sums.get_or_insert_with(|| Box::new(Sums::new(row))),
                None => {
                    let number = || groups.number(group_of(trace, keys, selection, row), row);
                    let number = recent.number(shape, events.target(row), number);
                    &mut groups.sums[number as usize].1
                }
            };
            add(sums, row);
        }
        let mut groups: Groups = groups.sums.into_iter().collect();
        groups.extend(known.groups.iter().zip(of_shapes).filter_map(|(&group, sums)| Some((group, *sums?))));
        groups
    };
    let segments = (events.len() as usize).div_ceil(SEGMENT_ROWS);
    (0..segments).into_par_iter().map(one).reduce(Groups::default, merged)
}

/// Groups in order of first occurrence, with their sums.
#[derive(Default)]
struct Numbered {
    numbers: FxHashMap<Group, u32>,
    sums: Vec<(Group, Sums)>,
}

impl Numbered {
    fn number(&mut self, group: Group, row: u32) -> u32 {
        *self.numbers.entry(group).or_insert_with(|| {
            self.sums.push((group, Sums::new(row)));
            self.sums.len() as u32 - 1
        })
    }
}

/// The target and the group of the last call of each shape, because the next call usually has the same. Empty if shape
/// and target do not determine the group.
struct Recent(Vec<(Text, u32)>);

impl Recent {
    fn new(trace: &Trace, keys: &[CallKey]) -> Recent {
        let is_determined = |key: &CallKey| {
            matches!(key, CallKey::Syscall | CallKey::Op | CallKey::Shape | CallKey::Errno | CallKey::Target)
        };
        let shapes = if keys.iter().all(is_determined) { trace.events.shapes().len() } else { 0 };
        Recent(vec![(Text::NONE, NONE); shapes])
    }

    fn number(&mut self, shape: usize, target: Text, number: impl FnOnce() -> u32) -> u32 {
        match self.0.get_mut(shape) {
            Some(&mut (same, number)) if same == target && number != NONE => number,
            Some(last) => {
                *last = (target, number());
                last.1
            }
            None => number(),
        }
    }
}

/// The group of each shape, if the shape determines the group and there are few groups.
#[derive(Default)]
struct KnownGroups {
    groups: Vec<Group>,
    of_shape: Vec<u32>,
}

impl KnownGroups {
    fn new(trace: &Trace, keys: &[CallKey]) -> KnownGroups {
        const MAX_GROUPS_HELD: usize = 1 << 12;
        let mut known = KnownGroups::default();
        let mut places: FxHashMap<Group, u32> = FxHashMap::default();
        for (number, shape) in (0..).zip(trace.events.shapes()) {
            let mut group = [0; MAX_KEYS];
            for (place, key) in group.iter_mut().zip(keys) {
                let Some(value) = key.of_shape(number, shape) else { return KnownGroups::default() };
                *place = value;
            }
            known.of_shape.push(*places.entry(group).or_insert_with(|| {
                known.groups.push(group);
                known.groups.len() as u32 - 1
            }));
            if known.groups.len() > MAX_GROUPS_HELD {
                return KnownGroups::default();
            }
        }
        known
    }
}

fn merged(mut into: Groups, mut from: Groups) -> Groups {
    if from.len() > into.len() {
        std::mem::swap(&mut into, &mut from);
    }
    for (group, sums) in from {
        match into.get_mut(&group) {
            Some(known) => known.merge(&sums),
            None => {
                into.insert(group, sums);
            }
        }
    }
    into
}

fn group_of(trace: &Trace, keys: &[CallKey], selection: &Selection<'_>, row: u32) -> Group {
    let events = &trace.events;
    let mut group = [0; MAX_KEYS];
    for (place, key) in group.iter_mut().zip(keys) {
        let task = events.task(row);
        *place = match key {
            CallKey::Target => events.target(row).0,
            CallKey::Outcome => events.outcome(row) as u32,
            CallKey::Program => {
                selection.program_index.at(task, events.start_ns(row)).map_or(0, |program| program.path.0)
            }
            CallKey::Pid => trace.tasks[task as usize].pid as u32,
            CallKey::Tid => trace.tasks[task as usize].tid_at(events.line(row)) as u32,
            CallKey::Task => task,
            CallKey::Syscall | CallKey::Op | CallKey::Shape | CallKey::Errno => {
                let number = events.shape_number(row);
                key.of_shape(number, &events.shape(row)).unwrap_or(NONE)
            }
        };
    }
    group
}

fn table(trace: &Trace, keys: &[CallKey], groups: &[(Group, Sums)], quantiles: bool) -> Table {
    let mut columns: Vec<(&str, Values)> = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let name = CallKey::ALL.iter().find(|(_, known)| known == key).map_or("", |&(name, _)| name);
        columns.push((name, key_column(trace, *key, groups.iter().map(|(group, _)| group[at]))));
    }
    let of = |value: fn(&Sums) -> i64| ints(groups.iter().map(move |(_, sums)| value(sums)));
    let timed = |value: fn(&Sums) -> i64| {
        some_ints(groups.iter().map(move |(_, sums)| if sums.timed == 0 { NO_NS } else { value(sums) }))
    };
    let line =
        |row: fn(&Sums) -> u32| ints(groups.iter().map(move |(_, sums)| i64::from(trace.events.line(row(sums)))));
    columns.extend([
        ("calls", of(|sums| sums.calls as i64)),
        ("failed", of(|sums| sums.failed as i64)),
        ("total_ns", of(|sums| sums.total_ns)),
        ("cpu_ns", some_ints(groups.iter().map(|(_, sums)| sums.cpu_ns))),
        ("exclusive_ns", of(|sums| sums.exclusive_ns)),
        ("min_ns", timed(|sums| sums.min_ns)),
        ("mean_ns", timed(|sums| sums.total_ns / sums.timed as i64)),
    ]);
    if quantiles {
        columns.extend([
            ("p50_ns", timed(|sums| sums.durations.quantile(0.50).clamp(sums.min_ns, sums.max_ns))),
            ("p90_ns", timed(|sums| sums.durations.quantile(0.90).clamp(sums.min_ns, sums.max_ns))),
            ("p99_ns", timed(|sums| sums.durations.quantile(0.99).clamp(sums.min_ns, sums.max_ns))),
        ]);
    }
    columns.extend([
        ("max_ns", timed(|sums| sums.max_ns)),
        ("bytes", of(|sums| sums.bytes)),
        ("first_line", line(|sums| sums.first_row)),
        ("last_line", line(|sums| sums.last_row)),
    ]);
    Table::new("calls", columns)
}

fn key_column(trace: &Trace, key: CallKey, values: impl Iterator<Item = u32>) -> Values {
    let events = &trace.events;
    if matches!(key, CallKey::Pid | CallKey::Tid | CallKey::Task) {
        return Values::Int(values.map(|value| (value != NONE).then_some(i64::from(value))).collect());
    }
    let mut column = TextColumn::default();
    for value in values {
        match key {
            CallKey::Shape => column.push(Some(&shape_text(events, value))),
            CallKey::Outcome => column.push(Some(Outcome::ALL[value as usize].name())),
            _ => push_text(&mut column, events, Text(value)),
        }
    }
    column.finish()
}
