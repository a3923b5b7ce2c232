"""The baseline: what was accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracealyze import syscall_families as families
from tracealyze.compare.gate.captured import HowCaptured
from tracealyze.compare.gate.causes import Causes
from tracealyze.compare.gate.stats import Series, series_of
from tracealyze.compare.gate.work import Amounts, Place, largest, places
from tracealyze.compare.metrics import Name
from tracealyze.findings.messages import short

if TYPE_CHECKING:
    from tracealyze.compare.metrics import Run
    from tracealyze.findings.finding import Finding


@dataclass(frozen=True)
class Known:
    """A finding that was accepted."""

    name: str
    code: str
    severity: str
    program: str | None
    syscall: str | None
    number: int
    target: str = ""

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> Known:
        """Of findings with one cause."""
        one = findings[0]
        return cls(
            one.name,
            one.code,
            str(one.severity),
            short(one.program) or None,
            one.syscall,
            len(findings),
            one.target or "",
        )


@dataclass(frozen=True)
class Baseline:
    """What was accepted."""

    captured: HowCaptured
    runs: int
    metrics: Mapping[str, Series]
    findings: Mapping[str, Known]
    places: Mapping[Place, Amounts]
    places_left_out: int = 0
    pace_ns: int | None = None
    """The mean length of calls that wait for nothing: how fast the machine was."""


def baseline_of(runs: Sequence[Run], before: Baseline | None = None) -> Baseline:
    """What these runs would accept; findings bear the fingerprints under which an earlier one knows their causes."""
    everything = places(runs)
    kept = largest(everything)
    return Baseline(
        captured=HowCaptured.of(runs),
        runs=len(runs),
        metrics={name: series for name, series in series_of(runs).items() if Name.of(name).metric.in_baseline},
        findings=_known(runs, causes_of(before)),
        places=kept,
        places_left_out=len(everything) - len(kept),
        pace_ns=pace_ns(runs),
    )


def causes_of(baseline: Baseline | None) -> Causes:
    """The causes that a baseline knows."""
    return Causes(baseline.findings, {program for program, _ in baseline.places}) if baseline else Causes({})


def _known(runs: Sequence[Run], causes: Causes) -> dict[str, Known]:
    known: dict[str, Known] = {}
    for run in runs:
        for cause, findings in causes.of(run).items():
            mine = Known.of(findings)
            before = known.get(cause)
            known[cause] = mine if before is None else replace(before, number=max(before.number, mine.number))
    return known


def pace_ns(runs: Sequence[Run]) -> int | None:
    """How long calls take that neither wait nor sleep, on average over all runs.

    On a busy machine most of them are as short as ever, and a few wait until it is their program's turn again: the mean
    shows that, a median does not.
    """
    rows = [row for run in runs for row in run.trace.calls(by=["syscall"]) if row["syscall"] in families.QUICK]
    total_ns = sum(row["total_ns"] or 0 for row in rows)
    return total_ns // sum(row["calls"] for row in rows) if total_ns else None
