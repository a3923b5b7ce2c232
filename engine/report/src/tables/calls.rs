//! Calls grouped by any keys, with counts, failures and durations.

mod largest;

use crate::tables::calls::largest::{CellBounds, Cells};
use parsers::syscalls::action_of;
use parsers::{NO_NS, Outcome, Text};
use path::critical_path::attribution::Attribution;
use query::filter::events::Matched;
use query::selection::Selection;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use trace::parallel;
use trace::store::event::{EventKind, NONE, SEGMENT_ROWS, Shape};
use trace::store::events::EventTable;
use trace::store::histogram::Histogram;
use trace::store::index::{ShapeId, TaskId, TiVec, ti_vec};
use trace::store::schema::schema;
use trace::store::table::{Table, TextColumn, Values, ints, some_ints};
use trace::store::targets::TargetKind;
use trace::store::text_columns::{shape_text, text_column};
use trace::store::trace::Trace;

schema! {
    pub CALLS: calls "Calls, by any of their properties.";
    times: Calls;
    columns {
        syscall: Text "Name of the system call.",
        op: Text "Sub-operation.",
        shape: Text "Call, sub-operation, normalized target and outcome combined.",
        target: Text "What the call works on.",
        normalized_target: Text "What the call works on, with changing parts as N.",
        target_kind: Text "peer (another process, machine or person), file or other.",
        errno: Text "Name of the error.",
        outcome: Text "Outcome of the call.",
        program: Text "Program at that moment.",
        program_name: Text "The last part of its path.",
        pid: Id "Process id.",
        tid: Id "Thread id.",
        task: Index "Number of the task.",
        function: Text "Function of the program that made the call, from its stack.",
        source: Text "Source file and line in that function.",
        module: Text "File that contains that function.",
        calls: Number "Number of calls.",
        failed: Number "Number of calls that failed.",
        total_ns: Ns "Sum of the durations; summed over tasks, it can exceed wall time.",
        cpu_ns: Ns "CPU time in these calls; missing where the tracer does not print it.",
        exclusive_ns: Ns "Critical-path time inside these calls.",
        min_ns: Ns (Min) "Shortest duration.",
        mean_ns: Ns (Same) "Mean duration.",
        p50_ns: Ns (Same) "Median duration, within 1%.",
        p90_ns: Ns (Same) "90th percentile of the duration, within 1%.",
        p99_ns: Ns (Same) "99th percentile of the duration, within 1%.",
        max_ns: Ns (Max) "Longest duration.",
        bytes: Bytes "Bytes moved.",
        lines: Lines {
            first_line "Line of the first of these calls.",
            last_line "Line of the last of these calls.",
        },
    }
}

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
    /// Target with its changing parts normalised.
    NormalizedTarget,
    /// Kind of the normalised target: a peer, a file, or another.
    TargetKind,
    /// Name of the error.
    Errno,
    /// Outcome of the call.
    Outcome,
    /// Program at the time of the call.
    Program,
    /// The last part of its path.
    ProgramName,
    /// Process id.
    Pid,
    /// Thread id.
    Tid,
    /// Task number.
    Task,
    /// Function of the program that made the call.
    Function,
    /// Source file and line in that function.
    Source,
    /// File that contains that function.
    Module,
}

impl CallKey {
    /// All keys with their names.
    pub const ALL: [(&'static str, CallKey); 16] = [
        ("syscall", CallKey::Syscall),
        ("op", CallKey::Op),
        ("shape", CallKey::Shape),
        ("target", CallKey::Target),
        ("normalized_target", CallKey::NormalizedTarget),
        ("target_kind", CallKey::TargetKind),
        ("errno", CallKey::Errno),
        ("outcome", CallKey::Outcome),
        ("program", CallKey::Program),
        ("program_name", CallKey::ProgramName),
        ("pid", CallKey::Pid),
        ("tid", CallKey::Tid),
        ("task", CallKey::Task),
        ("function", CallKey::Function),
        ("source", CallKey::Source),
        ("module", CallKey::Module),
    ];

    /// Looks up a key by name.
    pub fn by_name(name: &str) -> Option<CallKey> {
        CallKey::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, key)| key)
    }

    /// The value of this key for all calls of a shape, or `None` if the shape does not determine it.
    fn of_shape(self, trace: &Trace, number: ShapeId, shape: &Shape) -> Option<u32> {
        match self {
            CallKey::Syscall => Some(shape.syscall.0),
            CallKey::Op => Some(shape.op.0),
            CallKey::Shape => Some(number.raw()),
            CallKey::Errno => Some(shape.errno.0),
            CallKey::NormalizedTarget => Some(shape.target.0),
            CallKey::TargetKind => {
                Some(TargetKind::of(trace.events.texts.bytes(shape.target)) as u32)
            }
            _ => None,
        }
    }
}

