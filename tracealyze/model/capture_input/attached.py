"""The traced processes as `record` saw them in /proc: names, threads, descriptors with their other ends, locks.

`record` stores two snapshots in a capture, one when it attaches and one before it detaches. Nothing in them is trusted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tracealyze.base.sanitize import shown

_MAX_NAME = 48
"""Characters of a command line in a sentence."""
_LARGEST_TIME = 1 << 62
_MAX_ID = (1 << 31) - 1


@dataclass(frozen=True)
class End:
    """A process that holds the other end of a pipe or a socket."""

    pid: int
    role: str
    """writer, reader or peer."""


@dataclass(frozen=True)
class Descriptor:
    """An open file of a process."""

    number: int
    path: str
    ends: tuple[End, ...] = ()


@dataclass(frozen=True)
class Thread:
    """A thread of a traced process."""

    tid: int
    name: str = ""
    state: str = ""
    """As in /proc/PID/stat: R, S, D, T, t, Z."""
    cpu_ns: int = 0
    """CPU time of its life."""
    call: str = ""
    """The waiting call in which it is, if it is a known one."""
    owner: int = 0
    """Thread that owns the mutex for which this one waits; 0 if unknown."""
    wchan: str = ""
    """Function of the kernel in which it sleeps, as far as that is readable."""


@dataclass(frozen=True)
class Process:
    """A traced process, or one that is only named."""

    pid: int
    name: str = ""
    path: str = ""
    argv: tuple[str, ...] = ()
    parent: int = 0
    state: str = ""
    threads: tuple[Thread, ...] = ()
    descriptors: tuple[Descriptor, ...] = ()

    def thread(self, tid: int) -> Thread | None:
        """The thread with this id."""
        return next((each for each in self.threads if each.tid == tid), None)

    @property
    def command_line(self) -> str:
        """All words, those with blanks quoted."""
        return " ".join(map(_quoted, self.argv))

    @property
    def command(self) -> str:
        """What it runs, as people call it: `python3 worker.py`. Empty if unknown."""
        if not self.argv:
            return shown(self.name)
        words = [os.path.basename(self.argv[0]) or self.argv[0], *self.argv[1:]]
        text = shown(" ".join(map(_quoted, words)))
        return text if len(text) <= _MAX_NAME else f"{text[: _MAX_NAME - 1]}…"


@dataclass(frozen=True)
class LockWait:
    """A process that waits for a lock of a file."""

    pid: int
    holder: int
    kind: str = ""
    """FLOCK, POSIX, OFDLCK or LEASE."""
    path: str = ""


@dataclass(frozen=True)
class Snapshot:
    """All of them at one moment."""

    at_ns: int = 0
    processes: Mapping[int, Process] = field(default_factory=dict)
    """The traced ones by their ids."""
    others: Mapping[int, Process] = field(default_factory=dict)
    locks: tuple[LockWait, ...] = ()

    @classmethod
    def of(cls, stored: object) -> Snapshot:
        """From metadata, of which nothing is trusted."""
        known = _object(stored)
        return cls(
            _number(known.get("at_ns"), _LARGEST_TIME),
            {each.pid: each for each in map(_process, _objects(known.get("processes"))) if each.pid},
            {each.pid: each for each in map(_process, _objects(known.get("others"))) if each.pid},
            tuple(map(_lock, _objects(known.get("locks")))),
        )

    def process(self, pid: int) -> Process | None:
        """The traced or named process with this id."""
        return self.processes.get(pid) or self.others.get(pid)


@dataclass(frozen=True)
class AttachedState:
    """What is known of the traced processes apart from their calls."""

    pids: tuple[int, ...] = ()
    """The processes that the user named; empty if `record` ran a command."""
    begin: Snapshot = field(default_factory=Snapshot)
    end: Snapshot = field(default_factory=Snapshot)
    began_ns: int = 0
    ended_ns: int = 0
    """When the tracer let go of the processes that still lived; 0 if unknown. Open calls lasted at least until then."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> AttachedState | None:
        """From the metadata of a capture; None if it has none of this."""
        ended_ns = _number(facts.get("ended_ns"), _LARGEST_TIME)
        if not ended_ns:
            return None
        return cls(
            tuple(pid for value in _list(facts.get("pids")) if (pid := _number(value))),
            Snapshot.of(facts.get("attached")),
            Snapshot.of(facts.get("detached")),
            _number(facts.get("began_ns"), _LARGEST_TIME),
            ended_ns,
        )

    @property
    def traced_ns(self) -> int:
        """How long the tracer was attached; 0 if unknown."""
        return max(self.ended_ns - self.began_ns, 0) if self.began_ns else 0

    @property
    def snapshots(self) -> tuple[Snapshot, Snapshot]:
        """The later one first."""
        return self.end, self.begin

    def process(self, pid: int) -> Process | None:
        """The process with this id, as it was at the end if it still lived."""
        return next((found for each in self.snapshots if (found := each.process(pid))), None)

    def named(self, pid: int) -> str:
        """The process for a sentence: `python3 worker.py (pid 9816)`."""
        process = self.process(pid)
        command = process.command if process else ""
        return f"{command} (pid {pid})" if command else f"pid {pid}"

    def descriptor(self, pid: int, number: int) -> Descriptor | None:
        """What a descriptor of a traced process refers to."""
        processes = [each.processes[pid] for each in self.snapshots if pid in each.processes]
        found = (each for process in processes for each in process.descriptors if each.number == number)
        return next(found, None)

    def on_path(self, pid: int, path: str) -> Descriptor | None:
        """The descriptor of a traced process with this path."""
        processes = [each.processes[pid] for each in self.snapshots if pid in each.processes]
        found = (each for process in processes for each in process.descriptors if each.path == path)
        return next(found, None)

    def lock_of(self, pid: int) -> LockWait | None:
        """The lock that a process waits for."""
        return next((lock for each in self.snapshots for lock in each.locks if lock.pid == pid), None)

    def children(self, pid: int) -> list[int]:
        """Living children of a process."""
        known = {**self.end.others, **self.end.processes} or {**self.begin.others, **self.begin.processes}
        return sorted(each.pid for each in known.values() if each.parent == pid and each.state != "Z")

    def cpu_ns(self, pid: int, tid: int) -> int | None:
        """CPU time of a thread between both snapshots; None if it is unknown."""
        before, after = (
            process.thread(tid) if (process := each.processes.get(pid)) else None for each in (self.begin, self.end)
        )
        return max(after.cpu_ns - before.cpu_ns, 0) if before and after else None

    def threads(self) -> list[tuple[int, int]]:
        """The ids of the process and of the thread of each thread that ran when the tracer attached."""
        return [(process.pid, each.tid) for process in self.begin.processes.values() for each in process.threads]

    def parents(self) -> list[tuple[int, int]]:
        """The ids of the process and of its parent for each process that ran when the tracer attached."""
        return [(process.pid, process.parent) for process in self.begin.processes.values()]

    def programs(self) -> list[tuple[int, bytes, bytes]]:
        """Id, path and command line of each process that ran when the tracer attached."""
        known = ((each.pid, each.path or each.name, each.command_line) for each in self.begin.processes.values())
        return [(pid, path.encode("utf-8", "replace"), line.encode("utf-8", "replace")) for pid, path, line in known]


