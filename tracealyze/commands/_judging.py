"""What `check` compares captures with, and the verdict on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from tracealyze.base.errors import WrongUsage
from tracealyze.commands import _losses as losses
from tracealyze.commands._progress import analyzing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tracealyze.commands._options import CaptureOptions
    from tracealyze.compare.gate.baseline import Baseline
    from tracealyze.compare.gate.check_settings import CheckSettings
    from tracealyze.compare.gate.new_findings import FailOn
    from tracealyze.compare.gate.verdict import Criteria, Verdict
    from tracealyze.compare.run import Run
    from tracealyze.findings.rule_set import Rule
    from tracealyze.trace.trace import Trace


@dataclass(frozen=True)
class Against:
    """The other side of a comparison: a baseline, or captures that are used as one."""

    baseline: str | None = None
    base: Sequence[str] = ()
    label: str = ""
    """Names the captures in texts, if their file names are not those of the user."""

    def __post_init__(self) -> None:
        if self.baseline and self.base:
            raise WrongUsage("--baseline and --base are both what to compare with. Use one of them.")


@dataclass(frozen=True)
class Requested:
    """What to check against: from the command line, otherwise from the settings."""

    budgets: Sequence[str]
    fail_on: FailOn | None
    against: Against
    budgets_file: str | None = None
    """The settings file, if it has the budgets."""
    ignored: frozenset[str] = frozenset()
    """Metrics that do not count."""

    @classmethod
    def of(
        cls, against: Against | None, budgets: Sequence[str] | None, fail_on: str | None, settings: CheckSettings
    ) -> Requested:
        """The options of the command line, completed by the settings. The other side may be known only later."""
        from tracealyze.compare.gate.baseline_file import DEFAULT

        limits, severity = budgets or list(settings.budgets), _severity(fail_on or settings.fail_on)
        if against is not None and not against.base:
            file = against.baseline or settings.baseline or (DEFAULT if Path(DEFAULT).exists() else None)
            if not file and not limits and severity in (None, "never"):
                # There is nothing to check against, so report the missing baseline.
                file = DEFAULT
            against = Against(file)
        return cls(limits, severity, against or Against(), None if budgets else settings.file)


def _severity(text: str | None) -> FailOn | None:
    from tracealyze.base.errors import did_you_mean
    from tracealyze.compare.gate.new_findings import FailOn

    if text is None:
        return None
    known = [str(each) for each in FailOn]
    if text not in known:
        raise WrongUsage(f'--fail-on: no severity "{text}" ({", ".join(known)}).{did_you_mean(text, known)}')
    return FailOn(text)


def captures_to_check(named: Sequence[str] | None, requested: Requested, settings: CheckSettings) -> list[str]:
    """The captures of the command line, otherwise those of the settings.

    --base takes all names that follow it. If no name is left, the captures to check are probably among them."""
    if requested.against.base and not named:
        raise WrongUsage(
            "--base takes all names that follow it, so there is no capture to check. Write the captures to check "
            "first: tracealyze check HEAD... --base BASE..."
        )
    return list(named or settings.captures)


def judged(source: CaptureOptions, rules: Sequence[Rule], requested: Requested) -> Verdict:
    """The verdict on captures. A missing baseline is a verdict, too."""
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.budget import budget_of
    from tracealyze.compare.gate.verdict import verdict, without_baseline

    budgets = [budget_of(text) for text in requested.budgets]
    for budget in budgets:
        budget.name.metric  # noqa: B018  Raises an error for a misspelt metric before a long capture is read.
    try:
        criteria, notes = _criteria(source, rules, requested)
    except baseline_file.NoBaseline as error:
        return without_baseline(source.captures or (), requested.against.baseline or "", str(error))
    runs = _runs(source, rules)
    with analyzing():
        found = verdict(runs, replace(criteria, budgets=budgets, ignored=requested.ignored))
    named = tuple(source.captures or ())
    return replace(
        found, named=named, budgets_file=requested.budgets_file, notes=tuple(dict.fromkeys((*notes, *found.notes)))
    )


def judged_over_time(
    source: CaptureOptions, rules: Sequence[Rule], requested: Requested, every: str, *, is_alone: bool
) -> Verdict:
    """The verdict on a capture: its budgets must hold in each interval. It stands alone, without another side."""
    from tracealyze.compare.gate.budget import budget_of
    from tracealyze.compare.gate.over_time import verdict_over_time
    from tracealyze.trace.intervals import read_every

    every_ns, budgets = read_every(every), [budget_of(text) for text in requested.budgets]
    if not budgets:
        raise WrongUsage("--every needs limits that must hold in each interval: --budget 'calls <= 1000'.")
    if not is_alone or requested.against.base:
        raise WrongUsage("--every checks budgets within one capture, so there is nothing to compare it with.")
    traces = list(source.traces(rules))
    if len(traces) != 1:
        raise WrongUsage("--every divides one capture. Name only that one.")
    losses.report(traces[0])
    with analyzing():
        found = verdict_over_time(traces[0], every_ns, budgets)
    return replace(found, named=tuple(source.captures or ()), budgets_file=requested.budgets_file)


def _criteria(source: CaptureOptions, rules: Sequence[Rule], requested: Requested) -> tuple[Criteria, list[str]]:
    """What to compare with, and notes on it."""
    from tracealyze.compare.gate.baseline import baseline_of
    from tracealyze.compare.gate.first_runs import without_first
    from tracealyze.compare.gate.new_findings import FailOn
    from tracealyze.compare.gate.verdict import Criteria, notes_on

    against = requested.against
    fail_on, gates_findings = requested.fail_on or FailOn.ERROR, requested.fail_on is not None
    if against.base:
        runs = _runs(replace(source, captures=list(against.base)), rules)
        with analyzing():
            warm, first = without_first(runs)
            accepted: Baseline | None = baseline_of(warm, is_stored=False)
            notes = list(notes_on(runs))
        paths = tuple(run.path for run in runs)
        label, firsts = against.label or _together(against.base), (first,) if first else ()
        return Criteria((), accepted, label, paths, fail_on, gates_findings, first_runs=firsts), notes
    accepted, notes = _accepted(against.baseline, source, rules) if against.baseline else (None, [])
    return Criteria((), accepted, against.baseline, (), fail_on, gates_findings), notes


def _together(names: Sequence[str]) -> str:
    """`base1.strace and 2 more`, for a headline."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _runs(source: CaptureOptions, rules: Sequence[Rule]) -> list[Run]:
    from tracealyze.compare.run import Run

    runs = [Run(trace) for trace in source.traces(rules)]
    for run in runs:
        losses.report(run.trace)
    return runs


def _accepted(name: str, source: CaptureOptions, rules: Sequence[Rule]) -> tuple[Baseline, list[str]]:
    """A baseline, from its file or from a store, and notes on it."""
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.check_settings import STORE

    if not name.startswith(STORE):
        return baseline_file.read(Path(name)), []
    from tracealyze.commands._captures import runs_of
    from tracealyze.fleet.accepted import Wanted, accepted

    def selected(trace: Trace) -> Iterator[Trace]:
        for run in runs_of(trace.with_selection(source.selection())):
            yield run.with_rules(rules)

    judged = [file for named in source.captures or () for file in (named, *glob(named))]
    with analyzing():
        return accepted(Wanted.of(name), selected, judged, source.input_format)
