"""baseline: keep what was accepted in a file that `check` compares with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tracealyze import units
from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form
from tracealyze.errors import GateFailed
from tracealyze.render import output
from tracealyze.sanitize import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracealyze.compare.gate.baseline import Baseline
    from tracealyze.compare.metrics import Run

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Keep what was accepted in a file that check compares with.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

File: TypeAlias = Annotated[
    str | None, typer.Option("--baseline", "-b", "--output", "-o", metavar="FILE", help="The file of the baseline.")
]


@app.command("create")
def create(
    captures: shared.Captures = None,
    file: File = None,
    pids: shared.Pids = None,
    programs: shared.Programs = None,
    start: shared.Start = None,
    end: shared.End = None,
    root: shared.Root = None,
    where: shared.Where = None,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """Accept these captures, runs of one scenario, as they are. Three runs or more tell what is stable."""
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.baseline import baseline_of

    choice = Choice.of(captures, pids, programs, start, end, root, input_format, where)
    made = baseline_of(_runs(choice, strict))
    place = _file(file)
    known = place.exists()
    baseline_file.write(made, place)
    _say(f"{shown(place)}: {'replaced' if known else 'created'}, {_told(made)}.\n")
    _tell_unstable(made)


@app.command("update")
def update(
    captures: shared.Captures = None,
    file: File = None,
    accept_new: Annotated[
        bool, typer.Option("--accept-new", help="Accept what is worse than before, and new findings.")
    ] = False,
    pids: shared.Pids = None,
    programs: shared.Programs = None,
    start: shared.Start = None,
    end: shared.End = None,
    root: shared.Root = None,
    where: shared.Where = None,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """Take these captures as the new baseline. What is worse than before needs --accept-new to be written."""
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.accept import updated

    place = _file(file)
    before = baseline_file.read(place)
    choice = Choice.of(captures, pids, programs, start, end, root, input_format, where)
    change = updated(before, _runs(choice, strict))
    _list("Not captured alike", change.captured)
    _list("Newly accepted" if accept_new else "Worse than before", change.accepts)
    _list("Grown within the limits", change.creeps)
    _list("Improved", change.tightens)
    if change.accepts and not accept_new:
        raise GateFailed(
            f"{place} is as it was: {units.counted(len(change.accepts), 'thing')} would be newly accepted; "
            "say --accept-new if that is meant."
        )
    baseline_file.write(change.baseline, place)
    _say(f"{shown(place)}: updated, {_told(change.baseline)}.\n")
    _tell_unstable(change.baseline)


@app.command("prune")
def prune(
    captures: shared.Captures = None,
    file: File = None,
    pids: shared.Pids = None,
    programs: shared.Programs = None,
    start: shared.Start = None,
    end: shared.End = None,
    root: shared.Root = None,
    where: shared.Where = None,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """Leave out what these captures no longer have, findings and syscalls, so that it cannot come back unseen."""
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.accept import pruned

    place = _file(file)
    before = baseline_file.read(place)
    choice = Choice.of(captures, pids, programs, start, end, root, input_format, where)
    after, gone = pruned(before, _runs(choice, strict))
    _list("Left out", gone)
    baseline_file.write(after, place)
    _say(f"{shown(place)}: {units.counted(len(gone), 'entry', 'entries')} left out.\n")


@app.command("show")
def show(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="The baseline.", show_default=False)] = None,
    option: File = None,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
) -> None:
    """Show what a baseline accepts: its metrics with their classes, and its findings."""
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.accept import described
    from tracealyze.render import json
    from tracealyze.render.gate.baseline import listing
    from tracealyze.render.listing import FORMS

    baseline = baseline_file.read(_file(file or option))
    chosen = shared.form_of(form, as_json)
    if chosen is Form.JSON:
        json.write(baseline_file.document(baseline))
        return
    if chosen is Form.TABLE:
        captured = baseline.captured
        _say(f"{_told(baseline)}\n{shown(f'{captured.format}, {captured.system}: {captured.argv}')}\n")
    FORMS[chosen](listing(baseline))
    _list("Findings accepted", [f"{key} {known.name}: {described(known)}" for key, known in baseline.findings.items()])


def _file(named: str | None) -> Path:
    from tracealyze.compare.gate.baseline_file import DEFAULT
    from tracealyze.compare.gate.check_settings import config

    return Path(named or config().baseline or DEFAULT)


def _runs(choice: Choice, strict: bool) -> list[Run]:
    from tracealyze.compare.gate.verdict import notes_on
    from tracealyze.compare.metrics import Run

    runs = [Run(trace) for trace in choice.with_rules(shared.chosen_rules()).traces()]
    for run in runs:
        shared.close(run.trace, strict)
    for note in notes_on(runs):
        output.note(note)
    return runs


def _told(baseline: Baseline) -> str:
    metrics = units.counted(len(baseline.metrics), "metric")
    findings = units.counted(len(baseline.findings), "finding")
    return f"{metrics} and {findings} of {units.counted(baseline.runs, 'run')}"


def _tell_unstable(baseline: Baseline) -> None:
    unstable = [name for name, series in baseline.metrics.items() if series.unstable]
    _list("Not gated, the runs differ", unstable)
    if baseline.runs == 1:
        output.note("One run does not tell which metrics are stable; three or more do.")


def _say(text: str) -> None:
    """Text to standard output. Who reads the first lines only changes neither what is kept nor the exit code."""
    try:
        output.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        output.abandon()


def _list(what: str, lines: Sequence[str]) -> None:
    if lines:
        _say(f"{what}:\n" + "".join(f"  {shown(line)}\n" for line in lines))
