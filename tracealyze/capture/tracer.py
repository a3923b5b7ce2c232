"""The tracer of this machine: what it can do according to its help, and its flags for a profile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tracealyze.errors import WrongUsage


class Profile(StrEnum):
    """What a capture contains."""

    FULL = "full"
    LIGHT = "light"
    FILES = "files"
    NET = "net"
    STACKS = "stacks"


# Calls that neither wait nor have a target.
_UNTRACED = (
    *("brk", "mprotect", "madvise", "munmap", "clock_gettime", "clock_getres", "gettimeofday", "time", "times"),
    *("getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getrusage", "getcpu"),
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "set_robust_list", "rseq"),
)
_CALLS = {
    # Names that a machine lacks are ignored because of the question mark.
    Profile.LIGHT: "!" + ",".join(f"?{name}" for name in _UNTRACED),
    # Without the calls of processes, children could not be related to their creators.
    Profile.FILES: "%file,%desc,%process",
    Profile.NET: "%network,%process,?poll,?ppoll,?select,?pselect6,?epoll_wait,?epoll_pwait,?read,?write,?close",
}

INSTALL = (
    ("apt-get", "apt-get install strace"),
    ("dnf", "dnf install strace"),
    ("yum", "yum install strace"),
    ("apk", "apk add strace"),
    ("zypper", "zypper install strace"),
    ("pacman", "pacman -S strace"),
    ("emerge", "emerge dev-debug/strace"),
)
"""Package managers and the command that installs strace."""


@dataclass(frozen=True)
class _System:
    """Another system: its tracer on a command, and on processes that run."""

    command: str
    pids: str
    note: str = ""


_ELSEWHERE = {
    "darwin": _System(
        "sudo dtruss -f -d -e -o COMMAND 2> FILE",
        "sudo dtruss -f -d -e -o -p PID 2> FILE",
        " Programs of the system yield no lines while System Integrity Protection is on.",
    ),
    "freebsd": _System("truss -f -H -D -d -o FILE COMMAND", "truss -f -H -D -d -o FILE -p PID"),
    "openbsd": _System("ktrace -i -f ktrace.out COMMAND; kdump -H -T -f ktrace.out > FILE", "ktrace -i -p PID"),
    "netbsd": _System("ktrace -i -f ktrace.out COMMAND; kdump -H -T -f ktrace.out > FILE", "ktrace -i -p PID"),
    "sunos": _System("truss -f -l -d -D -E -o FILE COMMAND", "truss -f -l -d -D -E -o FILE -p PID"),
    "aix": _System("truss -f -l -d -D -o FILE COMMAND", "truss -f -l -d -D -o FILE -p PID"),
}


@dataclass(frozen=True)
class Tracer:
    """strace, with its version and the text of its help."""

    path: str
    version: str
    help: str

    def flags(self, profile: Profile, *, may_filter: bool) -> list[str]:
        """The flags of a profile, as far as this version has them.

        With the seccomp filter, calls that are not traced cost nothing. The filter stays in the processes until they
        exit, so it needs a tracer until then (`may_filter`)."""
        found = ["-f", *self._times(), "-yy" if profile is Profile.NET else "-y"]
        found += ["--always-show-pid"] if "--always-show-pid" in self.help else []
        if profile is Profile.STACKS:
            found += [self._stacks()]
        if calls := _CALLS.get(profile):
            found += ["-e", f"trace={calls if '%file' in self.help else calls.replace('%', '').replace('?', '')}"]
            found += ["--seccomp-bpf"] if may_filter and "--seccomp-bpf" in self.help else []
        return found

    def daemonized(self) -> list[str]:
        """Flags that make the command the child of the caller and the tracer a process of a session of its own."""
        return ["-DDD" if "-DDD" in self.help else "-D", "-I2"]

    def _times(self) -> list[str]:
        if "--absolute-timestamps" in self.help and "--syscall-times" in self.help:
            return ["--absolute-timestamps=format:unix,precision:ns", "--syscall-times=ns"]
        return ["-ttt", "-T"]

    def _stacks(self) -> str:
        # The help lists the option only where strace was built with a library that unwinds stacks.
        if "-k, --stack-traces" not in self.help and "\n  -k " not in self.help:
            raise WrongUsage("--profile stacks: this strace was built without stack traces (-k).")
        return "-k"


def has_filter(flags: Sequence[str]) -> bool:
    """Whether processes that run with these flags need the tracer until they exit."""
    return "--seccomp-bpf" in flags


def find(*, attaches: bool = False) -> Tracer:
    """The strace in PATH; elsewhere an error with the command of that system."""
    for system, its in _ELSEWHERE.items():
        if sys.platform.startswith(system):
            command = its.pids if attaches else its.command
            raise WrongUsage(
                f"record runs strace, which this system does not have. Run: {command}{its.note} "
                "Then: tracealyze summarize FILE"
            )
    path = shutil.which("strace")
    if path is None:
        raise WrongUsage(f"strace is not installed. {how_to_install()}")
    return Tracer(path, _output(path, "-V").partition("\n")[0], _output(path, "-h"))


def how_to_install() -> str:
    """The command of this system's package manager, or of the usual ones."""
    here = next((command for manager, command in INSTALL if shutil.which(manager)), None)
    sudo = "sudo " if os.geteuid() else ""
    if here:
        return f"Run: {sudo}{here}"
    return "Debian, Ubuntu: apt-get install strace. Fedora: dnf install strace. Alpine: apk add strace."


def _output(*command: str) -> str:
    done = subprocess.run(
        command, capture_output=True, stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace", check=False
    )
    return done.stdout or done.stderr
