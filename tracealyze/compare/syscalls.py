"""Families of syscalls, from the engine's table, and the targets of calls, for metrics and baselines."""

from __future__ import annotations

import errno
import re
from functools import cache
from typing import TYPE_CHECKING

from tracealyze._engine import SYSCALLS

if TYPE_CHECKING:
    from tracealyze.model.table import Row


def _family(name: str) -> frozenset[str]:
    return frozenset(syscall.name for syscall in SYSCALLS.values() if name in syscall.families)


EXECS = _family("execs")
FORKS = _family("forks")
OPENS = _family("opens")
SYNCS = _family("syncs")
CONTACTS = _family("contacts")
LOOKUPS = _family("lookups")
READS = _family("reads")
WRITES = _family("writes")
LOCKS = _family("locks")
QUICK = _family("quick")
FILES = _family("files")
MISSING = frozenset(("ENOENT", "ENOTDIR"))

_SCHEDULED = _family("scheduled")
_MOVES_IN_PIECES = READS | WRITES
_NEEDS_A_PEER = _MOVES_IN_PIECES | _family("peers")
# Errors of a call that would have had to wait. Their number depends on the schedule.
_NOT_NOW = frozenset(("EAGAIN", "EWOULDBLOCK", "EALREADY"))
_PEER = re.compile(r"\[?(?P<host>[^/\s]*?)\]?:(?P<port>\d+|N)")
_ERROR = re.compile(r"ERESTART[A-Z_]*|ENOTCAPABLE|ECAPMODE|ENOIOCTLCMD|ENOTSUP")


@cache
def errors() -> frozenset[str]:
    """Names of the errors of this system."""
    return frozenset(errno.errorcode.values())


def is_error(name: str) -> bool:
    """Whether any supported system has an error of this name."""
    return name in errors() or bool(_ERROR.fullmatch(name))


def depends_on_schedule(row: Row) -> bool:
    """Whether the number of these calls varies between runs of the same work."""
    if row["syscall"] in _SCHEDULED or row["outcome"] not in ("ok", "failed", "noreturn") or row["errno"] == "EINTR":
        return True
    if row["errno"] in _NOT_NOW:
        return row["syscall"] in _NEEDS_A_PEER
    return row["syscall"] in _MOVES_IN_PIECES and row["target_kind"] == "peer"


def is_work_on_file(row: Row) -> bool:
    """Whether these calls work on a named file, so that whichever thread makes them, their number is the same."""
    return row["syscall"] in FILES and row["target_kind"] == "file" and not depends_on_schedule(row)


def target_of(syscall: str, shape: str) -> str:
    """The part of a shape in brackets: `pipe:[N]` of `read(pipe:[N])`."""
    return shape[len(syscall) + 1 :].rpartition(")")[0]


def host_of(target: str | None) -> str | None:
    """`10.0.0.7` of `10.0.0.7:443` or `TCP:[10.0.0.1:N->10.0.0.7:443]`; None if the target is not a host."""
    if not target or target.startswith("/"):
        return None
    text = target.rpartition("->")[2].rstrip("]") if "->" in target else target
    match = _PEER.fullmatch(text)
    return match["host"] or None if match else None