def _quoted(word: str) -> str:
    has_blank = not word or any(character in word for character in " \t\n'")
    return "'" + word.replace("'", "'\\''") + "'" if has_blank else word


def _process(known: Mapping[str, Any]) -> Process:
    return Process(
        _number(known.get("pid")),
        _text(known.get("name")),
        _text(known.get("path")),
        tuple(_text(word) for word in _list(known.get("argv"))),
        _number(known.get("parent")),
        _text(known.get("state"))[:1],
        tuple(each for each in map(_thread, _objects(known.get("threads"))) if each.tid),
        tuple(map(_descriptor, _objects(known.get("fds")))),
    )


def _thread(known: Mapping[str, Any]) -> Thread:
    return Thread(
        _number(known.get("tid")),
        _text(known.get("name")),
        _text(known.get("state"))[:1],
        _number(known.get("cpu_ns"), _LARGEST_TIME),
        _text(known.get("call")),
        _number(known.get("owner")),
        _text(known.get("wchan")),
    )


def _descriptor(known: Mapping[str, Any]) -> Descriptor:
    ends = (End(_number(each.get("pid")), _text(each.get("role"))) for each in _objects(known.get("ends")))
    return Descriptor(_number(known.get("fd")), _text(known.get("path")), tuple(each for each in ends if each.pid))


def _lock(known: Mapping[str, Any]) -> LockWait:
    return LockWait(
        _number(known.get("pid")), _number(known.get("holder")), _text(known.get("kind")), _text(known.get("path"))
    )


def _number(value: object, most: int = _MAX_ID) -> int:
    """A number that is stored; 0 for anything else."""
    return value if type(value) is int and 0 <= value <= most else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    return (each for each in _list(value) if isinstance(each, dict))