/// What groups of calls are ordered by, the largest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CallOrder {
    /// Sum of durations.
    #[default]
    Total,
    /// Number of calls.
    Calls,
    /// Number of failed calls.
    Failed,
    /// Time on the critical path.
    Exclusive,
    /// Mean duration.
    Mean,
    /// Median duration.
    P50,
    /// 90th percentile of durations.
    P90,
    /// 99th percentile of durations.
    P99,
    /// Longest duration.
    Max,
    /// Bytes moved.
    Bytes,
}

impl CallOrder {
    /// All orders, by the names of their columns.
    pub const ALL: [(&'static str, CallOrder); 10] = [
        ("total_ns", CallOrder::Total),
        ("calls", CallOrder::Calls),
        ("failed", CallOrder::Failed),
        ("exclusive_ns", CallOrder::Exclusive),
        ("mean_ns", CallOrder::Mean),
        ("p50_ns", CallOrder::P50),
        ("p90_ns", CallOrder::P90),
        ("p99_ns", CallOrder::P99),
        ("max_ns", CallOrder::Max),
        ("bytes", CallOrder::Bytes),
    ];

    /// Looks up an order by the name of its column.
    pub fn by_name(name: &str) -> Option<CallOrder> {
        CallOrder::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, order)| order)
    }

    fn of(self, sums: &Sums) -> i64 {
        match self {
            CallOrder::Total => sums.total_ns,
            CallOrder::Calls => sums.calls as i64,
            CallOrder::Failed => sums.failed as i64,
            CallOrder::Exclusive => sums.exclusive_ns,
            CallOrder::Bytes => sums.bytes,
            _ if sums.timed == 0 => 0,
            CallOrder::Mean => sums.mean_ns(),
            CallOrder::P50 => sums.quantile_ns(0.50),
            CallOrder::P90 => sums.quantile_ns(0.90),
            CallOrder::P99 => sums.quantile_ns(0.99),
            CallOrder::Max => sums.max_ns,
        }
    }
}

/// A question about calls.
#[derive(Clone, Default)]
pub struct CallQuery {
    /// What calls are grouped by.
    pub keys: Vec<CallKey>,
    /// Whether quantiles of durations are computed, which costs more than all other columns.
    pub quantiles: bool,
    /// Only these calls; all if there is no condition.
    pub only: Option<Arc<Matched>>,
    /// What comes first.
    pub order: CallOrder,
    /// Maximum number of groups.
    pub most: Option<usize>,
}

impl CallQuery {
    fn keys(&self) -> &[CallKey] {
        &self.keys[..self.keys.len().min(MAX_KEYS)]
    }
}

/// Maximum number of keys. More would only repeat what others determine: a shape has a syscall, an operation, an error.
pub const MAX_KEYS: usize = 12;
type Group = [u32; MAX_KEYS];

/// Sums over the calls of a group.
#[derive(Clone)]
pub(super) struct Sums {
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) timed: u64,
    pub(super) total_ns: i64,
    cpu_ns: i64,
    min_ns: i64,
    pub(super) max_ns: i64,
    bytes: i64,
    pub(super) first_row: u32,
    last_row: u32,
    exclusive_ns: i64,
    /// Of durations, where quantiles are wanted.
    durations: Option<Box<Histogram>>,
}

impl Sums {
    pub(super) fn new(row: u32, quantiles: bool) -> Sums {
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
            durations: quantiles.then(Box::default),
        }
    }

    pub(super) fn add(&mut self, events: &EventTable, row: u32, moves: bool) {
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
            if let Some(durations) = &mut self.durations {
                durations.add(dur_ns);
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Sums) {
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
        if let (Some(durations), Some(others)) = (&mut self.durations, &other.durations) {
            durations.merge(others);
        }
    }

    fn mean_ns(&self) -> i64 {
        self.total_ns / self.timed.max(1) as i64
    }

    pub(super) fn quantile_ns(&self, share: f64) -> i64 {
        let quantile_ns = self
            .durations
            .as_ref()
            .map_or(0, |durations| durations.quantile(share));
        quantile_ns.clamp(self.min_ns.min(self.max_ns), self.max_ns)
    }
}

