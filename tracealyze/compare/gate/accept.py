"""Updating a baseline from new captures: what that accepts, and what can be removed."""

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
    from tracealyze.compare.run import Run


@dataclass(frozen=True)
class Update:
    """A baseline from new captures, compared with the one before."""

    baseline: Baseline
    worse: tuple[Judgement, ...]
    findings: tuple[KnownFinding, ...]
    grown: tuple[Judgement, ...]
    """Metrics that got worse by less than the limit. They are reported, because many small steps add up."""
    better: tuple[Judgement, ...]
    captured: tuple[str, ...]
    """How the method of capture, or the program, differs from before."""
    incomparable: tuple[str, ...]
    """Those differences that make counts incomparable."""

    @property
    def accepts(self) -> list[str]:
        """What the update newly accepts, one line each."""
        metrics = [f"{each.metric} {each.change}" for each in self.worse]
        return [*metrics, *(f"finding {each.name}: {described(each)}" for each in self.findings), *self.incomparable]

    @property
    def creeps(self) -> list[str]:
        """Metrics that have grown by less than their limits, one line each."""
        return [f"{each.metric} {_change(each)}" for each in self.grown]

    @property
    def tightens(self) -> list[str]:
        """Metrics that got better, one line each."""
        return [f"{each.metric} {_change(each)}" for each in self.better]


def described(known: KnownFinding) -> str:
    """A finding in short: `sleep clock_nanosleep, error`."""
    place = " ".join(part for part in (known.program, known.syscall) if part)
    return ", ".join(part for part in (place, known.severity) if part)


def _change(judgement: Judgement) -> str:
    return f"{amount(judgement.before or 0, judgement.unit)} → {amount(judgement.after, judgement.unit)}"


def updated(before: Baseline, runs: Sequence[Run]) -> Update:
    """The baseline of these runs, compared with an earlier one."""
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
    """The baseline without entries that these runs no longer have, and the removed entries, one line each."""
    now = baseline_of(runs, before)
    metrics = {name: series for name, series in before.metrics.items() if _is_needed(name, series, now.metrics)}
    findings = {key: known for key, known in before.findings.items() if key in now.findings}
    places = {place: amounts for place, amounts in before.places.items() if place in now.places}
    removed = [name for name in before.metrics if name not in metrics]
    removed += [
        f"finding {known.name}: {described(known)}" for key, known in before.findings.items() if key not in findings
    ]
    return replace(before, metrics=metrics, findings=findings, places=places), removed


def _is_needed(name: str, series: Series, now: Mapping[str, Series]) -> bool:
    """Whether a metric must stay. That of a vanished syscall or program would allow it to come back unnoticed."""
    if not Name.of(name).arguments or series.cls is Class.CLOCK:
        return True
    return name in now and bool(now[name].whole.max or not series.whole.max)
