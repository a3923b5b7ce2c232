"""Verdicts as numbers for other systems: the metrics of each scenario that do not depend on the machine's load."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracealyze.compare.metrics import METRICS, Class, Metric

if TYPE_CHECKING:
    from tracealyze.compare.gate.stats import Stats
    from tracealyze.compare.gate.verdict import Verdict


def scenario_of(verdict: Verdict) -> str:
    """The name of a scenario: its own, or that of its captures."""
    return verdict.scenario or " ".join(verdict.named or verdict.captures[:1])


def measured(verdict: Verdict) -> Iterator[tuple[Metric, Stats]]:
    """The counts of the runs, in the order of listings. Times are left out: other systems compare any difference."""
    for metric in METRICS:
        if not metric.arguments and metric.cls is not Class.CLOCK and metric.name in verdict.after:
            yield metric, verdict.after[metric.name]
