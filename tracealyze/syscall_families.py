"""Families of syscalls that metrics speak of, on all systems; equal names mean the same on all of them."""

from __future__ import annotations

import errno
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracealyze.table import Row


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


EXECS = _names("execve execveat exec fexecve posix_spawn __mac_execve")
FORKS = _names("fork vfork clone clone3 forkx forksys fork1 rfork pdfork posix_spawn spawn")
OPENS = _names("open openat openat2 open64 openat64 creat creat64 open_nocancel openat_nocancel __openat")
SYNCS = _names("fsync fdatasync sync syncfs fdsync fsync_nocancel fsync_range")
SLEEPS = _names("nanosleep clock_nanosleep usleep sleep nsleep nanosleep_nocancel clock_nanosleep_time64 __nanosleep50")
CONTACTS = _names("connect sendto sendmsg sendmmsg connectx so_socket connect_nocancel")
LOOKUPS = (
    OPENS
    | EXECS
    | _names("""
    stat stat64 lstat lstat64 fstatat fstatat64 newfstatat statx xstat lxstat access faccessat faccessat2
    readlink readlinkat chdir statfs statfs64 pathconf utimes utimensat getxattr lgetxattr getattrlist
    resolvepath stat_extended access_extended acl
""")
)
MISSING = frozenset(("ENOENT", "ENOTDIR"))
READS = _names("""
    read readv pread pread64 preadv preadv2 recv recvfrom recvmsg kread read_nocancel readv_nocancel
    pread_nocancel recvfrom_nocancel recvmsg_nocancel mq_timedreceive process_vm_readv
""")
WRITES = _names("""
    write writev pwrite pwrite64 pwritev pwritev2 send sendto sendmsg sendfile sendfile64 sendfilev splice tee
    vmsplice copy_file_range kwrite write_nocancel writev_nocancel pwrite_nocancel sendto_nocancel
    process_vm_writev
""")

LOCKS = _names("""
    futex futex_wait futex_wake futex_waitv _umtx_op umtx_op __thrsleep __thrwakeup ulock_wait ulock_wake
    lwp_park lwp_unpark _lwp_park lwp_mutex_timedlock lwp_mutex_wakeup lwp_cond_wait lwp_cond_signal
    lwp_cond_broadcast lwp_sema_timedwait lwp_sema_post thr_park psynch_mutexwait psynch_mutexdrop
    psynch_cvwait psynch_cvsignal psynch_cvbroad semop semtimedop
""")

# How often these are called depends on who runs when: waits that signals interrupt, locks that are or are not taken
# already, and what wakes up whom.
_SCHEDULED = LOCKS | _names("""
    lwp_kill wait wait3 wait4 wait4_nocancel wait6 waitid waitpid waitsys poll ppoll pollsys select
    select_nocancel pselect pselect6 _newselect epoll_wait epoll_pwait epoll_pwait2 kevent kevent64 kevent_qos
    port_getn port_get restart_syscall rt_sigreturn sigreturn rt_sigsuspend sigsuspend pause rt_sigtimedwait
    sigtimedwait sigwait sched_yield yield swtch_pri bsdthread_create workq_kernreturn
""")
_MOVES_IN_PIECES = READS | WRITES
_NEEDS_A_PEER = _MOVES_IN_PIECES | _names("accept accept4 connect")
# Errors that say "not now": another schedule, another number of them.
_NOT_NOW = frozenset(("EAGAIN", "EWOULDBLOCK", "EALREADY"))
_PEERS = (
    "pipe:",
    "socket:",
    "UNIX",
    "unix:",
    "TCP",
    "UDP",
    "anon_inode:[eventfd",
    "anon_inode:[signalfd",
    "/dev/pts/",
    "/dev/tty",
)
_COMMON = _names("""
    close mmap munmap mprotect brk ioctl fcntl dup dup2 dup3 pipe pipe2 socket bind listen accept accept4
    shutdown getsockopt setsockopt getpid getppid fork vfork clone clone3 exit exit_group kill unlink unlinkat
    rename renameat renameat2 mkdir mkdirat rmdir link linkat symlink symlinkat chmod fchmod chown fchown
    getdents getdents64 getcwd lseek fstat ftruncate flock madvise getrandom uname umask setsid setpgid sysinfo
    prctl arch_prctl io_uring_enter rt_sigaction rt_sigprocmask inotify_add_watch epoll_ctl epoll_create1 mount
    umount2 statx getuid geteuid getgid
""")
QUICK = _names(
    "close mmap munmap mprotect brk lseek dup2 fcntl fstat rt_sigaction rt_sigprocmask getpid getuid geteuid"
)
"""Calls that wait for nothing: how long they take is how fast the machine is."""
KNOWN = EXECS | OPENS | SYNCS | SLEEPS | CONTACTS | LOOKUPS | READS | WRITES | _SCHEDULED | _COMMON
"""Names that are right even where no capture has them."""

_PEER = re.compile(r"\[?(?P<host>[^/\s]*?)\]?:(?P<port>\d+|N)")
_ERROR = re.compile(r"ERESTART[A-Z_]*|ENOTCAPABLE|ECAPMODE|ENOIOCTLCMD|ENOTSUP")


def is_syscall(name: str) -> bool:
    """Whether a name is right even where no capture has it."""
    return name in KNOWN


@cache
def errors() -> frozenset[str]:
    """Names of errors that this system knows."""
    return frozenset(errno.errorcode.values())


def is_error(name: str) -> bool:
    """Whether there is an error of this name somewhere."""
    return name in errors() or bool(_ERROR.fullmatch(name))


def depends_on_schedule(row: Row) -> bool:
    """Whether the number of these calls differs from run to run though the work is the same."""
    if row["syscall"] in _SCHEDULED or row["outcome"] not in ("ok", "failed", "noreturn") or row["errno"] == "EINTR":
        return True
    if row["errno"] in _NOT_NOW:
        return row["syscall"] in _NEEDS_A_PEER
    if row["syscall"] not in _MOVES_IN_PIECES:
        return False
    target = target_of(row["syscall"], row["shape"])
    return target.startswith(_PEERS) or host_of(target) is not None


def target_of(syscall: str, shape: str) -> str:
    """What stands in the brackets of a shape: `read(pipe:[N])`."""
    return shape[len(syscall) + 1 :].rpartition(")")[0]


def host_of(target: str | None) -> str | None:
    """`10.0.0.7` of `10.0.0.7:443` or `TCP:[10.0.0.1:N->10.0.0.7:443]`; None for what is no host."""
    if not target or target.startswith("/"):
        return None
    text = target.rpartition("->")[2].rstrip("]") if "->" in target else target
    match = _PEER.fullmatch(text)
    return match["host"] or None if match else None
