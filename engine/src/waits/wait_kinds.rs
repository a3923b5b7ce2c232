//! What calls wait for, by the names of their syscalls.

use crate::store::classes::class_of;
use crate::store::events::EventTable;
use parsers::syscalls::Class;
use parsers::{NO_NS, Outcome};

/// What a call may wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// The end of a child.
    Child,
    /// A signal.
    Signal,
    /// Something to read.
    Read,
    /// One of several things.
    Poll,
    /// A peer that connects or answers.
    Peer,
    /// A lock, a semaphore, another thread.
    Lock,
    /// A message.
    Message,
    /// Nothing but time.
    Sleep,
}

/// What a syscall waits for; `None` if it works and does not wait for somebody.
#[rustfmt::skip]
pub fn wait_of(syscall: &[u8]) -> Option<Wait> {
    let wait = match syscall {
        b"wait4" | b"waitpid" | b"waitid" | b"wait3" | b"wait" | b"waitsys" | b"wait6" | b"kwaitpid" => Wait::Child,
        b"sigsuspend" | b"rt_sigsuspend" | b"pause" | b"sigtimedwait" | b"rt_sigtimedwait" | b"rt_sigtimedwait_time64"
        | b"sigwait" | b"sigwaitinfo" => Wait::Signal,
        b"read" | b"readv" | b"recv" | b"recvfrom" | b"recvmsg" | b"recvmmsg" | b"kread" | b"read_nocancel" => Wait::Read,
        b"poll" | b"ppoll" | b"ppoll_time64" | b"pollsys" | b"select" | b"_newselect" | b"pselect" | b"pselect6"
        | b"pselect6_time64" | b"epoll_wait" | b"epoll_pwait" | b"epoll_pwait2" | b"epoll_wait_old" | b"kevent"
        | b"kevent64" | b"kevent_qos" | b"port_get" | b"port_getn" => Wait::Poll,
        b"accept" | b"accept4" | b"connect" => Wait::Peer,
        b"futex" | b"futex_time64" | b"futex_wait" | b"futex_waitv" | b"flock" | b"lockf" | b"lwp_park" | b"_lwp_park"
        | b"lwp_mutex_lock" | b"lwp_mutex_timedlock" | b"lwp_cond_wait" | b"lwp_sema_wait" | b"lwp_sema_timedwait"
        | b"lwp_wait" | b"_umtx_op" | b"ulock_wait" | b"__ulock_wait" | b"psynch_mutexwait" | b"psynch_cvwait"
        | b"semwait_signal" | b"__semwait_signal" => Wait::Lock,
        b"msgrcv" | b"msgsnd" | b"semop" | b"semtimedop" | b"semtimedop_time64" | b"mq_timedreceive"
        | b"mq_timedreceive_time64" | b"mq_timedsend" | b"mq_timedsend_time64" | b"door_call"
        | b"door_return" | RING => Wait::Message,
        b"nanosleep" | b"clock_nanosleep" | b"clock_nanosleep_time64" | b"_nsleep" | b"sleep" | b"lwp_sleep" => Wait::Sleep,
        _ => return None,
    };
    Some(wait)
}

/// What a row waits for, if it may.
pub fn wait_of_row(events: &EventTable, row: u32) -> Option<Wait> {
    let shape = events.shape(row);
    wait_of(gone_on(events.texts.bytes(shape.syscall), events.texts.bytes(shape.op)))
}

/// Waits for what was asked for in memory that the kernel shares, so that no trace tells what that is.
pub(crate) const RING: &[u8] = b"io_uring_enter";

/// As which the kernel goes on with a call behind a signal.
pub(crate) const RESTART: &[u8] = b"restart_syscall";

/// Between two parts of a wait, each up to its limit, there are no more calls, and no more time, than this.
pub(crate) const CALLS_BETWEEN: usize = 12;
/// See [`CALLS_BETWEEN`].
pub(crate) const BETWEEN_NS: i64 = 10_000_000;

