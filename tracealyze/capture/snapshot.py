"""What /proc shows of processes at one moment: names, threads, descriptors with their other ends, and locks.

    worker 9816   0</dev/null>  7<pipe:[10515]>          read from 7
    feeder 9811   1<pipe:[10515]>                        has the other end of it

`record` stores one when it attaches and one before it detaches. Whatever cannot be read is left out.
"""

from __future__ import annotations

import os
import platform
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from tracealyze.capture.peers import Sockets

MAX_PROCESSES = 64
_MAX_OTHERS = 64
"""Processes that are only named: parents, children, those at the other ends."""
_MAX_THREADS = 128
"""Of all processes together, main threads apart: a thread takes some 100 bytes."""
_MAX_DESCRIPTORS = 512
"""Of all processes together."""
_MAX_ENDS = 4
_MAX_ARGV = 400
"""Characters of a command line."""
_MAX_PATH = 200
_MAX_LOCKS = 64
_SEARCH_S = 0.5
"""Time for a look at the descriptors of all processes of the machine, some thousand of which take 0.1 s."""
_HANDLES = ("pipe:[", "socket:[")
_MUTEX = struct.Struct("<iIi")
"""glibc's mutex: the futex, a count, and the thread that owns it."""


class Snapshot:
    """Reads below `root`, which is / apart from tests."""

    def __init__(self, pids: Iterable[int], root: str = "/") -> None:
        self._proc = os.path.join(root, "proc")
        self._pids = list(dict.fromkeys(pids))
        self._others: dict[int, dict[str, Any]] = {}
        self._threads_left, self._descriptors_left = _MAX_THREADS, _MAX_DESCRIPTORS

    def facts(self) -> dict[str, Any]:
        """As it is stored: at most some 300 kB, and 1 kB of a process with one thread and few descriptors."""
        at_ns = time.time_ns()
        processes = [each for pid in self._pids[:MAX_PROCESSES] if (each := self._process(pid))]
        return {
            "at_ns": at_ns,
            "processes": processes,
            "left_out": max(len(self._pids) - MAX_PROCESSES, 0),
            "locks": self._locks({each["pid"] for each in processes}),
            "others": list(self._others.values()),
        }

    def _process(self, pid: int) -> dict[str, Any]:
        fields = _stat(self._text(f"{pid}/stat"))
        if not fields:
            return {}
        for child in self._text(f"{pid}/task/{pid}/children").split():
            self._mention(int(child))
        self._mention(int(fields[1]))
        return self._named(pid, fields) | {
            "threads": list(self._threads(pid)),
            "fds": list(self._descriptors(pid)),
        }

    def _named(self, pid: int, fields: Sequence[str]) -> dict[str, Any]:
        return {
            "pid": pid,
            "name": self._text(f"{pid}/comm").rstrip("\n"),
            "path": self._link(f"{pid}/exe").removesuffix(" (deleted)"),
            "argv": list(self._argv(pid)),
            "parent": int(fields[1]),
            "state": fields[0],
        }

    def _argv(self, pid: int) -> Iterator[str]:
        text = self._text(f"{pid}/cmdline").rstrip("\0")
        left = _MAX_ARGV
        for word in text.split("\0") if text else ():
            if left <= 0:
                return
            yield word[:left]
            left -= len(word) + 1

    def _mention(self, pid: int) -> None:
        """Store the name of another process."""
        fields = _stat(self._text(f"{pid}/stat"))
        if fields and pid not in self._others and len(self._others) < _MAX_OTHERS:
            self._others[pid] = self._named(pid, fields)

    def _threads(self, pid: int) -> Iterator[dict[str, Any]]:
        for tid in sorted(map(int, self._names(f"{pid}/task"))):
            if tid != pid and self._threads_left <= 0:
                return
            self._threads_left -= tid != pid
            fields = _stat(self._text(f"{pid}/task/{tid}/stat"))
            if fields:
                yield self._thread(pid, tid, fields)

    def _thread(self, pid: int, tid: int, fields: Sequence[str]) -> dict[str, Any]:
        call = self._text(f"{pid}/task/{tid}/syscall").split()
        wchan = self._text(f"{pid}/task/{tid}/wchan")
        return {
            "tid": tid,
            "name": self._text(f"{pid}/task/{tid}/comm").rstrip("\n"),
            "state": fields[0],
            "cpu_ns": (int(fields[11]) + int(fields[12])) * 1_000_000_000 // os.sysconf("SC_CLK_TCK"),
            "call": _CALLS.get(call[0], "") if call else "",
            "wchan": "" if wchan == "0" else wchan,
            "owner": self._owner(pid, call),
        }

    def _owner(self, pid: int, call: Sequence[str]) -> int:
        """The thread that owns the mutex of glibc in which a call waits; 0 if it waits in something else."""
        if len(call) < 3 or _CALLS.get(call[0]) != "futex":
            return 0
        with (
            suppress(OSError, ValueError, OverflowError, struct.error),
            open(f"{self._proc}/{pid}/mem", "rb") as memory,
        ):
            memory.seek(int(call[1], 16))
            futex, _, owner = _MUTEX.unpack(memory.read(_MUTEX.size))
            # A value with waiters, and the id of a thread: other users of futexes have other fields here.
            if futex & 0x7FFFFFFF in (1, 2) and os.path.exists(f"{self._proc}/{pid}/task/{owner}"):
                return int(owner)
        return 0

    def _descriptors(self, pid: int) -> Iterator[dict[str, Any]]:
        numbers = sorted(map(int, self._names(f"{pid}/fd")))[: self._descriptors_left]
        self._descriptors_left -= len(numbers)
        for number in numbers:
            with suppress(OSError):
                path = os.readlink(f"{self._proc}/{pid}/fd/{number}")
                yield {"fd": number, "path": path[:_MAX_PATH], "ends": self._ends(pid, path, number)}

    def _ends(self, pid: int, path: str, number: int) -> list[dict[str, Any]]:
        """The processes that hold the other end of a pipe or a socket."""
        if path.startswith("socket:["):
            inodes = self._sockets.peers(pid, path[8:-1])
            found = [(other, "peer") for inode in inodes for other, _ in self._holders.get(f"socket:[{inode}]", ())]
        elif path.startswith("pipe:["):
            is_writer = self._is_writer(pid, str(number))
            role = "reader" if is_writer else "writer"
            holders = self._holders.get(path, ())
            found = [(other, role) for other, fd in holders if self._is_writer(other, fd) != is_writer]
        else:
            return []
        ends = list(dict.fromkeys(found))[:_MAX_ENDS]
        for other, _ in ends:
            self._mention(other)
        return [{"pid": other, "role": role} for other, role in ends]

    @cached_property
    def _sockets(self) -> Sockets:
        return Sockets(self._proc)

    @cached_property
    def _holders(self) -> dict[str, list[tuple[int, str]]]:
        """The processes that have each pipe and socket open, with the descriptor. The search may end early."""
        found: dict[str, list[tuple[int, str]]] = {}
        end = time.monotonic() + _SEARCH_S
        for pid in filter(str.isdecimal, self._names("")):
            if time.monotonic() > end:
                break
            for number in self._names(f"{pid}/fd"):
                with suppress(OSError):
                    path = os.readlink(f"{self._proc}/{pid}/fd/{number}")
                    if path.startswith(_HANDLES):
                        found.setdefault(path, []).append((int(pid), number))
        return found

    def _is_writer(self, pid: int, number: str) -> bool:
        lines = self._text(f"{pid}/fdinfo/{number}").splitlines()
        flags = next((line.split()[1] for line in lines if line.startswith("flags:")), "0")
        return bool(int(flags, 8) & os.O_ACCMODE)

    def _locks(self, pids: set[int]) -> list[dict[str, Any]]:
        """Locks that these processes wait for, with those that the holders wait for in turn."""
        waits = list(_waits(self._text("locks")))
        wanted, found = set(pids), []
        for _ in range(_MAX_LOCKS):
            new = [each for each in waits if each["pid"] in wanted and each not in found]
            if not new:
                break
            found += new
            wanted |= {each["holder"] for each in new}
        for each in found:
            self._mention(each["holder"])
        return [each | {"path": self._path_of(each["pid"], each["inode"])} for each in found[:_MAX_LOCKS]]

    def _path_of(self, pid: int, inode: int) -> str:
        for number in self._names(f"{pid}/fd"):
            with suppress(OSError):
                if os.stat(f"{self._proc}/{pid}/fd/{number}").st_ino == inode:
                    return os.readlink(f"{self._proc}/{pid}/fd/{number}")[:_MAX_PATH]
        return ""

    def _names(self, folder: str) -> list[str]:
        with suppress(OSError):
            return os.listdir(os.path.join(self._proc, folder))
        return []

    def _link(self, name: str) -> str:
        with suppress(OSError):
            return os.readlink(f"{self._proc}/{name}")[:_MAX_PATH]
        return ""

    def _text(self, name: str) -> str:
        with suppress(OSError), open(f"{self._proc}/{name}", "rb") as file:
            return file.read(1 << 20).decode("utf-8", "replace")
        return ""