/// The sum of two times, each [`NO_NS`] if unknown.
pub(crate) fn sum_of_known(one_ns: i64, other_ns: i64) -> i64 {
    match (one_ns, other_ns) {
        (NO_NS, known_ns) | (known_ns, NO_NS) => known_ns,
        (one_ns, other_ns) => one_ns.saturating_add(other_ns),
    }
}

/// Groups calls, the largest first; ties by number of calls, total and first call.
///
/// Totals are sums over tasks, so they may exceed the wall time.
pub fn calls(
    trace: &Trace,
    query: &CallQuery,
    selection: &Selection<'_>,
    attribution: &Attribution,
) -> Table {
    table(
        trace,
        query.keys(),
        &sorted(trace, query, selection, attribution),
        query.quantiles,
    )
}

/// The counted durations of the groups that [`calls`] has, in the same order: bucket and number.
pub fn histograms(
    trace: &Trace,
    query: &CallQuery,
    selection: &Selection<'_>,
    attribution: &Attribution,
) -> Vec<Vec<(u16, u64)>> {
    sorted(trace, query, selection, attribution)
        .iter()
        .map(|(_, sums)| {
            sums.durations
                .iter()
                .flat_map(|durations| durations.counts())
                .collect()
        })
        .collect()
}

fn sorted(
    trace: &Trace,
    query: &CallQuery,
    selection: &Selection<'_>,
    attribution: &Attribution,
) -> Vec<(Group, Sums)> {
    let keys = query.keys();
    let moves: TiVec<ShapeId, bool> = trace
        .events
        .shapes()
        .iter()
        .map(|shape| action_of(shape.syscall).returns_bytes())
        .collect();
    let add = |sums: &mut Sums, row: u32| {
        sums.add(&trace.events, row, moves[trace.events.shape_number(row)]);
        sums.exclusive_ns =
            sums.exclusive_ns
                .saturating_add(within_call_ns(trace, attribution, row));
    };
    let order = |(_, sums): &(Group, Sums)| {
        let first = Reverse(query.order.of(sums));
        (
            first,
            Reverse(sums.calls),
            Reverse(sums.total_ns),
            sums.first_row,
        )
    };
    let most = query.most.unwrap_or(usize::MAX);
    let retained = |mut groups: Vec<(Group, Sums)>| {
        if most < groups.len() {
            groups.select_nth_unstable_by_key(most, order);
            groups.truncate(most);
        }
        groups
    };
    let grouped = |cells: Option<&Cells>| {
        retained(grouped(trace, query, keys, selection, cells, add, retained))
    };
    let mut sorted = match query.most {
        Some(most) if most > 0 && largest::may_be_many(trace, keys) => {
            let value = |row: u32| within_call_ns(trace, attribution, row);
            let (value, is_sum) = largest::bound_of(query.order, trace, &moves, value);
            let bounds = CellBounds::new(trace, keys.len(), value, is_sum, |rows, look| {
                each_group(trace, query, selection, rows, look);
            });
            of_largest_cells(query, most, &bounds, order, grouped)
        }
        _ => grouped(None),
    };
    sorted.sort_by_cached_key(order);
    sorted
}

/// The largest groups, made of the cells that may have them.
fn of_largest_cells<K: Ord>(
    query: &CallQuery,
    most: usize,
    bounds: &CellBounds,
    order: impl Fn(&(Group, Sums)) -> K,
    grouped: impl Fn(Option<&Cells>) -> Vec<(Group, Sums)>,
) -> Vec<(Group, Sums)> {
    let first = bounds.largest(most);
    let found = grouped(Some(&first));
    let last = found
        .iter()
        .max_by_key(|group| order(group))
        .filter(|_| found.len() >= most);
    let size = last.map_or((i64::MIN, 0), |(_, sums)| {
        largest::size_of(query.order, sums)
    });
    let needed = bounds.reaching(size);
    if first.contains(&needed) {
        found
    } else {
        grouped(Some(&needed))
    }
}

