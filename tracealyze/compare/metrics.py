"""Named numbers of a trace, for budgets and baselines: what each counts, in which unit, and how far it can be trusted.

All counts are sums over one table, `work`: calls told apart by program, shape and outcome. So what a metric is
made of can be said in the same words as the metric itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from tracealyze import units
from tracealyze._engine import SYSCALLS
from tracealyze.compare import syscalls
from tracealyze.errors import WrongUsage, did_you_mean
from tracealyze.findings.matching import file_of
from tracealyze.program_names import short

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.table import Row
    from tracealyze.trace import Trace


class Class(StrEnum):
    """How far two captures of the same work agree on a metric, and so what a difference is worth."""

    SMALL = "A-small"
    LARGE = "A-large"
    SCHEDULE = "B"
    CLOCK = "C"


@dataclass(frozen=True)
class Metric:
    """A family of metrics: its name, what stands in brackets behind it, and what it says."""

    name: str
    unit: str
    cls: Class
    sentence: str
    arguments: tuple[str, ...] = ()
    in_baseline: bool = True

    @property
    def shown(self) -> str:
        """As help lists it: `calls[SYSCALL, ERROR]`."""
        return f"{self.name}[{', '.join(self.arguments)}]" if self.arguments else self.name


METRICS = (
    Metric("processes", "", Class.SMALL, "Processes in the capture."),
    Metric("execs", "", Class.SMALL, "Programs started: successful exec and posix_spawn calls."),
    Metric("execs", "", Class.SMALL, "Starts of one program, named by the last part of its path.", ("PROGRAM",), False),
    Metric("threads", "", Class.SMALL, "Threads, including main threads; class B for multi-threaded programs."),
    Metric("fsyncs", "", Class.SMALL, "Calls that wait for the disk: fsync, fdatasync, sync, syncfs."),
    Metric("hosts", "", Class.SMALL, "Different network hosts that a process connected or sent to."),
    Metric("finding", "", Class.SMALL, "Findings of one rule.", ("RULE",)),
    Metric("calls", "", Class.LARGE, "All calls."),
    Metric("calls", "", Class.LARGE, "Calls of one syscall.", ("SYSCALL",)),
    Metric("calls", "", Class.LARGE, "Calls of one syscall that failed with one error.", ("SYSCALL", "ERROR")),
    Metric("failed", "", Class.LARGE, "Failed calls."),
    Metric("opens", "", Class.LARGE, "Files opened: successful calls of the open family."),
    Metric("lookups_missed", "", Class.LARGE, "Lookups of missing names (ENOENT, ENOTDIR)."),
    Metric("bytes_read", "bytes", Class.LARGE, "Bytes returned by read, recv and related calls."),
    Metric("bytes_written", "bytes", Class.LARGE, "Bytes written by write, send, sendfile and related calls."),
    Metric("deliberate_wait", "ns", Class.LARGE, "Requested sleep time plus expired timeouts."),
    Metric("wall.median", "ns", Class.CLOCK, "Length of the window (median over the runs)."),
    Metric(
        "exclusive",
        "ns",
        Class.CLOCK,
        "Critical-path time of one program, named by the last part of its path.",
        ("PROGRAM",),
    ),
)
"""All metrics, in the order in which they are listed and judged."""


@dataclass(frozen=True)
class Name:
    """A metric with its arguments: `calls[openat, ENOENT]`."""

    family: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.family}[{', '.join(self.arguments)}]" if self.arguments else self.family

    @cached_property
    def metric(self) -> Metric:
        """What it is of; an unknown name is an error that names the nearest."""
        here = [metric for metric in METRICS if metric.name == self.family]
        if not here:
            hint = did_you_mean(self.family, sorted({metric.name for metric in METRICS}))
            raise WrongUsage(f'no metric "{self.family}".{hint} tracealyze check --metrics lists them.')
        for metric in here:
            if len(metric.arguments) == len(self.arguments):
                return metric
        forms = ", ".join(metric.shown for metric in here)
        raise WrongUsage(f'metric "{self}" does not take {len(self.arguments)} arguments; use {forms}.')

    @classmethod
    def of(cls, text: str) -> Name:
        """From `calls[openat, ENOENT]`."""
        family, bracket, rest = text.partition("[")
        arguments = tuple(part.strip() for part in rest.rstrip().removesuffix("]").split(",")) if bracket else ()
        return cls(family.strip(), arguments)


@dataclass(frozen=True)
class Value:
    """What one run has of a metric, and how much of it depends on scheduling."""

    value: int
    loose: int = 0
    cls: Class | None = None
    """The class, where this run makes it another one than the metric's."""


