"""The measured numbers for github-action-benchmark, tool `customSmallerIsBetter`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tracealyze.render.gate.measured import measured, scenario_of
from tracealyze.render.json import text

if TYPE_CHECKING:
    from tracealyze.compare.gate.verdict import Verdict


def rendered(verdict: Verdict) -> str:
    """As a JSON list."""
    return together([verdict])


def together(verdicts: Sequence[Verdict]) -> str:
    """All scenarios in one document."""
    return text([entry for verdict in verdicts for entry in _entries(verdict)]) + "\n"


def _entries(verdict: Verdict) -> Iterator[dict[str, Any]]:
    for metric, stats in measured(verdict):
        entry = {
            "name": f"{scenario_of(verdict)}: {metric.name}",
            "unit": metric.unit or "number",
            "value": stats.median,
        }
        if stats.min != stats.max:
            entry["range"] = f"{stats.min} to {stats.max}"
        yield entry
