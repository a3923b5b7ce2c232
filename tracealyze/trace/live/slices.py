"""Slices of a trace that is still being written: each is read once, after the lines of before that it needs.

    written   execve A | read … | clone B | futex <unfinished …>  ║ read … | <… futex resumed> | read(3,
    carried                                                       ║
    slice     execve A | clone B | futex <unfinished …>             read … | <… futex resumed> | read(3,
              └── so that programs, parents and open calls are known ──┘      its window ──────────────┘

A slice is a trace like any other. Its window begins where that of the slice before ended, so no time is lost between.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from tracealyze import _engine
from tracealyze.base import units
from tracealyze.base.errors import UnusableInput
from tracealyze.base.heuristics import WATCHED_NS
from tracealyze.model.selection import Selection
from tracealyze.trace.trace import Trace, read_files

if TYPE_CHECKING:
    from tracealyze.model.expression import Expression
    from tracealyze.model.table import Row

_LOCKS = ("flock", "fcntl", "fcntl64")

_About: TypeAlias = tuple[str, int | None, str | None]
"""What a line is about: birth, program, open call or lock; of which task; of a lock, its file."""

_MAX_CARRIED = 20_000
_MAX_UNRECOGNISED_BYTES = 1 << 20
"""Text in which nothing is recognised is no trace."""
_MIN_CALLS = 20
"""Calls without a time that show that no line has one."""
_LAST: _About = ("last", None, None)
_UNLOCKS = ("LOCK_UN", "F_UNLCK")
_COLUMNS = ("line", "file", "kind", "syscall", "op", "target", "outcome", "pid", "tid", "ret")


@dataclass(frozen=True)
class Added:
    """What was added to a file: whole lines, and the line that is being written."""

    lines: bytes
    unfinished: bytes = b""


@dataclass(frozen=True)
class Slice:
    """The newest part of a trace."""

    trace: Trace
    """Its window is the slice."""
    start_ns: int
    """On the capture's clock."""
    end_ns: int


@dataclass
class _Carried:
    """Lines of a file that the next slice needs, by what they are about, in the order in which they were written."""

    lines: dict[_About, bytes] = field(default_factory=dict)

    def keep(self, about: _About, line: bytes) -> None:
        self.lines.pop(about, None)
        self.lines[about] = line

    def forget(self, task: int | None) -> None:
        """Without this task, which has ended."""
        self.lines = {about: line for about, line in self.lines.items() if about[1] != task or about == _LAST}

    def text(self) -> bytes:
        return b"".join(self.lines.values())


