//! Divides the critical path among overlapping findings. Each part of the path belongs to the first claim that covers
//! it.
//!
//! ```text
//! path        |==a==|==b==|==c==|==d==|
//! claim 0     |-----|-----|                     total 2, own 2
//! claim 1           |-----|-----|               total 2, own 1, taken by claim 0: 1
//! unclaimed                     |-----|         the rest
//! ```
//! Tasks are processed in parallel, and only sums are retained per task. One record per event would need as much memory
//! as the event table.

use crate::table_support::context::TableContext;
use crate::table_support::provenance::{Provenance, TaskEvents};
use parsers::Text;
use path::critical_path::attribution::Charge;
use path::critical_path::tracing::TracedTime;
use path::partition::piece::{self, Piece, piece_of};
use path::partition::pieces::{self, Pieces};
use path::partition::scope::ScopeFilter;
use path::partition::sums::PieceSums;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use trace::store::event::NONE;
use trace::store::index::{ShapeId, TaskId};
use trace::store::trace::{Capture, Trace};

/// Number of tasks searched per batch for the largest unclaimed pieces. After each batch, the search stops if no other
/// task can have a larger piece.
const TASKS_AT_ONCE: usize = 256;

/// The part of the critical path that one claim gets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// Time on the critical path of all its members.
    pub total_ns: i64,
    /// The part of `total_ns` that no earlier claim covers.
    pub own_ns: i64,
    /// Estimate of what tracing added to `own_ns`.
    pub traced: TracedTime,
    /// The parts that earlier claims cover: claim number, nanoseconds.
    pub taken: Vec<(u32, i64)>,
}

impl Share {
    fn take(&mut self, first: u32, is_own: bool, ns: i64) {
        self.total_ns = self.total_ns.saturating_add(ns);
        if is_own {
            self.own_ns = self.own_ns.saturating_add(ns);
        } else {
            self.add_taken(first, ns);
        }
    }

    fn add_taken(&mut self, first: u32, ns: i64) {
        match self.taken.iter_mut().find(|(known, _)| *known == first) {
            Some(taken) => taken.1 += ns,
            None => self.taken.push((first, ns)),
        }
    }
}

/// The critical path divided among claims.
pub struct Claims {
    /// The share of each claim.
    pub shares: Vec<Share>,
    /// Time on the path that no claim covers.
    pub rest_ns: i64,
    /// Elapsed time that no claim covers, of captures without a path. It is not unexplained.
    pub elapsed_rest_ns: i64,
    /// The largest unclaimed pieces.
    pub rest: Pieces,
}

/// Divides the path among claims; earlier claims take precedence. A claim may have several members. `pieces` must hold
/// the whole path. `limit` is the number of largest unclaimed pieces to return.
pub fn claims(
    context: &TableContext<'_>,
    pieces: &Pieces,
    claims: &[Vec<Provenance>],
    limit: usize,
) -> Claims {
    let index = ClaimIndex::new(context, pieces, claims);
    let tasks: Vec<TaskId> = context.trace.tasks.keys().collect();
    let new = || (Shares::new(claims.len()), Owners::default());
    let each = tasks
        .into_par_iter()
        .fold(new, |(mut divided, mut marks), task| {
            index.divide(task, &mut marks, &mut divided);
            (divided, marks)
        });
    let mut divided = each
        .map(|(divided, _)| divided)
        .reduce(|| Shares::new(claims.len()), Shares::and);
    let claimed = index.divide_others(&mut divided);
    let unclaimed = Unclaimed::new(&index, std::mem::take(&mut divided.unclaimed), claimed);
    // Only the path can be unexplained. Elapsed times are not parts of it.
    let is_path =
        |&(task, _): &(TaskId, i64)| context.capture_of(task).is_none_or(Capture::has_wall_clock);
    let (path, elapsed): (Vec<_>, Vec<_>) = divided.rest_ns.into_iter().partition(is_path);
    let rest = index.largest(&path, &unclaimed, limit);
    let sum = |rest: &[(TaskId, i64)]| rest.iter().map(|&(_, ns)| ns).sum();
    Claims {
        rest_ns: sum(&path),
        elapsed_rest_ns: sum(&elapsed),
        shares: divided.shares,
        rest,
    }
}