@dataclass(frozen=True)
class Work:
    """Calls of one program that are alike."""

    program: str
    syscall: str
    op: str | None
    shape: str
    errno: str | None
    outcome: str
    calls: int
    bytes: int
    wait_ns: int
    """How long these calls were asked to take; only of deliberate waits."""
    exclusive_ns: int
    first_line: int | None
    last_line: int | None
    loose_calls: int = 0
    loose_bytes: int = 0
    file: str | None = None
    """That of the lines, where it is known to be one of several."""

    @property
    def ok(self) -> bool:
        """Whether these calls succeeded."""
        return self.outcome == "ok"


_PART = re.compile(r"\.\d+(?:\.(?:gz|bz2|xz|zst))?$")
_KEYS = ("program", "syscall", "op", "shape", "errno", "outcome")


class Run:
    """One capture of a scenario: its metrics, and the work they are sums of."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @property
    def path(self) -> str:
        """The capture, as it is named on a command line: `trace` for `trace.100` and `trace.101`."""
        capture = self.trace.captures[0]
        return _PART.sub("", capture.files[0]) if len(capture.files) > 1 else capture.path

    @cached_property
    def work(self) -> list[Work]:
        """The calls, told apart by program, shape and outcome; of a capture that is a table only, the rows of that."""
        loose = {_key(row): row for row in _of_threaded(self.trace)}
        found = [_work(row, loose.get(_key(row))) for row in self.trace.calls(by=_KEYS, quantiles=False)]
        return found or [part for row in self.trace.summary_rows for part in _work_of_table(row)]

    @cached_property
    def waits(self) -> list[Work]:
        """Sleeps and time-outs that expired, told apart by how long they were asked to take."""
        threaded = {row["pid"] for row in self.trace.processes if row["threads"] > 1}
        rows = [*_sleeps(self.trace), *_timeouts(self.trace)]
        return [
            _wait(self.trace, row, asked_ns, number, shape, row["pid"] in threaded or row["syscall"] in syscalls.LOCKS)
            for row, asked_ns, number, shape in rows
        ]

    @cached_property
    def values(self) -> dict[str, Value]:
        """All metrics that this capture can tell, by name."""
        return dict(_values(self))

    @cached_property
    def findings(self) -> list[Finding]:
        """What the rules say."""
        return self.trace.findings

    def value(self, name: Name) -> Value:
        """One metric; an error if the capture cannot tell it."""
        metric = name.metric
        known = self.values.get(str(name))
        if known is not None:
            return known
        if not self._tells(metric):
            raise WrongUsage(f"{self.path}: {name} is not available from this capture: {_lacking(metric)}.")
        _must_be_right(name, self)
        if metric.name == "execs":
            return Value(sum(row.calls for row in self.work if executes(row, name.arguments[0])))
        return Value(0)

    def _tells(self, metric: Metric) -> bool:
        if metric.cls is Class.CLOCK:
            return self.trace.window.reason is None
        if metric.name == "finding":
            return True
        has = self.trace.captures[0].has
        return bool(has.get("events") and self.work) or (bool(self.work) and metric.name in ("calls", "failed"))


def _lacking(metric: Metric) -> str:
    return "it has no wall clock" if metric.cls is Class.CLOCK else "it has no calls that show this"


def _must_be_right(name: Name, run: Run) -> None:
    """A name that is not in the capture may be meant so; one that is nearly there is misspelt."""
    kinds = dict(zip(name.metric.arguments, name.arguments, strict=True))
    if "RULE" in kinds and kinds["RULE"] not in (known := [rule.name for rule in run.trace.rules]):
        raise WrongUsage(
            f'{name}: there is no rule "{kinds["RULE"]}" ({", ".join(known)}).{did_you_mean(kinds["RULE"], known)}'
        )
    if "ERROR" in kinds and not syscalls.is_error(kinds["ERROR"]):
        hint = did_you_mean(kinds["ERROR"], syscalls.errors())
        raise WrongUsage(f'{name}: there is no error "{kinds["ERROR"]}".{hint}')
    if "SYSCALL" in kinds and kinds["SYSCALL"] not in SYSCALLS:
        seen = {row.syscall for row in run.work}
        if kinds["SYSCALL"] not in seen and (hint := did_you_mean(kinds["SYSCALL"], seen | SYSCALLS.keys())):
            raise WrongUsage(f'{name}: no capture has a call "{kinds["SYSCALL"]}".{hint}')
    if "PROGRAM" in kinds:
        programs = {short(row.program) for row in run.work}
        if kinds["PROGRAM"] not in programs and (hint := did_you_mean(kinds["PROGRAM"], programs)):
            raise WrongUsage(f'{name}: no program "{kinds["PROGRAM"]}" in {run.path}.{hint}')


def _of_threaded(trace: Trace) -> Iterator[Row]:
    """Calls of programs with several threads: which of them makes a call, and how often, depends on scheduling."""
    threaded = [row for row in trace.processes if row["threads"] > 1 and row["pid"] is not None]
    if threaded:
        programs = {row["program"] for row in threaded}
        chosen = trace.narrowed(pids=sorted({row["pid"] for row in threaded}))
        # What the process did as another program, before it had threads, is not meant.
        yield from (row for row in chosen.calls(by=_KEYS, quantiles=False) if row["program"] in programs)


def _key(row: Row) -> tuple[object, ...]:
    return tuple(row[key] for key in _KEYS)


def _work(row: Row, loose: Row | None) -> Work:
    """A row of the table; all of it is loose if its calls depend on scheduling anyway."""
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
        # What goes through a pipe is the same in few or many pieces; what a threaded program moves may not be.
        loose_bytes=(loose["bytes"] or 0) if loose else 0,
    )


def _work_of_table(row: Row) -> Iterator[Work]:
    """A row of a tracer's own table: it knows how many calls failed, but not how."""
    for outcome, calls in (("ok", row["calls"] - row["failed"]), ("failed", row["failed"])):
        if calls:
            yield Work("", row["syscall"], None, f"{row['syscall']}()", None, outcome, calls, 0, 0, 0, None, None)