/// Calls a function with each selected call of some rows and its group.
fn each_group(
    trace: &Trace,
    query: &CallQuery,
    selection: &Selection<'_>,
    rows: Range<u32>,
    look: &mut dyn FnMut(u32, &Group),
) {
    let (events, keys) = (&trace.events, query.keys());
    let is_chosen =
        |row: u32| selection.has(row) && query.only.as_ref().is_none_or(|only| only.has(row));
    rows.filter(|&row| events.kind(row) == EventKind::Call && is_chosen(row))
        .for_each(|row| look(row, &group_of(trace, keys, selection, row)));
}

/// Whether calls have more than so many different targets. The search ends there.
pub fn has_more_targets(trace: &Trace, selection: &Selection<'_>, most: usize) -> bool {
    let events = &trace.events;
    let mut found: FxHashSet<Text> = FxHashSet::default();
    let mut last = Text::NONE;
    (0..events.len()).any(|row| {
        let target = events.target(row);
        if target == last || events.kind(row) != EventKind::Call || !selection.has(row) {
            return false;
        }
        last = target;
        found.insert(target) && found.len() > most
    })
}

/// Time on the critical path inside a call. What follows the end of the call is attributed to it as well: the delay until
/// a poll loop checks, and the start of the task that it creates. It is not the call's own.
pub(super) fn within_call_ns(trace: &Trace, attribution: &Attribution, row: u32) -> i64 {
    let dur_ns = trace.events.dur_ns(row);
    attribution
        .in_call_ns(row)
        .min(if dur_ns == NO_NS { i64::MAX } else { dur_ns })
}

/// The groups of all calls, or of those in some cells. Each core groups the calls of a segment at a time; then each merges what segments found of a
/// part of the groups, and keeps of them what `keep` retains.
fn grouped(
    trace: &Trace,
    query: &CallQuery,
    keys: &[CallKey],
    selection: &Selection<'_>,
    cells: Option<&Cells>,
    add: impl Fn(&mut Sums, u32) + Sync,
    keep: impl Fn(Vec<(Group, Sums)>) -> Vec<(Group, Sums)> + Sync,
) -> Vec<(Group, Sums)> {
    let events = &trace.events;
    let known = KnownGroups::new(trace, keys);
    let new = |row: u32| Sums::new(row, query.quantiles);
    let is_chosen =
        |row: u32| selection.has(row) && query.only.as_ref().is_none_or(|only| only.has(row));
    let one = |segment: usize| {
        let mut groups = Numbered::default();
        let mut of_shapes: Vec<Option<Box<Sums>>> = vec![None; known.groups.len()];
        let mut recent = Recent::new(trace, keys);
        let from = (segment * SEGMENT_ROWS) as u32;
        let to = events.len().min(from + SEGMENT_ROWS as u32);
        for row in (from..to).filter(|&row| events.kind(row) == EventKind::Call && is_chosen(row)) {
            let shape = events.shape_number(row);
            let group = || group_of(trace, keys, selection, row);
            if cells.is_some_and(|cells| !cells.has(&group())) {
                continue;
            }
            let sums = match known
                .of_shape
                .get(shape)
                .and_then(|&at| of_shapes.get_mut(at as usize))
            {
                Some(sums) => sums.get_or_insert_with(|| Box::new(new(row))),
                None => {
                    let number = || groups.number(group(), || new(row));
                    let number = recent.number(shape, events.target(row), number);
                    &mut groups.sums[number as usize].1
                }
            };
            add(sums, row);
        }
        let of_shapes = known
            .groups
            .iter()
            .zip(of_shapes)
            .filter_map(|(&group, sums)| Some((group, *sums?)));
        parted(groups.sums.into_iter().chain(of_shapes))
    };
    let segments = (events.len() as usize).div_ceil(SEGMENT_ROWS);
    let found: Vec<Parts> = (0..segments).into_par_iter().map(one).collect();
    parallel::flat_map(&transposed(found), |parts| match parts.lock() {
        Ok(mut parts) => keep(merged(std::mem::take(&mut *parts))),
        Err(_) => Vec::new(),
    })
}

/// Number of parts that groups are divided into by their hashes.
const PARTS: usize = 64;

/// Groups by the part that their hash belongs to.
type Parts = Vec<Vec<(Group, Sums)>>;

fn parted(groups: impl Iterator<Item = (Group, Sums)>) -> Parts {
    let hasher = BuildHasherDefault::<rustc_hash::FxHasher>::default();
    let mut parts: Parts = std::iter::repeat_with(Vec::new).take(PARTS).collect();
    // The upper bits, because tables within a part use the lower ones.
    groups.for_each(|group| parts[(hasher.hash_one(group.0) >> 58) as usize % PARTS].push(group));
    parts
}

