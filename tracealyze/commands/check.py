"""check: fail if a capture is worse than what was accepted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form
from tracealyze.errors import WrongUsage
from tracealyze.render import output

if TYPE_CHECKING:
    from tracealyze.compare.gate.check_settings import Config
    from tracealyze.compare.gate.new_findings import FailOn
    from tracealyze.compare.gate.verdict import Verdict


def command(
    captures: shared.Captures = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", "-b", metavar="FILE", help="What was accepted; tracealyze-baseline.json if that exists."
        ),
    ] = None,
    budgets: Annotated[
        list[str] | None,
        typer.Option("--budget", metavar="EXPR", help="A limit such as 'processes <= 40'; may be repeated."),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on", metavar="SEVERITY", help="New findings fail from here on: error, warning, info or never."
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            metavar="FORM[=FILE]",
            help="text, json, markdown, junit, sarif, github or gitlab, "
            "to a file or standard output (-); may be repeated.",
        ),
    ] = None,
    metrics: Annotated[bool, typer.Option("--metrics", help="List what can be limited, and stop.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Fail on purpose, to see that the pipeline reacts.")] = False,
    pids: shared.Pids = None,
    programs: shared.Programs = None,
    start: shared.Start = None,
    end: shared.End = None,
    root: shared.Root = None,
    where: shared.Where = None,
    folders: shared.RuleFolders = None,
    select: shared.Select = None,
    ignore: shared.Ignore = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --output json.")] = False,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> int:
    """Fail with exit code 1 if a capture breaks a budget, is worse than the baseline or has new findings.

    Several captures are runs of one scenario. Counts are the gate: they are the same on an idle and on a busy machine.
    Settings stand in [tool.tracealyze.check] of tracealyze.toml or pyproject.toml; the command line wins.
    """
    from tracealyze.compare.gate.check_settings import Config, config
    from tracealyze.render.gate import destinations, write

    if metrics:
        return _list_metrics(Form.JSON if as_json else Form.TABLE)
    settings = Config() if demo else config()
    wanted = destinations([*(outputs or ([] if as_json else settings.output)), *(["json"] if as_json else [])])
    if demo:
        verdict = _demo()
    else:
        named = captures or list(settings.captures)
        choice = Choice.of(named, pids, programs, start, end, root, input_format, where)
        choice = choice.with_rules(shared.chosen_rules(folders, select, ignore))
        verdict = _judged(choice, _Asked(baseline, budgets, fail_on, settings))
        if verdict.is_open and ("text", "-") not in wanted:
            # What a person would read goes elsewhere.
            output.note(f"tracealyze: {' '.join(verdict.notes)}")
    try:
        write(verdict, wanted)
    except BrokenPipeError:
        # Who reads the first lines only must not get a pass for it.
        output.abandon()
    shared.must_be_whole(verdict.lost_lines, strict)
    return verdict.exit_code


class _Asked:
    """What is asked for, on the command line or else in the settings."""

    def __init__(self, baseline: str | None, budgets: list[str] | None, fail_on: str | None, settings: Config) -> None:
        from tracealyze.compare.gate.baseline_file import DEFAULT

        self.budgets = budgets or list(settings.budgets)
        self.fail_on = _severity(fail_on or settings.fail_on)
        named = baseline or settings.baseline
        self.baseline = named or (DEFAULT if Path(DEFAULT).exists() else None)
        if not self.baseline and not self.budgets and self.fail_on in (None, "never"):
            # Nothing to hold the capture against: the baseline is what is missing.
            self.baseline = DEFAULT


def _severity(text: str | None) -> FailOn | None:
    from tracealyze.compare.gate.new_findings import FailOn
    from tracealyze.errors import did_you_mean

    if text is None:
        return None
    known = [str(each) for each in FailOn]
    if text not in known:
        raise WrongUsage(f'--fail-on: no severity "{text}" ({", ".join(known)}).{did_you_mean(text, known)}')
    return FailOn(text)


def _judged(choice: Choice, wanted: _Asked) -> Verdict:
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.budget import budget_of
    from tracealyze.compare.gate.new_findings import FailOn
    from tracealyze.compare.gate.verdict import Asked, verdict, without_baseline
    from tracealyze.compare.metrics import Run

    budgets = [budget_of(text) for text in wanted.budgets]
    for budget in budgets:
        budget.name.metric  # noqa: B018  A misspelt metric is told before a long capture is read.
    accepted = None
    if wanted.baseline:
        try:
            accepted = baseline_file.read(Path(wanted.baseline))
        except baseline_file.NoBaseline as error:
            return without_baseline(choice.captures, wanted.baseline, str(error))
    asked = Asked(
        budgets=budgets,
        baseline=accepted,
        baseline_path=wanted.baseline,
        fail_on=wanted.fail_on or FailOn.ERROR,
        gates_findings=wanted.fail_on is not None,
    )
    runs = [Run(trace) for trace in choice.traces()]
    for run in runs:
        shared.tell_losses(run.trace)
    return verdict(runs, asked)


def _demo() -> Verdict:
    from tempfile import TemporaryDirectory

    from tracealyze.compare.gate.baseline import baseline_of
    from tracealyze.compare.gate.demo import captures
    from tracealyze.compare.gate.verdict import Asked, verdict
    from tracealyze.compare.metrics import Run
    from tracealyze.trace import read

    output.note("A demonstration that fails on purpose: a program with a new retry loop and a new sleep.")
    with TemporaryDirectory(prefix="tracealyze-demo-") as folder:
        before, after = (Run(read(file)) for file in captures(Path(folder)))
        return verdict([after], Asked(baseline=baseline_of([before]), baseline_path="(demonstration)"))


def _list_metrics(form: Form) -> int:
    from tracealyze.compare.metrics import METRICS
    from tracealyze.render.listing import FORMS, Column, Listing

    rows = [
        {"metric": each.shown, "class": str(each.cls), "unit": each.unit or "number", "what": each.sentence}
        for each in METRICS
    ]
    columns = [Column("metric", "metric"), Column("class", "class"), Column("unit", "unit")]
    FORMS[form](Listing("metrics", [*columns, Column("what", "what it counts")], rows))
    return 0
