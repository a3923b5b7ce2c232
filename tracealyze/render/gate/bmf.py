"""The measured numbers in the Bencher metric format: benchmarks with measures, each with a value and its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze.render.gate.measured import measured, scenario_of
from tracealyze.render.json import text

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict


def rendered(verdict: Verdict) -> str:
    """As JSON."""
    return together([verdict])


def together(verdicts: Sequence[Verdict]) -> str:
    """All scenarios in one document."""
    benchmarks = {
        scenario_of(verdict): {
            metric.name: {"value": stats.median, "lower_value": stats.min, "upper_value": stats.max}
            for metric, stats in measured(verdict)
        }
        for verdict in verdicts
    }
    return text(benchmarks) + "\n"
