"""check: fail if a capture is worse than what was accepted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.commands import _complete
from tracealyze.commands import _losses as losses
from tracealyze.commands._options import CaptureOptions, RuleOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.errors import WrongUsage
from tracealyze.render import output
from tracealyze.render.forms import Form
from tracealyze.render.gate import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tracealyze.compare.gate.baseline import Baseline
    from tracealyze.compare.gate.check_settings import CheckSettings
    from tracealyze.compare.gate.new_findings import FailOn
    from tracealyze.compare.gate.verdict import Verdict
    from tracealyze.findings.rule_set import Rule
    from tracealyze.trace import Trace


EXAMPLES = (
    "tracealyze check 'run*.strace'",
    "tracealyze check trace.out --budget 'processes <= 40' --budget 'deliberate_wait <= 200ms'",
    "tracealyze check 'run*.strace' --output text --output junit=report.xml",
    "tracealyze check --demo",
)


@with_options()
def command(
    source: CaptureOptions,
    rules: RuleOptions,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            "-b",
            metavar="FILE",
            help="A baseline, or fleet:STORE?label=value: the last runs in a store. Default: tracealyze-baseline.json.",
        ),
    ] = None,
    budgets: Annotated[
        list[str] | None,
        typer.Option("--budget", metavar="EXPR", help="A limit such as 'processes <= 40'; may be repeated."),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            metavar="SEVERITY",
            autocompletion=_complete.of("error", "warning", "info", "never"),
            help="Lowest severity at which a new finding fails: error, warning, info or never.",
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            metavar="FORM[=FILE]",
            autocompletion=_complete.of(*FORMS),
            help=f"{', '.join(FORMS[:-1])} or {FORMS[-1]}, to a file or standard output (-); may be repeated.",
        ),
    ] = None,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="List the metrics that budgets can use, then exit.")
    ] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Fail on purpose, to see how the pipeline reacts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --output json.")] = False,
) -> int:
    """Fail if captures are worse than their baseline or budgets.

    The exit code is 1 if a capture breaks a budget, is worse than the baseline or has new findings, and 2 if nothing
    could be compared.

    Several captures are runs of one scenario. The gate compares counts, which do not depend on the machine's load.
    Put settings in [tool.tracealyze.check] of tracealyze.toml or pyproject.toml; the command line takes precedence.
    """
    from tracealyze.compare.gate.check_settings import CheckSettings, check_settings
    from tracealyze.render.gate import destinations, write

    if metrics:
        return _list_metrics(Form.JSON if as_json else Form.TABLE)
    settings = CheckSettings() if demo else check_settings()
    wanted = destinations([*(outputs or ([] if as_json else settings.output)), *(["json"] if as_json else [])])
    if demo:
        verdict = _demo()
    else:
        source = replace(source, captures=source.captures or list(settings.captures))
        chosen = rules.chosen()
        verdict = _judged(source, chosen, _Requested.of(baseline, budgets, fail_on, settings))
        if verdict.is_open and ("text", "-") not in wanted:
            # The text form, which explains this to a person, is not written or goes to a file.
            output.note(f"tracealyze: {' '.join(verdict.notes)}")
    try:
        write(verdict, wanted)
    except BrokenPipeError:
        # Closing the pipe early must not turn a failure into a pass.
        output.abandon()
    source.must_be_complete(verdict.lost_lines)
    return verdict.exit_code


@dataclass(frozen=True)
class _Requested:
    """What to check against: from the command line, otherwise from the settings."""

    budgets: Sequence[str]
    fail_on: FailOn | None
    baseline: str | None
    budgets_file: str | None = None
    """The settings file, if it has the budgets."""

    @classmethod
    def of(
        cls, baseline: str | None, budgets: list[str] | None, fail_on: str | None, settings: CheckSettings
    ) -> _Requested:
        from tracealyze.compare.gate.baseline_file import DEFAULT

        limits, severity = budgets or list(settings.budgets), _severity(fail_on or settings.fail_on)
        file = baseline or settings.baseline or (DEFAULT if Path(DEFAULT).exists() else None)
        if not file and not limits and severity in (None, "never"):
            # There is nothing to check against, so report the missing baseline.
            file = DEFAULT
        return cls(limits, severity, file, None if budgets else settings.file)


def _severity(text: str | None) -> FailOn | None:
    from tracealyze.compare.gate.new_findings import FailOn
    from tracealyze.errors import did_you_mean

    if text is None:
        return None
    known = [str(each) for each in FailOn]
    if text not in known:
        raise WrongUsage(f'--fail-on: no severity "{text}" ({", ".join(known)}).{did_you_mean(text, known)}')
    return FailOn(text)


def _judged(source: CaptureOptions, rules: Sequence[Rule], requested: _Requested) -> Verdict:
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.budget import budget_of
    from tracealyze.compare.gate.new_findings import FailOn
    from tracealyze.compare.gate.verdict import Criteria, verdict, without_baseline
    from tracealyze.compare.run import Run

    budgets = [budget_of(text) for text in requested.budgets]
    for budget in budgets:
        budget.name.metric  # noqa: B018  Raises an error for a misspelt metric before a long capture is read.
    accepted: Baseline | None = None
    notes: list[str] = []
    if requested.baseline:
        try:
            accepted, notes = _accepted(requested.baseline, source, rules)
        except baseline_file.NoBaseline as error:
            return without_baseline(source.captures or (), requested.baseline, str(error))
    limits = Criteria(
        budgets=budgets,
        baseline=accepted,
        baseline_path=requested.baseline,
        fail_on=requested.fail_on or FailOn.ERROR,
        gates_findings=requested.fail_on is not None,
    )
    runs = [Run(trace) for trace in source.traces(rules)]
    for run in runs:
        losses.report(run.trace)
    with analyzing():
        found = verdict(runs, limits)
    named = tuple(source.captures or ())
    return replace(found, named=named, budgets_file=requested.budgets_file, notes=(*notes, *found.notes))


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


def _demo() -> Verdict:
    from tempfile import TemporaryDirectory

    from tracealyze.compare.gate.baseline import baseline_of
    from tracealyze.compare.gate.demo import captures
    from tracealyze.compare.gate.verdict import Criteria, verdict
    from tracealyze.compare.run import Run
    from tracealyze.trace import read

    output.note("A demonstration that fails on purpose: a program with a new retry loop and a new sleep.")
    with TemporaryDirectory(prefix="tracealyze-demo-") as folder:
        before, after = (Run(read(file)) for file in captures(Path(folder)))
        return verdict([after], Criteria(baseline=baseline_of([before]), baseline_path="(demonstration)"))


def _list_metrics(form: Form) -> int:
    from tracealyze.compare.metrics import METRICS
    from tracealyze.render.listing import Column, Listing, write_listing

    rows = [
        {"metric": each.shown, "class": str(each.cls), "unit": each.unit or "number", "what": each.sentence}
        for each in METRICS
    ]
    columns = [Column("metric", "metric"), Column("class", "class"), Column("unit", "unit")]
    write_listing(Listing("metrics", [*columns, Column("what", "what it counts")], rows), form)
    return 0