/// The sums of some tasks.
struct Shares {
    shares: Vec<Share>,
    /// Unclaimed time per task, in task order.
    rest_ns: Vec<(TaskId, i64)>,
    /// A bit for each call and each gap of the tasks with claims: whether its part of the path is unclaimed.
    unclaimed: Vec<u64>,
    /// The claim that owns each event, or the gap after it (`true`), for events that have spilled parts of the path.
    owners: FxHashMap<(u32, bool), u32>,
}

impl Shares {
    fn new(claims: usize) -> Shares {
        Shares {
            shares: vec![Share::default(); claims],
            rest_ns: Vec::new(),
            unclaimed: Vec::new(),
            owners: FxHashMap::default(),
        }
    }

    fn take(&mut self, number: u32, first: u32, ns: i64) {
        if let Some(share) = self.shares.get_mut(number as usize).filter(|_| ns > 0) {
            share.take(first, number == first, ns);
        }
    }

    /// Merges two sums. The tasks of `other` must follow those of `self`.
    fn and(mut self, other: Shares) -> Shares {
        for (share, more) in self.shares.iter_mut().zip(other.shares) {
            share.total_ns = share.total_ns.saturating_add(more.total_ns);
            share.own_ns = share.own_ns.saturating_add(more.own_ns);
            share.traced.merge(more.traced);
            more.taken
                .into_iter()
                .for_each(|(first, ns)| share.add_taken(first, ns));
        }
        self.rest_ns.extend(other.rest_ns);
        self.unclaimed.extend(other.unclaimed);
        self.owners.extend(other.owners);
        self
    }
}

/// The parts of the path that no claim covers.
struct Unclaimed {
    bits: Vec<u64>,
    /// Where the bits of each task begin.
    firsts: Vec<usize>,
    /// For each part that is unlike most, whether it is claimed.
    spilled: Vec<bool>,
}

impl Unclaimed {
    /// `bits` are those of the tasks with claims, in task order.
    fn new(index: &ClaimIndex<'_>, bits: Vec<u64>, spilled: Vec<bool>) -> Unclaimed {
        let trace = index.context.trace;
        let words = |task: TaskId| {
            if index.is_free(task) {
                0
            } else {
                words_of(trace.rows_of(task).len())
            }
        };
        let firsts = trace.tasks.keys().scan(0, |next, task| {
            let first = *next;
            *next += words(task);
            Some(first)
        });
        Unclaimed {
            firsts: firsts.collect(),
            bits,
            spilled,
        }
    }

    /// Whether the part of a call or gap of a task with claims is unclaimed.
    fn has(&self, task: TaskId, at: usize, is_gap: bool) -> bool {
        let bit = bit_of(at, is_gap);
        self.bits[self.firsts[task.index()] + bit / 64] >> (bit % 64) & 1 == 1
    }

    fn has_spilled(&self, place: u32) -> bool {
        self.spilled.get(place as usize) == Some(&false)
    }
}

/// A call and the gap after it have a bit each.
fn bit_of(at: usize, is_gap: bool) -> usize {
    2 * at + usize::from(is_gap)
}

fn words_of(rows: usize) -> usize {
    bit_of(rows, false).div_ceil(64)
}

/// The first claim on each call and gap of a task, plus 1; 0 means unclaimed. The buffers are reused across the tasks
/// of a thread.
#[derive(Default)]
struct Owners {
    calls: Vec<u32>,
    gaps: Vec<u32>,
    /// Claims on events that an earlier claim owns: claim number, index among the rows of the task, whether it is the
    /// gap.
    contested: Vec<(u32, u32, bool)>,
    /// Claims on pieces, memoised per task.
    scopes: FxHashMap<Like, Vec<u32>>,
    /// Claims on calls of a shape, memoised per task.
    by_shape: FxHashMap<ShapeId, Vec<ShapeClaim>>,
}

