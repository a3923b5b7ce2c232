"""Logs next to captures of calls: what a traced process waited for while a log was silent.

    log      connecting │······················ 9.8 s ······················│ not reachable, using the cache
    calls             │ connect(10.0.0.9:5432) ····················· 9.8 s │ write

Captures are compared whose clocks can be put on one axis (`shared_axis`): others have no moment in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MAX_WAIT_TO_SILENCE, MIN_SILENCE_IN_WAIT_NS, MIN_SILENCE_IN_WAIT_SHARE
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown
from tracealyze.trace.together.shared_axis import Extent, shifts

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables

_MAX_ROWS = 200
_MAX_TOLD = 3


@dataclass(frozen=True)
class Silence:
    """A time without a message of a log: the messages around it, and the line of the first."""

    file: str
    line: int | None
    start_ns: int
    dur_ns: int
    before: str
    after: str | None


@dataclass(frozen=True)
class Wait:
    """A call on the critical path of a capture."""

    file: str
    line: int | None
    start_ns: int
    dur_ns: int
    pid: int | None
    program: str | None
    syscall: str
    target: str | None


@dataclass(frozen=True)
class Meanwhile:
    """A silence of a log within a call of a traced process."""

    silence: Silence
    wait: Wait
    tick_ns: int

    @property
    def text(self) -> str:
        """Both, in a sentence."""
        silence, wait = self.silence, self.wait
        until = f' and "{shown(silence.after)}"' if silence.after else ""
        between = "between" if until else "after"
        process = shown(short(wait.program) or "a process")
        of = f" (pid {wait.pid})" if wait.pid is not None else ""
        on = f" of {shown(wait.target)}" if wait.target else ""
        return (
            f"The log is silent for {units.duration(silence.dur_ns, self.tick_ns)} {between} "
            f'"{shown(silence.before)}"{until}; meanwhile {process}{of} waits in {shown(wait.syscall)}{on} '
            f"for {units.duration(wait.dur_ns, self.tick_ns)}."
        )

    def document(self) -> dict[str, object]:
        """The member of JSON documents."""
        return {"text": self.text, "silence": asdict(self.silence), "wait": asdict(self.wait)}


@dataclass(frozen=True)
class Moments:
    """The long silences or calls of one capture, when it was made, and the resolution of its clock."""

    extent: Extent
    silences: tuple[Silence, ...] = ()
    waits: tuple[Wait, ...] = ()
    tick_ns: int = units.US


def moments(trace: TraceTables, extent: Extent) -> Moments:
    """Those of a trace of one capture, which has this extent."""
    capture = trace.captures[0] if trace.captures else None
    if capture is None or (extent.moment_ns is None and not extent.has_midnight):
        return Moments(extent)
    rows = [row for row in trace.path_from(MIN_SILENCE_IN_WAIT_NS, _MAX_ROWS) if _is_long(row)]
    if capture.dur_kind == "gap":
        after = {(row["before"], row["max_ns"]): row["after"] for row in trace.table("silences")}
        silences = tuple(_silence(capture.path, row, after) for row in rows if row["what"] == "silence")
        return Moments(extent, silences=silences, tick_ns=trace.tick_ns)
    waits = tuple(_wait(capture.path, row) for row in rows if row["what"] == "call" and row["syscall"])
    return Moments(extent, waits=waits, tick_ns=trace.tick_ns)


def _is_long(row: Row) -> bool:
    return bool(row["dur_ns"] >= MIN_SILENCE_IN_WAIT_NS)


def _silence(file: str, row: Row, after: dict[tuple[str, int], str | None]) -> Silence:
    before = row["target"] or ""
    return Silence(file, row["line"], row["start_ns"], row["dur_ns"], before, after.get((before, row["dur_ns"])))


def _wait(file: str, row: Row) -> Wait:
    return Wait(
        *(file, row["line"], row["start_ns"], row["dur_ns"]),
        *(row["pid"], row["program"], row["syscall"], row["target"]),
    )


def meanwhile(captures: Iterable[Moments]) -> list[Meanwhile]:
    """The longest silences that lie within a call, with the call that fits best."""
    every = list(captures)
    found = shifts([each.extent for each in every])
    placed = [(each, shift) for each, shift in zip(every, found, strict=True) if shift is not None]
    waits = [_Placed(wait, shift.ns, each.tick_ns) for each, shift in placed for wait in each.waits]
    told = []
    for each, shift in placed:
        for silence in each.silences:
            best = _best(silence, shift.ns, waits)
            if best is not None:
                told.append(Meanwhile(silence, best.wait, max(best.tick_ns, each.tick_ns)))
    told.sort(key=lambda one: -one.silence.dur_ns)
    return told[:_MAX_TOLD]


@dataclass(frozen=True)
class _Placed:
    """A call, what has to be added to its moments, and the resolution of its clock."""

    wait: Wait
    shift_ns: int
    tick_ns: int


def _best(silence: Silence, shift_ns: int, waits: Sequence[_Placed]) -> _Placed | None:
    """A call of a process that the messages name comes first, then the shortest one."""
    fitting = [each for each in waits if _fits(silence, each.wait, shift_ns - each.shift_ns)]
    return min(fitting, key=lambda each: (not _is_named(silence, each.wait), each.wait.dur_ns), default=None)


def _fits(silence: Silence, wait: Wait, shift_ns: int) -> bool:
    """Whether a silence lies within a call. One that lasts much longer must be of a process that the messages name."""
    silent_ns = silence.start_ns + shift_ns
    start_ns = max(silent_ns, wait.start_ns)
    end_ns = min(silent_ns + silence.dur_ns, wait.start_ns + wait.dur_ns)
    is_within = end_ns - start_ns >= MIN_SILENCE_IN_WAIT_SHARE * silence.dur_ns
    is_as_long = wait.dur_ns <= MAX_WAIT_TO_SILENCE * silence.dur_ns
    return is_within and (is_as_long or _is_named(silence, wait))


def _is_named(silence: Silence, wait: Wait) -> bool:
    """Whether a message around a silence has the id in brackets, or the name, of the process."""
    said = f"{silence.before} {silence.after or ''}"
    name = short(wait.program)
    return f"[{wait.pid}]" in said or bool(name and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said))
