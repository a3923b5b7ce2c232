//! What a row of a table is about, event by event, and whose the time on the path is when several rows speak of it.

use crate::charges::Charge;
use crate::events::NONE;
use crate::fold::{Filter, Scope};
use crate::partition::{self, Piece, Pieces, piece_of};
use crate::trace::Trace;
use crate::view::View;
use parsers::Text;
use rustc_hash::FxHashMap;

/// The events behind a row of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Members {
    /// These calls, in any order.
    Rows(Vec<u32>),
    /// The calls of these tasks with these shapes (numbers of [`crate::events::EventTable::shape`], in order), from one
    /// row to another: for what would be too many to list.
    Shapes {
        /// The tasks.
        tasks: Vec<u32>,
        /// Sorted.
        shapes: Vec<u32>,
        /// First row that may be one of them.
        first_row: u32,
        /// Last row that may be one of them.
        last_row: u32,
    },
    /// All calls of a task that start from one call to another, both included, and the gaps behind all but the last.
    Stretch {
        /// The task.
        task: u32,
        /// Its first call.
        first_row: u32,
        /// Its last call.
        last_row: u32,
    },
    /// Several of them: task, first call, last call.
    Stretches(Vec<(u32, u32, u32)>),
    /// The gaps behind these calls.
    Gaps(Vec<u32>),
    /// All that begins in a capture between these moments, which are in order and apart: whoever worked then.
    Times {
        /// The capture.
        capture: u32,
        /// From, to.
        times: Vec<(i64, i64)>,
    },
    /// Pieces of the partition.
    Pieces(Scope),
}

impl Members {
    /// Each call, and each gap by the call before it. Pieces are not known by their events.
    fn each(&self, trace: &Trace, mut tell: impl FnMut(u32, bool)) {
        match self {
            Members::Rows(rows) => rows.iter().for_each(|&row| tell(row, false)),
            Members::Gaps(rows) => rows.iter().for_each(|&row| tell(row, true)),
            Members::Shapes { tasks, shapes, first_row, last_row } => {
                for &row in tasks.iter().flat_map(|&task| trace.rows_of(task)) {
                    let within = (*first_row..=*last_row).contains(&row);
                    if within && shapes.binary_search(&trace.events.shape_number(row)).is_ok() {
                        tell(row, false);
                    }
                }
            }
            &Members::Stretch { task, first_row, last_row } => stretch(trace, (task, first_row, last_row), &mut tell),
            Members::Stretches(all) => all.iter().for_each(|&one| stretch(trace, one, &mut tell)),
            Members::Times { capture, times } => within(trace, *capture, times, &mut tell),
            Members::Pieces(_) => {}
        }
    }
}

fn stretch(trace: &Trace, (task, first_row, last_row): (u32, u32, u32), tell: &mut impl FnMut(u32, bool)) {
    for &row in trace.rows_from(task, first_row) {
        tell(row, false);
        if row == last_row {
            break;
        }
        tell(row, true);
    }
}

/// Calls that begin, and gaps that begin, at these times.
fn within(trace: &Trace, capture: u32, times: &[(i64, i64)], tell: &mut impl FnMut(u32, bool)) {
    let events = &trace.events;
    let Some(tasks) = trace.captures.get(capture as usize).map(|capture| capture.tasks.clone()) else { return };
    for rows in tasks.map(|task| trace.rows_of(task)) {
        for &(from_ns, to_ns) in times {
            // One call that began earlier may have its gap inside.
            let first = rows.partition_point(|&row| events.start_ns(row) < from_ns).saturating_sub(1);
            for &row in rows[first..].iter().take_while(|&&row| events.start_ns(row) < to_ns) {
                let end_ns = events.end_ns(row).unwrap_or(events.start_ns(row));
                if events.start_ns(row) >= from_ns {
                    tell(row, false);
                }
                if (from_ns..to_ns).contains(&end_ns) {
                    tell(row, true);
                }
            }
        }
    }
}

/// What somebody who claims time of the path gets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// Time on the path of all members.
    pub total_ns: i64,
    /// The part of it that no earlier claim has.
    pub own_ns: i64,
    /// The parts that earlier claims have, by their numbers.
    pub taken: Vec<(u32, i64)>,
}

/// Claims on the path: each moment belongs to the first claim that has it.
pub struct Claims {
    /// What each claim gets.
    pub shares: Vec<Share>,
    /// What nobody claims.
    pub rest: Pieces,
}

/// Events by their first claim; 0 is nobody.
struct Owners {
    calls: Vec<u32>,
    gaps: Vec<u32>,
}

impl Owners {
    fn at(&mut self, row: u32, is_gap: bool) -> Option<&mut u32> {
        if is_gap { self.gaps.get_mut(row as usize) } else { self.calls.get_mut(row as usize) }
    }

    fn of(&self, charge: &Charge) -> u32 {
        let owners = if charge.is_gap { &self.gaps } else { &self.calls };
        owners.get(charge.row as usize).copied().unwrap_or(0)
    }
}

/// What is claimed, a bit for each part of the path.
struct Claimed {
    calls: Vec<bool>,
    gaps: Vec<bool>,
    others: Vec<bool>,
}

impl Claimed {
    fn new(rows: usize, others: usize) -> Claimed {
        Claimed { calls: vec![false; rows], gaps: vec![false; rows], others: vec![false; others] }
    }

    fn place(&self, charge: &Charge) -> (&[bool], usize) {
        match charge.place {
            Some(place) => (&self.others, place as usize),
            None if charge.is_gap => (&self.gaps, charge.row as usize),
            None => (&self.calls, charge.row as usize),
        }
    }