class Slices:
    """Makes slices of what is added to the files of a trace."""

    def __init__(self, input_format: str | None = None) -> None:
        self._format = input_format
        self._folder = TemporaryDirectory(prefix="tracealyze-")
        self._carried: dict[str, _Carried] = {}
        self._waiting: dict[str, bytes] = {}
        """Lines in which nothing was recognised so far."""
        self._until_ns: int | None = None

    def close(self) -> None:
        """Remove the temporary files."""
        self._folder.cleanup()

    def carried(self) -> dict[str, bytes]:
        """What the next slice begins with, by file."""
        return {name: each.text() for name, each in self._carried.items()}

    def part(self, carried: Mapping[str, bytes], added: Sequence[Mapping[str, Added]], since_ns: int) -> Trace:
        """What was added in several steps, as one trace, from a moment on; `carried` is what came before the first.

        Raises:
            UnusableInput: Nothing is recognised in it."""
        names = dict.fromkeys(name for each in added for name in each)
        texts = {
            name: (
                carried.get(name, b""),
                b"".join(each[name].lines for each in added if name in each),
                added[-1][name].unfinished if name in added[-1] else b"",
            )
            for name in names
        }
        trace = self._read(texts)
        return _since(trace, since_ns)

    def next(self, added: Mapping[str, Added]) -> Slice | None:
        """The slice of what was added; None while nothing is recognised in it.

        Raises:
            UnusableInput: The lines have no clock that can be followed."""
        for name, new in added.items():
            self._waiting[name] = self._waiting.get(name, b"") + new.lines
        texts = {
            name: (self._carried.get(name, _Carried()).text(), self._waiting.get(name, b""), new.unfinished)
            for name, new in added.items()
        }
        try:
            trace = self._read(texts)
        except UnusableInput:
            if sum(map(len, self._waiting.values())) > _MAX_UNRECOGNISED_BYTES:
                raise
            return None
        capture = trace.captures[0]
        self._format = self._format or capture.format
        if capture.first_ns is None or capture.last_ns is None:
            if trace.totals["calls"] < _MIN_CALLS:
                return None
            raise UnusableInput("the lines have no times, so nobody knows when they happened. Use: strace -f -ttt -T")
        found = self._slice(trace)
        self._carry(trace, {name: (old, new) for name, (old, new, _) in texts.items()})
        self._waiting.clear()
        return found

    def _read(self, texts: Mapping[str, tuple[bytes, bytes, bytes]]) -> Trace:
        files = []
        for name, parts in texts.items():
            # Files of `strace -ff` are known by their names.
            path = os.path.join(self._folder.name, _name_of(name))
            with open(path, "wb") as file:
                file.writelines(parts)
            files.append(path)
        return read_files([files], self._format, None)

    def _slice(self, trace: Trace) -> Slice:
        capture = trace.captures[0]
        first_ns, end_ns = capture.first_ns or 0, capture.last_ns or 0
        since_ns = end_ns - WATCHED_NS if self._until_ns is None else min(self._until_ns, end_ns)
        start_ns = max(first_ns, since_ns)
        self._until_ns = end_ns
        return Slice(_since(trace, start_ns), start_ns, end_ns)

    def _carry(self, trace: Trace, texts: Mapping[str, tuple[bytes, bytes]]) -> None:
        """Keep the lines that say who runs what, who created whom, and which calls are open."""
        # Not `splitlines`: a carriage return within a line ends none.
        lines = {name: [line + b"\n" for line in (old + new).split(b"\n")[:-1]] for name, (old, new) in texts.items()}
        by_path = {_name_of(name): name for name in texts}
        for carried in self._carried.values():
            for about in [about for about in carried.lines if about[0] == "open"]:
                del carried.lines[about]
        for row in trace.with_selection(Selection(where=_carried_rows())).events_of(_COLUMNS):
            name = by_path[os.path.basename(row["file"])]
            self._keep(self._carried.setdefault(name, _Carried()), row, lines[name])
        for name, those in lines.items():
            carried = self._carried.setdefault(name, _Carried())
            carried.lines.pop(_LAST, None)
            if those and those[-1] not in carried.lines.values():
                # The time from it to the next line is part of the next slice.
                carried.keep(_LAST, those[-1])
        for carried in self._carried.values():
            while len(carried.lines) > _MAX_CARRIED:
                del carried.lines[next(iter(carried.lines))]

    def _keep(self, carried: _Carried, row: Row, lines: Sequence[bytes]) -> None:
        task = row["tid"] if row["tid"] is not None else row["pid"]
        if row["kind"] == "exit":
            carried.forget(task)
        elif row["outcome"] == "open":
            carried.keep(("open", task, None), _line(lines, row["line"]))
        elif row["syscall"] in _of_family("execs"):
            carried.keep(("program", task, None), _call(lines, row["line"]))
        elif row["syscall"] in _LOCKS:
            about = ("lock", task, row["target"])
            carried.lines.pop(about, None)
            if not any(word in (row["op"] or "") for word in _UNLOCKS):
                carried.keep(about, _call(lines, row["line"]))
        elif row["ret"]:
            carried.keep(("birth", row["ret"], None), _call(lines, row["line"]))


def _since(trace: Trace, start_ns: int) -> Trace:
    """The trace from a moment on, or from its first line."""
    capture = trace.captures[0]
    first_ns, last_ns = capture.first_ns or 0, capture.last_ns or 0
    return trace.between(units.offset(max(start_ns - first_ns, 0)), units.offset(last_ns - first_ns))


def _call(lines: Sequence[bytes], number: int) -> bytes:
    """A call with its second half, if it was written in two; empty if there is no such line."""
    line = _line(lines, number)
    if not line.rstrip().endswith(b"<unfinished ...>"):
        return line
    words = line.split(maxsplit=1)
    task = words[0] + b" " if words and words[0].isdigit() else b""
    later = islice(lines, number, None)
    return line + next((each for each in later if b" resumed>" in each and each.startswith(task)), b"")


def _line(lines: Sequence[bytes], number: int) -> bytes:
    return lines[number - 1] if number <= len(lines) else b""


def _name_of(path: str) -> str:
    """The name of the temporary file. Files of `strace -ff` are known by their names."""
    return os.path.basename(path) or "trace"


@cache
def _of_family(family: str) -> frozenset[str]:
    return frozenset(name for name, call in _engine.SYSCALLS.items() if family in call.families)


@cache
def _carried_rows() -> Expression:
    from tracealyze.model import expression

    names = sorted(_of_family("execs") | _of_family("forks"))
    listed = ", ".join(map(_quoted, names))
    locks = f'syscall in ({", ".join(map(_quoted, _LOCKS))}) and op ~ "LOCK_|SETLK"'
    text = f'kind == "exit" or outcome == "open" or (outcome == "ok" and (syscall in ({listed}) or {locks}))'
    return expression.parse(text, "events", kind="condition", origin="watch")


def _quoted(name: str) -> str:
    return f'"{name}"'