/// The name of a call, where a signal broke it off and it goes on under another one: that is its sub-operation.
pub(crate) fn gone_on<'name>(syscall: &'name [u8], op: &'name [u8]) -> &'name [u8] {
    if syscall == RESTART && !op.is_empty() { op } else { syscall }
}

/// Whether a wait ended because its time was over.
pub fn timed_out(events: &EventTable, row: u32) -> bool {
    let none_ready = wait_of_row(events, row) == Some(Wait::Poll) && events.ret(row) == 0;
    let errno = events.texts.bytes(events.shape(row).errno);
    (none_ready && events.outcome(row) == Outcome::Ok) || matches!(errno, b"ETIMEDOUT" | b"ETIME")
}

/// Whether a call that ended so returned only to be taken up again, or to fail, because of a signal.
pub(crate) fn is_broken_off(outcome: Outcome, errno: &[u8]) -> bool {
    outcome == Outcome::Interrupted || errno == b"EINTR"
}

/// The same of a row.
pub(crate) fn was_broken_off(events: &EventTable, row: u32) -> bool {
    is_broken_off(events.outcome(row), events.texts.bytes(events.shape(row).errno))
}

/// Whether a call was going on when its task ended or the capture did.
pub(crate) fn never_returned(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Open | Outcome::NoReturn)
}

/// Whether a target is a timer's descriptor.
pub(crate) fn is_timer(target: &[u8]) -> bool {
    target.starts_with(b"anon_inode:[timerfd]")
}

/// Whether a row read to the end of what it reads.
pub(crate) fn ends_file(events: &EventTable, row: u32) -> bool {
    events.ret(row) == 0 && wait_of_row(events, row) == Some(Wait::Read)
}

/// How a call fails because the peer was gone.
pub(crate) const RESET: &[u8] = b"ECONNRESET";

/// Whether a wait that must not block returned because no child had ended. `waitid` tells that only in its structure, where
/// it is printed.
pub(crate) fn found_no_child(events: &EventTable, row: u32) -> bool {
    if events.ret(row) != 0 {
        return false;
    }
    let syscall = events.texts.bytes(events.shape(row).syscall);
    if wait_of(syscall) != Some(Wait::Child) {
        return false;
    }
    let told = || events.waited.binary_search_by_key(&row, |&(row, _)| row).is_ok_and(|at| events.waited[at].1 == 0);
    !matches!(syscall, b"waitid" | b"waitsys") || told()
}

/// Whether a call failed because it would have had to wait, or because there was nothing to wait for.
pub(crate) fn failed_at_once(events: &EventTable, row: u32) -> bool {
    found_no_child(events, row) || fails_at_once(events.texts.bytes(events.shape(row).errno))
}

/// Whether an error is that of a call that would have had to wait, or found nothing to wait for.
pub(crate) fn fails_at_once(errno: &[u8]) -> bool {
    matches!(errno, b"EAGAIN" | b"EWOULDBLOCK" | b"EINPROGRESS" | b"ECHILD" | b"EBADF" | b"EINVAL")
}

/// Whether calls of this name only keep signals in order, as a shell does between its waits.
#[rustfmt::skip]
pub(crate) fn is_signal_upkeep(syscall: &[u8]) -> bool {
    matches!(
        syscall,
        b"rt_sigreturn" | b"rt_sigprocmask" | b"rt_sigaction" | b"sigreturn" | b"sigprocmask" | b"sigaction"
        | b"lwp_sigmask" | b"setcontext" | b"getcontext"
    )
}

/// Whether a daemon may idle in this call: it waits, and not for a disk.
pub(crate) fn may_idle(events: &EventTable, row: u32) -> bool {
    let is_file = class(events, row) == Class::Disk && events.target(row).is_some();
    let lasts = events.dur_ns(row) == NO_NS || events.dur_ns(row) > 0;
    lasts && !is_file && wait_of_row(events, row).is_some()
}

fn class(events: &EventTable, row: u32) -> Class {
    class_of(events.texts.bytes(events.shape(row).syscall), events.texts.bytes(events.target(row)))
}