_NUMBERS = {
    "x86_64": {
        0: "read",
        1: "write",
        7: "poll",
        23: "select",
        34: "pause",
        35: "nanosleep",
        42: "connect",
        43: "accept",
        45: "recvfrom",
        47: "recvmsg",
        61: "wait4",
        73: "flock",
        202: "futex",
        230: "clock_nanosleep",
        232: "epoll_wait",
        247: "waitid",
        270: "pselect6",
        271: "ppoll",
        281: "epoll_pwait",
        288: "accept4",
    },
    "aarch64": {
        22: "epoll_pwait",
        32: "flock",
        63: "read",
        64: "write",
        72: "pselect6",
        73: "ppoll",
        95: "waitid",
        98: "futex",
        101: "nanosleep",
        115: "clock_nanosleep",
        202: "accept",
        203: "connect",
        207: "recvfrom",
        212: "recvmsg",
        242: "accept4",
        260: "wait4",
    },
}
"""Calls in which programs wait, by machine. Source: syscall_64.tbl and asm-generic/unistd.h of Linux."""
_CALLS = {str(number): name for number, name in _NUMBERS.get(platform.machine(), {}).items()}


def _stat(text: str) -> list[str]:
    """The fields of /proc/PID/stat after the name: state, parent … The name may contain spaces and parentheses."""
    fields = text.rpartition(")")[2].split()
    return fields if len(fields) > 13 else []


def _waits(text: str) -> Iterator[dict[str, Any]]:
    """From /proc/locks who waits for whom.

    1: FLOCK  ADVISORY  WRITE 9811 08:01:1234 0 EOF
    1: -> FLOCK  ADVISORY  WRITE 9816 08:01:1234 0 EOF
    """
    holders: dict[str, int] = {}
    for line in text.splitlines():
        number, *words = line.split()
        is_waiting = words[:1] == ["->"]
        fields = words[1:] if is_waiting else words
        with suppress(IndexError, ValueError):
            pid, inode = int(fields[3]), int(fields[4].rpartition(":")[2])
            if not is_waiting:
                holders[number] = pid
            elif number in holders:
                yield {"pid": pid, "holder": holders[number], "kind": fields[0], "inode": inode}


def taken(pids: Callable[[], Iterable[int]] | Iterable[int], root: str = "/") -> dict[str, Any]:
    """A snapshot of these processes. It never fails: a capture is worth more than what is stored about it."""
    with suppress(OSError, ValueError, IndexError):
        return Snapshot(pids() if callable(pids) else pids, root).facts()
    return {}
