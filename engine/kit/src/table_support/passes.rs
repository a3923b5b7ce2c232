//! Passes: how often a process reads something from its start. It starts over by opening it again, by seeking to the
//! start, or by requesting entries again after the last one.
//!
//! ```text
//! open /etc/passwd = 3 | read 4096 | read 0 | close | open /etc/passwd = 3 | read 4096 | …   one pass per open
//! getdents | getdents 0 | lseek 0 = 0 | getdents …                                           one per return to 0
//! ioctl NEXT = 0 | ioctl NEXT = 0 | ioctl NEXT ESRCH | ioctl NEXT = 0 …                      one after each last entry
//! ```
//! A pass that starts in the middle, with an lseek to another position before the first read, does not count.

use crate::table_support::context::TableContext;
use crate::table_support::shape_index::{ClassifiedCall, ShapeIndex};
use parsers::syscalls::{Action, Transfer};
use parsers::{Outcome, Text};
use rustc_hash::FxHashMap;
use trace::store::events::EventTable;
use trace::store::index::TaskId;

/// What a call does in a pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PassKind {
    /// Opens a file or directory.
    Opens,
    /// Moves the position in it.
    Seeks,
    /// Reads bytes or directory entries.
    Reads(Transfer),
    /// Requests an entry by ioctl.
    Requests,
    /// Requests an entry, and there are no more.
    RequestsWithoutSuccess,
    /// Writes to it.
    Writes,
}

/// Whether the action opens, reads or seeks.
pub fn reads(action: Action) -> bool {
    matches!(action, Action::Opens | Action::Seeks)
        || matches!(action.transfer(), Some(Transfer::Read | Transfer::List))
}

/// Classifies calls by their role in passes.
pub fn kinds(context: &TableContext<'_>) -> ShapeIndex<PassKind> {
    ShapeIndex::new(context, |action, shape| {
        if action == Action::ControlsDevice {
            return shape
                .op
                .is_some()
                .then_some(if shape.outcome == Outcome::Ok {
                    PassKind::Requests
                } else {
                    PassKind::RequestsWithoutSuccess
                });
        }
        if shape.outcome != Outcome::Ok {
            return None;
        }
        match action {
            Action::Seeks => Some(PassKind::Seeks),
            Action::Opens => Some(PassKind::Opens),
            _ => action.transfer().map(|way| match way {
                Transfer::Read | Transfer::List => PassKind::Reads(way),
                Transfer::Write | Transfer::Copy => PassKind::Writes,
            }),
        }
    })
}

/// Maximum number of targets with an analysis of their passes. The targets with the most time on the critical path are
/// analysed. The others are negligible, and most files are opened only once.
pub const MAX_TARGETS: usize = 256;

/// Marks the targets that are started over, by text number, up to `limit` targets with the most time on the critical
/// path. `None` if all marked targets together stay below the caller's threshold.
pub fn begun_again(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<PassKind>,
    limit: usize,
) -> Option<Vec<bool>> {
    let costliest = context
        .memo
        .begun_again
        .get_or_init(|| costliest_begun_again(context, kinds));
    let costliest = &costliest[..limit.min(costliest.len())];
    // No row or group of merged rows has more time than all of them.
    let ns: i64 = costliest.iter().map(|&(_, ns)| ns).sum();
    if context
        .threshold
        .is_some_and(|threshold| ns < threshold.least())
    {
        return None;
    }
    let mut chosen = vec![false; context.trace.events.texts.len()];
    costliest
        .iter()
        .for_each(|&(target, _)| chosen[target.0 as usize] = true);
    Some(chosen)
}

/// The costliest of these targets with their time, in this order.
fn costliest_begun_again(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<PassKind>,
) -> Vec<(Text, i64)> {
    let events = &context.trace.events;
    let mut targets: Vec<(u8, i64)> = vec![(0, 0); events.texts.len()];
    for (row, kind) in context.tasks().flat_map(|task| kinds.calls(context, task)) {
        let begins = match kind {
            PassKind::Opens | PassKind::RequestsWithoutSuccess => true,
            PassKind::Seeks => events.ret(row) == 0,
            _ => false,
        };
        if let Some((starts, ns)) = targets.get_mut(events.target(row).0 as usize) {
            *starts = starts.saturating_add(u8::from(begins));
            *ns += context.exclusive_ns(row);
        }
    }
    let again = (1u32..)
        .zip(&targets[1..])
        .filter(|(_, (starts, _))| *starts > 1);
    let mut again: Vec<(Text, i64)> = again.map(|(number, &(_, ns))| (Text(number), ns)).collect();
    if again.len() > MAX_TARGETS {
        again.select_nth_unstable_by_key(MAX_TARGETS, order);
        again.truncate(MAX_TARGETS);
    }
    again.sort_unstable_by_key(order);
    again
}

fn order(&(target, ns): &(Text, i64)) -> (std::cmp::Reverse<i64>, Text) {
    (std::cmp::Reverse(ns), target)
}

/// The object of a pass: a target, and the request for ioctls.
pub type Thing = (Text, Text);

