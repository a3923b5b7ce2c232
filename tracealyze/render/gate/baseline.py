"""A baseline as rows, one per metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracealyze.compare.gate.judgement import amount
from tracealyze.render.listing import Column, Listing

if TYPE_CHECKING:
    from tracealyze.compare.gate.baseline import Baseline


def listing(baseline: Baseline) -> Listing:
    """One row per metric."""
    rows = [
        {
            "metric": name,
            "class": f"{series.cls}{', unstable' if series.unstable else ''}",
            **{key: amount(getattr(series.whole, key), series.unit) for key in ("median", "min", "max")},
            "n": str(series.whole.n),
        }
        for name, series in sorted(baseline.metrics.items())
    ]
    columns = [Column(name, name) for name in ("metric", "class", "median", "min", "max", "n")]
    return Listing("metrics", columns, rows)