/// For each part what the segments found of it, in their order.
fn transposed(found: Vec<Parts>) -> Vec<Mutex<Parts>> {
    let mut parts: Vec<Parts> = std::iter::repeat_with(Vec::new).take(PARTS).collect();
    for of_segment in found {
        parts
            .iter_mut()
            .zip(of_segment)
            .for_each(|(part, groups)| part.push(groups));
    }
    parts.into_iter().map(Mutex::new).collect()
}

fn merged(parts: Parts) -> Vec<(Group, Sums)> {
    let mut places: FxHashMap<Group, u32> = FxHashMap::default();
    let mut groups: Vec<(Group, Sums)> = Vec::new();
    for (group, sums) in parts.into_iter().flatten() {
        match places.entry(group) {
            Entry::Occupied(place) => groups[*place.get() as usize].1.merge(&sums),
            Entry::Vacant(place) => {
                place.insert(groups.len() as u32);
                groups.push((group, sums));
            }
        }
    }
    groups
}

/// Groups in order of first occurrence, with their sums.
#[derive(Default)]
struct Numbered {
    numbers: FxHashMap<Group, u32>,
    sums: Vec<(Group, Sums)>,
}

impl Numbered {
    fn number(&mut self, group: Group, new: impl FnOnce() -> Sums) -> u32 {
        *self.numbers.entry(group).or_insert_with(|| {
            self.sums.push((group, new()));
            self.sums.len() as u32 - 1
        })
    }
}

/// The target and the group of the last call of each shape, because the next call usually has the same. Empty if shape
/// and target do not determine the group.
struct Recent(TiVec<ShapeId, (Text, u32)>);

impl Recent {
    fn new(trace: &Trace, keys: &[CallKey]) -> Recent {
        let shapes = if keys.iter().all(is_determined_by_call) {
            trace.events.shapes().len()
        } else {
            0
        };
        Recent(ti_vec![(Text::NONE, NONE); shapes])
    }

