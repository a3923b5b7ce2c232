"""Growth with the size of a problem: counts of calls over captures of several sizes, fitted as c + a·N^k.

The offset c is the work at any size (starting programs, reading settings). Without it, small sizes would make every
exponent look smaller than it is. The range of k is that of the fits that leave out one size each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from operator import mul
from statistics import median
from typing import TYPE_CHECKING, Any, TypeAlias

from tracealyze.base.errors import WrongUsage
from tracealyze.base.heuristics import (
    MAX_EXPONENT_ROUNDING,
    MAX_MISFIT_SHARE,
    MAX_NEARLY_LINEAR_EXPONENT,
    MIN_CHANGE_COUNT,
    MIN_CHANGE_SHARE,
    MIN_SIZE_RATIO,
    MIN_SIZES,
    MIN_SUPERLINEAR_EXPONENT,
    RARE_SHARE,
)
from tracealyze.compare.name_patterns import families
from tracealyze.compare.run import Run
from tracealyze.compare.work import OTHER_TARGETS
from tracealyze.findings import multi_capture

if TYPE_CHECKING:
    import pandas

    from tracealyze.findings.rule_set import Rule

DOCUMENT = "tracealyze.scaling/1"

_STEPS = 500
_STEP = 0.01
"""Exponents up to 5.0 are tried."""
_COARSE = 10
_NAMES = {0.0: "logarithmic", 1.0: "linear", 2.0: "quadratic", 3.0: "cubic"}

_TABLE = "scaling"

Place: TypeAlias = tuple[str, str, str]
"""A program, a syscall and a shape."""


@dataclass(frozen=True)
class Fit:
    """c + a·N^k with the range of k; for k = 0, c + a·log N."""

    offset: float
    factor: float
    exponent: float
    low: float
    high: float
    misfit: float
    """The largest deviation from a count, as a share of it."""

    def at(self, size: float) -> float:
        """The predicted count at a size."""
        return float(self.offset + self.factor * (size**self.exponent if self.exponent else log(size)))


@dataclass(frozen=True)
class Growth:
    """How one kind of work grows."""

    program: str
    syscall: str
    shape: str
    counts: tuple[int, ...]
    share: float
    """Share of all calls at the largest size."""
    fit: Fit
    kind: str
    """`constant`, `linear`, `quadratic`, …"""
    predicted: tuple[int, int, int]
    """At the target size: the estimate, and the bounds of its range."""

    @property
    def is_superlinear(self) -> bool:
        """Whether it grows faster than the problem in all fits."""
        return self.fit.low >= MIN_SUPERLINEAR_EXPONENT and self.kind not in ("constant", "falling", "irregular")


@dataclass(frozen=True, repr=False)
class Scaling:
    """How all work grows with the size."""

    sizes: tuple[float, ...]
    captures: tuple[str, ...]
    target: float
    rows: tuple[Growth, ...]
    bytes: tuple[Growth, ...]
    total: Growth

    def __repr__(self) -> str:
        sizes = f"{len(self.sizes)} sizes, {self.sizes[0]:g} to {self.sizes[-1]:g}"
        return f"<Scaling: {sizes}; calls grow {self.total.kind}, N^{self.total.fit.exponent:.2f}>"

    def to_pandas(self) -> pandas.DataFrame:
        """One row per kind of call, the most frequent first."""
        import pandas

        return pandas.DataFrame([row(growth) for growth in self.rows])

    def document(self, rules: Sequence[Rule]) -> dict[str, Any]:
        """The growth as it appears in JSON, with the findings of these rules."""
        return {
            "schema": DOCUMENT,
            "sizes": list(self.sizes),
            "captures": list(self.captures),
            "target_n": self.target,
            "total": row(self.total),
            "rows": [row(growth) for growth in self.rows],
            "bytes": [row(growth) for growth in self.bytes],
            "findings": findings(self, rules),
        }


def row(growth: Growth) -> dict[str, Any]:
    """A growth as a row, by the names of its columns."""
    fit = growth.fit
    return {
        "program": growth.program,
        "syscall": growth.syscall,
        "shape": growth.shape,
        "class": growth.kind,
        "exponent": round(fit.exponent, 3),
        "exponent_low": round(fit.low, 3),
        "exponent_high": round(fit.high, 3),
        "offset": round(fit.offset, 3),
        "factor": fit.factor,
        "counts": list(growth.counts),
        "share": growth.share,
        "predicted": growth.predicted[0],
        "predicted_low": growth.predicted[1],
        "predicted_high": growth.predicted[2],
    }


def scaling(runs: Sequence[tuple[float, Run]], target: float | None = None) -> Scaling:
    """How the work in these captures grows with their sizes. Of several runs of one size, the median counts.

    Raises `WrongUsage` if the sizes are too few or too close."""
    sizes = tuple(sorted({size for size, _ in runs}))
    _must_reach(sizes)
    goal = target if target is not None else 10 * sizes[-1]
    calls, moved = _counts(runs, sizes)
    totals = [sum(counts[at] for counts in calls.values()) for at in range(len(sizes))]
    places = _without_rare(calls, totals[-1])
    fitted = [_growth(place, counts, sizes, totals[-1], goal) for place, counts in places.items()]
    bytes_of = [_growth(place, counts, sizes, 0, goal) for place, counts in moved.items() if max(counts)]
    return Scaling(
        sizes=sizes,
        captures=tuple(run.path for _, run in sorted(runs, key=lambda each: each[0])),
        target=goal,
        rows=tuple(sorted(fitted, key=lambda each: (-each.predicted[0], each.program, each.shape))),
        bytes=tuple(each for each in sorted(bytes_of, key=lambda each: -each.predicted[0]) if each.is_superlinear),
        total=_growth(("", "", "all calls"), totals, sizes, totals[-1], goal),
    )


def _must_reach(sizes: Sequence[float]) -> None:
    """Refuse few or close sizes: they fit any curve."""
    if len(sizes) < MIN_SIZES:
        found = ", ".join(f"{size:g}" for size in sizes)
        raise WrongUsage(
            f"insufficient range: {len(sizes)} sizes ({found}); an exponent needs at least {MIN_SIZES} that span a "
            f"factor of {MIN_SIZE_RATIO}, such as 10, 20, 40 and 80."
        )
    factor = sizes[-1] / sizes[0]
    if factor < MIN_SIZE_RATIO:
        raise WrongUsage(
            f"insufficient range: {sizes[0]:g} to {sizes[-1]:g} is a factor of {factor:.1f}; an exponent needs at "
            f"least {MIN_SIZE_RATIO}."
        )


_Counts: TypeAlias = dict[Place, list[int]]


def _counts(runs: Sequence[tuple[float, Run]], sizes: Sequence[float]) -> tuple[_Counts, _Counts]:
    """Calls and bytes of each place at each size."""
    amounts = [(size, _amounts(run)) for size, run in runs]
    family = families({place for _, here in amounts for place in here})
    calls: _Counts = {}
    moved: _Counts = {}
    for at, size in enumerate(sizes):
        sums = [_merged(here, family) for each, here in amounts if each == size]
        for place in {place for here in sums for place in here}:
            values = [here.get(place, (0, 0)) for here in sums]
            calls.setdefault(place, [0] * len(sizes))[at] = round(median(value[0] for value in values))
            moved.setdefault(place, [0] * len(sizes))[at] = round(median(value[1] for value in values))
    return calls, moved


def _amounts(run: Run) -> dict[tuple[str, ...], tuple[int, int]]:
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for each in run.work:
        place = (each.program, each.syscall, each.shape)
        calls, moved = found.get(place, (0, 0))
        found[place] = (calls + each.calls, moved + each.bytes)
    return found


def _merged(
    amounts: Mapping[tuple[str, ...], tuple[int, int]], family: Mapping[tuple[str, ...], tuple[str, ...]]
) -> dict[Place, tuple[int, int]]:
    found: dict[Place, tuple[int, int]] = {}
    for place, (calls, moved) in amounts.items():
        program, syscall, shape = family[place]
        before = found.get((program, syscall, shape), (0, 0))
        found[program, syscall, shape] = (before[0] + calls, before[1] + moved)
    return found


def _without_rare(calls: _Counts, total: int) -> _Counts:
    """Merge places that only some sizes have, by syscall and outcome, unless they are a large share of all calls."""
    found: _Counts = {}
    for place, counts in calls.items():
        program, syscall, shape = place
        often = sum(count > 0 for count in counts) >= len(counts) - 1
        end = shape.rpartition(")")[2]
        is_separate = often or counts[-1] >= RARE_SHARE * total
        into = place if is_separate else (program, syscall, f"{syscall}({OTHER_TARGETS}){end}")
        before = found.setdefault(into, [0] * len(counts))
        found[into] = [one + other for one, other in zip(before, counts, strict=True)]
    return found


def _growth(place: Place, counts: Sequence[int], sizes: Sequence[float], total: int, target: float) -> Growth:
    fitted, others = _fits(sizes, counts)
    at_target = [max(0, round(fit.at(target))) for fit in (fitted, *others)]
    return Growth(
        program=place[0],
        syscall=place[1],
        shape=place[2],
        counts=tuple(counts),
        share=counts[-1] / total if total else 0.0,
        fit=fitted,
        kind=_kind(fitted, counts),
        predicted=(at_target[0], min(at_target), max(at_target)),
    )


def _fits(sizes: Sequence[float], counts: Sequence[int]) -> tuple[Fit, list[Fit]]:
    """The fit of all sizes, with its range, and the fits that leave out one size each."""
    if _is_constant(counts):
        level = float(median(counts))
        flat = Fit(level, 0.0, 0.0, 0.0, 0.0, 0.0)
        return flat, [flat]
    points = [(float(size), float(count)) for size, count in zip(sizes, counts, strict=True)]
    whole = _fit(points)
    others = [_fit([*points[:at], *points[at + 1 :]]) for at in range(len(points))]
    exponents = [whole.exponent, *(fit.exponent for fit in others)]
    return Fit(whole.offset, whole.factor, whole.exponent, min(exponents), max(exponents), whole.misfit), others


def _is_constant(counts: Sequence[int]) -> bool:
    return max(counts) - min(counts) <= max(MIN_CHANGE_COUNT, MIN_CHANGE_SHARE * max(counts))


def _fit(points: Sequence[tuple[float, float]]) -> Fit:
    """Least squares for c and a at each exponent of a grid. The exponent with the smallest residual wins.

    A count may be off by its square root, and by a few per cent of itself. The offset may be negative if growth starts
    late, as in N(N-1)/2. The grid is fine only around the best exponent of a coarse one.
    """
    last = points[-1][0]
    squares = [1 / (1 + count + (0.03 * count) ** 2) for _, count in points]
    counts = [count for _, count in points]

    def at(step: int) -> tuple[float, int, float, float]:
        """The residual at an exponent, in steps of the grid; 0 is logarithmic growth."""
        powers = [(size / last) ** (step * _STEP) if step else log(size) for size, _ in points]
        return _line(powers, counts, squares, step)

    coarse = min(at(step) for step in range(0, _STEPS + 1, _COARSE))
    around = range(max(0, coarse[1] - _COARSE), min(_STEPS, coarse[1] + _COARSE) + 1)
    _, step, offset, factor = min(map(at, around))
    exponent = step * _STEP
    found = Fit(offset, factor / last**exponent if step else factor, exponent, exponent, exponent, 0.0)
    misfit = max(abs(found.at(size) - count) / max(count, MIN_CHANGE_COUNT) for size, count in points)
    return replace(found, misfit=misfit)


def _line(
    powers: Sequence[float], counts: Sequence[float], squares: Sequence[float], step: int
) -> tuple[float, int, float, float]:
    """The residual of a weighted line, the step of the grid, and the offset and factor of the line."""
    total = sum(squares)
    mean_x = sum(map(mul, squares, powers)) / total
    mean_y = sum(map(mul, squares, counts)) / total
    spread = sum(square * (power - mean_x) ** 2 for square, power in zip(squares, powers, strict=True))
    triples = list(zip(squares, powers, counts, strict=True))
    shared = sum(square * (power - mean_x) * (count - mean_y) for square, power, count in triples)
    factor = shared / spread if spread else 0.0
    offset = mean_y - factor * mean_x
    rest = sum(square * (offset + factor * power - count) ** 2 for square, power, count in triples)
    return rest, step, offset, factor


def _kind(fit: Fit, counts: Sequence[int]) -> str:
    """The word for an exponent, if its range allows one."""
    if _is_constant(counts):
        return "constant"
    if fit.misfit > MAX_MISFIT_SHARE:
        return "irregular"
    if fit.factor < 0:
        return "falling"
    low, high = fit.low - MAX_EXPONENT_ROUNDING, fit.high + MAX_EXPONENT_ROUNDING
    within = [word for exponent, word in _NAMES.items() if low <= exponent <= high]
    if len(within) == 1:
        return within[0]
    if within:
        return f"{within[0]} to {within[-1]}"
    if fit.low > 1 and fit.high < MAX_NEARLY_LINEAR_EXPONENT:
        return "n log n?"
    above = next((exponent for exponent in _NAMES if fit.high < exponent), None)
    return f"between {_NAMES[above - 1]} and {_NAMES[above]}" if above else "steeper than cubic"


def table(found: Scaling) -> list[dict[str, Any]]:
    """The table for rules: one row per kind of work, the largest at the target size first."""
    expected = max(sum(growth.predicted[0] for growth in found.rows), 1)
    return [
        {
            **{key: value for key, value in row(growth).items() if key not in ("offset", "factor", "counts")},
            "misfit": growth.fit.misfit,
            "sizes": len(found.sizes),
            "smallest": found.sizes[0],
            "largest": found.sizes[-1],
            "target": found.target,
            "first_calls": growth.counts[0],
            "calls": growth.counts[-1],
            "predicted_share": growth.predicted[0] / expected,
        }
        for growth in found.rows
    ]


def findings(found: Scaling, chosen: Sequence[Rule]) -> list[dict[str, Any]]:
    """The findings of these rules."""
    shown = ("program", "syscall", "shape", "class", "exponent", "share")
    matches = multi_capture.findings(_TABLE, table(found), chosen)
    return [{**words, **{key: here[key] for key in shown}} for here, words in matches]
