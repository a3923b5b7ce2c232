//! What a call checks, and what poll loops wait for.

use crate::store::event::Shape;
use crate::store::trace::Trace;
use crate::waits::wait_kinds::{self, is_probe};
use parsers::syscalls::{Action, Wait, action_of};
use parsers::{Interner, Outcome, Text};
use rustc_hash::FxHashMap;

/// What a call of one shape found out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Check {
    /// Nothing.
    No,
    /// A path is there.
    Found,
    /// The same, by opening it.
    Opened,
    /// A path is not there.
    Missing,
    /// A path that was to be made is there already.
    Taken,
    /// A path was made.
    Made,
    /// Somebody else has the lock of a file.
    Locked,
    /// It was taken, or given back.
    Acquired,
    /// Nobody takes connections at an address.
    Refused,
    /// Somebody does.
    Connected,
    /// A process is there.
    Alive,
    /// No process has this id.
    Gone,
    /// A child may have ended.
    Waits,
    /// There was nothing to read.
    ReadNothing,
    /// There was something to read.
    Read,
    /// One of several things may be ready.
    Polls,
}

impl Check {
    /// Whether something is in the way that others may clear: who looks again later may find it gone.
    pub(crate) fn is_hindered(self) -> bool {
        matches!(self, Check::Missing | Check::Taken | Check::Locked | Check::Refused)
    }
}

/// Where a path per process is.
pub(crate) const PROCESSES: &[u8] = b"/proc/";

/// What a check of this shape found out.
pub(crate) fn check_of(texts: &Interner, shape: &Shape) -> Check {
    let (op, errno) = (texts.bytes(shape.op), texts.bytes(shape.errno));
    let works = shape.outcome == Outcome::Ok;
    let check = check_of_action(action_of(shape.syscall), op, errno, works);
    match check {
        Check::Found | Check::Opened if is_process(texts.bytes(shape.target)) => Check::Alive,
        Check::Missing if is_process(texts.bytes(shape.target)) => Check::Gone,
        check => check,
    }
}

/// Whether a path is there as long as a process is: `/proc/4711`, also where its id is left out.
fn is_process(path: &[u8]) -> bool {
    const FILES: [&[u8]; 6] = [b"", b"/", b"/stat", b"/status", b"/cmdline", b"/comm"];
    let Some(rest) = path.strip_prefix(PROCESSES) else { return false };
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let id = if rest.starts_with(b"N") { 1 } else { digits };
    id > 0 && FILES.contains(&&rest[id..])
}

fn check_of_action(action: Action, op: &[u8], errno: &[u8], works: bool) -> Check {
    let found = |yes: Check, no: Check, is_no: bool| match works {
        true => yes,
        false if is_no => no,
        false => Check::No,
    };
    let is_busy = matches!(errno, b"EAGAIN" | b"EWOULDBLOCK");
    match action {
        Action::Stats | Action::Accesses | Action::ReadsLink => found(Check::Found, Check::Missing, is_missing(errno)),
        Action::Opens if errno == b"EEXIST" => Check::Taken,
        // ENXIO: a fifo without a reader, opened for writing.
        Action::Opens => found(Check::Opened, Check::Missing, is_missing(errno) || errno == b"ENXIO"),
        Action::Makes | Action::Links => found(Check::Made, Check::Taken, errno == b"EEXIST"),
        Action::LocksFile | Action::ControlsFile if is_try(op) => {
            found(Check::Acquired, Check::Locked, is_busy || errno == b"EACCES")
        }
        Action::Connects => found(Check::Connected, Check::Refused, errno == b"ECONNREFUSED" || is_missing(errno)),
        Action::Signals if is_probe(op) => found(Check::Alive, Check::Gone, errno == b"ESRCH"),
        _ => match action.wait() {
            Some(Wait::Child) if works => Check::Waits,
            Some(Wait::Poll) if works => Check::Polls,
            Some(Wait::Read) => found(Check::Read, Check::ReadNothing, is_busy),
            _ => Check::No,
        },
    }
}

/// Whether a call takes a lock if it is free, and does not wait for it.
fn is_try(op: &[u8]) -> bool {
    memchr::memmem::find(op, b"LOCK_NB").is_some() || matches!(op, b"F_SETLK" | b"F_SETLK64" | b"F_OFD_SETLK")
}

