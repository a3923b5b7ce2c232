"""The baseline: accepted metrics, findings and work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tracealyze.compare import syscalls
from tracealyze.compare.gate import commands
from tracealyze.compare.gate.captured import HowCaptured
from tracealyze.compare.gate.causes import Causes
from tracealyze.compare.gate.known_finding import KnownFinding
from tracealyze.compare.gate.places import Amounts, Place, largest, places
from tracealyze.compare.gate.stats import Series, series_of
from tracealyze.compare.metrics import Name

if TYPE_CHECKING:
    from tracealyze.compare.run import Run


@dataclass(frozen=True)
class Baseline:
    """Accepted metrics, findings and work of some runs."""

    captured: HowCaptured
    runs: int
    metrics: Mapping[str, Series]
    findings: Mapping[str, KnownFinding]
    places: Mapping[Place, Amounts]
    places_left_out: int = 0
    commands: Mapping[str, int] = field(default_factory=dict)
    """Number of starts of each command line; empty in a baseline of an earlier version."""
    pace_ns: int | None = None
    """Mean duration of calls that never block, a measure of the speed of the machine; None if there are none."""


def baseline_of(runs: Sequence[Run], before: Baseline | None = None, *, is_stored: bool = True) -> Baseline:
    """The baseline of these runs. Findings have the fingerprints by which an earlier baseline knows their causes.

    A baseline that is not stored has all places: a start of Python or Node alone has more than a file keeps, and the
    call sites of the others would seem to be new."""
    everything = places(runs)
    kept = largest(everything) if is_stored else everything
    return Baseline(
        captured=HowCaptured.of(runs),
        runs=len(runs),
        metrics={name: series for name, series in series_of(runs).items() if Name.of(name).metric.in_baseline},
        findings=_known(runs, causes_of(before)),
        places=kept,
        places_left_out=len(everything) - len(kept),
        commands=commands.stored(commands.commands(runs)),
        pace_ns=pace_ns(runs),
    )


def causes_of(baseline: Baseline | None) -> Causes:
    """The causes known to a baseline."""
    return Causes(baseline.findings, {program for program, _ in baseline.places}) if baseline else Causes({})


def _known(runs: Sequence[Run], causes: Causes) -> dict[str, KnownFinding]:
    known: dict[str, KnownFinding] = {}
    for run in runs:
        for cause, findings in causes.of(run).items():
            mine = KnownFinding.of(findings)
            before = known.get(cause)
            known[cause] = mine if before is None else replace(before, number=max(before.number, mine.number))
    return known


def pace_ns(runs: Sequence[Run]) -> int | None:
    """Mean duration of calls that neither wait nor sleep, over all runs; None if there are none.

    On a busy machine most of them are as short as ever, and a few wait until their program is scheduled again. The mean
    shows that, the median does not.
    """
    rows = [row for run in runs for row in run.trace.calls(by=["syscall"]) if row["syscall"] in syscalls.QUICK]
    total_ns = sum(row["total_ns"] or 0 for row in rows)
    return total_ns // sum(row["calls"] for row in rows) if total_ns else None
