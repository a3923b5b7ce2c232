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

from tracealyze.base.heuristics import FLEET_MAX_FALSE_DISCOVERIES, FLEET_MIN_CAPTURES
from tracealyze.fleet.incidence import Visibility, examples, incidence
from tracealyze.fleet.ranks import p_of, rank_splits
from tracealyze.fleet.statistics import chance_of_growth, false_discovery_rates

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

_MIN_EXPECTED = 5
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

    @property
    def document(self) -> dict[str, Any]:
        """As JSON, apart from the name of the group."""
        names = ("before_share", "after_share", "q_value", "captures", "could_show", "uri", "line")
        change = {"change": "worse" if self.score > 0 else "better"}
        return self.about | change | {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Shifts:
    """What changed, and of how much."""

    found: list[Shift]
    tested: int
    """Number of causes that are in enough captures to be tested."""


def shifts(fleet: CaptureSet, groups: Any, number: int) -> Shifts:
    """The causes that changed, the most certain ones first.

    `groups` has the number of the group of each capture, -1 for none; `number` is how many groups there are."""
    found = incidence(fleet, "findings", "fingerprint", "impact_high_ns", "weight", ("syscall", "basis"))
    visible = Visibility(fleet)
    sizes_of: dict[tuple[str | None, bool], Any] = {}
    candidates = []
    for cause in numpy.flatnonzero(found.counts >= FLEET_MIN_CAPTURES).tolist():
        captures, shares = found.capture[found.of(cause)], found.share[found.of(cause)]
        captures, shares = captures[groups[captures] >= 0], shares[groups[captures] >= 0]
        key = found.about["syscall"][cause], found.about["basis"][cause] == "wall"
        could = visible.mask(key[0], needs_wall=key[1])
        if key not in sizes_of:
            sizes_of[key] = numpy.bincount(groups[could & (groups >= 0)], minlength=number)
        in_groups = groups[captures]
        # A capture that does show it could show it.
        sizes = sizes_of[key] + numpy.bincount(in_groups[~could[captures]], minlength=number)
        if len(captures) < FLEET_MIN_CAPTURES or numpy.count_nonzero(sizes) < 2:
            continue
        scores = rank_splits(shares, in_groups, sizes)
        candidates.append(_Candidate(found.names[cause], captures, shares, in_groups, sizes, scores))
    p_values = [min(1.0, _p_value(each) * len(each.scores)) for each in candidates]
    q_values = false_discovery_rates(p_values)
    chosen = [
        (candidate, p_value, q_value)
        for candidate, p_value, q_value in zip(candidates, p_values, q_values, strict=True)
        if q_value <= FLEET_MAX_FALSE_DISCOVERIES
    ]
    chosen.sort(key=lambda each: (-abs(each[0].score), each[0].cause))
    wanted = [(each.cause, each.worst) for each, *_ in chosen]
    rows = examples(fleet, "findings", "fingerprint", "weight", wanted, [*_ABOUT, "line"])
    captures = fleet.at([place for _, place in wanted], ["uri"])
    made = [_shift(*each, row, capture["uri"]) for each, row, capture in zip(chosen, rows, captures, strict=True)]
    return Shifts(made, len(candidates))


@dataclass(frozen=True)
class _Candidate:
    """A cause that may have changed. Arrays have one value per capture that has it."""

    cause: str
    captures: Any
    shares: Any
    in_groups: Any
    sizes: Any
    scores: Any

    @property
    def split(self) -> int:
        """The last group before the change."""
        return int(numpy.abs(self.scores).argmax())

    @property
    def score(self) -> float:
        return float(self.scores[self.split])

    @property
    def is_after(self) -> Any:
        return self.in_groups > self.split

    @property
    def worst(self) -> int:
        """The capture with the largest share, on the side where the cause is larger."""
        side = numpy.flatnonzero(self.is_after == (self.score > 0))
        among = side if len(side) else numpy.arange(len(self.shares))
        return int(self.captures[among[numpy.argmax(self.shares[among])]])


def _p_value(candidate: _Candidate) -> float:
    """The p-value of the change at its split.

    Scores of ranks are normal only if enough captures with the cause are expected on both sides (Cochran, 1954). If
    not, it is that of Fisher's exact test of how many have the cause."""
    split, is_after = candidate.split, candidate.is_after
    sizes = int(candidate.sizes[: split + 1].sum()), int(candidate.sizes[split + 1 :].sum())
    if len(is_after) * min(sizes) / sum(sizes) >= _MIN_EXPECTED:
        return p_of(candidate.score)
    after = int(is_after.sum())
    sides = (len(is_after) - after, sizes[0]), (after, sizes[1])
    less, more = sides if candidate.score > 0 else sides[::-1]
    return min(1.0, 2 * chance_of_growth(less, more))


def _shift(candidate: _Candidate, p_value: float, q_value: float, example: dict[str, Any], uri: str) -> Shift:
    split, sizes, is_after = candidate.split, candidate.sizes, candidate.is_after
    before, after = int(sizes[: split + 1].sum()), int(sizes[split + 1 :].sum())
    return Shift(
        about={name: example[name] for name in ("fingerprint", *_ABOUT)},
        at=split + 1,
        score=candidate.score,
        p_value=p_value,
        q_value=q_value,
        first=int(candidate.in_groups.min()),
        captures=numpy.bincount(candidate.in_groups, minlength=len(sizes)).tolist(),
        could_show=sizes.tolist(),
        before_share=float(candidate.shares[~is_after].sum() / max(before, 1)),
        after_share=float(candidate.shares[is_after].sum() / max(after, 1)),
        uri=uri,
        line=example["line"],
    )