/// All passes of a process over one thing.
#[derive(Default)]
pub struct Passes {
    /// Passes that read something.
    pub passes: i64,
    /// Passes that started with an open.
    pub opens: i64,
    /// Calls that returned something.
    pub entries: i64,
    /// Bytes of the largest pass.
    pub largest_bytes: i64,
    /// Calls of the first pass.
    pub first: Vec<u32>,
    /// Calls of the other passes.
    pub again: Vec<u32>,
    /// Whether the process also wrote to it.
    pub written: bool,
    /// Whether directory entries were read.
    pub is_list: bool,
    current: Pass,
}

/// The current pass of a process.
#[derive(Default)]
struct Pass {
    start: u32,
    opened: bool,
    elsewhere: bool,
    ended: bool,
    entries: i64,
    bytes: i64,
    rows: Vec<u32>,
}

/// The start of the next pass over a target.
#[derive(Default)]
struct Start {
    /// Number of the start; 0 if the target was open before the capture started.
    number: u32,
    opened: bool,
    elsewhere: bool,
    /// Whether anything was read since.
    used: bool,
    written: bool,
    rows: Vec<u32>,
}

/// The passes of one program of a process over one thing.
pub struct ProcessPasses {
    /// The main task of the process.
    pub task: TaskId,
    /// The program.
    pub program: Text,
    /// What it passes over.
    pub thing: Thing,
    /// Its passes.
    pub passes: Passes,
}

/// The passes of a process over the chosen targets.
pub fn of_process(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<PassKind>,
    chosen: &[bool],
    tasks: &[TaskId],
) -> Vec<ProcessPasses> {
    let events = &context.trace.events;
    let mut walker = Walker::default();
    let matters = |row: u32| chosen.get(events.target(row).0 as usize) == Some(&true);
    for call in kinds.calls_of(context, tasks, matters) {
        walker.step(events, &call, events.target(call.row));
    }
    let Walker { starts, things } = walker;
    let found = things.into_iter().map(|((program, thing), mut passes)| {
        passes.end();
        passes.written = starts.get(&thing.0).is_some_and(|start| start.written);
        ProcessPasses {
            task: tasks[0],
            program,
            thing,
            passes,
        }
    });
    found.filter(|found| found.passes.passes > 0).collect()
}

#[derive(Default)]
struct Walker {
    starts: FxHashMap<Text, Start>,
    things: FxHashMap<(Text, Thing), Passes>,
}

impl Walker {
    fn step(&mut self, events: &EventTable, call: &ClassifiedCall<PassKind>, target: Text) {
        let start = self.starts.entry(target).or_default();
        let (row, ret) = (call.row, events.ret(call.row));
        match call.kind {
            PassKind::Opens => start.begin(row, true),
            // A seek to the start right after an open does not start a new pass.
            PassKind::Seeks if ret == 0 && !start.used => start.rows.push(row),
            PassKind::Seeks if ret == 0 => start.begin(row, false),
            PassKind::Seeks => start.elsewhere |= !start.used,
            PassKind::Writes => start.written = true,
            PassKind::Reads(way) => {
                let passes = self
                    .things
                    .entry((call.program, (target, Text::NONE)))
                    .or_default();
                passes.is_list = way == Transfer::List;
                passes.entry(start, row, events.bytes(row).unwrap_or(0), false);
            }
            PassKind::Requests | PassKind::RequestsWithoutSuccess => {
                let passes = self
                    .things
                    .entry((call.program, (target, events.shape(row).op)))
                    .or_default();
                passes.entry(start, row, i64::from(call.kind == PassKind::Requests), true);
            }
        }
    }
}

impl Start {
    fn begin(&mut self, row: u32, opened: bool) {
        *self = Start {
            number: self.number + 1,
            opened,
            elsewhere: false,
            used: false,
            written: self.written,
            rows: vec![row],
        };
    }
}

impl Passes {
    /// Adds a request for an entry; zero bytes mean the end. After the end, only ioctls start over without a seek or an
    /// open. If a read returns data after the end, it was appended later.
    fn entry(&mut self, start: &mut Start, row: u32, bytes: i64, is_request: bool) {
        let again = is_request && self.current.ended && bytes > 0;
        if self.current.start != start.number || self.current.rows.is_empty() || again {
            self.end();
            let rows = std::mem::take(&mut start.rows);
            let (opened, elsewhere) = (start.opened && !start.used, start.elsewhere);
            self.current = Pass {
                start: start.number,
                opened,
                elsewhere,
                rows,
                ..Pass::default()
            };
        }
        start.used = true;
        self.current.rows.push(row);
        self.current.ended |= bytes == 0;
        if bytes > 0 {
            self.current.entries += 1;
            self.current.bytes += if is_request { 0 } else { bytes };
        }
    }

    /// Ends the current pass. It counts if it read something and started at the start.
    fn end(&mut self) {
        let pass = std::mem::take(&mut self.current);
        if pass.entries == 0 || pass.elsewhere {
            return;
        }
        self.passes += 1;
        self.opens += i64::from(pass.opened);
        self.entries += pass.entries;
        self.largest_bytes = self.largest_bytes.max(pass.bytes);
        if self.passes == 1 {
            self.first = pass.rows;
        } else {
            self.again.extend(pass.rows);
        }
    }
}
