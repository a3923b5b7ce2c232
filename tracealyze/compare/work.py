"""The work of a capture: its calls, grouped by program, shape and outcome, and its deliberate waits.

A capture of very many files has very many shapes. Only the largest are listed then. The others are added up by syscall
and outcome, so that the rows sum to all calls:

```
sh   openat(/etc/passwd)         25 calls
sh   openat(other targets)  400,000 calls
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from tracealyze.base import units
from tracealyze.base.heuristics import MAX_ROUND_RATIO, ROUND_NUMBERS
from tracealyze.base.program_names import short
from tracealyze.compare import syscalls
from tracealyze.findings.matching import file_of

if TYPE_CHECKING:
    from tracealyze.model.table import Row, Table
    from tracealyze.trace.trace import Trace

Key: TypeAlias = tuple[object, ...]

MAX_SHAPES = 20_000
"""Number of shapes up to which all are listed."""
OTHER_TARGETS = "other targets"

_SUM_KEYS = ("program_name", "syscall", "op", "errno", "outcome", "target_kind")


@dataclass(frozen=True)
class Work:
    """Calls of one program with the same shape and outcome."""

    program: str
    """The last part of its path."""
    syscall: str
    op: str | None
    shape: str
    errno: str | None
    outcome: str
    calls: int
    bytes: int
    wait_ns: int
    """Requested duration of these calls; deliberate waits only."""
    exclusive_ns: int
    first_line: int | None
    last_line: int | None
    loose_calls: int = 0
    loose_bytes: int = 0
    file: str | None = None
    """The file of the lines, if the capture has several."""

    @property
    def ok(self) -> bool:
        """Whether these calls succeeded."""
        return self.outcome == "ok"


def work_of(trace: Trace) -> list[Work]:
    """The calls of a trace, grouped by program, shape and outcome; for a tracer's summary table, its rows."""
    shapes, sums = trace.work(MAX_SHAPES, MAX_SHAPES // 2, syscalls.EXECS)
    if not shapes:
        return [part for row in trace.summary_rows for part in _work_of_table(row)]
    if sums is None:
        return [_work(row, are_loose_known=True) for row in shapes]
    return list(_largest_and_others(shapes, sums))


def _largest_and_others(shapes: Table, sums: Table) -> Iterator[Work]:
    """The largest shapes, each group of them followed by the sum of the others.

    How many calls of threads depend on scheduling is known for the sums only, so the last row has all of them."""
    listed: dict[Key, list[Work]] = {}
    for row in shapes:
        listed.setdefault(_key(row), []).append(_work(row, are_loose_known=False))
    for row in sums:
        mine = listed.get(_key(row), [])
        yield from mine
        other = _rest(_work({**row, "shape": _other_targets(row)}, are_loose_known=True), mine)
        if other.calls or other.bytes or other.loose_calls:
            yield other


def _other_targets(row: Row) -> str:
    """The shape that stands for all others of a syscall, an operation and an outcome."""
    end = row["errno"] or ("" if row["outcome"] == "ok" else row["outcome"])
    op = f"{row['op']}, " if row["op"] else ""
    return f"{row['syscall']}({op}{OTHER_TARGETS}){f' {end}' if end else ''}"


def _rest(whole: Work, parts: Sequence[Work]) -> Work:
    """What is left of a sum without some of its parts."""
    amounts = ("calls", "bytes", "exclusive_ns", "loose_calls", "loose_bytes")
    left = {name: getattr(whole, name) - sum(getattr(part, name) for part in parts) for name in amounts}
    return replace(whole, **left)


def waits_of(trace: Trace) -> list[Work]:
    """Sleeps and expired timeouts, grouped by the requested time."""
    threaded = {pid for pid, _ in trace.threaded_processes}
    rows = [*_sleeps(trace), *_timeouts(trace)]
    return [
        _wait(trace, row, requested_ns, number, shape, row["pid"] in threaded or row["syscall"] in syscalls.LOCKS)
        for row, requested_ns, number, shape in rows
    ]


def _key(row: Row) -> Key:
    return tuple(row[key] for key in _SUM_KEYS)


def _work(row: Row, *, are_loose_known: bool) -> Work:
    """A row of calls. Calls of threaded programs are loose, except for work on files, which threads share: which thread
    makes a call, and how often, depends on scheduling."""
    is_loose = are_loose_known and not syscalls.is_work_on_file(row)
    loose_calls, loose_bytes = (row["loose_calls"], row["loose_bytes"]) if is_loose else (0, 0)
    return Work(
        program=row["program_name"] or "",
        syscall=row["syscall"],
        op=row["op"],
        shape=row["shape"],
        errno=row["errno"],
        outcome=row["outcome"],
        calls=row["calls"],
        bytes=row["bytes"],
        wait_ns=0,
        exclusive_ns=row["exclusive_ns"],
        first_line=row["first_line"],
        last_line=row["last_line"],
        # Some calls depend on scheduling in any program.
        loose_calls=row["calls"] if syscalls.depends_on_schedule(row) else loose_calls,
        # The bytes through a pipe do not depend on their division into calls; those of a threaded program may.
        loose_bytes=loose_bytes,
    )


def _work_of_table(row: Row) -> Iterator[Work]:
    """A row of a tracer's summary table, which counts failed calls but not their errors."""
    syscall, failed = row["syscall"], row["failed"]
    for end, outcome, calls in (("", "ok", row["calls"] - failed), (" failed", "failed", failed)):
        if calls:
            yield Work("", syscall, None, f"{syscall}(){end}", None, outcome, calls, 0, 0, 0, None, None)


_Wait: TypeAlias = tuple["Row", int, int, str]
"""A row of sleeps or timeouts, the requested duration of each, their number, and their shape."""


def _length(requested_ns: int) -> str:
    """`200 ms`, or `about 200 ms` for 203.6 ms: the length of a sleep until a point in time varies."""
    unit = 10 ** max(len(str(requested_ns)) - 3, 0)
    if requested_ns % unit == 0:
        return units.duration(requested_ns)
    unit *= 10
    chosen = next((each * unit for each in reversed(ROUND_NUMBERS) if each * unit <= requested_ns), requested_ns)
    near = chosen if requested_ns <= chosen * MAX_ROUND_RATIO else round(requested_ns / unit) * unit
    return f"about {units.duration(near)}"


def _sleeps(trace: Trace) -> Iterator[_Wait]:
    """Sleeps that ran to their end. The length of an interrupted sleep is accidental."""
    for row in trace.table("sleeps"):
        whole = row["calls"] - row["interrupted"]
        # If the capture does not show the requested time, the mean duration is the best estimate.
        requested_ns = row["asked_ns"] if row["asked_ns"] is not None else (row["ran_ns"] or 0) // max(row["calls"], 1)
        if whole > 0:
            yield row, requested_ns, whole, f"{row['syscall']}() of {_length(requested_ns)}"


def _timeouts(trace: Trace) -> Iterator[_Wait]:
    for row in trace.table("timeouts"):
        known_ns = row["requested_ns"]
        requested_ns = known_ns if known_ns is not None else (row["ran_ns"] or 0) // max(row["expired"], 1)
        within = ", ".join(part for part in (row["op"], row["target"]) if part)
        yield row, requested_ns, row["expired"], f"{row['syscall']}({within}) expired after {_length(requested_ns)}"


def _wait(trace: Trace, row: Row, requested_ns: int, number: int, shape: str, loose: bool) -> Work:
    """Waits as a row of work. Those of threads depend on scheduling: which thread waits, and when it is woken."""
    return Work(
        program=short(row["program"]),
        syscall=row["syscall"],
        op=None,
        shape=shape,
        errno=None,
        outcome="ok",
        calls=0,
        bytes=0,
        wait_ns=requested_ns * number,
        exclusive_ns=0,
        first_line=row["first_line"],
        last_line=row["last_line"],
        loose_calls=int(loose),
        file=file_of(trace, row),
    )
