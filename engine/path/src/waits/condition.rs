//! The conditions that calls check and that poll loops wait for.

use crate::waits::wait_kinds::{self, is_probe};
use parsers::facts::Fds;
use parsers::syscalls::{Action, Wait, action_of};
use parsers::{Interner, Outcome, Text};
use trace::store::event::Shape;
use trace::store::trace::Trace;

/// The result of a check, by the shape of the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Check {
    /// No check.
    No,
    /// A path exists.
    Found,
    /// A path exists: it was opened.
    Opened,
    /// A path does not exist.
    Missing,
    /// A path could not be created because it exists.
    Taken,
    /// A path was created.
    Made,
    /// Another task holds the lock of a file.
    Locked,
    /// The lock was acquired or released.
    Acquired,
    /// No process listens at an address.
    Refused,
    /// A process listens at the address.
    Connected,
    /// A process exists.
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
    /// Whether another task may remove the obstacle, so that a later check may succeed.
    pub(crate) fn is_hindered(self) -> bool {
        matches!(
            self,
            Check::Missing | Check::Taken | Check::Locked | Check::Refused
        )
    }
}

/// The prefix of paths that exist per process.
pub(crate) const PROCESSES: &[u8] = b"/proc/";

/// The result of a check with this shape.
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

/// Whether a path exists as long as a process does: `/proc/4711`, also with the id normalised.
fn is_process(path: &[u8]) -> bool {
    const FILES: [&[u8]; 6] = [b"", b"/", b"/stat", b"/status", b"/cmdline", b"/comm"];
    let Some(rest) = path.strip_prefix(PROCESSES) else {
        return false;
    };
    let digits = rest
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(rest.len());
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
        Action::Stats | Action::Accesses | Action::ReadsLink => {
            found(Check::Found, Check::Missing, is_missing(errno))
        }
        Action::Opens if errno == b"EEXIST" => Check::Taken,
        // ENXIO: a fifo without a reader, opened for writing.
        Action::Opens => found(
            Check::Opened,
            Check::Missing,
            is_missing(errno) || errno == b"ENXIO",
        ),
        Action::Makes | Action::Links => found(Check::Made, Check::Taken, errno == b"EEXIST"),
        Action::LocksFile | Action::ControlsFile if is_try(op) => found(
            Check::Acquired,
            Check::Locked,
            is_busy || errno == b"EACCES",
        ),
        Action::Connects => found(
            Check::Connected,
            Check::Refused,
            errno == b"ECONNREFUSED" || is_missing(errno),
        ),
        Action::Signals if is_probe(op) => found(Check::Alive, Check::Gone, errno == b"ESRCH"),
        _ => match action.wait() {
            Some(Wait::Child) if works => Check::Waits,
            Some(Wait::Poll) if works => Check::Polls,
            Some(Wait::Read) => found(Check::Read, Check::ReadNothing, is_busy),
            _ => Check::No,
        },
    }
}

/// Whether a call acquires a lock only if it is free, without blocking.
fn is_try(op: &[u8]) -> bool {
    memchr::memmem::find(op, b"LOCK_NB").is_some()
        || matches!(op, b"F_SETLK" | b"F_SETLK64" | b"F_OFD_SETLK")
}

fn is_missing(errno: &[u8]) -> bool {
    matches!(errno, b"ENOENT" | b"ENOTDIR")
}

/// For each shape, whether it may be the last check of a poll loop: checks of the same target had the opposite result.
pub(crate) fn ending(checks: &[(Text, Check)]) -> Vec<bool> {
    // By the number of the text: most targets of a trace are in it, and a map would be slow.
    let most = checks
        .iter()
        .map(|(target, _)| target.0 as usize + 1)
        .max()
        .unwrap_or(0);
    let mut results = vec![0u16; most];
    for &(target, check) in checks {
        results[target.0 as usize] |= 1 << check as u16;
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
        contrary
            .iter()
            .any(|&check| results[target.0 as usize] & 1 << check as u16 != 0)
    };
    checks.iter().map(may_end).collect()
}

/// The condition that a poll loop waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PolledCondition {
    /// A path exists.
    Appears,
    /// A path is removed.
    Vanishes,
    /// A path is removed, so that the poller can create it: a file or directory used as a lock.
    Freed,
    /// The lock of a file is released.
    Unlocked,
    /// A process listens.
    Listens,
    /// A process exited.
    Ends,
    /// A child ended.
    Child,
    /// There is data to read.
    Data,
    /// One of several descriptors is ready.
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

    /// Whether the condition is the same for every process that checks it.
    pub(crate) fn is_of_all_processes(self) -> bool {
        !matches!(
            self,
            PolledCondition::Child | PolledCondition::Data | PolledCondition::Ready
        )
    }

    /// Whether a call found the condition true. `None` if it does not check it.
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
            PolledCondition::Ready if check == Check::Polls => {
                return Some(trace.events.ret(row) != 0);
            }
            PolledCondition::Child | PolledCondition::Ready => return None,
        };
        if yes.contains(&check) {
            Some(true)
        } else {
            no.contains(&check).then_some(false)
        }
    }

    /// Whether two checks are of the same thing.
    pub(crate) fn is_same(self, trace: &Trace, one: u32, other: u32) -> bool {
        let events = &trace.events;
        let target = events.target(one);
        let same_target = target == events.target(other);
        match self {
            PolledCondition::Child => same_target,
            PolledCondition::Ready => {
                let fds = |row: u32| events.facts.get::<Fds>(row);
                same_target
                    && events.shape(one).syscall == events.shape(other).syscall
                    && fds(one) == fds(other)
            }
            _ => same_target && target.is_some(),
        }
    }
}

/// Whether a non-blocking wait found a child that has ended.
fn waited(trace: &Trace, row: u32) -> Option<bool> {
    Some(!wait_kinds::found_no_child(&trace.events, row))
}
