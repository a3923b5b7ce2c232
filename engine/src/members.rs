//! What a row of a table is about, event by event, and whose the time on the path is when several rows speak of it.

use crate::events::NONE;
use crate::fold::{Filter, Scope};
use crate::partition::{Piece, Pieces, piece_of};
use crate::path::{Segment, What, walk};
use crate::select::ProgramIndex;
use crate::trace::Trace;
use crate::view::View;

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
    /// The gaps behind these calls.
    Gaps(Vec<u32>),
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
            Members::Stretch { task, first_row, last_row } => {
                for &row in trace.rows_from(*task, *first_row) {
                    tell(row, false);
                    if row == *last_row {
                        break;
                    }
                    tell(row, true);
                }
            }
            Members::Pieces(_) => {}
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

    fn of(&self, segment: &Segment) -> u32 {
        let owner = match segment.what {
            What::Gap(row) => self.gaps.get(row as usize),
            what => self.calls.get(what.row().unwrap_or(NONE) as usize),
        };
        owner.copied().unwrap_or(0)
    }
}

/// Divide the path among claims, the first of which goes first. A claim may have several members.
pub fn claims(view: &View<'_>, claims: &[Vec<&Members>]) -> Claims {
    let trace = view.trace;
    let rows = trace.events.len() as usize;
    let mut owners = Owners { calls: vec![0; rows], gaps: vec![0; rows] };
    let mut shares = vec![Share::default(); claims.len()];
    let mut others: Vec<(u32, u32, bool)> = Vec::new();
    for (number, members) in (0u32..).zip(claims) {
        for each in members {
            each.each(trace, |row, is_gap| match owners.at(row, is_gap) {
                Some(owner @ 0) => *owner = number + 1,
                Some(&mut owner) if owner != number + 1 => others.push((number, row, is_gap)),
                _ => {}
            });
        }
    }
    // The same event may be listed twice by one claim.
    others.sort_unstable();
    others.dedup();
    let scopes = Scopes::new(trace, claims);
    let programs = ProgramIndex::new(trace);
    let mut rest = Pieces::collector(trace);
    for window in view.windows {
        walk(trace, view.wakers, window, &mut |segment| {
            let owner = owners.of(&segment);
            let first = scopes.each(trace, &programs, &segment, owner, |number, first| {
                take(&mut shares, number, first, segment.dur_ns());
            });
            if owner != 0 && first != owner - 1 {
                take(&mut shares, owner - 1, first, segment.dur_ns());
            } else if owner != 0 {
                take(&mut shares, first, first, segment.dur_ns());
            }
            if first == NONE {
                rest.add(&segment);
            }
        });
    }
    for (number, row, is_gap) in others {
        let ns = if is_gap { view.charges.behind_ns(row) } else { view.charges.in_call_ns(row) };
        let first = owners.at(row, is_gap).map_or(0, |owner| *owner) - 1;
        take(&mut shares, number, first, ns);
    }
    Claims { shares, rest: rest.finish(view.windows) }
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
struct Scopes(Vec<(u32, Filter)>);

impl Scopes {
    fn new(trace: &Trace, claims: &[Vec<&Members>]) -> Scopes {
        let each = (0u32..).zip(claims).flat_map(|(number, members)| members.iter().map(move |each| (number, *each)));
        let filters = each.filter_map(|(number, each)| match each {
            Members::Pieces(scope) => Some((number, Filter::new(trace, scope))),
            _ => None,
        });
        Scopes(filters.collect())
    }

    /// Tell each claim on a piece that has a stretch of the path, and the first of all claims, which is the answer.
    fn each(
        &self,
        trace: &Trace,
        programs: &ProgramIndex,
        segment: &Segment,
        owner: u32,
        mut tell: impl FnMut(u32, u32),
    ) -> u32 {
        let by_row = owner.checked_sub(1).unwrap_or(NONE);
        if self.0.is_empty() {
            return by_row;
        }
        let piece = piece_of(trace, programs, segment);
        // Pieces of several targets are known by what these have in common.
        let common = Piece { target: piece.group.target, ..piece };
        let matches = |filter: &Filter| filter.has(trace, &piece) || filter.has(trace, &common);
        let mut has: Vec<u32> =
            self.0.iter().filter(|(_, filter)| matches(filter)).map(|&(number, _)| number).collect();
        has.dedup();
        let first = has.iter().copied().chain([by_row]).min().unwrap_or(NONE);
        has.into_iter().filter(|&number| number != by_row).for_each(|number| tell(number, first));
        first
    }
}
