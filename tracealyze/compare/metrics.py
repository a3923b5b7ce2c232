"""Named numbers of a trace, for budgets and baselines: what each counts, its unit, and how reliable it is.

Most are sums over one table, the work: calls grouped by program, shape and outcome. So the places that a metric is
made of can be listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.base.program_names import short
from tracealyze.compare import syscalls
from tracealyze.compare.work import Work


class Class(StrEnum):
    """How well two captures of the same work agree on a metric, and so how much a difference means."""

    SMALL = "A-small"
    LARGE = "A-large"
    SCHEDULE = "B"
    CLOCK = "C"


@dataclass(frozen=True)
class Metric:
    """A family of metrics: its name, the arguments in brackets, and its description."""

    name: str
    unit: str
    cls: Class
    sentence: str
    arguments: tuple[str, ...] = ()
    in_baseline: bool = True

    @property
    def shown(self) -> str:
        """The form in listings: `calls[SYSCALL, ERROR]`."""
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
    Metric("call_duration", "ns", Class.CLOCK, "Duration of all calls, of a table that the tracer printed (-c)."),
    Metric("call_duration", "ns", Class.CLOCK, "Duration of the calls of one syscall, of such a table.", ("SYSCALL",)),
    Metric("wall.median", "ns", Class.CLOCK, "Length of the window (median over the runs)."),
    Metric(
        "exclusive",
        "ns",
        Class.CLOCK,
        "Critical-path time of one program, named by the last part of its path.",
        ("PROGRAM",),
    ),
)
"""All metrics, in the order of listings and judgements."""
METRICS_OF_TABLES = tuple(
    metric
    for metric in METRICS
    if metric.name in ("calls", "failed", "call_duration") and metric.arguments in ((), ("SYSCALL",))
)
"""What a table that a tracer prints has. It counts failed calls, but not by error, and names no files and processes."""


@dataclass(frozen=True)
class Name:
    """A metric with its arguments: `calls[openat, ENOENT]`."""

    family: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.family}[{', '.join(self.arguments)}]" if self.arguments else self.family

    @cached_property
    def metric(self) -> Metric:
        """The family. Raises `WrongUsage` for an unknown name, with a suggestion."""
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
        """From a text such as `calls[openat, ENOENT]`."""
        family, bracket, rest = text.partition("[")
        arguments = tuple(part.strip() for part in rest.rstrip().removesuffix("]").split(",")) if bracket else ()
        return cls(family.strip(), arguments)


@dataclass(frozen=True)
class Value:
    """The value of a metric in one run, and the part of it that depends on scheduling (`loose`)."""

    value: int
    loose: int = 0
    cls: Class | None = None
    """The class, if it differs from that of the metric in this run."""


Weigh = Callable[[Work], int]
"""The contribution of one row of work to a metric."""


def _calls_if(is_counted: Callable[[Work], bool]) -> Weigh:
    return lambda row: row.calls if is_counted(row) else 0


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
"""Metrics that are sums over the work, without arguments."""


def weigh(name: Name) -> Weigh | None:
    """The contribution of each row of work to a metric; None if the metric is not such a sum."""
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


def loosely(weigh: Weigh) -> Weigh:
    """The contribution of the part of a row that depends on scheduling."""
    return lambda row: weigh(replace(row, calls=row.loose_calls, bytes=row.loose_bytes)) if row.loose_calls else 0
