//! The path by event: how much wall time each call has, and each gap behind a call.
//!
//! ```text
//! task       |--- read ---|   gap    |-- write --|          rows 1 and 2
//! on path         |=======|==========|====|
//! calls      row 1: ======            row 2: ====
//! gaps       row 1: ==========
//! ```
//! Nearly all stretches are like these, so two numbers and a byte a row hold them; the others are kept as they are.

use crate::events::NONE;
use crate::path::{Segment, What};
use parsers::syscalls::Class;
use rustc_hash::FxHashMap;

/// Lengths of time by row: 32 bits each, the few that are longer apart.
#[derive(Debug, Default)]
struct Lengths {
    short: Vec<u32>,
    long: FxHashMap<u32, i64>,
}

impl Lengths {
    fn new(rows: usize) -> Lengths {
        Lengths { short: vec![0; rows], long: FxHashMap::default() }
    }

    fn of(&self, row: u32) -> i64 {
        match self.short.get(row as usize) {
            Some(&u32::MAX) => self.long.get(&row).copied().unwrap_or(0),
            Some(&ns) => i64::from(ns),
            None => 0,
        }
    }

    fn add(&mut self, row: u32, ns: i64) {
        let sum = self.of(row).saturating_add(ns);
        let Some(short) = self.short.get_mut(row as usize) else { return };
        match u32::try_from(sum) {
            Ok(sum) if sum != u32::MAX => *short = sum,
            _ => {
                *short = u32::MAX;
                self.long.insert(row, sum);
            }
        }
    }
}

/// What the stretches in a call are: a class, and whether it is known what ended it. 0 is nothing yet.
fn kind_of(segment: &Segment) -> u8 {
    1 + 2 * segment.class as u8 + u8::from(segment.resolved)
}

/// Wall time of the path by event. All of it: the sums are those of the windows.
#[derive(Debug, Default)]
pub struct Charges {
    calls: Lengths,
    kinds: Vec<u8>,
    gaps: Lengths,
    others: Vec<Segment>,
    /// Places in `others` by row.
    others_of: FxHashMap<u32, Vec<u32>>,
}

/// A part of the path: all of its time in one call or gap that is of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The event; of a gap the call before it, [`NONE`] before the first.
    pub row: u32,
    /// Whether it is the gap behind the call.
    pub is_gap: bool,
    /// What the time is spent on.
    pub class: Class,
    /// Whether it is known what ended it.
    pub resolved: bool,
    /// How long.
    pub ns: i64,
}

impl Charges {
    /// Nothing charged yet, for a trace of so many events.
    pub fn new(rows: u32) -> Charges {
        let rows = rows as usize;
        Charges { calls: Lengths::new(rows), kinds: vec![0; rows], gaps: Lengths::new(rows), ..Charges::default() }
    }

    /// Take a stretch of the path.
    pub fn add(&mut self, segment: &Segment) {
        let kind = kind_of(segment);
        match segment.what {
            What::Gap(row) if row != NONE && segment.class == Class::User && segment.resolved => {
                self.gaps.add(row, segment.dur_ns());
            }
            What::Call(row) | What::Resume(row) | What::Silence(row) | What::Spawn(row)
                if self.kinds.get(row as usize).is_some_and(|&known| known == 0 || known == kind) =>
            {
                self.kinds[row as usize] = kind;
                self.calls.add(row, segment.dur_ns());
            }
            _ => {
                let row = match segment.what {
                    What::Gap(row) => row,
                    what => what.row().unwrap_or(NONE),
                };
                self.others_of.entry(row).or_default().push(self.others.len() as u32);
                self.others.push(*segment);
            }
        }
    }

    /// Time in a call, or in the silence behind a message.
    pub fn in_call_ns(&self, row: u32) -> i64 {
        self.calls.of(row) + self.other_ns(row, false)
    }

    /// Time between a call and the next one of its task.
    pub fn behind_ns(&self, row: u32) -> i64 {
        self.gaps.of(row) + self.other_ns(row, true)
    }

    /// The calls behind which there is a gap with at least so much time, in order.
    pub fn long_gaps(&self, at_least_ns: i64) -> Vec<u32> {
        let least = u32::try_from(at_least_ns).unwrap_or(u32::MAX);
        let rows = (0u32..).zip(&self.gaps.short).filter(|&(_, &ns)| ns >= least).map(|(row, _)| row);
        let others =
            self.others_of.keys().copied().filter(|&row| row != NONE && self.other_ns(row, true) >= at_least_ns);
        let mut rows: Vec<u32> = rows.chain(others).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    fn other_ns(&self, row: u32, is_gap: bool) -> i64 {
        if self.others.is_empty() {
            return 0;
        }
        self.others_at(row).filter(|segment| matches!(segment.what, What::Gap(_)) == is_gap).map(Segment::dur_ns).sum()
    }

    fn others_at(&self, row: u32) -> impl Iterator<Item = &Segment> {
        let places = self.others_of.get(&row).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|&at| self.others.get(at as usize))
    }
}