/// A claim on the calls of a shape within a range of rows: claim number, first and last row.
type ShapeClaim = (u32, u32, u32);

impl Owners {
    fn owner(&self, at: usize, is_gap: bool) -> u32 {
        let owners = if is_gap { &self.gaps } else { &self.calls };
        owners
            .get(at)
            .map_or(NONE, |owner| owner.checked_sub(1).unwrap_or(NONE))
    }

    /// The smallest number owns the event, in whatever order claims are marked.
    fn mark(&mut self, number: u32, at: usize, is_gap: bool) {
        let owners = if is_gap {
            &mut self.gaps
        } else {
            &mut self.calls
        };
        let Some(owner) = owners.get_mut(at).filter(|owner| **owner != number + 1) else {
            return;
        };
        let later = if *owner == 0 {
            None
        } else {
            Some((*owner - 1).max(number))
        };
        if *owner == 0 || number < *owner - 1 {
            *owner = number + 1;
        }
        self.contested
            .extend(later.map(|later| (later, at as u32, is_gap)));
    }
}

/// Maps rows to their indexes among the rows of a task. Fast for lookups in row order.
struct ClaimedPlaces<'a> {
    rows: &'a [u32],
    is_sorted: bool,
    next: usize,
}

impl<'a> ClaimedPlaces<'a> {
    fn new(rows: &'a [u32]) -> ClaimedPlaces<'a> {
        ClaimedPlaces {
            rows,
            is_sorted: rows.is_sorted(),
            next: 0,
        }
    }

    fn of(&mut self, row: u32) -> Option<usize> {
        let near =
            (self.next.saturating_sub(1)..=self.next).find(|&at| self.rows.get(at) == Some(&row));
        let place = near.or_else(|| {
            let search = || self.rows.iter().position(|&other| other == row);
            if self.is_sorted {
                self.rows.binary_search(&row).ok()
            } else {
                search()
            }
        });
        self.next = place.map_or(self.next, |at| at + 1);
        place
    }
}

/// The claims, indexed by task.
struct ClaimIndex<'a> {
    context: &'a TableContext<'a>,
    pieces: &'a Pieces,
    /// Sorted by task, then by claim number.
    listed: Vec<(TaskId, u32, TaskEvents<'a>)>,
    /// Index of the first claim on each task, and the total number at the end.
    offsets: Vec<u32>,
    scopes: Scopes,
}

impl<'a> ClaimIndex<'a> {
    fn new(
        context: &'a TableContext<'a>,
        pieces: &'a Pieces,
        claims: &'a [Vec<Provenance>],
    ) -> ClaimIndex<'a> {
        let mut listed = Vec::new();
        for (number, members) in (0u32..).zip(claims) {
            for each in members {
                each.by_task(context.trace, |task, part| {
                    listed.push((task, number, part))
                });
            }
        }
        listed.par_sort_by_key(|&(task, ..)| task);
        let mut offsets = vec![0; context.trace.tasks.len() + 1];
        listed
            .iter()
            .for_each(|&(task, ..)| offsets[task.index() + 1] += 1);
        for at in 1..offsets.len() {
            offsets[at] += offsets[at - 1];
        }
        ClaimIndex {
            context,
            pieces,
            listed,
            offsets,
            scopes: Scopes::new(context.trace, claims),
        }
    }

