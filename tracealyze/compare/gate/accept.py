"""Taking captures over into a baseline: what that would newly accept, and what the baseline no longer needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracealyze.compare.gate.baseline import Baseline, baseline_of
from tracealyze.compare.gate.judgement import Judgement, Outcome, Trust, amount, compared, trust, unlike
from tracealyze.compare.gate.known_finding import KnownFinding
from tracealyze.compare.metrics import Class, Name

if TYPE_CHECKING:
    from tracealyze.compare.gate.stats import Series
    from tracealyze.compare.metrics import Run


@dataclass(frozen=True)
class Update:
    """A baseline after new captures: what got worse and would be accepted, and what got better."""

    baseline: Baseline
    worse: tuple[Judgement, ...]
    findings: tuple[KnownFinding, ...]
    grown: tuple[Judgement, ...]
    """Worse by less than the limit: taken over, but never unseen, since many small steps make a large one."""
    better: tuple[Judgement, ...]
    captured: tuple[str, ...]
    """How these captures were made in another way than those before, or of another program."""
    incomparable: tuple[str, ...]
    """Those of them that make counts something else than they were."""

    @property
    def accepts(self) -> list[str]:
        """What would be newly accepted, one line each."""
        told = [f"{each.metric} {each.told}" for each in self.worse]
        return [*told, *(f"finding {each.name}: {described(each)}" for each in self.findings), *self.incomparable]

    @property
    def creeps(self) -> list[str]:
        """What has grown by less than its limit, one line each."""
        return [f"{each.metric} {_change(each)}" for each in self.grown]

    @property
    def tightens(self) -> list[str]:
        """What got better, one line each."""
        return [f"{each.metric} {_change(each)}" for each in self.better]


def described(known: KnownFinding) -> str:
    """What a finding is about: `sleep clock_nanosleep, error`."""
    place = " ".join(part for part in (known.program, known.syscall) if part)
    return ", ".join(part for part in (place, known.severity) if part)


def _change(judgement: Judgement) -> str:
    return f"{amount(judgement.before or 0, judgement.unit)} → {amount(judgement.after, judgement.unit)}"


def updated(before: Baseline, runs: Sequence[Run]) -> Update:
    """The baseline that these runs make, against the one that there was."""
    now = baseline_of(runs, before)
    judged, trusted = compared(before.metrics, now.metrics, Trust()), trust(before, now)
    return Update(
        baseline=now,
        worse=tuple(each for each in judged if each.outcome in (Outcome.FAILED, Outcome.WARNED)),
        findings=tuple(known for key, known in now.findings.items() if _number(before, key) < known.number),
        grown=tuple(each for each in judged if _has_grown(each)),
        better=tuple(each for each in judged if each.outcome is Outcome.IMPROVED),
        captured=tuple(unlike(before, now)),
        incomparable=(*trusted.counts, *trusted.too_small),
    )


def _has_grown(judgement: Judgement) -> bool:
    counted = judgement.outcome is Outcome.PASSED and judgement.cls in (Class.SMALL, Class.LARGE)
    return counted and judgement.after > (judgement.before or 0)


def _number(baseline: Baseline, fingerprint: str) -> int:
    known = baseline.findings.get(fingerprint)
    return known.number if known else 0


def pruned(before: Baseline, runs: Sequence[Run]) -> tuple[Baseline, list[str]]:
    """The baseline without what these runs no longer have, and what was left out."""
    now = baseline_of(runs, before)
    metrics = {name: series for name, series in before.metrics.items() if _is_needed(name, series, now.metrics)}
    findings = {key: known for key, known in before.findings.items() if key in now.findings}
    places = {place: amounts for place, amounts in before.places.items() if place in now.places}
    gone = [name for name in before.metrics if name not in metrics]
    gone += [
        f"finding {known.name}: {described(known)}" for key, known in before.findings.items() if key not in findings
    ]
    return replace(before, metrics=metrics, findings=findings, places=places), gone


def _is_needed(name: str, series: Series, now: Mapping[str, Series]) -> bool:
    """Metrics of one syscall or program that no longer occur would allow it to come back."""
    if not Name.of(name).arguments or series.cls is Class.CLOCK:
        return True
    return name in now and bool(now[name].whole.max or not series.whole.max)
