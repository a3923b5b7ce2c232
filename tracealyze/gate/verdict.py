"""The verdict over runs of a scenario: budgets, the baseline and new findings, each failure explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from tracealyze.errors import ExitCode
from tracealyze.finding import Severity, severity
from tracealyze.gate import explain
from tracealyze.gate.baseline import Baseline, baseline_of, by_fingerprint
from tracealyze.gate.compare import By, Judgement, Outcome, Trust, amount, compared, trust
from tracealyze.gate.stats import Series, exceeds, series_of
from tracealyze.gate.work import places
from tracealyze.metrics import Class, Name, short

if TYPE_CHECKING:
    from tracealyze.finding import Finding
    from tracealyze.gate.budget import Budget
    from tracealyze.metrics import Run

_SEVERITIES = (Severity.INFO, Severity.WARNING, Severity.ERROR)


class Status(StrEnum):
    """The verdict in a word."""

    PASSED = "passed"
    FAILED = "failed"
    NO_BASELINE = "no-baseline"


class FailOn(StrEnum):
    """From which severity on a new finding fails."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"

    def includes(self, found: Severity) -> bool:
        """Whether a finding of this severity fails."""
        return self is not FailOn.NEVER and _SEVERITIES.index(found) >= _SEVERITIES.index(Severity(self))


@dataclass(frozen=True)
class Verdict:
    """What is said of a scenario."""

    status: Status
    captures: tuple[str, ...]
    judgements: tuple[Judgement, ...] = ()
    notes: tuple[str, ...] = ()
    baseline: str | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """What the process ends with."""
        codes = {Status.PASSED: ExitCode.FINE, Status.FAILED: ExitCode.GATE_FAILED}
        return codes.get(self.status, ExitCode.WRONG_USAGE)

    def of(self, *outcomes: Outcome) -> list[Judgement]:
        """The judgements with one of these outcomes."""
        return [judgement for judgement in self.judgements if judgement.outcome in outcomes]


@dataclass(frozen=True)
class Asked:
    """What a check is asked to hold the runs against."""

    budgets: Sequence[Budget] = ()
    baseline: Baseline | None = None
    baseline_path: str | None = None
    fail_on: FailOn = FailOn.ERROR
    gates_findings: bool = True
    """Whether findings fail where no baseline says which of them are known."""


def verdict(runs: Sequence[Run], asked: Asked) -> Verdict:
    """Judge the runs."""
    judgements = [_of_budget(budget, runs, asked.baseline) for budget in asked.budgets]
    notes = list(_notes_on(runs))
    trusted = Trust()
    if asked.baseline is not None:
        now = baseline_of(runs)
        trusted = trust(asked.baseline, now)
        notes.extend(_notes_on_baseline(asked.baseline, now, trusted))
        judgements.extend(_of_findings(runs, asked, trusted))
        found = compared(asked.baseline.metrics, now.metrics, trusted)
        judgements.extend(_explained(judgement, asked.baseline, runs) for judgement in found)
    elif asked.gates_findings:
        judgements.extend(_of_findings(runs, asked, trusted))
    judgements.sort(key=lambda judgement: tuple(Outcome).index(judgement.outcome))
    failed = any(judgement.outcome is Outcome.FAILED for judgement in judgements)
    return Verdict(
        status=Status.FAILED if failed else Status.PASSED,
        captures=tuple(run.path for run in runs),
        judgements=tuple(judgements),
        notes=tuple(notes),
        baseline=asked.baseline_path,
        findings=tuple(runs[-1].findings),
    )


def without_baseline(captures: Sequence[str], path: str, why: str) -> Verdict:
    """The verdict where there is nothing to compare with."""
    return Verdict(Status.NO_BASELINE, tuple(captures), notes=(why,), baseline=path)


def _of_budget(budget: Budget, runs: Sequence[Run], baseline: Baseline | None) -> Judgement:
    values = [run.value(budget.name) for run in runs]
    series = Series.of(str(budget.name), values)
    metric = budget.name.metric
    held = [budget.holds(value.value) for value in values]
    judged = Judgement(
        metric=str(budget.name),
        by=By.BUDGET,
        outcome=Outcome.PASSED,
        after=series.whole.median,
        limit=budget.limit,
        cls=series.cls,
        unit=metric.unit,
        relation=budget.operator,
    )
    if metric.cls is Class.CLOCK:
        held = [budget.holds(series.whole.median)]
    if all(held):
        return judged
    if any(held):
        least, most = amount(series.whole.min, metric.unit), amount(series.whole.max, metric.unit)
        why = f"not gated: the runs differ ({least} to {most}), and {held.count(True)} of {len(held)} are within it"
        return replace(judged, outcome=Outcome.UNSTABLE, why=why)
    before = baseline.places if baseline else {}
    failed = replace(judged, outcome=Outcome.FAILED, explanation=explain.of_metric(budget.name, before, runs))
    if metric.name == "finding":
        proofs = [finding for finding in runs[-1].findings if finding.name == budget.name.arguments[0]]
        if proofs:
            return replace(failed, why=proofs[0].message, explanation=explain.of_finding(proofs[0], runs[-1]))
    return failed


