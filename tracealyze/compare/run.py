"""One run of a scenario: a capture with its work and the values of its metrics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tracealyze._engine import SYSCALLS
from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.base.program_names import short
from tracealyze.compare import syscalls
from tracealyze.compare.metrics import METRICS_OF_TABLES, WEIGHTS, Class, Metric, Name, Value, executes, loosely
from tracealyze.compare.work import Work, waits_of, work_of

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.model.selection import Selection
    from tracealyze.trace.trace import Trace

_PART = re.compile(r"\.\d+(?:\.(?:gz|bz2|xz|zst))?$")


class Run:
    """One capture of a scenario: its metrics, and the work that they are sums of."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @property
    def path(self) -> str:
        """The capture as named on a command line: `trace` for `trace.100` and `trace.101`."""
        capture = self.trace.captures[0]
        return _PART.sub("", capture.files[0]) if len(capture.files) > 1 else capture.path

    @property
    def selection(self) -> Selection:
        """What was chosen of the capture. Runs of two selections are not comparable."""
        return self.trace.selection

    @property
    def bounds(self) -> list[str]:
        """The options that select the time of this run, if it is a part of a capture."""
        named = (("--from", self.selection.start), ("--to", self.selection.end))
        return [word for name, value in named if value is not None for word in (name, value)]

    @cached_property
    def work(self) -> list[Work]:
        """The calls, grouped by program, shape and outcome."""
        return work_of(self.trace)

    @cached_property
    def waits(self) -> list[Work]:
        """Sleeps and expired timeouts, grouped by the requested time."""
        return waits_of(self.trace)

    @cached_property
    def rows(self) -> dict[tuple[str, str], Work]:
        """The last row of work of each program and shape."""
        return {(row.program, row.shape): row for row in (*self.work, *self.waits)}

    @cached_property
    def values(self) -> dict[str, Value]:
        """All metrics that this capture provides, by name."""
        return dict(_values(self))

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings of the trace's rules."""
        return self.trace.findings

    def value(self, name: Name) -> Value:
        """The value of one metric. Raises `WrongUsage` if the capture does not provide it."""
        metric = name.metric
        known = self.values.get(str(name))
        if known is not None:
            return known
        if not self._provides(metric):
            raise WrongUsage(f"{self.path}: {name} is not available from this capture: {self._lacking(metric)}.")
        _must_be_spelt_right(name, self)
        if metric.name == "execs":
            return Value(sum(row.calls for row in self.work if executes(row, name.arguments[0])))
        return Value(0)

    @property
    def is_table(self) -> bool:
        """Whether the capture has no single calls, but a table that the tracer printed: `strace -c`."""
        return bool(self.work) and not self.trace.captures[0].has.get("events")

    def _provides(self, metric: Metric) -> bool:
        if metric.name == "call_duration":
            return self.is_table and "call_duration" in self.values
        if self.is_table and metric.name != "finding":
            return metric in METRICS_OF_TABLES
        if metric.cls is Class.CLOCK:
            return self.trace.window.reason is None
        return metric.name == "finding" or bool(self.work)

    def _lacking(self, metric: Metric) -> str:
        """Why the capture does not provide a metric."""
        if self.is_table:
            known = [each.shown for each in METRICS_OF_TABLES if self._provides(each)]
            return f"it is a table of the tracer, which has only {', '.join(known)}"
        if metric.name == "call_duration":
            return (
                "only tables that tracers print (-c) have it; wall.median and exclusive[PROGRAM] are times of captures"
            )
        return "it has no wall clock" if metric.cls is Class.CLOCK else "it has no calls that show this"


def _must_be_spelt_right(name: Name, run: Run) -> None:
    """Refuse names similar to those in the capture, which are misspelt. Others may be absent on purpose."""
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
        programs = {row.program for row in run.work}
        if kinds["PROGRAM"] not in programs and (hint := did_you_mean(kinds["PROGRAM"], programs)):
            raise WrongUsage(f'{name}: no program "{kinds["PROGRAM"]}" in {run.path}.{hint}')


def _values(run: Run) -> Iterator[tuple[str, Value]]:
    trace = run.trace
    if run.work:
        sums = {key: WEIGHTS[key] for key in ("calls", "failed")} if run.is_table else WEIGHTS
        for name, each in sums.items():
            # Starts of programs do not depend on scheduling, whichever thread makes them.
            loose = 0 if name == "execs" else sum(map(loosely(each), run.work))
            yield name, Value(sum(map(each, run.work)), loose)
        yield from _per_syscall(run.work)
    if run.is_table:
        yield from _durations_of_table(trace)
    elif run.work:
        yield "processes", Value(trace.totals["processes"])
        yield "threads", Value(trace.totals["threads"], cls=Class.SCHEDULE if trace.threaded_processes else None)
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


def _durations_of_table(trace: Trace) -> Iterator[tuple[str, Value]]:
    """The durations of a table. Some tables have counts only."""
    sums: Counter[str] = Counter()
    for row in trace.summary_rows:
        if row["total_ns"] is not None:
            sums[row["syscall"]] += row["total_ns"]
    if sums:
        yield "call_duration", Value(sums.total())
    for syscall in sorted(sums):
        yield f"call_duration[{syscall}]", Value(sums[syscall])


def _per_program(trace: Trace) -> Iterator[tuple[str, Value]]:
    sums: Counter[str] = Counter()
    for row in trace.partition_by(["program"]):
        sums[short(row["program"])] += row["exclusive_ns"]
    for program in sorted(filter(None, sums)):
        yield f"exclusive[{program}]", Value(sums[program])


def hosts(trace: Trace) -> set[str]:
    """The hosts that a process connected or sent to."""
    contacts = trace.narrowed(syscalls=sorted(syscalls.CONTACTS))
    found = (syscalls.host_of(target) for target in contacts.calls(by=["target"], quantiles=False).column("target"))
    return {host for host in found if host}
