"""Times that were measured without a tracer."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """One result of hyperfine."""

    command: str
    runs: int
    mean_ns: int
    stddev_ns: int | None = None
    """None for one run."""
    median_ns: int | None = None
    min_ns: int | None = None
    max_ns: int | None = None
    user_ns: int | None = None
    system_ns: int | None = None


@dataclass(frozen=True)
class Times:
    """The results that belong to the sides of a verdict."""

    file: str
    before: Timing | None
    after: Timing | None

    @property
    def ratio(self) -> tuple[float, float] | None:
        """How many times as long the second side takes, and the standard deviation of this ratio."""
        if self.before is None or self.after is None or not self.before.mean_ns or not self.after.mean_ns:
            return None
        ratio = self.after.mean_ns / self.before.mean_ns
        shares = [(each.stddev_ns or 0) / each.mean_ns for each in (self.before, self.after)]
        return ratio, ratio * math.hypot(*shares)