    /// The claims on events of a task.
    fn listed(&self, task: TaskId) -> &[(TaskId, u32, TaskEvents<'a>)] {
        let bounds = self
            .offsets
            .get(task.index())
            .zip(self.offsets.get(task.index() + 1));
        bounds.map_or(&[], |(&from, &to)| &self.listed[from as usize..to as usize])
    }

    /// Whether no claim covers any of the task's own events.
    fn is_free(&self, task: TaskId) -> bool {
        self.scopes.filters.is_empty() && self.listed(task).is_empty()
    }

    /// The task's time on the path without its spilled parts.
    fn packed_ns(&self, task: TaskId) -> i64 {
        let mut ns = self.pieces.exclusive_by_task()[task.index()];
        self.context
            .attribution
            .each_spilled(self.context.trace, task, |charge| ns -= charge.ns);
        ns
    }

    /// Assigns each event of the task to the first claim that lists it.
    fn mark(&self, task: TaskId, marks: &mut Owners) {
        let trace = self.context.trace;
        let rows = trace.rows_of(task);
        for owners in [&mut marks.calls, &mut marks.gaps] {
            owners.clear();
            owners.resize(rows.len(), 0);
        }
        marks.contested.clear();
        marks.scopes.clear();
        let mut places = ClaimedPlaces::new(rows);
        for &(_, number, part) in self
            .listed(task)
            .iter()
            .filter(|(.., part)| !part.is_by_shape())
        {
            let on_path = self.context.attribution.places(trace, task);
            part.each(trace, task, on_path, |row, is_gap| {
                if let Some(at) = places.of(row) {
                    marks.mark(number, at, is_gap);
                }
            });
        }
        self.mark_shapes(task, marks);
        // One claim may list the same event twice.
        marks.contested.sort_unstable();
        marks.contested.dedup();
    }

    /// Assigns the calls of claimed shapes, in one pass however many claims there are.
    fn mark_shapes(&self, task: TaskId, marks: &mut Owners) {
        let (trace, listed) = (self.context.trace, self.listed(task));
        if !listed.iter().any(|(.., part)| part.is_by_shape()) {
            return;
        }
        let mut by_shape = std::mem::take(&mut marks.by_shape);
        by_shape.clear();
        let (rows, shapes) = (trace.rows_of(task), trace.shapes_of(task));
        for at in self.context.attribution.places(trace, task) {
            let (row, shape) = (rows[at], shapes[at]);
            let claims = by_shape
                .entry(shape)
                .or_insert_with(|| claims_on(shape, listed));
            for &(number, ..) in claims
                .iter()
                .filter(|&&(_, first_row, last_row)| (first_row..=last_row).contains(&row))
            {
                marks.mark(number, at, false);
            }
        }
        marks.by_shape = by_shape;
    }

    /// Divides the packed parts of the task among the claims.
    fn divide(&self, task: TaskId, marks: &mut Owners, divided: &mut Shares) {
        let (trace, attribution) = (self.context.trace, self.context.attribution);
        if self.is_free(task) {
            return divided.rest_ns.push((task, self.packed_ns(task)));
        }
        self.mark(task, marks);
        let (rows, mut rest_ns, first) = (trace.rows_of(task), 0i64, divided.unclaimed.len());
        divided.unclaimed.resize(first + words_of(rows.len()), 0);
        attribution.each_packed(
            trace,
            task,
            attribution.places(trace, task),
            |at, charge| {
                let owner = marks.owner(at, charge.is_gap);
                if self.give(task, charge, owner, &mut marks.scopes, divided) == NONE {
                    rest_ns = rest_ns.saturating_add(charge.ns);
                    let bit = bit_of(at, charge.is_gap);
                    divided.unclaimed[first + bit / 64] |= 1 << (bit % 64);
                }
            },
        );
        divided.rest_ns.push((task, rest_ns));
        for &(number, at, is_gap) in &marks.contested {
            let row = rows[at as usize];
            let ns = if is_gap {
                attribution.gap_after_ns(row)
            } else {
                attribution.in_call_ns(row)
            };
            divided.take(number, marks.owner(at as usize, is_gap), ns);
        }
        for (at, row) in attribution.places(trace, task).map(|at| (at, rows[at])) {
            if !attribution.has_spilled(row) {
                continue;
            }
            let owners = [false, true].map(|is_gap| ((row, is_gap), marks.owner(at, is_gap)));
            divided
                .owners
                .extend(owners.into_iter().filter(|&(_, owner)| owner != NONE));
        }
    }

    /// Divides the spilled parts. Returns, for each of them, whether it is claimed.
    fn divide_others(&self, divided: &mut Shares) -> Vec<bool> {
        let attribution = self.context.attribution;
        let mut claimed = vec![false; attribution.others()];
        let mut known = FxHashMap::default();
        for task in self.context.trace.tasks.keys() {
            known.clear();
            attribution.each_spilled(self.context.trace, task, |charge| {
                let owner = divided
                    .owners
                    .get(&(charge.row, charge.is_gap))
                    .copied()
                    .unwrap_or(NONE);
                let first = self.give(task, charge, owner, &mut known, divided);
                if first == NONE {
                    divided.rest_ns[task.index()].1 += charge.ns;
                } else if let Some(claimed) = charge
                    .place
                    .and_then(|place| claimed.get_mut(place as usize))
                {
                    *claimed = true;
                }
            });
        }
        claimed
    }

    /// Adds a part of the path to the first claim that covers it, and reports it as taken to the other claims that
    /// cover it. Returns the first claim, or `NONE`.
    fn give(
        &self,
        task: TaskId,
        charge: &Charge,
        owner: u32,
        known: &mut FxHashMap<Like, Vec<u32>>,
        divided: &mut Shares,
    ) -> u32 {
        let has = self.scopes.of(self.context, task, charge, known);
        let first = has.first().map_or(owner, |&number| number.min(owner));
        for &number in has
            .iter()
            .filter(|&&number| number != owner)
            .chain([&owner])
        {
            divided.take(number, first, charge.ns);
        }
        if let Some(share) = divided.shares.get_mut(first as usize) {
            // What is unlike most is a part of a call, or of no call.
            if charge.place.is_none() {
                share
                    .traced
                    .add(charge.is_gap, charge.ns, self.context.tracing_cost(task));
            }
        }
        first
    }

    /// The largest unclaimed pieces.
    fn largest(&self, rest_ns: &[(TaskId, i64)], unclaimed: &Unclaimed, limit: usize) -> Pieces {
        let context = self.context;
        let mut tasks: Vec<(TaskId, i64)> =
            rest_ns.iter().copied().filter(|&(_, ns)| ns > 0).collect();
        tasks.par_sort_unstable_by_key(|&(task, ns)| (Reverse(ns), task));
        let mut each: FxHashMap<TaskId, Vec<Piece>> = FxHashMap::default();
        let mut largest: Vec<i64> = Vec::new();
        let twins = context.trace.events.twins();
        for tasks in tasks.chunks(TASKS_AT_ONCE) {
            // No piece is larger than its whole task.
            if largest.len() == limit
                && largest
                    .last()
                    .is_some_and(|&least_ns| tasks[0].1 < least_ns)
            {
                break;
            }
            let of_task = |sums: &mut PieceSums<'_>, &(task, _): &(TaskId, i64)| {
                (task, self.rest_of(task, unclaimed, limit, sums))
            };
            for (task, pieces) in tasks
                .par_iter()
                .map_init(|| PieceSums::new(&twins), of_task)
                .collect::<Vec<_>>()
            {
                largest.extend(pieces.iter().map(|piece| piece.exclusive_ns));
                each.insert(task, pieces);
            }
            largest.sort_unstable_by_key(|&ns| Reverse(ns));
            largest.truncate(limit);
        }
        let tasks = context.trace.tasks.keys();
        Pieces::of_tasks(
            tasks.map(|task| each.remove(&task).unwrap_or_default()),
            context.windows,
        )
    }

