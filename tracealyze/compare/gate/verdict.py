"""The verdict on runs of a scenario: budgets, the baseline and new findings, each failure explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.errors import ExitCode
from tracealyze.compare.gate import explain
from tracealyze.compare.gate.baseline import Baseline, baseline_of
from tracealyze.compare.gate.call_rows import CallRow
from tracealyze.compare.gate.captured import HowCaptured
from tracealyze.compare.gate.check_settings import STORE
from tracealyze.compare.gate.first_runs import FirstRun, without_first
from tracealyze.compare.gate.judgement import By, Judgement, Outcome, Trust, amount, compared, trust
from tracealyze.compare.gate.new_findings import FailOn, new_findings
from tracealyze.compare.gate.regressions import Regression, regressions
from tracealyze.compare.gate.small_changes import small_changes
from tracealyze.compare.gate.stats import Series, Stats, series_of
from tracealyze.compare.metrics import Class, Name

if TYPE_CHECKING:
    from tracealyze.compare.gate.budget import Budget
    from tracealyze.compare.gate.timing import Times
    from tracealyze.compare.run import Run


class Status(StrEnum):
    """The verdict in a word."""

    PASSED = "passed"
    FAILED = "failed"
    NO_BASELINE = "no-baseline"
    NOT_COMPARABLE = "not-comparable"
    """The captures differ too much from those of the baseline to pass."""


@dataclass(frozen=True, repr=False)
class Verdict:
    """The verdict on a scenario."""

    status: Status
    captures: tuple[str, ...]
    judgements: tuple[Judgement, ...] = ()
    notes: tuple[str, ...] = ()
    baseline: str | None = None
    lost_lines: int = 0
    """Number of lines that could not be used."""
    regressions: tuple[Regression, ...] = ()
    """The failed judgements, grouped by cause."""
    named: tuple[str, ...] = ()
    """The captures as the command line names them, such as `new*.strace`."""
    budgets_file: str | None = None
    """The settings file with the budgets, if they do not come from the command line."""
    small_changes: tuple[CallRow, ...] = ()
    """Calls that are new in all runs, but too few for a limit."""
    first_runs: tuple[FirstRun, ...] = ()
    """First runs that filled caches and were not compared."""
    base: tuple[str, ...] = ()
    """The captures of the other side, if it is not a baseline but captures."""
    scenario: str = ""
    """The name of the scenario, if it has one."""
    before: Mapping[str, Stats] = field(default_factory=dict)
    """The metrics of the baseline."""
    after: Mapping[str, Stats] = field(default_factory=dict)
    """The metrics of these runs."""
    commands: tuple[str, str] = ("", "")
    """The command lines of the baseline and of these runs, as far as the captures show them."""
    times: Times | None = None
    """Times that were measured without a tracer."""

    def __repr__(self) -> str:
        failed = [f"{each.metric} {each.change}" for each in self.of(Outcome.FAILED)]
        return f"<Verdict: {'; '.join([str(self.status), *failed])}>"

    @property
    def has_passed(self) -> bool:
        """Whether the gate passed. False also if there is nothing comparable to compare with."""
        return self.status is Status.PASSED

    @property
    def baseline_file(self) -> str | None:
        """The baseline, if it is a file."""
        is_file = self.baseline and not self.base and not self.baseline.startswith((STORE, "("))
        return self.baseline if is_file else None

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the process."""
        codes = {Status.PASSED: ExitCode.FINE, Status.FAILED: ExitCode.GATE_FAILED}
        return codes.get(self.status, ExitCode.WRONG_USAGE)

    @property
    def is_open(self) -> bool:
        """Whether it could not be decided if anything is worse."""
        return self.status in (Status.NO_BASELINE, Status.NOT_COMPARABLE)

    def of(self, *outcomes: Outcome) -> list[Judgement]:
        """The judgements with one of these outcomes."""
        return [judgement for judgement in self.judgements if judgement.outcome in outcomes]


