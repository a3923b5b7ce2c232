"""baseline: store what was accepted in a file that `check` compares with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tracealyze.base import units
from tracealyze.base.errors import GateFailed, WrongUsage
from tracealyze.base.sanitize import shown
from tracealyze.base.standard_output import is_standard_output
from tracealyze.commands._help import Command, Group
from tracealyze.commands._options import CaptureOptions, RowOptions, RuleOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render import output
from tracealyze.render.forms import Form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracealyze.compare.gate.accept import Update
    from tracealyze.compare.gate.baseline import Baseline
    from tracealyze.compare.run import Run
    from tracealyze.findings.rule_set import Rule

EXAMPLES = (
    "tracealyze baseline create 'run*.strace'",
    "tracealyze baseline update 'run*.strace' --accept-new",
    "tracealyze baseline prune 'run*.strace'",
    "tracealyze baseline show",
)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    cls=Group,
    help="Store what check accepts.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

File: TypeAlias = Annotated[
    str | None, typer.Option("--baseline", "-b", "--output", "-o", metavar="FILE", help="The baseline file.")
]


@app.command("create", cls=Command)
@with_options()
def create(source: CaptureOptions, file: File = None) -> None:
    """Accept these captures, which are runs of one scenario. At least three runs show which metrics are stable."""
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.baseline import baseline_of

    runs = _runs(source)
    with analyzing():
        accepted = baseline_of(runs)
    place = _file(file)
    existed = place.exists()
    baseline_file.write(accepted, place)
    _report(accepted, place, "replaced" if existed else "created")


@app.command("update", cls=Command)
@with_options()
def update(
    source: CaptureOptions,
    file: File = None,
    accept_new: Annotated[
        bool, typer.Option("--accept-new", help="Accept metrics that got worse, and new findings.")
    ] = False,
) -> None:
    """Replace the baseline by these captures. If anything is worse than before, --accept-new is required."""
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.accept import updated

    place = _file(file)
    before = baseline_file.read(place)
    runs = _runs(source)
    with analyzing():
        change = updated(before, runs)
    _list_of(change, "Newly accepted" if accept_new else "Worse than before")
    if change.accepts and not accept_new:
        number = units.counted(len(change.accepts), "change")
        raise GateFailed(f"{place} was not changed: {number} for the worse. Use --accept-new to accept.")
    baseline_file.write(change.baseline, place)
    _report(change.baseline, place, "updated")


def accept(source: CaptureOptions, rules: Sequence[Rule], named: str | None) -> None:
    """Store what these captures are, which are runs of one scenario, and say what that changes."""
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.accept import updated
    from tracealyze.compare.gate.baseline import baseline_of

    place = _file(named)
    before = baseline_file.read(place) if place.exists() and not is_standard_output(place) else None
    runs = _runs(source, rules)
    with analyzing():
        change = updated(before, runs) if before else None
        accepted = change.baseline if change else baseline_of(runs)
    if change:
        _list_of(change, "Newly accepted")
    baseline_file.write(accepted, place)
    _report(accepted, place, "updated" if change else "created")


@app.command("prune", cls=Command)
@with_options()
def prune(source: CaptureOptions, file: File = None) -> None:
    """Remove findings and syscalls that no longer occur, so that a reappearance counts as new."""
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.accept import pruned

    place = _file(file)
    before = baseline_file.read(place)
    runs = _runs(source)
    with analyzing():
        after, removed = pruned(before, runs)
    _list("Removed", removed)
    baseline_file.write(after, place)
    _print(f"{shown(place)}: {units.counted(len(removed), 'entry', 'entries')} removed.\n")


@app.command("show", cls=Command)
@with_options(omit=["top"])
def show(
    rows: RowOptions,
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="The baseline file.", show_default=False)] = None,
    option: File = None,
) -> None:
    """Show what a baseline accepts: its metrics with their classes, and its findings."""
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.accept import described
    from tracealyze.render import json
    from tracealyze.render.gate.baseline import listing
    from tracealyze.render.listing import write_listing

    form = rows.form
    baseline = baseline_file.read(_file(file or option))
    if form is Form.JSON:
        json.write(baseline_file.document(baseline))
        return
    if form is Form.TABLE:
        captured = baseline.captured
        _print(f"{_contents(baseline)}\n{shown(f'{captured.format}, {captured.system}: {captured.argv}')}\n")
    write_listing(listing(baseline), form)
    _list("Findings accepted", [f"{key} {known.name}: {described(known)}" for key, known in baseline.findings.items()])


def _file(named: str | None) -> Path:
    from tracealyze.compare.gate.baseline_file import DEFAULT
    from tracealyze.compare.gate.check_settings import STORE, check_settings

    name = named or check_settings().baseline or DEFAULT
    if name.startswith(STORE):
        raise WrongUsage(f"{shown(name)} is a store, not a file: `tracealyze fleet index` adds captures to it.")
    return Path(name)


def _list_of(change: Update, accepted: str) -> None:
    _list("Captured differently", change.captured)
    _list(accepted, change.accepts)
    _list("Grown within the limits", change.creeps)
    _list("Improved", change.tightens)


def _runs(source: CaptureOptions, rules: Sequence[Rule] | None = None) -> list[Run]:
    from tracealyze.compare.gate.verdict import notes_on
    from tracealyze.compare.run import Run

    runs = [Run(trace) for trace in source.traces(RuleOptions().chosen() if rules is None else rules)]
    for run in runs:
        source.close(run.trace)
    for note in notes_on(runs):
        output.note(note)
    return runs


def _report(baseline: Baseline, place: Path, done: str) -> None:
    if is_standard_output(place):
        return
    _print(f"{shown(place)}: {done}, {_contents(baseline)}.\n")
    _list("Not gated, the runs differ", [name for name, series in baseline.metrics.items() if series.unstable])
    if baseline.runs == 1:
        output.note("One run does not show which metrics are stable. Use at least three.")


def _contents(baseline: Baseline) -> str:
    metrics = units.counted(len(baseline.metrics), "metric")
    findings = units.counted(len(baseline.findings), "finding")
    return f"{metrics} and {findings} of {units.counted(baseline.runs, 'run')}"


def _print(text: str) -> None:
    """Write to standard output. A closed pipe changes neither the baseline nor the exit code."""
    try:
        output.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        output.abandon()


def _list(heading: str, lines: Sequence[str]) -> None:
    if lines:
        _print(f"{heading}:\n" + "".join(f"  {shown(line)}\n" for line in lines))
