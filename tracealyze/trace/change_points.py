"""Change points: where the level of a series changes.

The best division into stretches with levels of their own minimises squared deviations plus a penalty per stretch (PELT:
Killick, Fearnhead and Eckley, Optimal Detection of Changepoints with a Linear Computational Cost, 2012). The noise is
estimated from differences of neighbours, which changes of level hardly touch.

    values   2 2 3 2 2 2 9 8 9 9 2 2 3
    levels   2 . . . . . 9 . . . 2 . .       two change points, three stretches
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import log
from statistics import median

_OF_NORMAL = 1.4826
"""The standard deviation of normal noise, in medians of absolute deviations."""
_PENALTY = 3
"""Per stretch, in logarithms of the length: its level, its position, and one more for noise that is not normal."""


@dataclass(frozen=True)
class Stretch:
    """Neighbouring values of one level, from `first` to `last`."""

    first: int
    last: int
    level: float


def stretches(values: Sequence[float], min_noise: float) -> list[Stretch]:
    """The series as stretches, at least one unless it is empty.

    `min_noise` is the standard deviation below which differences do not count."""
    if not values:
        return []
    deviation = max(_noise(values), min_noise)
    bounds = _bounds([value / deviation for value in values])
    return [Stretch(start, end - 1, median(values[start:end])) for start, end in pairwise(bounds)]


def _noise(values: Sequence[float]) -> float:
    steps = [after - before for before, after in pairwise(values)]
    if not steps:
        return 0.0
    middle = median(steps)
    # A difference has the noise of two values.
    return _OF_NORMAL * median(abs(step - middle) for step in steps) / 2**0.5


def _bounds(values: Sequence[float]) -> list[int]:
    """Where stretches begin, and the end. Starts that can no longer be best are dropped."""
    sums = list(accumulate(values, initial=0.0))
    squares = list(accumulate((value * value for value in values), initial=0.0))

    def cost(start: int, end: int) -> float:
        return squares[end] - squares[start] - (sums[end] - sums[start]) ** 2 / (end - start)

    penalty = _PENALTY * log(max(len(values), 2))
    best, before = [-penalty], [0]
    candidates = [0]
    for end in range(1, len(values) + 1):
        costs = [best[start] + cost(start, end) for start in candidates]
        lowest = min(costs)
        best.append(lowest + penalty)
        before.append(candidates[costs.index(lowest)])
        candidates = [start for start, found in zip(candidates, costs, strict=True) if found <= best[end]] + [end]
    bounds = [len(values)]
    while bounds[-1]:
        bounds.append(before[bounds[-1]])
    return bounds[::-1]