    fn number(&mut self, shape: ShapeId, target: Text, number: impl FnOnce() -> u32) -> u32 {
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

fn is_determined_by_call(key: &CallKey) -> bool {
    matches!(
        key,
        CallKey::Syscall
            | CallKey::Op
            | CallKey::Shape
            | CallKey::Errno
            | CallKey::Target
            | CallKey::NormalizedTarget
            | CallKey::TargetKind
    )
}

/// The group of each shape, if the shape determines the group and there are few groups.
#[derive(Default)]
struct KnownGroups {
    groups: Vec<Group>,
    of_shape: TiVec<ShapeId, u32>,
}

impl KnownGroups {
    fn new(trace: &Trace, keys: &[CallKey]) -> KnownGroups {
        const MAX_GROUPS_HELD: usize = 1 << 12;
        if keys
            .iter()
            .all(|key| matches!(key, CallKey::Syscall | CallKey::Op | CallKey::Errno))
        {
            return KnownGroups::of_parts(trace, keys);
        }
        let mut known = KnownGroups::default();
        let mut places: FxHashMap<Group, u32> = FxHashMap::default();
        for (number, shape) in trace.events.shapes().iter_enumerated() {
            let mut group = [0; MAX_KEYS];
            for (place, key) in group.iter_mut().zip(keys) {
                let Some(value) = key.of_shape(trace, number, shape) else {
                    return KnownGroups::default();
                };
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

    /// As [`KnownGroups::new`] for keys that do not depend on targets: there are far fewer parts than shapes.
    fn of_parts(trace: &Trace, keys: &[CallKey]) -> KnownGroups {
        let mut known = KnownGroups::default();
        let mut places: FxHashMap<Group, u32> = FxHashMap::default();
        let of_part = |part: &Shape| {
            let mut group = [0; MAX_KEYS];
            for (place, key) in group.iter_mut().zip(keys) {
                *place = key.of_shape(trace, ShapeId::NONE, part).unwrap_or(NONE);
            }
            *places.entry(group).or_insert_with(|| {
                known.groups.push(group);
                known.groups.len() as u32 - 1
            })
        };
        let parts = trace.shape_parts();
        let of_parts: Vec<u32> = parts.parts().iter().map(of_part).collect();
        known.of_shape = parts
            .of_shapes()
            .iter()
            .map(|&part| of_parts[part as usize])
            .collect();
        known
    }
}

/// The last part of a path.
pub(super) fn last_part(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

fn group_of(trace: &Trace, keys: &[CallKey], selection: &Selection<'_>, row: u32) -> Group {
    let events = &trace.events;
    let program = |task: TaskId| {
        selection
            .program_index
            .at(task, events.start_ns(row))
            .map_or(Text(0), |program| program.path)
    };
    let mut group = [0; MAX_KEYS];
    for (place, key) in group.iter_mut().zip(keys) {
        let task = events.task(row);
        *place = match key {
            CallKey::Target => events.target(row).0,
            CallKey::Outcome => events.outcome(row) as u32,
            CallKey::Program => program(task).0,
            CallKey::ProgramName => trace.program_names().first_of(program(task)).0,
            CallKey::Pid => trace.tasks[task].pid as u32,
            CallKey::Tid => trace.tasks[task].tid_at(events.line(row)) as u32,
            CallKey::Task => task.raw(),
            CallKey::Function => events.stacks.user_frame(row).function.0,
            CallKey::Source => events.stacks.user_frame(row).source.0,
            CallKey::Module => events.stacks.user_frame(row).module.0,
            CallKey::Syscall
            | CallKey::Op
            | CallKey::Shape
            | CallKey::Errno
            | CallKey::NormalizedTarget
            | CallKey::TargetKind => {
                let number = events.shape_number(row);
                key.of_shape(trace, number, &events.shape(row))
                    .unwrap_or(NONE)
            }
        };
    }
    group
}

fn table(trace: &Trace, keys: &[CallKey], groups: &[(Group, Sums)], quantiles: bool) -> Table {
    let mut columns: Vec<(&str, Values)> = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let name = CallKey::ALL
            .iter()
            .find(|(_, known)| known == key)
            .map_or("", |&(name, _)| name);
        columns.push((
            name,
            key_column(trace, *key, groups.iter().map(|(group, _)| group[at])),
        ));
    }
    let of = |value: fn(&Sums) -> i64| ints(groups.iter().map(move |(_, sums)| value(sums)));
    let timed = |value: fn(&Sums) -> i64| {
        some_ints(
            groups
                .iter()
                .map(move |(_, sums)| if sums.timed == 0 { NO_NS } else { value(sums) }),
        )
    };
    let line = |row: fn(&Sums) -> u32| {
        ints(
            groups
                .iter()
                .map(move |(_, sums)| i64::from(trace.events.line(row(sums)))),
        )
    };
    columns.extend([
        ("calls", of(|sums| sums.calls as i64)),
        ("failed", of(|sums| sums.failed as i64)),
        ("total_ns", of(|sums| sums.total_ns)),
        (
            "cpu_ns",
            some_ints(groups.iter().map(|(_, sums)| sums.cpu_ns)),
        ),
        ("exclusive_ns", of(|sums| sums.exclusive_ns)),
        ("min_ns", timed(|sums| sums.min_ns)),
        ("mean_ns", timed(Sums::mean_ns)),
    ]);
    if quantiles {
        columns.extend([
            ("p50_ns", timed(|sums| sums.quantile_ns(0.50))),
            ("p90_ns", timed(|sums| sums.quantile_ns(0.90))),
            ("p99_ns", timed(|sums| sums.quantile_ns(0.99))),
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
        return Values::Int(
            values
                .map(|value| (value != NONE).then_some(i64::from(value)))
                .collect(),
        );
    }
    let mut column = TextColumn::default();
    match key {
        CallKey::Shape => {
            values.for_each(|value| column.push(Some(&shape_text(events, ShapeId::new(value)))))
        }
        CallKey::TargetKind => {
            values.for_each(|value| column.push(Some(TargetKind::ALL[value as usize].name())))
        }
        CallKey::ProgramName => values.for_each(|value| {
            let name = trace.events.texts.string(Text(value));
            column.push(
                Some(name.rsplit('/').next().unwrap_or(&name)).filter(|name| !name.is_empty()),
            );
        }),
        CallKey::Outcome => {
            values.for_each(|value| column.push(Some(Outcome::ALL[value as usize].name())))
        }
        _ => return text_column(trace, values.map(Text)),
    }
    column.finish()
}