    fn set(&mut self, charge: &Charge) {
        let bit = match charge.place {
            Some(place) => self.others.get_mut(place as usize),
            None if charge.is_gap => self.gaps.get_mut(charge.row as usize),
            None => self.calls.get_mut(charge.row as usize),
        };
        if let Some(bit) = bit {
            *bit = true;
        }
    }

    fn has(&self, charge: &Charge) -> bool {
        let (bits, at) = self.place(charge);
        bits.get(at).copied().unwrap_or(false)
    }
}

/// Divide the path among claims, the first of which goes first. A claim may have several members.
pub fn claims(view: &View<'_>, claims: &[Vec<&Members>]) -> Claims {
    let (trace, charges) = (view.trace, view.charges);
    let rows = trace.events.len() as usize;
    let mut owners = Owners { calls: vec![0; rows], gaps: vec![0; rows] };
    let mut shares = vec![Share::default(); claims.len()];
    let contested = owned(trace, claims, &mut owners);
    let mut scopes = Scopes::new(trace, claims);
    let mut claimed = Claimed::new(rows, charges.others());
    let programs = &view.selection.program_index;
    for task in 0..trace.tasks.len() as u32 {
        scopes.known.clear();
        charges.each(trace, task, |charge| {
            let owner = owners.of(charge).checked_sub(1).unwrap_or(NONE);
            let program = || partition::program_of(trace, programs, charges, task, charge);
            let has = scopes.of(trace, task, program, charge);
            let first = has.iter().copied().chain([owner]).min().unwrap_or(NONE);
            for &number in has.iter().filter(|&&number| number != owner).chain([&owner]) {
                take(&mut shares, number, first, charge.ns);
            }
            if first != NONE {
                claimed.set(charge);
            }
        });
    }
    for (number, row, is_gap) in contested {
        let ns = if is_gap { charges.behind_ns(row) } else { charges.in_call_ns(row) };
        let first = owners.at(row, is_gap).map_or(NONE, |owner| *owner - 1);
        take(&mut shares, number, first, ns);
    }
    let rest = Pieces::of(trace, programs, charges, view.windows, |charge| !claimed.has(charge));
    Claims { shares, rest }
}

/// Give each event to the first claim that lists it; the answer is what later ones list too.
fn owned(trace: &Trace, claims: &[Vec<&Members>], owners: &mut Owners) -> Vec<(u32, u32, bool)> {
    let mut contested: Vec<(u32, u32, bool)> = Vec::new();
    for (number, members) in (0u32..).zip(claims) {
        for each in members {
            each.each(trace, |row, is_gap| match owners.at(row, is_gap) {
                Some(owner @ 0) => *owner = number + 1,
                Some(&mut owner) if owner != number + 1 => contested.push((number, row, is_gap)),
                _ => {}
            });
        }
    }
    // The same event may be listed twice by one claim.
    contested.sort_unstable();
    contested.dedup();
    contested
}

fn take(shares: &mut [Share], number: u32, first: u32, ns: i64) {
    let Some(share) = shares.get_mut(number as usize).filter(|_| ns > 0) else { return };
    share.total_ns += ns;
    if number == first {
        share.own_ns += ns;
    } else if let Some(taken) = share.taken.iter_mut().find(|(known, _)| *known == first) {
        taken.1 += ns;
    } else {
        share.taken.push((first, ns));
    }
}

/// The claims on pieces of the partition.
struct Scopes {
    filters: Vec<(u32, Filter)>,
    /// Whether one of them asks for targets: then calls of one shape may differ.
    has_targets: bool,
    /// Claims by program, shape, target and kind, for the task looked at.
    known: FxHashMap<(Text, u32, Text, u32), Vec<u32>>,
}

impl Scopes {
    fn new(trace: &Trace, claims: &[Vec<&Members>]) -> Scopes {
        let each = (0u32..).zip(claims).flat_map(|(number, members)| members.iter().map(move |each| (number, *each)));
        let filters = each.filter_map(|(number, each)| match each {
            Members::Pieces(scope) => Some((number, Filter::new(trace, scope))),
            _ => None,
        });
        let filters: Vec<_> = filters.collect();
        let has_targets = filters.iter().any(|(_, filter)| filter.asks_for_targets());
        Scopes { filters, has_targets, known: FxHashMap::default() }
    }

    /// The claims on pieces that have a part of the path, in order.
    fn of(&mut self, trace: &Trace, task: u32, program: impl FnOnce() -> Text, charge: &Charge) -> &[u32] {
        if self.filters.is_empty() {
            return &[];
        }
        let program = program();
        let is_call = !charge.is_gap && charge.row != NONE;
        let shape = if is_call { trace.events.shape_number(charge.row) } else { NONE };
        let target = if is_call && self.has_targets { trace.events.target(charge.row) } else { Text::NONE };
        let filters = &self.filters;
        self.known.entry((program, shape, target, charge.kind())).or_insert_with(|| {
            let piece = piece_of(trace, task, program, charge);
            // Pieces of several targets are known by what these have in common.
            let common = Piece { target: piece.group.target, ..piece };
            let matches = |filter: &Filter| filter.has(trace, &piece) || filter.has(trace, &common);
            let mut has: Vec<u32> =
                filters.iter().filter(|(_, filter)| matches(filter)).map(|&(number, _)| number).collect();
            has.dedup();
            has
        })
    }
}
