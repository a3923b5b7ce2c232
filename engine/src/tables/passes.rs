//! Passes: how often a process goes through a thing from its start, by opening it again, by going back, or by asking for
//! entries again after the last one.
//!
//! ```text
//! open /etc/passwd = 3 | read 4096 | read 0 | close | open /etc/passwd = 3 | read 4096 | …      a pass for each open
//! getdents | getdents 0 | lseek 0 = 0 | getdents …                                              and for each return to 0
//! ioctl NEXT = 0 | ioctl NEXT = 0 | ioctl NEXT ESRCH | ioctl NEXT = 0 …                         and after the last entry
//! ```
//! A pass that begins in the middle (lseek to another place before the first read) reads something else and is none.

use crate::store::events::EventTable;
use crate::table_support::context::TableContext;
use crate::table_support::shape_index::{ClassifiedCall, ShapeIndex};
use parsers::syscalls::{Action, Transfer};
use parsers::{Outcome, Text};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassKind {
    Opens,
    Seeks,
    /// Reads bytes or entries of a directory.
    Reads(Transfer),
    /// Asks by ioctl for something.
    Asks,
    /// Asks, and there is nothing more.
    AsksInVain,
    Writes,
}

/// What calls are to passes.
pub(crate) fn kinds(context: &TableContext<'_>) -> ShapeIndex<PassKind> {
    ShapeIndex::new(context, |action, shape| {
        if action == Action::ControlsDevice {
            return shape.op.is_some().then_some(if shape.outcome == Outcome::Ok {
                PassKind::Asks
            } else {
                PassKind::AsksInVain
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

/// Targets that are begun again somewhere, by number: of those that are, so many with most time on the path. What has
/// next to none cannot matter, and most files are opened once. Nothing if they are all below the threshold of who asks.
pub(crate) fn begun_again(context: &TableContext<'_>, kinds: &ShapeIndex<PassKind>, most: usize) -> Option<Vec<bool>> {
    let events = &context.trace.events;
    let mut targets: Vec<(u8, i64)> = vec![(0, 0); events.texts.len()];
    for (row, kind) in context.tasks().flat_map(|task| kinds.calls(context, task)) {
        let begins = match kind {
            PassKind::Opens | PassKind::AsksInVain => true,
            PassKind::Seeks => events.ret(row) == 0,
            _ => false,
        };
        if let Some((starts, ns)) = targets.get_mut(events.target(row).0 as usize) {
            *starts = starts.saturating_add(u8::from(begins));
            *ns += context.exclusive_ns(row);
        }
    }
    let mut order: Vec<u32> =
        (1u32..).zip(&targets[1..]).filter(|(_, (starts, _))| *starts > 1).map(|(at, _)| at).collect();
    order.sort_unstable_by_key(|&at| (std::cmp::Reverse(targets[at as usize].1), at));
    let mut chosen = vec![false; targets.len()];
    order.truncate(most);
    order.iter().for_each(|&at| chosen[at as usize] = true);
    // No row, and no rows taken together, have more than all of them.
    let ns: i64 = order.iter().map(|&at| targets[at as usize].1).sum();
    let reaches = context.threshold.is_none_or(|threshold| ns >= threshold.least());
    reaches.then_some(chosen)
}

/// What a process goes through: target, and of ioctls the request.
pub(crate) type Thing = (Text, Text);

/// All passes of a process through a thing.
#[derive(Default)]
pub(crate) struct Passes {
    /// Passes that found something.
    pub passes: i64,
    /// Those that began with an open.
    pub opens: i64,
    /// Calls that gave something.
    pub entries: i64,
    /// Bytes of the largest pass.
    pub largest_bytes: i64,
    /// The calls of the first pass.
    pub first: Vec<u32>,
    /// The calls of the others.
    pub again: Vec<u32>,
    /// Whether the process also wrote to it.
    pub written: bool,
    /// Whether entries of a directory were read.
    pub is_list: bool,
    current: Pass,
}

/// The pass that a process is in.
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

/// How the next pass through a target begins.
#[derive(Default)]
struct Start {
    /// Number of the start; it is 0 for what was open before the capture began.
    number: u32,
    opened: bool,
    elsewhere: bool,
    /// Something was read since.
    used: bool,
    written: bool,
    rows: Vec<u32>,
}

/// The passes of a program of a process through a thing.
pub(crate) struct Gone {
    pub task: u32,
    pub program: Text,
    pub thing: Thing,
    pub passes: Passes,
}

/// The passes of a process through what it or another one begins several times.
pub(crate) fn of_process(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<PassKind>,
    chosen: &[bool],
    tasks: &[u32],
) -> Vec<Gone> {
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
        Gone { task: tasks[0], program, thing, passes }
    });
    found.filter(|gone| gone.passes.passes > 0).collect()
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
            // To go back right after opening is no new start.
            PassKind::Seeks if ret == 0 && !start.used => start.rows.push(row),
            PassKind::Seeks if ret == 0 => start.begin(row, false),
            PassKind::Seeks => start.elsewhere |= !start.used,
            PassKind::Writes => start.written = true,
            PassKind::Reads(way) => {
                let passes = self.things.entry((call.program, (target, Text::NONE))).or_default();
                passes.is_list = way == Transfer::List;
                passes.entry(start, row, events.bytes(row).unwrap_or(0), false);
            }
            PassKind::Asks | PassKind::AsksInVain => {
                let passes = self.things.entry((call.program, (target, events.shape(row).op))).or_default();
                passes.entry(start, row, i64::from(call.kind == PassKind::Asks), true);
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
    /// An entry was asked for; with none there was nothing left. After that, only ioctls begin anew by themselves: what
    /// a read finds later was added later.
    fn entry(&mut self, start: &mut Start, row: u32, bytes: i64, asked: bool) {
        let again = asked && self.current.ended && bytes > 0;
        if self.current.start != start.number || self.current.rows.is_empty() || again {
            self.end();
            let rows = std::mem::take(&mut start.rows);
            let (opened, elsewhere) = (start.opened && !start.used, start.elsewhere);
            self.current = Pass { start: start.number, opened, elsewhere, rows, ..Pass::default() };
        }
        start.used = true;
        self.current.rows.push(row);
        self.current.ended |= bytes == 0;
        if bytes > 0 {
            self.current.entries += 1;
            self.current.bytes += if asked { 0 } else { bytes };
        }
    }

    /// The pass is over. It counts if it found something, from the start.
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