_Wait: TypeAlias = tuple["Row", int, int, str]
"""A row of sleeps or time-outs, how long each was asked to take, how many there were, and what they are called."""


_CHOSEN = (10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 80, 90)


def _length(asked_ns: int) -> str:
    """`200 ms`, or `about 200 ms` of 203.6 ms: a sleep until a moment is as long as it took, which differs."""
    unit = 10 ** max(len(str(asked_ns)) - 3, 0)
    if asked_ns % unit == 0:
        return units.duration(asked_ns)
    unit *= 10
    chosen = next((each * unit for each in reversed(_CHOSEN) if each * unit <= asked_ns), asked_ns)
    near = chosen if asked_ns <= chosen * 1.05 else round(asked_ns / unit) * unit
    return f"about {units.duration(near)}"


def _sleeps(trace: Trace) -> Iterator[_Wait]:
    """Sleeps that ran to their end. How much is slept of what a signal cuts short is an accident."""
    for row in trace.table("sleeps"):
        whole = row["calls"] - row["interrupted"]
        # Where the capture does not show what was asked for, what was slept is as near as it gets.
        asked_ns = row["asked_ns"] if row["asked_ns"] is not None else (row["ran_ns"] or 0) // max(row["calls"], 1)
        if whole > 0:
            yield row, asked_ns, whole, f"{row['syscall']}() of {_length(asked_ns)}"


def _timeouts(trace: Trace) -> Iterator[_Wait]:
    for row in trace.table("timeouts"):
        known_ns = row["requested_ns"]
        asked_ns = known_ns if known_ns is not None else (row["ran_ns"] or 0) // max(row["expired"], 1)
        within = ", ".join(part for part in (row["op"], row["target"]) if part)
        yield row, asked_ns, row["expired"], f"{row['syscall']}({within}) expired after {_length(asked_ns)}"


def _wait(trace: Trace, row: Row, asked_ns: int, number: int, shape: str, loose: bool) -> Work:
    """Waits that are alike. Which of several threads waits, and whether it is woken in time, depends on scheduling."""
    return Work(
        program=row["program"] or "",
        syscall=row["syscall"],
        op=None,
        shape=shape,
        errno=None,
        outcome="ok",
        calls=0,
        bytes=0,
        wait_ns=asked_ns * number,
        exclusive_ns=0,
        first_line=row["first_line"],
        last_line=row["last_line"],
        loose_calls=int(loose),
        file=file_of(trace, row),
    )


Weigh = Callable[[Work], int]
"""What one row of work adds to a metric."""


