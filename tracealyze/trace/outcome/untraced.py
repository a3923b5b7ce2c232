"""How long a run takes without the tracer: as `record --untraced` measured it, or estimated from quick calls.

    traced    |call + tracer|gap + tracer|call + tracer| ...     37.5 s
    without   |call|gap|call| ...                                about 5 s

The report, JSON, findings and the page have this one figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_TRACING_SHARE, MIN_UNTRACED_SHARE
from tracealyze.trace.outcome import verdict

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.model.trace_tables import TraceTables

_DIGITS = 2
"""Digits of an estimate that are printed."""


@dataclass(frozen=True)
class Untraced:
    """A window without what tracing added to it."""

    wall_ns: int
    """As it was captured."""
    tracing_ns: int
    """What tracing added."""
    is_measured: bool
    """Whether the program also ran without the tracer; otherwise this is an estimate."""

    @property
    def without_ns(self) -> int:
        """How long it takes without the tracer."""
        return self.wall_ns - self.tracing_ns

    @property
    def max_without_ns(self) -> int:
        """The same, at least what an estimate cannot rule out."""
        return self.without_ns if self.is_measured else max(self.without_ns, round(MIN_UNTRACED_SHARE * self.wall_ns))

    @property
    def share(self) -> float:
        """What tracing took of the window."""
        return self.tracing_ns / self.wall_ns

    @property
    def is_large(self) -> bool:
        """Whether a reader of times must know it."""
        return self.is_measured or self.share >= MIN_TRACING_SHARE

    def shown(self, tick_ns: int) -> str:
        """For the first line of a report: `37.5 s traced, about 5.0 s without`."""
        if self.is_measured:
            without = units.duration(self.without_ns)
        elif self.without_ns < self.max_without_ns:
            without = f"less than {_rounded(self.max_without_ns, tick_ns)}"
        else:
            without = f"about {_rounded(self.without_ns, tick_ns)}"
        return f"{units.duration(self.wall_ns, tick_ns)} traced, {without} without"

    def document(self) -> dict[str, object]:
        """As it appears in JSON."""
        confidence = "measured" if self.is_measured else "inferred"
        return {"wall_ns": self.without_ns, "tracing_ns": self.tracing_ns, "confidence": confidence}


def _rounded(ns: int, tick_ns: int) -> str:
    step_ns = 10 ** max(len(str(ns)) - _DIGITS, 0)
    return units.duration(round(ns / step_ns) * step_ns, tick_ns)


def untraced_of(trace: TraceTables) -> Untraced | None:
    """The window of a single capture without the tracer; None if it has no window, or the cost is unknown."""
    wall_ns = trace.window.wall_ns
    rows = list(trace.table("captures")) if wall_ns and len(trace.captures) == 1 else []
    if len(rows) != 1:
        return None
    tracing_ns = rows[0]["tracing_ns"]
    return Untraced(wall_ns, min(tracing_ns, wall_ns), rows[0]["tracing_measured"]) if tracing_ns else None


def saving_ns(trace: TraceTables, findings: Sequence[Finding]) -> tuple[int, int]:
    """Bounds of the time that these findings together could save. What tracing added is gone without the tracer."""
    low_ns, high_ns = verdict.saving_ns(trace, findings)
    untraced = untraced_of(trace)
    max_ns = untraced.max_without_ns if untraced else high_ns
    return min(low_ns, max_ns), min(high_ns, max_ns)
