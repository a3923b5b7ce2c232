"""The critical path in few enough stretches to read: short ones are left out, unless they make up most of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze.base.heuristics import MIN_STRETCH_SHARE

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables

MAX_STRETCHES = 50
"""If that leaves less than half of the window, the longest stretches are shown instead, up to this number."""


@dataclass(frozen=True)
class PathOverview:
    """Stretches of the critical path, in order of time."""

    stretches: list[Row]
    min_ns: int
    """Shorter stretches are left out."""
    is_longest_only: bool
    """Whether only the longest stretches are shown, whatever their length."""
    left_out_ns: int
    """Time of the window that is in none of the stretches."""


def path_overview(trace: TraceTables, min_ns: int | None = None) -> PathOverview:
    """The stretches of at least this length; without one, a default suits the window."""
    wall_ns = trace.window.wall_ns
    shortest_ns = round(wall_ns * MIN_STRETCH_SHARE) if min_ns is None else min_ns
    stretches = list(trace.path_from(shortest_ns))
    is_longest_only = min_ns is None and 2 * _total_ns(stretches) < wall_ns
    if is_longest_only:
        stretches = list(trace.path_from(shortest_ns, MAX_STRETCHES))
    return PathOverview(stretches, shortest_ns, is_longest_only, wall_ns - _total_ns(stretches))


def _total_ns(stretches: list[Row]) -> int:
    return sum(row["dur_ns"] for row in stretches)