    /// The largest unclaimed pieces of a task, in the order of the task.
    fn rest_of(
        &self,
        task: TaskId,
        unclaimed: &Unclaimed,
        limit: usize,
        sums: &mut PieceSums<'_>,
    ) -> Vec<Piece> {
        let (trace, attribution) = (self.context.trace, self.context.attribution);
        let is_free = self.is_free(task);
        let mut is_all = is_free;
        attribution.each_spilled(trace, task, |charge| {
            is_all &= charge
                .place
                .is_some_and(|place| unclaimed.has_spilled(place));
        });
        if is_all {
            return largest(pieces::without_targets(trace, self.pieces.of(task)), limit);
        }
        let is_unclaimed = |at: usize, is_gap: bool| is_free || unclaimed.has(task, at, is_gap);
        let places = attribution.places(trace, task);
        let places = places.filter(|&at| is_unclaimed(at, false) || is_unclaimed(at, true));
        let is_rest = |at: Option<usize>, charge: &Charge| match charge.place {
            Some(place) => unclaimed.has_spilled(place),
            None => at.is_some_and(|at| is_unclaimed(at, charge.is_gap)),
        };
        let mut pieces = Vec::new();
        sums.of_task(
            trace,
            trace.program_index(),
            attribution,
            task,
            places,
            is_rest,
            &mut pieces,
        );
        largest(pieces::without_targets(trace, &pieces), limit)
    }
}