def exit_code_of(verdicts: Sequence[Verdict]) -> ExitCode:
    """The exit code for several scenarios: one that is worse counts more than one that could not be compared."""
    codes = {verdict.exit_code for verdict in verdicts}
    return next((code for code in (ExitCode.GATE_FAILED, ExitCode.WRONG_USAGE) if code in codes), ExitCode.FINE)


@dataclass(frozen=True)
class Criteria:
    """What a check compares runs with."""

    budgets: Sequence[Budget] = ()
    baseline: Baseline | None = None
    baseline_path: str | None = None
    base: tuple[str, ...] = ()
    """The captures that the baseline was made of, if they are at hand."""
    fail_on: FailOn = FailOn.ERROR
    gates_findings: bool = True
    """Whether findings fail without a baseline that accepts some of them."""
    ignored: frozenset[str] = frozenset()
    """Metrics that are not compared with the baseline."""
    first_runs: tuple[FirstRun, ...] = ()
    """First runs of the other side that are not in the baseline."""


def verdict(runs: Sequence[Run], criteria: Criteria) -> Verdict:
    """Judge the runs. One that fills caches for the others counts for budgets only."""
    every, (runs, first) = runs, without_first(runs)
    judgements = [of_budget(budget, every, criteria.baseline) for budget in criteria.budgets]
    notes = list(notes_on(every))
    if criteria.ignored:
        notes.append(f"Not compared, as configured: {', '.join(sorted(criteria.ignored))}.")
    trusted = Trust()
    if criteria.baseline is not None:
        now = baseline_of(runs)
        trusted = trust(criteria.baseline, now)
        notes.extend(_notes_on_baseline(criteria.baseline, now, trusted))
        judgements.extend(new_findings(runs, criteria.baseline, criteria.fail_on, trusted))
        found = compared(criteria.baseline.metrics, now.metrics, trusted)
        gated = (judgement for judgement in found if judgement.metric not in criteria.ignored)
        judgements.extend(_explained(judgement, criteria.baseline, runs) for judgement in gated)
    elif criteria.gates_findings:
        judgements.extend(new_findings(runs, criteria.baseline, criteria.fail_on, trusted))
    judgements.sort(key=lambda judgement: tuple(Outcome).index(judgement.outcome))
    failed = [judgement for judgement in judgements if judgement.outcome is Outcome.FAILED]
    grouped = tuple(regressions(failed, criteria.baseline, runs))
    return Verdict(
        status=_status(judgements, trusted),
        captures=tuple(run.path for run in every),
        judgements=tuple(judgements),
        notes=tuple(notes),
        baseline=criteria.baseline_path,
        lost_lines=sum(map(lost_lines, every)),
        regressions=grouped,
        small_changes=_small_changes(criteria.baseline, runs, grouped, trusted),
        first_runs=(*criteria.first_runs, *([first] if first else [])),
        base=criteria.base,
        before=_stats(criteria.baseline.metrics) if criteria.baseline else {},
        after=_stats(series_of(runs)),
        commands=(criteria.baseline.captured.argv if criteria.baseline else "", HowCaptured.of(runs[:1]).argv),
    )


def _small_changes(
    baseline: Baseline | None, runs: Sequence[Run], found: Sequence[Regression], trusted: Trust
) -> tuple[CallRow, ...]:
    if baseline is None or trusted.counts or trusted.too_small:
        return ()
    return tuple(small_changes(baseline, runs, {row.what for each in found for row in each.rows}))


def _stats(metrics: Mapping[str, Series]) -> dict[str, Stats]:
    return {name: series.whole for name, series in metrics.items()}


def _status(judgements: Sequence[Judgement], trusted: Trust) -> Status:
    if any(judgement.outcome is Outcome.FAILED for judgement in judgements):
        return Status.FAILED
    return Status.NOT_COMPARABLE if trusted.counts or trusted.too_small else Status.PASSED


def without_baseline(captures: Sequence[str], path: str, why: str) -> Verdict:
    """The verdict if the baseline is missing."""
    return Verdict(Status.NO_BASELINE, tuple(captures), notes=(why,), baseline=path)