fn is_missing(errno: &[u8]) -> bool {
    matches!(errno, b"ENOENT" | b"ENOTDIR")
}

/// Of each check of a shape, whether it may be the last of a poll loop: others of the same target found the contrary.
pub(crate) fn ending(checks: &[(Text, Check)]) -> Vec<bool> {
    let mut failures: FxHashMap<Text, u32> = FxHashMap::default();
    for &(target, check) in checks {
        *failures.entry(target).or_default() |= 1 << check as u16;
    }
    let may_end = |&(target, check): &(Text, Check)| {
        let contrary: &[Check] = match check {
            Check::Found => &[Check::Missing],
            Check::Opened => &[Check::Missing, Check::Taken],
            Check::Missing => &[Check::Found],
            Check::Made => &[Check::Taken],
            Check::Acquired => &[Check::Locked],
            Check::Connected => &[Check::Refused],
            Check::Gone => &[Check::Alive],
            Check::Read => &[Check::ReadNothing],
            Check::Waits | Check::Polls => return true,
            _ => return false,
        };
        let found = failures.get(&target).copied().unwrap_or(0);
        contrary.iter().any(|&check| found & 1 << check as u16 != 0)
    };
    checks.iter().map(may_end).collect()
}

/// What a poll loop waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PolledCondition {
    /// A path to be made.
    Appears,
    /// A path to be removed.
    Vanishes,
    /// The same, to make it oneself: a file or folder as a lock.
    Freed,
    /// The lock of a file to be given back.
    Unlocked,
    /// Somebody to take connections.
    Listens,
    /// A process to be gone.
    Ends,
    /// A child to end.
    Child,
    /// Something to read.
    Data,
    /// One of several things to be ready.
    Ready,
}

impl PolledCondition {
    pub(crate) const ALL: [PolledCondition; 9] = [
        PolledCondition::Appears,
        PolledCondition::Vanishes,
        PolledCondition::Freed,
        PolledCondition::Unlocked,
        PolledCondition::Listens,
        PolledCondition::Ends,
        PolledCondition::Child,
        PolledCondition::Data,
        PolledCondition::Ready,
    ];

    /// Whether every process that checks checks the same.
    pub(crate) fn is_of_all_processes(self) -> bool {
        !matches!(self, PolledCondition::Child | PolledCondition::Data | PolledCondition::Ready)
    }

    /// Whether a call found that it is so; `None` if it does not check that.
    pub(crate) fn reading(self, trace: &Trace, row: u32, check: Check) -> Option<bool> {
        let (no, yes): (&[Check], &[Check]) = match self {
            PolledCondition::Appears => (&[Check::Missing], &[Check::Found, Check::Opened]),
            PolledCondition::Vanishes => (&[Check::Found], &[Check::Missing]),
            PolledCondition::Freed => (&[Check::Taken], &[Check::Made, Check::Opened]),
            PolledCondition::Unlocked => (&[Check::Locked], &[Check::Acquired]),
            PolledCondition::Listens => (&[Check::Refused], &[Check::Connected]),
            PolledCondition::Ends => (&[Check::Alive], &[Check::Gone]),
            PolledCondition::Data => (&[Check::ReadNothing], &[Check::Read]),
            PolledCondition::Child if check == Check::Waits => return waited(trace, row),
            PolledCondition::Ready if check == Check::Polls => return Some(trace.events.ret(row) != 0),
            PolledCondition::Child | PolledCondition::Ready => return None,
        };
        if yes.contains(&check) { Some(true) } else { no.contains(&check).then_some(false) }
    }

    /// Whether two checks are of the same thing.
    pub(crate) fn is_same(self, trace: &Trace, one: u32, other: u32) -> bool {
        let events = &trace.events;
        let target = events.target(one);
        let same_target = target == events.target(other);
        match self {
            PolledCondition::Child => same_target,
            PolledCondition::Ready => {
                let fds =
                    |row: u32| events.fds.binary_search_by_key(&row, |(row, _)| *row).ok().map(|at| &events.fds[at].1);
                same_target && events.shape(one).syscall == events.shape(other).syscall && fds(one) == fds(other)
            }
            _ => same_target && target.is_some(),
        }
    }
}

/// Whether a wait that does not block found a child that has ended.
fn waited(trace: &Trace, row: u32) -> Option<bool> {
    Some(!wait_kinds::found_no_child(&trace.events, row))
}
