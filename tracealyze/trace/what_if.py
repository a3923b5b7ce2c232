"""What if: the wall time after causes are removed, by replaying the capture without them.

A replay with a cause removed gives a range. The lower bound removes all that the finding says can be saved, and what
tracing adds by the estimate and its usual error. The upper bound keeps what a fix may leave, and removes the minimum
that tracing adds. docs/what-if.md has the method.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tracealyze.base.errors import UnusableInput, WrongUsage, did_you_mean
from tracealyze.base.heuristics import MAX_DRIFT_SHARE, MAX_RESIDUE_SHARE, MIN_HIDDEN_SHARE
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown
from tracealyze.findings.basis import Basis
from tracealyze.findings.finding import Finding
from tracealyze.model.selection import Selection
from tracealyze.model.trace_tables import LeftOut, Replayed, TraceTables, Variant

if TYPE_CHECKING:
    from tracealyze.findings.diagnosis import Diagnosis
    from tracealyze.model.claims import Claim
    from tracealyze.model.expression import Expression

_WHOLE_PPM = 1_000_000
_MAX_FACTOR = 1_000_000

Fixed: TypeAlias = Finding | str | int
"""A finding: itself, its rule, code or fingerprint, words of its text, or its number in the report, from 1."""


@dataclass(frozen=True)
class Fix:
    """One fix, and the wall time after it."""

    name: str
    """As the user named it."""
    alone_ns: tuple[int, int]
    """Lower and upper bound of the wall time if only this is fixed."""
    saves_ns: tuple[int, int]
    """Lower and upper bound of what it saves alone."""
    saves_with_others_ns: int
    """The upper bound of what it saves if the others are fixed, too."""
    hidden_behind: str = ""
    """The other fix, or the process, behind whose time it is hidden."""

    def document(self) -> dict[str, object]:
        """The fix as it appears in JSON."""
        return {"finding": self.name, "alone_ns": list(self.alone_ns)}


@dataclass(frozen=True)
class WhatIf:
    """The wall time after some fixes, alone and together. All times are integers of nanoseconds.

    observed_ns   the window as captured
    replayed_ns   the window in a replay without changes
    fixes         each fix: name, alone_ns, saves_ns, hidden_behind
    together_ns   lower and upper bound of the wall time after all of them
    """

    observed_ns: int
    replayed_ns: int
    fixes: tuple[Fix, ...]
    together_ns: tuple[int, int]

    @property
    def drift(self) -> float:
        """How much longer the replay without changes is than the window, as a fraction of it."""
        return (self.replayed_ns - self.observed_ns) / self.observed_ns if self.observed_ns else 0.0

    @property
    def is_replayed(self) -> bool:
        """Whether the replay is good enough; otherwise the ranges are bounds from the critical path."""
        return abs(self.drift) <= MAX_DRIFT_SHARE

    def document(self) -> dict[str, object]:
        """The answer as it appears in JSON. Times are wall times after the fixes."""
        return {
            "observed_ns": self.observed_ns,
            "replayed_ns": self.replayed_ns,
            "drift": self.drift,
            "fixes": [fix.document() for fix in self.fixes],
            "together_ns": list(self.together_ns),
        }


@dataclass(frozen=True)
class _Change:
    """Events, and the shares of them that remain at best and at worst."""

    events: tuple[Claim, ...] | Selection
    best_ppm: int
    worst_ppm: int
    max_saving_ns: int | None = None
    """What its time on the critical path allows; None if that is not known."""


@dataclass(frozen=True)
class _Wish:
    """What the user wants to be fixed: changes with a name."""

    name: str
    changes: tuple[int, ...]
    is_parallel: bool = False


def what_if(
    trace: TraceTables,
    diagnosis: Diagnosis,
    fixes: Sequence[Fixed],
    without: Mapping[str, Expression],
    scale: Mapping[str, tuple[Expression, float]],
    parallel: Sequence[str],
) -> WhatIf:
    """The wall time if these causes are fixed, events removed or scaled, and serial children run beside each other.

    Raises `WrongUsage` for unknown names and `UnusableInput` if the capture has no wall time."""
    capture, observed_ns = _window(trace)
    question = _Question(trace, capture, tuple(parallel))
    for each in fixes:
        question.fix(diagnosis, each)
    for text, expression in without.items():
        question.scale(f"without {text}", expression, 0.0)
    for text, (expression, factor) in scale.items():
        if not 0 <= factor <= _MAX_FACTOR:
            raise WrongUsage(f"scale: a factor is from 0 to {_MAX_FACTOR:,}, not {factor:g}.")
        question.scale(f"{text} × {factor:g}", expression, factor)
    if parallel:
        _must_run(trace, parallel)
        question.wishes.append(_Wish(f"parallel {', '.join(parallel)}", (), is_parallel=True))
    if not question.wishes:
        raise WrongUsage("nothing to change: name a finding, or events to remove or to scale.")
    return question.answer(observed_ns)


def combinations(
    trace: TraceTables, diagnosis: Diagnosis, fixes: Sequence[Sequence[Finding]]
) -> dict[tuple[int, ...], tuple[int, int]]:
    """The wall time after each combination of fixes, as a lower and an upper bound. A fix removes some findings.

    Keys are the places of the fixes, from 0. Empty if a replay differs too much from the capture."""
    capture, observed_ns = _window(trace)
    question = _Question(trace, capture, ())
    for findings in fixes:
        question.fix_all(diagnosis, findings[0].name, [diagnosis.findings.index(each) for each in findings])
    return question.each(observed_ns)


def _must_run(trace: TraceTables, programs: Sequence[str]) -> None:
    """Raises `WrongUsage` for a program that no process runs: it would seem to make no difference."""
    for program in programs:
        if not trace.select(program=program).totals["processes"]:
            known = sorted({short(row["program"]) for row in trace.processes if row["program"]})
            raise WrongUsage(f"parallel: no process runs {shown(program)}.{did_you_mean(program, known)}")


def _window(trace: TraceTables) -> tuple[int, int]:
    numbers = trace.capture_numbers
    if len(numbers) != 1:
        raise WrongUsage(f"a replay needs one capture, and there are {len(numbers)}. Choose one of them.")
    observed_ns = trace.wall_ns_of(numbers[0])
    if not observed_ns:
        raise UnusableInput("a replay needs wall time, and this capture has none. Capture with strace -f -ttt -T -yy.")
    return numbers[0], observed_ns


class _Question:
    """Collects changes, and replays them."""

    def __init__(self, trace: TraceTables, capture: int, parallel: tuple[str, ...]) -> None:
        self._trace = trace
        self._capture = capture
        self._parallel = parallel
        self._changes: list[_Change] = []
        self.wishes: list[_Wish] = []

    def fix(self, diagnosis: Diagnosis, fixed: Fixed) -> None:
        """Remove the cause of a finding, or of all findings of a rule."""
        self.fix_all(diagnosis, *_named(diagnosis, fixed))

    def fix_all(self, diagnosis: Diagnosis, name: str, numbers: Sequence[int]) -> None:
        """Remove the causes of these findings, numbers from 0, with one fix."""
        first = len(self._changes)
        for number in numbers:
            finding, cause = diagnosis.findings[number], diagnosis.causes[number]
            low, high = cause.saving_ns
            if finding.basis is not Basis.WALL or cause.claimed_ns <= 0 or high <= 0:
                continue
            least_ns = low if low > 0 else high * (1 - MAX_RESIDUE_SHARE)
            kept = [cause.kept_ppm(saving) for saving in (high, least_ns)]
            self._changes.append(_Change(cause.claims, kept[0], kept[1], high))
        if len(self._changes) == first:
            raise WrongUsage(f'"{name}" has no time on the critical path that could be saved.')
        self.wishes.append(_Wish(name, tuple(range(first, len(self._changes)))))

    def scale(self, name: str, expression: Expression, factor: float) -> None:
        """Multiply the durations of events."""
        kept = round(factor * _WHOLE_PPM)
        self.wishes.append(_Wish(name, (len(self._changes),)))
        self._changes.append(_Change(Selection(where=expression), kept, kept))

    def answer(self, observed_ns: int) -> WhatIf:
        """Replay all fixes, alone, together, and together without each."""
        everything = range(len(self.wishes))
        sets = [(), *((number,) for number in everything), tuple(everything)]
        sets += [tuple(each for each in everything if each != number) for number in everything]
        sets += [(one, other) for one in everything for other in everything if one < other]
        walls = self._walls(list(dict.fromkeys(sets)))
        [unchanged] = self._replayed([Variant()])
        fixes = tuple(self._fix(number, walls, observed_ns) for number in everything)
        together = walls[tuple(everything)]
        found = WhatIf(observed_ns, unchanged.wall_ns, fixes, together.range_ns)
        return found if found.is_replayed else self._bounds(found)

    def each(self, observed_ns: int) -> dict[tuple[int, ...], tuple[int, int]]:
        """Replay each combination of fixes. Empty if the replay without changes differs too much."""
        everything = range(len(self.wishes))
        sets = [
            chosen for count in range(1, len(self.wishes) + 1) for chosen in itertools.combinations(everything, count)
        ]
        [unchanged] = self._replayed([Variant()])
        if not WhatIf(observed_ns, unchanged.wall_ns, (), (0, 0)).is_replayed:
            return {}
        walls = self._walls([(), *sets])
        return {chosen: walls[chosen].range_ns for chosen in sets}

    def _walls(self, sets: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], _Walls]:
        variants = [variant for each in sets for variant in self._variants(each)]
        answers = self._replayed(variants)
        untraced_ns = answers[0].wall_ns
        pairs = zip(sets, answers[::2], answers[1::2], strict=True)
        return {each: _Walls(best, worst, self._floor_ns(each, untraced_ns)) for each, best, worst in pairs}

    def _replayed(self, variants: Sequence[Variant]) -> list[Replayed]:
        events = [change.events for change in self._changes]
        answers = self._trace.replayed(self._capture, events, self._parallel, variants)
        if len(answers) != len(variants):
            raise UnusableInput("this capture has no end from which it could be replayed.")
        return answers

    def _variants(self, numbers: Sequence[int]) -> tuple[Variant, Variant]:
        wishes = [self.wishes[number] for number in numbers]
        changes = [number for wish in wishes for number in wish.changes]
        is_parallel = any(wish.is_parallel for wish in wishes)
        best = tuple((number, self._changes[number].best_ppm) for number in changes)
        worst = tuple((number, self._changes[number].worst_ppm) for number in changes)
        return Variant(best, LeftOut.MOST, is_parallel), Variant(worst, LeftOut.MINIMUM, is_parallel)

    def _floor_ns(self, numbers: Sequence[int], untraced_ns: int) -> int:
        """The least wall time: no fix saves more than its time on the critical path."""
        wishes = [self.wishes[number] for number in numbers]
        savings = [self._changes[number].max_saving_ns for wish in wishes for number in wish.changes]
        known = [saving for saving in savings if saving is not None]
        has_no_limit = len(known) < len(savings) or any(wish.is_parallel for wish in wishes)
        return 0 if has_no_limit else max(0, untraced_ns - sum(known))

    def _fix(self, number: int, walls: Mapping[tuple[int, ...], _Walls], observed_ns: int) -> Fix:
        everything = tuple(range(len(self.wishes)))
        nothing, alone = walls[()], walls[(number,)]
        saves_ns = (nothing.high_ns - alone.high_ns, nothing.low_ns - alone.low_ns)
        others = tuple(each for each in everything if each != number)
        with_others_ns = walls[others].low_ns - walls[everything].low_ns
        hidden = ""
        if with_others_ns - saves_ns[1] >= MIN_HIDDEN_SHARE * observed_ns:
            gains = {other: walls[(other,)].low_ns - walls[_pair(number, other)].low_ns for other in others}
            hidden = self.wishes[max(gains, key=lambda other: gains[other])].name
        elif saves_ns[1] < MIN_HIDDEN_SHARE * observed_ns:
            hidden = _in_the_way(nothing.best, alone.best)
        return Fix(
            self.wishes[number].name,
            alone.range_ns,
            (max(0, min(saves_ns)), max(0, *saves_ns)),
            max(0, with_others_ns),
            hidden,
        )

    def _bounds(self, found: WhatIf) -> WhatIf:
        """The answer without a replay: what the critical path allows."""

        def bounds(numbers: Sequence[int]) -> tuple[int, int]:
            return self._floor_ns(numbers, found.observed_ns), found.observed_ns

        fixes = tuple(
            Fix(fix.name, bounds([number]), (0, found.observed_ns - bounds([number])[0]), 0)
            for number, fix in enumerate(found.fixes)
        )
        return WhatIf(found.observed_ns, found.replayed_ns, fixes, bounds(range(len(found.fixes))))


@dataclass(frozen=True)
class _Walls:
    """The replays of one set of fixes: at best, and at worst."""

    best: Replayed
    worst: Replayed
    floor_ns: int

    @property
    def high_ns(self) -> int:
        """The upper bound of the wall time."""
        return max(self.worst.wall_ns, self.floor_ns)

    @property
    def low_ns(self) -> int:
        """The lower bound of the wall time."""
        return min(max(self.best.wall_ns, self.floor_ns), self.high_ns)

    @property
    def range_ns(self) -> tuple[int, int]:
        """Both bounds."""
        return self.low_ns, self.high_ns


def _pair(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def _in_the_way(before: Replayed, after: Replayed) -> str:
    """The program that takes the time which a fix does not save."""
    found = after.most_gained(before)
    return found.name if found else ""


def _named(diagnosis: Diagnosis, fixed: Fixed) -> tuple[str, list[int]]:
    """The name of a fix, and the numbers of its findings, from 0."""
    findings = diagnosis.findings
    if isinstance(fixed, Finding):
        if fixed not in findings:
            raise WrongUsage("what_if: the finding is of another trace.")
        return fixed.name, [findings.index(fixed)]
    text = str(fixed).strip()
    if text.isdecimal():
        if not 1 <= int(text) <= len(findings):
            raise WrongUsage(f"no finding {text}: the report has {len(findings)}.")
        return f"{findings[int(text) - 1].name} ({text})", [int(text) - 1]
    wanted = text.lower()
    exact = [n for n, each in enumerate(findings) if wanted in (each.name, each.code.lower(), each.fingerprint)]
    said = exact or [n for n, each in enumerate(findings) if wanted and wanted in _text_of(each)]
    if not said:
        names = [known for each in findings for known in (each.name, each.code)]
        here = f" There are {', '.join(dict.fromkeys(each.name for each in findings))}." if findings else ""
        raise WrongUsage(f'no finding "{text}" in this capture.{did_you_mean(text, names) or here}')
    return text, said


def _text_of(finding: Finding) -> str:
    return f"{finding.diagnosis}\n{finding.message}\n{finding.title}".lower()