def _calls_if(asked: Callable[[Work], bool]) -> Weigh:
    return lambda row: row.calls if asked(row) else 0


def executes(row: Work, program: str) -> bool:
    """Whether these calls started this program."""
    return row.ok and row.syscall in syscalls.EXECS and short(syscalls.target_of(row.syscall, row.shape)) == program


WEIGHTS: Mapping[str, Weigh] = {
    "execs": _calls_if(lambda row: row.ok and row.syscall in syscalls.EXECS),
    "fsyncs": _calls_if(lambda row: row.syscall in syscalls.SYNCS),
    "calls": lambda row: row.calls,
    "failed": _calls_if(lambda row: row.outcome == "failed"),
    "opens": _calls_if(lambda row: row.ok and row.syscall in syscalls.OPENS),
    "lookups_missed": _calls_if(lambda row: row.errno in syscalls.MISSING and row.syscall in syscalls.LOOKUPS),
    "bytes_read": lambda row: row.bytes if row.syscall in syscalls.READS else 0,
    "bytes_written": lambda row: row.bytes if row.syscall in syscalls.WRITES else 0,
}
"""Metrics that are sums over the work."""


def weigh(name: Name) -> Weigh | None:
    """What each row of work adds to a metric; None if it is not made of such rows."""
    if name.family == "calls" and name.arguments:
        syscall, *errors = name.arguments
        return _calls_if(lambda row: row.syscall == syscall and (not errors or row.errno == errors[0]))
    if name.family == "execs" and name.arguments:
        return _calls_if(lambda row: executes(row, name.arguments[0]))
    if name.family == "deliberate_wait":
        return lambda row: row.wait_ns
    if name.family == "hosts":
        return _calls_if(lambda row: row.syscall in syscalls.CONTACTS)
    return WEIGHTS.get(name.family)


def _loosely(weigh: Weigh) -> Weigh:
    """The same for the part of a row that depends on scheduling."""
    return lambda row: weigh(replace(row, calls=row.loose_calls, bytes=row.loose_bytes)) if row.loose_calls else 0


def _values(run: Run) -> Iterator[tuple[str, Value]]:
    trace = run.trace
    if run.work:
        sums = WEIGHTS if trace.captures[0].has.get("events") else {key: WEIGHTS[key] for key in ("calls", "failed")}
        for name, each in sums.items():
            # That a program is started is no accident, whoever starts it.
            loose = 0 if name == "execs" else sum(map(_loosely(each), run.work))
            yield name, Value(sum(map(each, run.work)), loose)
        yield from _per_syscall(run.work)
    if run.work and trace.captures[0].has.get("events"):
        yield "processes", Value(trace.totals["processes"])
        several = any(row["threads"] > 1 for row in trace.processes)
        yield "threads", Value(trace.totals["threads"], cls=Class.SCHEDULE if several else None)
        yield "hosts", Value(len(hosts(trace)))
        loose_ns = sum(row.wait_ns for row in run.waits if row.loose_calls)
        yield "deliberate_wait", Value(sum(row.wait_ns for row in run.waits), loose_ns)
    found = Counter(finding.name for finding in run.findings)
    for rule in trace.rules:
        yield f"finding[{rule.name}]", Value(found[rule.name])
    if trace.window.reason is None:
        yield "wall.median", Value(trace.window.wall_ns)
        yield from _per_program(trace)


def _per_syscall(work: Sequence[Work]) -> Iterator[tuple[str, Value]]:
    calls: Counter[str] = Counter()
    loose: Counter[str] = Counter()
    for row in work:
        names = [f"calls[{row.syscall}]"]
        if row.errno:
            names.append(f"calls[{row.syscall}, {row.errno}]")
        for name in names:
            calls[name] += row.calls
            loose[name] += row.loose_calls
    for name in sorted(calls):
        yield name, Value(calls[name], loose[name])


def _per_program(trace: Trace) -> Iterator[tuple[str, Value]]:
    sums: Counter[str] = Counter()
    for row in trace.partition_by(["program"]):
        sums[short(row["program"])] += row["exclusive_ns"]
    for program in sorted(filter(None, sums)):
        yield f"exclusive[{program}]", Value(sums[program])


def hosts(trace: Trace) -> set[str]:
    """The hosts that something connected or sent to."""
    contacts = trace.narrowed(syscalls=sorted(syscalls.CONTACTS))
    found = (syscalls.host_of(target) for target in contacts.calls(by=["target"]).column("target"))
    return {host for host in found if host}
