//! The columns of the lines of a capture, decided from its head.
//!
//! With two times, the first is the time and the second the duration. A single time that never falls within a process
//! is the time (`-d`); one that falls is the duration (`-D`).

use super::call::{self, FreebsdEnd};
use super::notes::{self, FreebsdNote};
use super::split::{FreebsdSplit, split};
use super::table;
use crate::format::Head;
use crate::scan;
use crate::truss_common::{self, CallText, TrussCall};

/// Smaller ids are those of processes.
const FIRST_THREAD: i32 = 100_000;

/// The ids before a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FreebsdIds {
    /// There are none.
    None,
    /// `-f`.
    Process,
    /// `-H`.
    Thread,
    /// `-f -H`.
    Both,
}

/// The layout of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FreebsdLayout {
    /// What the ids are.
    pub ids: FreebsdIds,
    /// Number of time columns.
    pub columns: usize,
    /// Whether the first of them is the time of the return.
    pub has_stamps: bool,
    /// From a version that used procfs: signals without a name or an owner, exit statuses as in wait.
    pub is_old: bool,
    /// Exit statuses may be those of wait: no line shows that the version prints plain ones.
    pub is_raw: bool,
    /// The capture is a `-c` table.
    pub is_table: bool,
}

impl FreebsdLayout {
    /// Whether the last time column is the duration.
    pub fn has_durations(&self) -> bool {
        self.columns == 2 || (self.columns == 1 && !self.has_stamps)
    }

    /// Whether lines have thread ids.
    pub fn has_tids(&self) -> bool {
        matches!(self.ids, FreebsdIds::Thread | FreebsdIds::Both)
    }
}

/// Decide.
pub(super) fn of(head: Head<'_>) -> FreebsdLayout {
    let (mut events, mut age): (Vec<FreebsdSplit<'_>>, Age) = (Vec::new(), Age::default());
    let mut with_times = [0usize; 3];
    for line in head.lines() {
        let split = split(line, 2);
        age.look_at(split.body);
        if is_event(split.body) {
            with_times[split.columns] += 1;
            events.push(split);
        }
    }
    // Some lines of old versions have no columns, so any number of them beats zero.
    let columns = (1..3)
        .filter(|&count| with_times[count] > 0)
        .max_by_key(|&count| with_times[count])
        .unwrap_or(0);
    let ids = ids(&events);
    let is_table = events.is_empty() && head.lines().any(table::is_row);
    events.retain(|event| event.columns == columns);
    let has_stamps = columns == 2 || (columns == 1 && never_falls(&events));
    FreebsdLayout {
        ids,
        columns,
        has_stamps,
        is_old: age.old,
        is_raw: age.is_raw(),
        is_table,
    }
}

fn is_event(body: &[u8]) -> bool {
    let is_note = || {
        notes::read(body).is_some_and(|note| {
            !matches!(
                note,
                FreebsdNote::Unknown | FreebsdNote::OldStop | FreebsdNote::Message
            )
        })
    };
    matches!(call::read(body), CallText::Call(_)) || is_note()
}

fn ids(events: &[FreebsdSplit<'_>]) -> FreebsdIds {
    let prefixed = events.iter().filter(|event| event.prefixed()).count();
    let both = events.iter().filter(|event| event.second >= 0).count();
    let threads = events
        .iter()
        .filter(|event| event.first >= FIRST_THREAD)
        .count();
    match prefixed {
        _ if prefixed * 2 <= events.len() => FreebsdIds::None,
        _ if both * 2 > prefixed => FreebsdIds::Both,
        _ if threads == prefixed => FreebsdIds::Thread,
        _ => FreebsdIds::Process,
    }
}

/// Whether a single column can be `-d`.
fn never_falls(events: &[FreebsdSplit<'_>]) -> bool {
    truss_common::never_falls(
        events
            .iter()
            .map(|event| ((event.first, event.second), event.times_ns[0])),
    )
}

/// The age of the version, by lines that only some versions print.
#[derive(Default)]
struct Age {
    old: bool,
    new: bool,
    passed: Vec<i64>,
    reported: Vec<i64>,
}

impl Age {
    fn look_at(&mut self, body: &[u8]) {
        match notes::read(body) {
            Some(FreebsdNote::Signal(_, b"") | FreebsdNote::OldStop) => self.old = true,
            Some(FreebsdNote::Exit(status)) => self.reported.push(status),
            Some(FreebsdNote::Message) => {}
            Some(_) => self.new = true,
            None if body.starts_with(b"exit(") => {
                if let CallText::Call(TrussCall {
                    args,
                    end: FreebsdEnd::Nothing,
                    ..
                }) = call::read(body)
                {
                    self.passed
                        .extend(scan::value(args).map(|(status, _)| status));
                }
            }
            None => {}
        }
    }

    /// Whether statuses may be those of wait. A status that is reported as it was passed to exit is a plain one.
    fn is_raw(&self) -> bool {
        let plain = self
            .reported
            .iter()
            .any(|status| *status != 0 && self.passed.contains(status));
        self.old || !(self.new || plain)
    }
}
