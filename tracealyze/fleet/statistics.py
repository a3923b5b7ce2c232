"""Statistics over many captures: intervals of shares, tests, and the order of versions.

Written here because the library that has them is larger than this package and all that it needs. Each function names
its source, and its test compares it with counting all cases.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import erfc, exp, lgamma, log, sqrt
from statistics import NormalDist
from typing import Any

from tracealyze.compare.gate.stats import chance_of_shift

_CONFIDENCE = 0.95
_MAX_EXACT = 16
"""Number of values up to which a rank test counts all cases; the normal approximation is good to 0.01 beyond."""

# 1 / quantile(0.75) of the normal distribution, and sqrt(pi / 2): both make the scale that of a standard deviation.
_MAD_SCALE = 1.4826
_MEAN_SCALE = 1.2533
_UPPER = 0.75
_TAIL = 0.9
_TAIL_DEVIATIONS = 1.6449
"""A tenth of normal values are further from the median."""

_PART = re.compile(r"\d+|[a-z]+")
_BEFORE_RELEASE = {
    name: order for order, name in enumerate(("dev", "alpha", "a", "beta", "b", "pre", "preview", "rc", "c"))
}
_RELEASE = len(_BEFORE_RELEASE)


def wilson(hits: int, number: int, confidence: float = _CONFIDENCE) -> tuple[float, float]:
    """The interval of a share of which `hits` in `number` were seen; 0 to 1 if nothing was (Wilson 1927)."""
    if not number:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, scale = hits / number, 1 + z * z / number
    middle = (share + z * z / (2 * number)) / scale
    half = z * sqrt(share * (1 - share) / number + z * z / (4 * number * number)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


def chance_of_growth(before: tuple[int, int], after: tuple[int, int]) -> float:
    """The probability that so many hits are in the later captures by chance: Fisher's exact test (1922), one-sided.

    Each side is the number of hits and of captures."""
    hits, captures = before[0] + after[0], before[1] + after[1]
    most = min(hits, after[1])
    every = _log_ways(captures, after[1])
    chances = (
        exp(_log_ways(hits, drawn) + _log_ways(captures - hits, after[1] - drawn) - every)
        for drawn in range(after[0], most + 1)
        if after[1] - drawn <= captures - hits
    )
    return min(1.0, sum(chances))


def _log_ways(number: int, drawn: int) -> float:
    return lgamma(number + 1) - lgamma(drawn + 1) - lgamma(number - drawn + 1)


def chance_of_difference(before: Sequence[int], after: Sequence[int]) -> float:
    """The probability that two sets of values differ so much in rank by chance, two-sided (Mann and Whitney 1947)."""
    if not before or not after:
        return 1.0
    if len(before) + len(after) <= _MAX_EXACT:
        return min(1.0, 2 * min(chance_of_shift(before, after), chance_of_shift(after, before)))
    return _approximate_difference(before, after)


def _approximate_difference(before: Sequence[int], after: Sequence[int]) -> float:
    """The normal approximation, corrected for ties and continuity (Lehmann, *Nonparametrics*, 1975)."""
    number, mine = len(before) + len(after), len(after)
    count = Counter([*before, *after])
    rank, ranks = 0.0, {}
    for value in sorted(count):
        ranks[value] = rank + (count[value] + 1) / 2
        rank += count[value]
    expected = mine * (number + 1) / 2
    ties = sum(each**3 - each for each in count.values()) / (number * (number - 1))
    variance = len(before) * mine / 12 * (number + 1 - ties)
    if variance <= 0:
        return 1.0
    distance = max(0.0, abs(sum(ranks[value] for value in after) - expected) - 0.5)
    return min(1.0, 2 * NormalDist().cdf(-distance / sqrt(variance)))


def false_discovery_rates(chances: Sequence[float]) -> list[float]:
    """The smallest rate of false discoveries at which each would be reported (Benjamini and Hochberg 1995)."""
    found, least = [0.0] * len(chances), 1.0
    for order, at in sorted(enumerate(sorted(range(len(chances)), key=lambda each: chances[each])), reverse=True):
        least = min(least, chances[at] * len(chances) / (order + 1))
        found[at] = least
    return found


def tail_scores(values: Any) -> Any:
    """How many deviations each value of an array is from the median. Less than a tenth of them can be far from it.

    The scale is the larger of two that agree for normal values: that of the median deviation (Iglewicz and Hoaglin,
    *How to Detect and Handle Outliers*, 1993), and that of the deviation which a tenth of the values exceed. So where
    captures are of two kinds, neither kind is far."""
    import numpy

    if not len(values):
        return numpy.empty(0)
    distances = values - numpy.median(values)
    sizes = numpy.abs(distances)
    tail = numpy.quantile(sizes, _TAIL, method="lower")
    scale = max(_MAD_SCALE * numpy.median(sizes), tail / _TAIL_DEVIATIONS) or _MEAN_SCALE * sizes.mean()
    return distances / scale if scale else numpy.zeros(len(values))


def tail_chances(values: Any) -> Any:
    """The probability of values as far from the median, in an array, where shares may be skewed.

    Beyond what a tenth of the values exceed, distances are taken to decrease like those of an exponential distribution
    with the rate between the upper quarter and that tenth (Hill, A Simple General Approach to Inference About the Tail
    of a Distribution, 1975, for the logarithms of values). It is never less than that of a normal distribution."""
    import numpy

    if not len(values):
        return numpy.empty(0)
    distances = numpy.abs(values - numpy.median(values))
    normal = numpy.array([erfc(each / sqrt(2)) for each in numpy.abs(tail_scores(values))])
    upper, tail = numpy.quantile(distances, [_UPPER, _TAIL], method="lower")
    if tail <= upper:
        return normal
    mean_excess = (tail - upper) / log((1 - _UPPER) / (1 - _TAIL))
    exponential = (1 - _TAIL) * numpy.exp(-numpy.maximum(distances - tail, 0) / mean_excess)
    return numpy.maximum(normal, exponential)


def version_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key that orders versions and dates as people do: 1.9 < 1.10rc1 < 1.10 < 1.10.1, and v2 like 2."""
    parts = _PART.findall(text.lower().removeprefix("v"))
    keys = [(_RELEASE + 2, int(part), "") if part.isdigit() else _word_key(part) for part in parts]
    # The end sorts after a word such as "rc" and before a further number.
    return (*keys, (_RELEASE, 0, ""))


def _word_key(word: str) -> tuple[int, int, str]:
    return (_BEFORE_RELEASE.get(word, _RELEASE + 1), 0, word)
