"""New findings: those that a baseline does not accept, unless a slow machine explains them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from tracealyze.base.heuristics import MIN_CLOCK_RUNS
from tracealyze.base.program_names import short
from tracealyze.compare.gate import explain
from tracealyze.compare.gate.baseline import Baseline, causes_of
from tracealyze.compare.gate.judgement import By, Judgement, Outcome, Trust
from tracealyze.compare.gate.places import places
from tracealyze.compare.gate.stats import exceeds
from tracealyze.compare.metrics import Class
from tracealyze.findings.finding import Severity, severity

if TYPE_CHECKING:
    from tracealyze.compare.run import Run
    from tracealyze.findings.finding import Finding

_SEVERITIES = (Severity.INFO, Severity.WARNING, Severity.ERROR)


class FailOn(StrEnum):
    """The lowest severity at which a new finding fails."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"

    def includes(self, found: Severity) -> bool:
        """Whether a finding of this severity fails."""
        return self is not FailOn.NEVER and _SEVERITIES.index(found) >= _SEVERITIES.index(Severity(self))


def new_findings(
    runs: Sequence[Run], baseline: Baseline | None, fail_on: FailOn, trusted: Trust
) -> Iterator[Judgement]:
    """Findings that the baseline does not accept. Those that only some runs have may be chance."""
    known = baseline.findings if baseline else {}
    causes = causes_of(baseline)
    each = [causes.of(run) for run in runs]
    for cause, found in each[-1].items():
        number = min(len(run.get(cause, ())) for run in each)
        before = known[cause].number if cause in known else 0
        if number > before:
            worst = max(found, key=lambda finding: _SEVERITIES.index(finding.severity))
            judged = _judgement(worst, before if baseline else None, number, runs[-1])
            yield _decided(judged, worst, runs, baseline, fail_on, trusted)


def _judgement(finding: Finding, before: int | None, number: int, run: Run) -> Judgement:
    return Judgement(
        metric=f"finding[{finding.name}]",
        by=By.FINDING,
        outcome=Outcome.PASSED,
        before=before,
        after=number,
        limit=before or 0,
        why=finding.message,
        fingerprint=finding.fingerprint,
        program=short(finding.program) or "",
        syscall=finding.syscall,
        explanation=explain.of_finding(finding, run),
    )


def _decided(
    judged: Judgement,
    finding: Finding,
    runs: Sequence[Run],
    baseline: Baseline | None,
    fail_on: FailOn,
    trusted: Trust,
) -> Judgement:
    if trusted.counts:
        why = f"not gated: {'; '.join(trusted.counts)}. {finding.message}"
        return replace(judged, outcome=Outcome.WARNED, why=why)
    if not fail_on.includes(finding.severity):
        return judged
    if baseline is None or not _rests_on_a_clock(finding) or _more_is_done(finding, baseline, runs):
        return replace(judged, outcome=Outcome.FAILED)
    # It is new only by its time, and a slower machine would have the same effect.
    slower = max(trusted.slower, _slower_elsewhere(finding, baseline, runs))
    few = min(len(runs), baseline.runs) < MIN_CLOCK_RUNS
    needed = FailOn.ERROR if few else fail_on
    if needed.includes(severity(round(_impact_ns(finding) / slower), finding.share or 0.0)):
        return replace(judged, outcome=Outcome.FAILED)
    lacking = f" (times are compared from {MIN_CLOCK_RUNS} runs per side)" if few else ""
    why = f"not gated: the same work takes longer than in the baseline{lacking}. {finding.message}"
    return replace(judged, outcome=Outcome.INCONCLUSIVE, why=why)


def _rests_on_a_clock(finding: Finding) -> bool:
    """Whether the severity follows from the time instead of being fixed by the rule."""
    if finding.impact_ns is None:
        return False
    return severity(finding.impact_ns[1], finding.share or 0.0) is finding.severity


def _impact_ns(finding: Finding) -> int:
    return finding.impact_ns[1] if finding.impact_ns else 0


def _more_is_done(finding: Finding, baseline: Baseline, runs: Sequence[Run]) -> bool:
    """Whether the program makes more of these calls than before."""
    program = short(finding.program)

    def calls(rows: Mapping[tuple[str, str], int]) -> int:
        of_program = ((shape, number) for (name, shape), number in rows.items() if name == program or not program)
        return sum(number for shape, number in of_program if finding.syscall in (None, shape.partition("(")[0]))

    before = calls({place: amounts.calls for place, amounts in baseline.places.items()})
    after = calls({place: amounts.calls for place, amounts in places(runs).items()})
    return exceeds(before, after, Class.LARGE if before else Class.SMALL, "")


def _slower_elsewhere(finding: Finding, baseline: Baseline, runs: Sequence[Run]) -> float:
    """Duration of everything but the finding, as a multiple of that in the baseline."""
    before = baseline.metrics.get("wall.median")
    now = runs[-1].trace.window.wall_ns - _impact_ns(finding)
    return max(now / before.whole.median, 1.0) if before and before.whole.median else 1.0