def _explained(judgement: Judgement, baseline: Baseline, runs: Sequence[Run]) -> Judgement:
    if judgement.outcome not in (Outcome.FAILED, Outcome.WARNED):
        return judgement
    if judgement.cls is Class.CLOCK:
        now = _medians(series_of(runs))
        return replace(judgement, explanation=explain.of_programs(_medians(baseline.metrics), now, runs[-1]))
    name = Name.of(judgement.metric)
    return replace(judgement, explanation=explain.of_metric(name, baseline.places, runs))


def _medians(metrics: Mapping[str, Series]) -> dict[str, int]:
    """The time of each program on the path."""
    names = ((Name.of(name), series) for name, series in metrics.items())
    return {name.arguments[0]: series.whole.median for name, series in names if name.family == "exclusive"}


def _of_findings(runs: Sequence[Run], asked: Asked, trusted: Trust) -> Iterator[Judgement]:
    """Findings that the baseline does not know: only what every run has is more than chance."""
    each = [by_fingerprint(run) for run in runs]
    known = asked.baseline.findings if asked.baseline else {}
    for fingerprint, found in each[-1].items():
        number = min(len(run.get(fingerprint, ())) for run in each)
        before = known[fingerprint].number if fingerprint in known else 0
        if number > before:
            worst = max(found, key=lambda finding: _SEVERITIES.index(finding.severity))
            yield _of_finding(worst, before, number, runs, asked, trusted)


def _of_finding(
    finding: Finding, before: int, number: int, runs: Sequence[Run], asked: Asked, trusted: Trust
) -> Judgement:
    judged = Judgement(
        metric=f"finding[{finding.name}]",
        by=By.FINDING,
        outcome=Outcome.WARNED,
        before=before if asked.baseline else None,
        after=number,
        limit=before if asked.baseline else 0,
        why=finding.message,
        fingerprint=finding.fingerprint,
        explanation=explain.of_finding(finding, runs[-1]),
    )
    if trusted.counts:
        return replace(judged, why=f"not gated: {'; '.join(trusted.counts)}. {finding.message}")
    if not asked.fail_on.includes(finding.severity):
        return replace(judged, outcome=Outcome.PASSED)
    if asked.baseline is None or _more_is_done(finding, asked.baseline, runs):
        return replace(judged, outcome=Outcome.FAILED)
    # The counts are those of the baseline, so only the clock says that this is new. A slower machine says so too.
    slower = max(trusted.slower, _slower_elsewhere(finding, asked.baseline, runs))
    if asked.fail_on.includes(severity(round(finding.impact_ns[1] / slower), finding.share)):
        return replace(judged, outcome=Outcome.FAILED)
    why = f"not gated: no more is done than in the baseline, all of it takes {slower:.1f} times as long"
    return replace(judged, outcome=Outcome.INCONCLUSIVE, why=f"{why}. {finding.message}")


def _more_is_done(finding: Finding, baseline: Baseline, runs: Sequence[Run]) -> bool:
    """Whether the finding's program makes more of the finding's calls than before."""
    program = short(finding.program)

    def calls(rows: Mapping[tuple[str, str], int]) -> int:
        asked = ((place, number) for place, number in rows.items() if not program or place[0] == program)
        return sum(number for (_, shape), number in asked if shape.partition("(")[0] == finding.syscall)

    before = calls({place: amounts.calls for place, amounts in baseline.places.items()})
    after = calls({place: amounts.calls for place, amounts in places(runs).items()})
    return exceeds(before, after, Class.LARGE if before else Class.SMALL, "")


def _slower_elsewhere(finding: Finding, baseline: Baseline, runs: Sequence[Run]) -> float:
    """How many times as long all that is not the finding takes."""
    before = baseline.metrics.get("wall.median")
    now = runs[-1].trace.window.wall_ns - finding.impact_ns[1]
    return max(now / before.whole.median, 1.0) if before and before.whole.median else 1.0


def _notes_on(runs: Sequence[Run]) -> Iterator[str]:
    """What makes counts of these captures smaller than they should be."""
    for run in runs:
        capture = run.trace.captures[0]
        lost = sum(loss.lines for loss in capture.losses)
        if lost:
            yield f"{run.path}: {lost} lines could not be used, so counts are too small."
        if capture.cut:
            yield f"{run.path}: the capture is cut, so counts are too small."
        if capture.unseen_children:
            yield f"{run.path}: {capture.unseen_children} children are not in it; capture with -f."


def _notes_on_baseline(baseline: Baseline, now: Baseline, trusted: Trust) -> Iterator[str]:
    if trusted.counts:
        yield f"Counts are not gated: {'; '.join(trusted.counts)}. Create the baseline anew from captures like these."
    if baseline.captured.argv != now.captured.argv:
        yield f'The baseline ran "{baseline.captured.argv}", this is "{now.captured.argv}".'
    if baseline.runs == 1:
        yield "The baseline has one run, so what differs from run to run is not known; give it three or more."
