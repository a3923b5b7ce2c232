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

from tracealyze import units
from tracealyze.compare import syscalls
from tracealyze.findings.matching import file_of
from tracealyze.heuristics import MAX_ROUND_RATIO, ROUND_NUMBERS
from tracealyze.program_names import short

if TYPE_CHECKING:
    from tracealyze.table import Row
    from tracealyze.trace import Trace

Key: TypeAlias = tuple[object, ...]

MAX_SHAPES = 20_000
"""Number of shapes up to which all are listed."""
OTHER_TARGETS = "other targets"

_SUM_KEYS = ("program_name", "syscall", "op", "errno", "outcome", "target_kind")
_KEYS = (*_SUM_KEYS, "shape")


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
    rows = _calls(trace, limit=MAX_SHAPES + 1)
    if not rows:
        return [part for row in trace.summary_rows for part in _work_of_table(row)]
    if len(rows) > MAX_SHAPES:
        return list(_largest_and_others(trace))
    loose = {_key(row, _KEYS): row for row in _of_threaded(trace, _KEYS)}
    return [_work(row, loose.get(_key(row, _KEYS))) for row in rows]


def _calls(trace: Trace, by: Sequence[str] = _KEYS, order: str = "total_ns", limit: int | None = None) -> list[Row]:
    return list(trace.calls(by=by, quantiles=False, order=order, limit=limit))


def _largest_and_others(trace: Trace) -> Iterator[Work]:
    """The shapes with the most calls and bytes, all programs started, and the sum of the others.

    How many calls of threads depend on scheduling is known for the sums only, so the last row has all of them."""
    largest: dict[Key, Row] = {}
    for chosen, order in ((trace, "calls"), (trace, "bytes"), (_starts(trace), "calls")):
        limit = None if chosen is not trace else MAX_SHAPES // 2
        largest |= {_key(row, _KEYS): row for row in _calls(chosen, order=order, limit=limit)}
    listed: dict[Key, list[Work]] = {}
    for row in largest.values():
        listed.setdefault(_key(row, _SUM_KEYS), []).append(_work(row, None))
    loose = {_key(row, _SUM_KEYS): row for row in _of_threaded(trace, _SUM_KEYS)}
    for row in _calls(trace, _SUM_KEYS):
        key = _key(row, _SUM_KEYS)
        mine = listed.get(key, [])
        yield from mine
        other = _rest(_work({**row, "shape": _other_targets(row)}, loose.get(key)), mine)
        if other.calls or other.bytes or other.loose_calls:
            yield other


def _starts(trace: Trace) -> Trace:
    return trace.narrowed(syscalls=sorted(syscalls.EXECS))


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
    threaded = {row["pid"] for row in trace.processes if row["threads"] > 1}
    rows = [*_sleeps(trace), *_timeouts(trace)]
    return [
        _wait(trace, row, requested_ns, number, shape, row["pid"] in threaded or row["syscall"] in syscalls.LOCKS)
        for row, requested_ns, number, shape in rows
    ]


def _of_threaded(trace: Trace, by: Sequence[str]) -> Iterator[Row]:
    """Calls of multi-threaded programs: which thread makes a call, and how often, depends on scheduling."""
    threaded = [row for row in trace.processes if row["threads"] > 1 and row["pid"] is not None]
    if threaded:
        programs = {short(row["program"]) for row in threaded}
        chosen = trace.narrowed(pids=sorted({row["pid"] for row in threaded}))
        # Leave out what the process did as another program, before it had threads.
        yield from (row for row in _calls(chosen, by) if (row["program_name"] or "") in programs)


def _key(row: Row, by: Sequence[str]) -> Key:
    return tuple(row[key] for key in by)


def _work(row: Row, of_threads: Row | None) -> Work:
    """A row of calls. Calls of threaded programs are loose, except for work on files, which threads share."""
    loose = None if syscalls.is_work_on_file(row) else of_threads
    # Some calls depend on scheduling in any program.
    whole = row if syscalls.depends_on_schedule(row) else loose
    return Work(
        program=row["program_name"] or "",
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
