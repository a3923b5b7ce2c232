"""The rank sum test of Mann and Whitney (1947), corrected for ties, for all splits of ordered groups at once."""

from __future__ import annotations

from math import erfc, sqrt
from typing import Any

import numpy


def rank_splits(values: Any, groups: Any, sizes: Any) -> Any:
    """For each split of ordered groups, the z-score of the rank-sum test of the later against the earlier ones.

    `values` are those above 0, of the group with the number in `groups`; all others of a group, which has `sizes`
    values, are 0. A positive score means that the later ones are larger."""
    number = int(sizes.sum())
    zeros = number - len(values)
    order = numpy.argsort(values, kind="stable")
    ordered = values[order]
    ends = numpy.append(numpy.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(ordered)) if len(ordered) else ordered
    counts = numpy.diff(ends, prepend=0)
    ranks = zeros + numpy.repeat(ends - (counts - 1) / 2, counts)
    in_groups = numpy.bincount(groups[order], weights=ranks, minlength=len(sizes))
    nonzero = numpy.bincount(groups, minlength=len(sizes))
    sums = in_groups + (sizes - nonzero) * (zeros + 1) / 2
    later_sums = sums[::-1].cumsum()[::-1][1:]
    later = sizes[::-1].cumsum()[::-1][1:].astype(float)
    earlier = number - later
    ties = float((counts.astype(float) ** 3 - counts).sum()) + float(zeros) ** 3 - zeros
    spread = earlier * later / 12 * ((number + 1) - ties / max(number * (number - 1.0), 1.0))
    with numpy.errstate(divide="ignore", invalid="ignore"):
        scores = (later_sums - later * (number + 1) / 2) / numpy.sqrt(spread)
    return numpy.where(spread > 0, scores, 0.0)


def p_of(score: float) -> float:
    """The two-sided p-value of a z-score."""
    return erfc(abs(score) / sqrt(2))