/// Those among the claims on a task that list a shape.
fn claims_on(shape: ShapeId, listed: &[(TaskId, u32, TaskEvents<'_>)]) -> Vec<ShapeClaim> {
    let claim = |&(_, number, part): &(TaskId, u32, TaskEvents<'_>)| match part {
        TaskEvents::Shapes(shapes, first_row, last_row) if shapes.binary_search(&shape).is_ok() => {
            Some((number, first_row, last_row))
        }
        _ => None,
    };
    listed.iter().filter_map(claim).collect()
}

/// The `limit` largest pieces, including ties with the last of them. The order is preserved.
fn largest(mut pieces: Vec<Piece>, limit: usize) -> Vec<Piece> {
    let mut sizes: Vec<i64> = pieces.iter().map(|piece| piece.exclusive_ns).collect();
    sizes.sort_unstable_by_key(|&ns| Reverse(ns));
    if let Some(&least_ns) = limit.checked_sub(1).and_then(|last| sizes.get(last)) {
        pieces.retain(|piece| piece.exclusive_ns >= least_ns);
    }
    pieces
}

/// Program, shape, target and kind. Parts of a task's path that agree in these match the same claims on pieces.
type Like = (Text, ShapeId, Text, u32);

/// The claims on pieces of the partition.
struct Scopes {
    /// Sorted by claim number.
    filters: Vec<(u32, ScopeFilter)>,
    /// Whether a filter needs targets. If so, calls of one shape may match different claims.
    has_targets: bool,
}

impl Scopes {
    fn new(trace: &Trace, claims: &[Vec<Provenance>]) -> Scopes {
        let each = (0u32..)
            .zip(claims)
            .flat_map(|(number, members)| members.iter().map(move |each| (number, each)));
        let filter = |(number, each): (u32, &Provenance)| match each {
            Provenance::Pieces(scope) => Some((number, ScopeFilter::new(trace, scope))),
            _ => None,
        };
        let filters: Vec<_> = each.filter_map(filter).collect();
        let has_targets = filters.iter().any(|(_, filter)| filter.needs_targets());
        Scopes {
            filters,
            has_targets,
        }
    }

    /// The numbers of the claims on pieces that cover a part of the path, in order. `known` memoises the results for
    /// one task.
    fn of<'k>(
        &self,
        context: &TableContext<'_>,
        task: TaskId,
        charge: &Charge,
        known: &'k mut FxHashMap<Like, Vec<u32>>,
    ) -> &'k [u32] {
        if self.filters.is_empty() {
            return &[];
        }
        let trace = context.trace;
        let program = piece::program_of(
            trace,
            trace.program_index(),
            context.attribution,
            task,
            charge,
        );
        let is_call = !charge.is_gap && charge.row != NONE;
        let target = if is_call && self.has_targets {
            trace.events.target(charge.row)
        } else {
            Text::NONE
        };
        known
            .entry((program, charge.shape, target, charge.kind()))
            .or_insert_with(|| {
                let piece = piece_of(trace, task, program, charge);
                // Pieces with several targets are listed with the part that these targets share.
                let common = piece.of_several_targets(trace);
                let matches =
                    |filter: &ScopeFilter| filter.has(trace, &piece) || filter.has(trace, &common);
                let mut has: Vec<u32> = self
                    .filters
                    .iter()
                    .filter(|(_, filter)| matches(filter))
                    .map(|&(number, _)| number)
                    .collect();
                has.dedup();
                has
            })
    }
}
