//! The columns of the lines of a capture, decided from its head.
//!
//! truss prints up to three columns of the same form, in the order of `-d`, `-D`, `-E`, as far as requested. With one
//! or two columns, their numbers show what they are: `-d` never falls, `-D` is the difference of successive `-d` of an
//! LWP, and `-E`, being CPU time, is nearly always zero.

use super::split::{SolarisSplit, split};
use super::{call, notes, table};
use crate::format::{Head, Parsed};
use crate::truss_common::{self, CallText};
use rustc_hash::FxHashMap;

/// What a time column is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SolarisColumn {
    /// `-d`: end of the call since the base.
    End,
    /// `-D`: since the LWP's previous event.
    Since,
    /// `-E`: system CPU time.
    Cpu,
}

/// The layout of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SolarisLayout {
    /// The time columns; [`SolarisLayout::count`] is their number.
    pub columns: [SolarisColumn; 3],
    /// Number of time columns.
    pub count: usize,
    /// Whether events begin with a process id.
    pub has_pids: bool,
    /// Whether some events begin with the number of an LWP.
    pub has_lwps: bool,
    /// The capture is a `-c` table.
    pub is_table: bool,
    /// The time of the base line, in ns since 1970.
    pub base_ns: Option<i64>,
}

impl SolarisLayout {
    /// The time columns in use.
    pub fn columns(&self) -> &[SolarisColumn] {
        self.columns.get(..self.count).unwrap_or(&self.columns)
    }

    /// Whether there is this column.
    pub fn has(&self, column: SolarisColumn) -> bool {
        self.columns().contains(&column)
    }
}

/// Decide.
pub(super) fn of(head: Head<'_>) -> SolarisLayout {
    let base_ns = head.lines().find_map(notes::base_ns);
    let mut events: Vec<SolarisSplit<'_>> = Vec::new();
    let mut with_times = [0usize; 4];
    for line in head.lines() {
        let split = split(line, 3);
        if is_event(split.body) {
            with_times[split.columns] += 1;
            events.push(split);
        }
    }
    // Notices and lines of other writers have no columns, so any number of columns beats zero.
    let count = (1..4)
        .filter(|&count| with_times[count] > 0)
        .max_by_key(|&count| with_times[count])
        .unwrap_or(0);
    let has_pids = events.iter().filter(|event| event.pid >= 0).count() * 2 > events.len();
    let has_lwps = events.iter().any(|event| event.lwp >= 0);
    let is_table = events.is_empty() && head.lines().any(table::is_sign);
    events.retain(|event| event.columns == count);
    let columns = columns(count, base_ns.is_some(), &events);
    SolarisLayout {
        columns,
        count,
        has_pids,
        has_lwps,
        is_table,
        base_ns,
    }
}

fn is_event(body: &[u8]) -> bool {
    // Function lines of `-u`: differences count from them as from any other event.
    let is_function = body.starts_with(b"-> ") || body.starts_with(b"<- ");
    is_function
        || matches!(call::read(body), CallText::Call(_))
        || notes::event(body, &mut Parsed::default()).is_some()
}

fn columns(count: usize, has_base: bool, events: &[SolarisSplit<'_>]) -> [SolarisColumn; 3] {
    use SolarisColumn::{Cpu, End, Since};
    match count {
        1 if has_base || never_falls(events) => [End, Since, Cpu],
        1 if is_cpu(events) => [Cpu, End, Since],
        1 => [Since, End, Cpu],
        2 if !(has_base || never_falls(events)) => [Since, Cpu, End],
        2 if is_difference(events) => [End, Since, Cpu],
        2 => [End, Cpu, Since],
        _ => [End, Since, Cpu],
    }
}

/// First columns of successive events of the same LWP.
fn successive<'a>(
    events: &'a [SolarisSplit<'a>],
) -> impl Iterator<Item = (&'a SolarisSplit<'a>, &'a SolarisSplit<'a>)> {
    let mut last: FxHashMap<(i32, i32), &SolarisSplit<'_>> = FxHashMap::default();
    events
        .iter()
        .filter_map(move |event| Some((last.insert((event.pid, event.lwp), event)?, event)))
}

/// Whether the first column can be `-d`.
fn never_falls(events: &[SolarisSplit<'_>]) -> bool {
    truss_common::never_falls(
        events
            .iter()
            .map(|event| ((event.pid, event.lwp), event.times_ns[0])),
    )
}

/// Whether the second column is the difference of the first, for all events where the first changes.
fn is_difference(events: &[SolarisSplit<'_>]) -> bool {
    let (mut fits, mut pairs) = (0, 0);
    for (before, event) in successive(events) {
        let since_ns = event.times_ns[0] - before.times_ns[0];
        if since_ns > 0 {
            pairs += 1;
            fits += usize::from(since_ns == event.times_ns[1]);
        }
    }
    // With a single event per LWP: the first difference counts from the base.
    let is_first = || {
        events
            .iter()
            .all(|event| event.times_ns[0] == event.times_ns[1])
    };
    if pairs == 0 {
        is_first()
    } else {
        fits * 2 >= pairs
    }
}

/// Whether a column can be CPU time: no call uses the processor for a second without a stop, and most use too little to
/// be visible.
fn is_cpu(events: &[SolarisSplit<'_>]) -> bool {
    let zeros = events.iter().filter(|event| event.times_ns[0] == 0).count();
    let longest_ns = events
        .iter()
        .map(|event| event.times_ns[0])
        .max()
        .unwrap_or(0);
    longest_ns < 1_000_000_000 && zeros * 2 >= events.len()
}