# Times that are sums over programs.
_OF_PROGRAMS = ("wall.median", "exclusive")


def of_budget(budget: Budget, runs: Sequence[Run], baseline: Baseline | None) -> Judgement:
    """Whether runs hold a budget."""
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
        why = f"not gated: the runs differ ({least} to {most}), {held.count(True)} of {len(held)} are within the limit"
        return replace(judged, outcome=Outcome.UNSTABLE, why=why)
    before = baseline.places if baseline else None
    failed = replace(judged, outcome=Outcome.FAILED, explanation=explain.of_metric(budget.name, before, runs))
    if metric.name in _OF_PROGRAMS:
        then = _medians(baseline.metrics) if baseline else None
        return replace(failed, explanation=explain.of_programs(then, _medians(series_of(runs)), runs[-1]))
    if metric.name == "finding":
        proofs = [finding for finding in runs[-1].findings if finding.name == budget.name.arguments[0]]
        if proofs:
            return replace(failed, why=proofs[0].message, explanation=explain.of_finding(proofs[0], runs[-1]))
    return failed


def _explained(judgement: Judgement, baseline: Baseline, runs: Sequence[Run]) -> Judgement:
    if judgement.outcome not in (Outcome.FAILED, Outcome.WARNED):
        return judgement
    if Name.of(judgement.metric).family in _OF_PROGRAMS:
        now = _medians(series_of(runs))
        return replace(judgement, explanation=explain.of_programs(_medians(baseline.metrics), now, runs[-1]))
    name = Name.of(judgement.metric)
    return replace(judgement, explanation=explain.of_metric(name, baseline.places, runs))


def _medians(metrics: Mapping[str, Series]) -> dict[str, int]:
    """The path time of each program."""
    names = ((Name.of(name), series) for name, series in metrics.items())
    return {name.arguments[0]: series.whole.median for name, series in names if name.family == "exclusive"}


def lost_lines(run: Run) -> int:
    """Lines of a run that could not be used."""
    return sum(loss.lines for loss in run.trace.captures[0].losses)


_NOTE_ON_TABLES = (
    "A table of the tracer has calls, failed calls and their duration. Processes, files opened, requested waits, "
    "failed lookups and bytes cannot be compared."
)


def notes_on(runs: Sequence[Run]) -> Iterator[str]:
    """Why counts of these captures are too low or differ from each other, one line each."""
    first = HowCaptured.of(runs[:1])
    if any(run.is_table for run in runs):
        yield _NOTE_ON_TABLES
    for run in runs:
        if why := HowCaptured.of([run]).counts_differ(first, runs[0].path):
            yield f"{run.path}: captured differently from the first run: {'; '.join(why)}."
        capture = run.trace.captures[0]
        lost = lost_lines(run)
        if lost:
            yield f"{run.path}: {units.counted(lost, 'line')} could not be used, so counts are too low."
        if capture.cut:
            yield f"{run.path}: the capture is truncated, so counts are too low."
        if capture.unseen_children:
            children = units.counted(capture.unseen_children, "child is", "children are")
            yield f"{run.path}: {children} missing from the capture; use -f."


def _notes_on_baseline(baseline: Baseline, now: Baseline, trusted: Trust) -> Iterator[str]:
    if trusted.counts:
        yield f"Counts are not gated: {'; '.join(trusted.counts)}. Recreate the baseline from captures like these."
    if trusted.too_small:
        yield f"Counts may be too low: {'; '.join(trusted.too_small)}. Capture again, or update the baseline."
    if why := [each for each in trusted.times if each not in trusted.counts]:
        yield f"Times are not compared: {'; '.join(why)}."
    yield from (f"{why[0].upper()}{why[1:]}." for why in now.captured.commands_differ(baseline.captured))
    if baseline.runs == 1:
        yield "The baseline has only one run, so variation between runs is unknown. Use three or more runs."
