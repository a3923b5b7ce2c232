"""Causes whose shares shift between ordered groups of captures: what trend and compare have in common.

For each cause, the captures that could show it have its share, or 0. Each split of the groups is tested with the rank
sum test of the later against the earlier captures; the split with the largest score is where the cause changed
(Pettitt, A Non-Parametric Approach to the Change-Point Problem, 1979). Its p-value is multiplied by the number of
splits (Bonferroni), and false discoveries among all causes are controlled (Benjamini and Hochberg, 1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.fleet.incidence import Visibility, incidence
from tracealyze.fleet.ranks import p_of, rank_splits
from tracealyze.fleet.statistics import false_discovery_rates
from tracealyze.heuristics import FLEET_MAX_FALSE_DISCOVERIES, FLEET_MIN_CAPTURES

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

_ABOUT = ("code", "rule", "title", "program", "syscall", "op", "target")


@dataclass(frozen=True)
class Shift:
    """A cause that changed."""

    about: dict[str, Any]
    at: int
    """Number of the first group after the change."""
    score: float
    p_value: float
    q_value: float
    first: int
    """Number of the first group with the cause."""
    captures: list[int]
    """By group, how many captures have the cause."""
    could_show: list[int]
    before_share: float
    """Mean share of the cause before the change, over all captures that could show it."""
    after_share: float
    uri: str
    line: int | None


@dataclass(frozen=True)
class Shifts:
    """What changed, and of how much."""

    found: list[Shift]
    tested: int
    """Number of causes that are in enough captures to be tested."""


def shifts(fleet: CaptureSet, groups: Any, number: int) -> Shifts:
    """The causes that changed, the most certain ones first.

    `groups` has the number of the group of each capture, -1 for none; `number` is how many groups there are."""
    rows = fleet.table("findings", ["fingerprint", "basis", "impact_high_ns", "weight", "line", *_ABOUT])
    found = incidence(fleet, rows, "fingerprint", "impact_high_ns", "weight")
    visible = Visibility(fleet)
    candidates = []
    for cause in numpy.flatnonzero(found.counts >= FLEET_MIN_CAPTURES).tolist():
        pairs = found.of(cause)
        example = rows.slice(int(found.worst[pairs[0]]), 1).to_pylist()[0]
        could = visible.mask(example["syscall"], needs_wall=example["basis"] == "wall").copy()
        could[found.capture[pairs]] = True
        sizes = numpy.bincount(groups[could & (groups >= 0)], minlength=number)
        pairs = pairs[groups[found.capture[pairs]] >= 0]
        in_groups = groups[found.capture[pairs]]
        if len(pairs) < FLEET_MIN_CAPTURES or numpy.count_nonzero(sizes) < 2:
            continue
        candidates.append((example, pairs, in_groups, sizes, rank_splits(found.share[pairs], in_groups, sizes)))
    p_values = [min(1.0, p_of(float(numpy.abs(scores).max())) * len(scores)) for *_, scores in candidates]
    q_values = false_discovery_rates(p_values)
    made = [
        _shift(fleet, found, rows, candidate, p_value, q_value)
        for candidate, p_value, q_value in zip(candidates, p_values, q_values, strict=True)
        if q_value <= FLEET_MAX_FALSE_DISCOVERIES
    ]
    return Shifts(sorted(made, key=lambda each: (-abs(each.score), each.about["fingerprint"])), len(candidates))


def _shift(fleet: CaptureSet, found: Any, rows: Any, candidate: Any, p_value: float, q_value: float) -> Shift:
    example, pairs, in_groups, sizes, scores = candidate
    split = int(numpy.abs(scores).argmax())
    shares = found.share[pairs]
    is_after = in_groups > split
    before, after = int(sizes[: split + 1].sum()), int(sizes[split + 1 :].sum())
    # The example shows the cause where it is larger.
    side = pairs[is_after == (scores[split] > 0)]
    worst = side[numpy.argmax(found.share[side])] if len(side) else pairs[numpy.argmax(shares)]
    return Shift(
        about={name: example[name] for name in ("fingerprint", *_ABOUT)},
        at=split + 1,
        score=float(scores[split]),
        p_value=p_value,
        q_value=q_value,
        first=int(in_groups.min()),
        captures=numpy.bincount(in_groups, minlength=len(sizes)).tolist(),
        could_show=sizes.tolist(),
        before_share=float(shares[~is_after].sum() / max(before, 1)),
        after_share=float(shares[is_after].sum() / max(after, 1)),
        uri=fleet.captures["uri"][int(found.capture[worst])].as_py(),
        line=rows["line"][int(found.worst[worst])].as_py(),
    )
