//! What a call checks, and what poll loops wait for.

use crate::store::events::Shape;
use crate::store::trace::Trace;
use crate::waits::wait_kinds::{self, Wait, wait_of};
use parsers::{Interner, Outcome, Text};
use rustc_hash::FxHashMap;

/// What a call of one shape found out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::waits) enum Check {
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
    pub(in crate::waits) fn is_hindered(self) -> bool {
        matches!(self, Check::Missing | Check::Taken | Check::Locked | Check::Refused)
    }
}

/// Where a path per process is.
pub(super) const PROCESSES: &[u8] = b"/proc/";

/// What a check of this shape found out.
pub(in crate::waits) fn check_of(texts: &Interner, shape: &Shape) -> Check {
    let (syscall, op, errno) = (texts.bytes(shape.syscall), texts.bytes(shape.op), texts.bytes(shape.errno));
    let works = shape.outcome == Outcome::Ok;
    let check = check_by_name(syscall, op, errno, works);
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

#[rustfmt::skip]
fn check_by_name(syscall: &[u8], op: &[u8], errno: &[u8], works: bool) -> Check {
    match syscall {
        b"stat" | b"lstat" | b"stat64" | b"lstat64" | b"newfstatat" | b"fstatat" | b"fstatat64" | b"statx" | b"xstat"
        | b"lxstat" | b"access" | b"faccessat" | b"faccessat2" | b"eaccess" | b"readlink" | b"readlinkat" => {
            if works { Check::Found } else if is_missing(errno) { Check::Missing } else { Check::No }
        }
        b"open" | b"openat" | b"openat2" | b"open64" | b"openat64" | b"open_nocancel" => match errno {
            _ if works => Check::Opened,
            // A fifo without a reader, opened for writing.
            b"ENXIO" => Check::Missing,
            b"EEXIST" => Check::Taken,
            _ if is_missing(errno) => Check::Missing,
            _ => Check::No,
        },
        b"mkdir" | b"mkdirat" | b"link" | b"linkat" | b"symlink" | b"symlinkat" => {
            if works { Check::Made } else if errno == b"EEXIST" { Check::Taken } else { Check::No }
        }
        b"flock" | b"fcntl" | b"fcntl64" if is_try(op) => {
            if works { Check::Acquired } else if matches!(errno, b"EAGAIN" | b"EWOULDBLOCK" | b"EACCES") { Check::Locked } else { Check::No }
        }
        b"connect" => {
            if works { Check::Connected } else if errno == b"ECONNREFUSED" || is_missing(errno) { Check::Refused } else { Check::No }
        }
        b"kill" if matches!(op, b"0" | b"SIG_0" | b"SIG0") => {
            if works { Check::Alive } else if errno == b"ESRCH" { Check::Gone } else { Check::No }
        }
        _ => match wait_of(syscall) {
            Some(Wait::Child) if works => Check::Waits,
            Some(Wait::Poll) if works => Check::Polls,
            Some(Wait::Read) if works => Check::Read,
            Some(Wait::Read) if matches!(errno, b"EAGAIN" | b"EWOULDBLOCK") => Check::ReadNothing,
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
pub(in crate::waits) fn ending(checks: &[(Text, Check)]) -> Vec<bool> {
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
pub(super) enum PolledCondition {
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
    pub(super) const ALL: [PolledCondition; 9] = [
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
    pub(super) fn is_of_all_processes(self) -> bool {
        !matches!(self, PolledCondition::Child | PolledCondition::Data | PolledCondition::Ready)
    }

    /// Whether a call found that it is so; `None` if it does not check that.
    pub(super) fn reading(self, trace: &Trace, row: u32, check: Check) -> Option<bool> {
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
    pub(super) fn is_same(self, trace: &Trace, one: u32, other: u32) -> bool {
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
