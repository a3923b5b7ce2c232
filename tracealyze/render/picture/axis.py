"""The axis of time: ticks at round times."""

from __future__ import annotations


def tick_ns(wall_ns: int, most: int) -> int:
    """The smallest of 1, 2, 5, 10 … ns that divides the axis into at most so many parts."""
    unit = 1
    while True:
        for factor in (1, 2, 5):
            if wall_ns <= factor * unit * most:
                return factor * unit
        unit *= 10
