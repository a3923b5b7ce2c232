"""Judging one metric before and after: whether it is worse, and whether the two are comparable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MAX_BETTER_RATIO, MIN_CLOCK_RUNS
from tracealyze.compare.gate.stats import Series, Stats, exceeds, is_shifted, limit
from tracealyze.compare.metrics import METRICS, Class, Name

if TYPE_CHECKING:
    from tracealyze.compare.gate.baseline import Baseline
    from tracealyze.compare.gate.explain import Explanation


class Outcome(StrEnum):
    """The outcome of a judgement. Only FAILED fails the gate."""

    FAILED = "failed"
    WARNED = "warned"
    UNSTABLE = "unstable"
    INCONCLUSIVE = "inconclusive"
    REFUSED = "refused"
    IMPROVED = "improved"
    PASSED = "passed"


class By(StrEnum):
    """What a metric was compared with."""

    BUDGET = "budget"
    BASELINE = "baseline"
    FINDING = "finding"


@dataclass(frozen=True)
class Judgement:
    """The judgement of one metric."""

    metric: str
    by: By
    outcome: Outcome
    after: int
    before: int | None = None
    limit: int | None = None
    cls: Class = Class.SMALL
    unit: str = ""
    why: str = ""
    relation: str = "<="
    fingerprint: str = ""
    """The fingerprint of the finding, if it is about one."""
    program: str = ""
    """The program of the finding."""
    syscall: str | None = None
    """The system call of the finding."""
    explanation: Explanation | None = None

    @property
    def key(self) -> str:
        """Equal for the same cause in another run."""
        return ":".join(part for part in (self.by, self.metric, self.fingerprint) if part)

    @property
    def change(self) -> str:
        """`processes 3 → 5, limit 3`, without the reasons."""
        before = f"{amount(self.before, self.unit)} → " if self.before is not None else ""
        bound = f", {_BOUNDS[self.relation]} {amount(self.limit, self.unit)}" if self.limit is not None else ""
        return f"{before}{amount(self.after, self.unit)}{bound}"


_BOUNDS = {
    "<=": "limit",
    "<": "must be less than",
    ">=": "minimum",
    ">": "must be more than",
    "==": "must be",
    "!=": "must not be",
}


def amount(number: int, unit: str) -> str:
    """A value of a metric as people read it."""
    if unit == "ns":
        return units.duration(number, units.US)
    return units.size(number) if unit == "bytes" and number >= 10_240 else units.count(number)


@dataclass(frozen=True)
class Trust:
    """Why counts or times of the two sides are not comparable, one line each; empty if they are."""

    counts: Sequence[str] = ()
    times: Sequence[str] = ()
    too_small: Sequence[str] = ()
    """Why the new counts may be too low. Limits that they exceed are exceeded anyway; the others have not passed."""
    slower: float = 1.0
    """Duration of calls that never block, as a multiple of that in the baseline."""


def trust(before: Baseline, after: Baseline) -> Trust:
    """Whether two sets of captures were made in the same way, on equally fast machines."""
    slower = after.pace_ns / before.pace_ns if before.pace_ns and after.pace_ns else 1.0
    mine, theirs = after.captured, before.captured
    counts = mine.counts_differ(theirs) or list(_lacks(before.metrics, after.metrics))
    times = list(dict.fromkeys((*counts, *mine.times_differ(theirs))))
    return Trust(counts, times, mine.ends_differ(theirs), max(slower, 1.0))


# Every program allocates memory when it starts, in any language.
_STARTING = ("calls[brk]", "calls[mmap]", "calls[mprotect]", "calls[munmap]")


def _lacks(before: Mapping[str, Series], after: Mapping[str, Series]) -> Iterator[str]:
    """One line if calls that all programs make are on one side only: a filter does that, a changed program cannot."""
    for side, here, there in (("the baseline", before, after), ("this capture", after, before)):
        programs = _sum(there, ["execs"], min)
        if _sum(there, _STARTING, min) >= programs > 0 == _sum(here, _STARTING, max):
            yield f"{side} has no memory calls, which every program makes, so it is filtered (-e trace=…)"


def _sum(metrics: Mapping[str, Series], names: Sequence[str], of: Callable[[int, int], int]) -> int:
    """The sum of these metrics, each from the run with its minimum or maximum."""
    return sum(of(series.whole.min, series.whole.max) for name in names if (series := metrics.get(name)))


def unlike(before: Baseline, after: Baseline) -> Iterator[str]:
    """How the capture methods of the two sets differ, one line each."""
    trusted = trust(before, after)
    yield from dict.fromkeys((*trusted.counts, *trusted.times, *trusted.too_small))
    yield from after.captured.commands_differ(before.captured)


def compared(before: Mapping[str, Series], after: Mapping[str, Series], trusted: Trust) -> list[Judgement]:
    """All metrics compared with the baseline, the worst first. A new metric was 0 before."""
    judgements = []
    runs = max((series.whole.n for series in before.values()), default=1)
    for name in sorted(before.keys() | after.keys()):
        metric = Name.of(name).metric
        if not metric.in_baseline or metric.name == "finding":
            continue
        if name not in before and not metric.arguments:
            continue
        judgements.append(_judged(name, before.get(name) or _nothing(metric.cls, runs), after.get(name), trusted))
    return sorted(judgements, key=_rank)


def _nothing(cls: Class, runs: int) -> Series:
    nothing = Stats(0, 0, 0, runs)
    return Series(nothing, nothing, cls, values=(0,) * runs if cls is Class.CLOCK else ())


def _judged(name: str, before: Series, after: Series | None, trusted: Trust) -> Judgement:
    metric = Name.of(name).metric
    now = after or _nothing(metric.cls, 1)
    if metric.cls is Class.CLOCK:
        return _clock(name, before, now, trusted)
    # The first threads of a program do not appear by chance.
    has_become = metric.name == "threads" and before.cls is not Class.SCHEDULE and not now.unstable
    if Class.SCHEDULE in (before.cls, now.cls) and not has_become:
        return _schedule(name, before, now)
    return _exact(name, before, now, trusted)


@dataclass(frozen=True)
class _Sides:
    """Two values to compare, and the class that determines how."""

    name: str
    before: int
    after: int
    cls: Class
    shown: Class = field(default=Class.SMALL)

    @property
    def unit(self) -> str:
        return Name.of(self.name).metric.unit

    @property
    def worse(self) -> bool:
        return exceeds(self.before, self.after, self.cls, self.unit)

    def judgement(self, outcome: Outcome, why: str = "") -> Judgement:
        return Judgement(
            metric=self.name,
            by=By.BASELINE,
            outcome=outcome,
            before=self.before,
            after=self.after,
            limit=limit(self.before, self.cls, self.unit),
            cls=self.shown,
            unit=self.unit,
            why=why,
        )


def _exact(name: str, before: Series, now: Series, trusted: Trust) -> Judgement:
    """Class A: a value over the limit fails, unless the captures were made in different ways."""
    cls = Name.of(name).metric.cls
    sides = _Sides(name, before.firm.max, now.firm.median, cls, cls)
    left_out = now.whole.median - now.firm.median
    why = f"excludes {amount(left_out, sides.unit)} that depend on scheduling" if left_out else ""
    if sides.worse:
        if trusted.counts:
            return sides.judgement(Outcome.WARNED, f"not gated: {'; '.join(trusted.counts)}")
        return sides.judgement(Outcome.FAILED, why)
    all_of_it = _Sides(name, before.whole.max, now.whole.median, cls, Class.SCHEDULE)
    if all_of_it.worse:
        return all_of_it.judgement(Outcome.WARNED, "the increase is in calls that depend on scheduling")
    better = _is_better(before.firm, now.firm, name) and _is_better(before.whole, now.whole, name)
    # A capture made differently, or without its end, shows less. That is not an improvement to accept.
    return sides.judgement(Outcome.IMPROVED if better and not (trusted.counts or trusted.too_small) else Outcome.PASSED)


def _is_better(before: Stats, now: Stats, name: str) -> bool:
    metric = Name.of(name).metric
    return now.max < MAX_BETTER_RATIO * before.min and exceeds(now.max, before.min, metric.cls, metric.unit)


def _schedule(name: str, before: Series, now: Series) -> Judgement:
    """Class B: a value over the limit warns."""
    sides = _Sides(name, before.whole.max, now.whole.median, Name.of(name).metric.cls, Class.SCHEDULE)
    unstable = [side for side, series in (("the baseline", before), ("this check", now)) if series.unstable]
    if unstable:
        series = now if now.unstable else before
        spread = f"{amount(series.firm.min, sides.unit)} to {amount(series.firm.max, sides.unit)}"
        return sides.judgement(Outcome.UNSTABLE, f"not gated: the runs of {' and '.join(unstable)} differ ({spread})")
    if sides.worse:
        return sides.judgement(Outcome.WARNED, "not gated: it depends on scheduling")
    return sides.judgement(Outcome.PASSED)


def _clock(name: str, before: Series, now: Series, trusted: Trust) -> Judgement:
    """Class C: a difference counts only with enough runs on both sides and a rank test."""
    sides = _Sides(name, before.whole.median, now.whole.median, Class.CLOCK, Class.CLOCK)
    if not sides.worse:
        return sides.judgement(Outcome.PASSED)
    if trusted.times:
        return sides.judgement(Outcome.REFUSED, f"not gated: {'; '.join(trusted.times)}")
    if not exceeds(before.whole.median, round(now.whole.median / trusted.slower), Class.CLOCK, sides.unit):
        return sides.judgement(
            Outcome.REFUSED,
            f"not gated: calls that never block take {trusted.slower:.1f} times as long as in the baseline, "
            "so this machine is slower",
        )
    fewest = min(len(before.values), len(now.values))
    if fewest < MIN_CLOCK_RUNS:
        return sides.judgement(
            Outcome.INCONCLUSIVE,
            f"not gated: times are compared from {MIN_CLOCK_RUNS} runs per side (have "
            f"{len(before.values)} and {len(now.values)})",
        )
    if not is_shifted(before.values, [round(value / trusted.slower) for value in now.values]):
        return sides.judgement(Outcome.INCONCLUSIVE, "not gated: the runs of both sides overlap too much")
    return sides.judgement(
        Outcome.FAILED, f"confirmed by a rank test over {len(before.values)} and {len(now.values)} runs"
    )


_ORDER = tuple(Outcome)
_FAMILIES = [metric.name for metric in METRICS if not metric.arguments]
# An additional sleep or program is the cause; the calls that come with it are its consequences.
_CAUSES = ("execs", "processes", "deliberate_wait", "fsyncs", "hosts")


def _rank(judgement: Judgement) -> tuple[object, ...]:
    """The worst first: causes, then single syscalls by how far they exceed their limits, then sums."""
    family = Name.of(judgement.metric).family
    over = (judgement.after - (judgement.limit or 0)) / max(judgement.limit or 0, 1)
    cause = _CAUSES.index(family) if family in _CAUSES else len(_CAUSES)
    return _ORDER.index(judgement.outcome), cause, judgement.metric in _FAMILIES, -over, judgement.metric
