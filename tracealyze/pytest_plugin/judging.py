"""From the lines of a block to counts and a verdict."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracealyze.compare.gate.baseline import baseline_of
from tracealyze.compare.gate.baseline_file import document
from tracealyze.compare.gate.verdict import Criteria, verdict
from tracealyze.compare.metrics import Class, Metric, Name, Value
from tracealyze.compare.run import Run
from tracealyze.model.selection import Selection
from tracealyze.pytest_plugin import accepted_tests
from tracealyze.pytest_plugin.texts import failure
from tracealyze.trace.trace import Trace, read

if TYPE_CHECKING:
    from tracealyze.compare.gate.budget import Budget
    from tracealyze.findings.finding import Finding

SHOWN = ("calls", "failed", "opens", "lookups_missed", "execs", "processes", "threads", "bytes_read", "bytes_written")
"""The counts of a report."""


class Counts(Run):
    """The work of a block. Processes and threads are those that the block created: this process is not one of them."""

    def __init__(self, trace: Trace, budgets: Sequence[Budget]) -> None:
        super().__init__(trace)
        self._families = {budget.name.family for budget in budgets}

    @property
    def selection(self) -> Selection:
        """The whole block. Lines of other threads are left out, and only chance decides whether there are any."""
        return Selection()

    @cached_property
    def values(self) -> dict[str, Value]:
        """Counts, and what the budgets name in addition: times and findings differ from run to run."""
        found = {name: value for name, value in super().values.items() if self._is_wanted(Name.of(name))}
        created = [task for task in self.trace.tasks if task["created_by"] is not None]
        processes = sum(not task["is_thread"] for task in created)
        return found | {
            "processes": replace(found.get("processes", Value(0)), value=processes),
            "threads": replace(found.get("threads", Value(0)), value=len(created) - processes),
        }

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings, if a budget names one."""
        return self.trace.findings if "finding" in self._families else []

    def _provides(self, metric: Metric) -> bool:  # noqa: ARG002
        """A block without calls has zero of everything."""
        return True

    def _is_wanted(self, name: Name) -> bool:
        metric = name.metric
        return metric.name in self._families or not (metric.cls is Class.CLOCK or metric.name == "finding")

    def value_of(self, metric: str) -> int:
        """The count of a metric. Raises `WrongUsage` for an unknown one."""
        return self.value(Name.of(metric)).value


@dataclass(frozen=True)
class Judgement:
    """What a block did, and what is wrong with it."""

    counts: Counts
    shown: dict[str, int]
    """The counts of a report, and those that the budgets name."""
    failure: str
    """Empty if nothing is wrong."""
    accepted: dict[str, Any] | None
    """The counts as a baseline stores them, if they are to be accepted."""


@dataclass(frozen=True)
class Limits:
    """What a block is compared with."""

    budgets: Sequence[Budget]
    baseline: str | None
    """The file of accepted tests."""
    accepts: bool
    """Whether to accept the counts instead of comparing them with that file."""


def judged(name: str, file: Path, others: Collection[int], limits: Limits) -> Judgement:
    """Count the block whose lines a file has, without those of other threads, and compare it with its limits."""
    run = Counts(_trace(file, others), limits.budgets)
    shown = {metric: run.value_of(metric) for metric in SHOWN}
    shown |= {str(budget.name): run.value(budget.name).value for budget in limits.budgets}
    accepted = document(baseline_of([run])) if limits.accepts else None
    return Judgement(run, shown, _failure(name, run, limits), accepted)


def _trace(file: Path, others: Collection[int]) -> Trace:
    if not file.stat().st_size:
        # A capture without lines is an error elsewhere. Here it is a block without calls.
        return read(b"1 0.000000 getpid() = 1 <0.000000>\n").select(where='syscall == "none"')
    trace = read(file, input_format="strace")
    tids = set(trace.tasks.column("tid")) & set(others)
    return trace.select(where=" and ".join(f"tid != {tid}" for tid in sorted(tids))) if tids else trace


def _failure(name: str, run: Counts, limits: Limits) -> str:
    accepted = None
    if limits.baseline and not limits.accepts:
        accepted = accepted_tests.of_test(limits.baseline, name)
        if accepted is None:
            return accepted_tests.missing(limits.baseline, name)
    criteria = Criteria(limits.budgets, accepted, limits.baseline, gates_findings=False)
    found = verdict([run], criteria)
    return "" if found.has_passed else failure(found, limits.baseline)
