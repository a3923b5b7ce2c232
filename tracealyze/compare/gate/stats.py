"""Statistics of several runs of a scenario, and whether two sets of runs differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from tracealyze.base.heuristics import (
    MAX_CHANCE,
    MIN_CHANGE_BYTES,
    MIN_CHANGE_COUNT,
    MIN_CHANGE_NS,
    MIN_CHANGE_SHARE,
    MIN_CLOCK_CHANGE_NS,
    MIN_CLOCK_CHANGE_SHARE,
)
from tracealyze.compare.metrics import Class, Name, Value

if TYPE_CHECKING:
    from tracealyze.compare.run import Run

_CHANGE_SHARES = {
    Class.SMALL: 0.0,
    Class.LARGE: MIN_CHANGE_SHARE,
    Class.SCHEDULE: MIN_CHANGE_SHARE,
    Class.CLOCK: MIN_CLOCK_CHANGE_SHARE,
}
_MIN_CHANGE = {"": MIN_CHANGE_COUNT, "bytes": MIN_CHANGE_BYTES, "ns": MIN_CHANGE_NS}


@dataclass(frozen=True)
class Stats:
    """Median, minimum and maximum of n values."""

    median: int
    min: int
    max: int
    n: int

    @classmethod
    def of(cls, values: Sequence[int]) -> Stats:
        """The statistics of these values."""
        return cls(round(median(values)), min(values), max(values), len(values))


@dataclass(frozen=True)
class Series:
    """A metric over several runs: the whole, the part that does not depend on scheduling, and the class."""

    whole: Stats
    firm: Stats
    cls: Class
    unit: str = ""
    values: tuple[int, ...] = ()
    unstable: bool = False
    """Whether the class is lower than that of the metric because the runs differ."""

    @classmethod
    def of(cls, name: str, values: Sequence[Value]) -> Series:
        """The series of one value per run. If these differ more than the gate allows, it depends on scheduling."""
        metric = Name.of(name).metric
        numbers = tuple(value.value for value in values)
        firm = Stats.of([value.value - value.loose for value in values])
        named = {value.cls for value in values if value.cls is not None} | {metric.cls}
        kind = Class.SCHEDULE if Class.SCHEDULE in named or (max(numbers) and not firm.max) else metric.cls
        differ = metric.cls is not Class.CLOCK and exceeds(firm.min, firm.max, metric.cls, metric.unit)
        return cls(
            whole=Stats.of(numbers),
            firm=firm,
            cls=Class.SCHEDULE if differ else kind,
            unit=metric.unit,
            values=numbers if metric.cls is Class.CLOCK else (),
            unstable=differ,
        )


def limit(before: int, cls: Class, unit: str) -> int:
    """The largest value that is not worse."""
    if cls is Class.SMALL:
        return before
    least = MIN_CLOCK_CHANGE_NS if cls is Class.CLOCK else _MIN_CHANGE[unit]
    return before + max(int(before * _CHANGE_SHARES[cls]), least)


def exceeds(before: int, after: int, cls: Class, unit: str) -> bool:
    """Whether a value exceeds another by more than the limit."""
    return after > limit(before, cls, unit)


def series_of(runs: Sequence[Run]) -> dict[str, Series]:
    """The metrics of these runs. A metric that a run lacks is 0 there."""
    names = sorted({name for run in runs for name in run.values})
    return {name: Series.of(name, [run.values.get(name, Value(0)) for run in runs]) for name in names}


def chance_of_shift(before: Sequence[int], after: Sequence[int]) -> float:
    """The probability that `after` ranks this high by chance: the exact one-sided test of Mann and Whitney (1947).

    All ways to draw the later runs from both sets are counted by their sum of ranks. Ties have the mean of their ranks,
    doubled so that sums are integers. Implemented here because the library that has it is larger than this package.
    """
    ranks = _doubled_ranks([*before, *after])
    observed = sum(ranks[len(before) :])
    ways: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in after)]
    for rank in ranks:
        for drawn in range(len(after), 0, -1):
            for total, number in ways[drawn - 1].items():
                ways[drawn][total + rank] += number
    every = sum(ways[-1].values())
    return sum(number for total, number in ways[-1].items() if total >= observed) / every


def _doubled_ranks(values: Sequence[int]) -> list[int]:
    ordered = sorted(values)
    first = {value: at for at, value in reversed(list(enumerate(ordered)))}
    number = Counter(ordered)
    return [2 * first[value] + number[value] + 1 for value in values]


def is_shifted(before: Sequence[int], after: Sequence[int]) -> bool:
    """Whether chance is an unlikely explanation of the higher values."""
    return chance_of_shift(before, after) <= MAX_CHANCE


def all_of(stats: Iterable[Stats]) -> int:
    """Number of runs."""
    return max((each.n for each in stats), default=0)
