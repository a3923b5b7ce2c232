"""The tracer of this machine: what it can do according to its help, and its flags for a profile."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tracealyze.base.errors import WrongUsage
from tracealyze.capture.evidence import gather
from tracealyze.capture.obstacles import CannotTrace, missing_strace
from tracealyze.model.capture_input.recapture import whole_command


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

FILTERED = frozenset(_CALLS)
"""Profiles with only some of the calls."""

WITHOUT_FILTER = (
    "This strace has no --seccomp-bpf (strace 5.3): --profile light, files and net are slower than necessary."
)

_ELSEWHERE = {
    "darwin": "dtruss",
    "freebsd": "truss-freebsd",
    "openbsd": "kdump",
    "netbsd": "kdump",
    "sunos": "truss-solaris",
    "aix": "truss-aix",
}
_NOTES = {"darwin": " Programs of the system yield no lines while System Integrity Protection is on."}


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
        found = ["-f", *self._times(), "-yy" if self.names_peers else "-y"]
        found += ["--always-show-pid"] if "--always-show-pid" in self.help else []
        if profile is Profile.STACKS:
            found += [self._stacks()]
        if calls := _CALLS.get(profile):
            found += ["-e", f"trace={calls if '%file' in self.help else calls.replace('%', '').replace('?', '')}"]
            found += ["--seccomp-bpf"] if may_filter and self.has_filter else []
        return found

    def daemonized(self) -> list[str]:
        """Flags that make the command the child of the caller and the tracer a process of a session of its own."""
        return ["-DDD" if "-DDD" in self.help else "-D", "-I2"]

    def _times(self) -> list[str]:
        if "--absolute-timestamps" in self.help and "--syscall-times" in self.help:
            return ["--absolute-timestamps=format:unix,precision:ns", "--syscall-times=ns"]
        return ["-ttt", "-T"]

    @property
    def names_peers(self) -> bool:
        """Whether it prints the addresses of sockets, which show that two processes are the ends of one connection
        (strace 4.11). Some versions list this only in the first line of their help."""
        return "-yy" in self.help or "xxyy" in self.help

    @property
    def has_filter(self) -> bool:
        """Whether calls that are not traced can cost nothing."""
        return "--seccomp-bpf" in self.help

    @property
    def has_stacks(self) -> bool:
        """Whether it was built with a library that unwinds stacks: only then the help lists the option."""
        return any(line.lstrip().startswith(("-k,", "-k ")) for line in self.help.splitlines())

    def _stacks(self) -> str:
        if not self.has_stacks:
            raise WrongUsage(
                "--profile stacks: this strace was built without stack traces (-k). It needs a strace that lists "
                "-k in: strace -h"
            )
        # From 6.7 on, with libdw: frames have source lines, too.
        return "-kk" if "--stack-trace=source" in self.help else "-k"


def has_filter(flags: Sequence[str]) -> bool:
    """Whether processes that run with these flags need the tracer until they exit."""
    return "--seccomp-bpf" in flags


def find(*, attaches: bool = False) -> Tracer:
    """The strace in PATH; elsewhere an error with the command of that system."""
    for system, tracer in _ELSEWHERE.items():
        if sys.platform.startswith(system):
            command = whole_command(tracer, attaches=attaches)
            raise WrongUsage(
                f"record runs strace, which this system does not have. Run: {command}{_NOTES.get(system, '')} "
                "Then: tracealyze summarize FILE"
            )
    if sys.platform == "win32":
        raise WrongUsage(
            "record runs strace, which Windows does not have. For a capture of another system: tracealyze "
            "summarize FILE"
        )
    path = shutil.which("strace")
    if path is None:
        raise CannotTrace("strace is not installed.", [missing_strace(gather())])
    return Tracer(path, _output(path, "-V").partition("\n")[0], _output(path, "-h"))


def _output(*command: str) -> str:
    done = subprocess.run(
        command, capture_output=True, stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace", check=False
    )
    return done.stdout or done.stderr
