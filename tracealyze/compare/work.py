"""The work of a capture: its calls, grouped by program, shape and outcome, and its deliberate waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tracealyze import units
from tracealyze.compare import syscalls
from tracealyze.findings.matching import file_of
from tracealyze.heuristics import MAX_ROUND_RATIO, ROUND_NUMBERS

if TYPE_CHECKING:
    from tracealyze.table import Row
    from tracealyze.trace import Trace

_KEYS = ("program", "syscall", "op", "shape", "errno", "outcome")


@dataclass(frozen=True)
class Work:
    """Calls of one program with the same shape and outcome."""

    program: str
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
    loose = {_key(row): row for row in _of_threaded(trace)}
    found = [_work(row, loose.get(_key(row))) for row in trace.calls(by=_KEYS, quantiles=False)]
    return found or [part for row in trace.summary_rows for part in _work_of_table(row)]


def waits_of(trace: Trace) -> list[Work]:
    """Sleeps and expired timeouts, grouped by the requested time."""
    threaded = {row["pid"] for row in trace.processes if row["threads"] > 1}
    rows = [*_sleeps(trace), *_timeouts(trace)]
    return [
        _wait(trace, row, requested_ns, number, shape, row["pid"] in threaded or row["syscall"] in syscalls.LOCKS)
        for row, requested_ns, number, shape in rows
    ]


def _of_threaded(trace: Trace) -> Iterator[Row]:
    """Calls of multi-threaded programs: which thread makes a call, and how often, depends on scheduling."""
    threaded = [row for row in trace.processes if row["threads"] > 1 and row["pid"] is not None]
    if threaded:
        programs = {row["program"] for row in threaded}
        chosen = trace.narrowed(pids=sorted({row["pid"] for row in threaded}))
        # Leave out what the process did as another program, before it had threads.
        yield from (row for row in chosen.calls(by=_KEYS, quantiles=False) if row["program"] in programs)


def _key(row: Row) -> tuple[object, ...]:
    return tuple(row[key] for key in _KEYS)


def _work(row: Row, of_threads: Row | None) -> Work:
    """A row of calls. Calls of threaded programs are loose, except for work on files, which threads share."""
    loose = None if syscalls.is_work_on_file(row) else of_threads
    # Some calls depend on scheduling in any program.
    whole = row if syscalls.depends_on_schedule(row) else loose
    return Work(
        program=row["program"] or "",
        syscall=row["syscall"],
        op=row["op"],
        shape=row["shape"],
        errno=row["errno"],
        outcome=row["outcome"],
        calls=row["calls"],
        bytes=row["bytes"] or 0,
        wait_ns=0,
        exclusive_ns=row["exclusive_ns"] or 0,
        first_line=row["first_line"],
        last_line=row["last_line"],
        loose_calls=whole["calls"] if whole else 0,
        # The bytes through a pipe do not depend on their division into calls; those of a threaded program may.
        loose_bytes=(loose["bytes"] or 0) if loose else 0,
    )


def _work_of_table(row: Row) -> Iterator[Work]:
    """A row of a tracer's summary table, which counts failed calls but not their errors."""
    for outcome, calls in (("ok", row["calls"] - row["failed"]), ("failed", row["failed"])):
        if calls:
            yield Work("", row["syscall"], None, f"{row['syscall']}()", None, outcome, calls, 0, 0, 0, None, None)


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
        program=row["program"] or "",
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
