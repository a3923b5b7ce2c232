"""check: fail if a capture is worse than what was accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.base.errors import ExitCode, WrongUsage
from tracealyze.commands import _complete
from tracealyze.commands._options import CaptureOptions, RuleOptions, with_options
from tracealyze.render import output
from tracealyze.render.forms import Form
from tracealyze.render.gate import FORMS

if TYPE_CHECKING:
    from tracealyze.compare.gate.check_settings import CheckSettings
    from tracealyze.compare.gate.verdict import Verdict


EXAMPLES = (
    "tracealyze check 'run*.strace'",
    "tracealyze check 'head*.strace' --base 'base*.strace'",
    "tracealyze check --base-command 'old/tool --its-options' -- new/tool --its-options",
    "tracealyze check --all --base-dir ../base",
    "tracealyze check trace.out --budget 'processes <= 40' --budget 'deliberate_wait <= 200ms'",
    "tracealyze check server.strace --every 10s --budget 'fsyncs <= 500'",
    "tracealyze check 'run*.strace' --output text --output junit=report.xml",
    "tracealyze check 'run*.strace' --accept",
    "tracealyze check --demo",
)
TAKES_SEVERAL = ("--base",)


def _must_be_output(form: str | None) -> str | None:
    """Other commands have `--format`, so people try it here."""
    if form is not None:
        hint = f"--output {form}" if form in FORMS else f"--output FORM ({', '.join(FORMS)})"
        raise WrongUsage(f"check has no --format: a verdict may have several forms and files. Write {hint}.")
    return form


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
    base: Annotated[
        list[str] | None,
        typer.Option(
            "--base",
            metavar="CAPTURE...",
            help="Compare with these captures instead of a baseline. Takes several names.",
        ),
    ] = None,
    base_command: Annotated[
        str | None,
        typer.Option(
            "--base-command",
            metavar="CMD",
            help="Record this command and the one after --, in turn, and compare them. The words are separated as in a "
            "shell, but no shell runs them.",
        ),
    ] = None,
    base_dir: Annotated[
        str | None,
        typer.Option(
            "--base-dir",
            metavar="DIR",
            help="Record the command in this directory, too, such as a checkout of the base.",
        ),
    ] = None,
    all_scenarios: Annotated[
        bool, typer.Option("--all", help="Record and compare all scenarios of the settings.")
    ] = False,
    runs: Annotated[int, typer.Option("--runs", metavar="N", min=1, help="Runs of each side that are recorded.")] = 3,
    budgets: Annotated[
        list[str] | None,
        typer.Option("--budget", metavar="EXPR", help="A limit such as 'processes <= 40'; may be repeated."),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            metavar="TIME",
            help="The budgets must hold in each interval of this length, such as 10s.",
        ),
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
    form: Annotated[  # noqa: ARG001
        str | None, typer.Option("--format", hidden=True, callback=_must_be_output)
    ] = None,
    hyperfine: Annotated[
        str | None,
        typer.Option(
            "--hyperfine",
            metavar="FILE",
            help="Show the times of hyperfine --export-json next to the counts. They do not decide.",
        ),
    ] = None,
    accept: Annotated[
        bool,
        typer.Option("--accept", help="Store these captures as the baseline instead, and print what that changes."),
    ] = False,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="List the metrics that budgets can use, then exit.")
    ] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Fail on purpose, to see how the pipeline reacts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --output json.")] = False,
) -> int:
    """Fail if captures are worse than their baseline or budgets.

    The exit code is 1 if a capture breaks a budget, is worse than the baseline or has new findings, and 2 if nothing
    could be compared.

    Several captures are runs of one scenario, and so are those of --base. The gate compares counts, which do not
    depend on the machine's load. What was accepted is in the file of --baseline, which --accept writes: at least three
    runs show which metrics are stable. Put settings in [tool.tracealyze.check] of tracealyze.toml or pyproject.toml;
    the command line takes precedence.
    """
    from tracealyze.commands._judging import Against, Requested, captures_to_check, judged, judged_over_time
    from tracealyze.commands._recording_pairs import Other, Pair, all_recorded, must_be_alone, recorded
    from tracealyze.compare.gate import hyperfine as hyperfine_export
    from tracealyze.compare.gate.check_settings import CheckSettings, check_settings
    from tracealyze.compare.gate.verdict import exit_code_of
    from tracealyze.render.gate import must_take_several, write

    if metrics:
        return _list_metrics(Form.JSON if as_json else Form.TABLE)
    settings = CheckSettings() if demo else check_settings()
    if accept:
        compares = base or base_command or base_dir or all_scenarios or budgets or every or fail_on or outputs or demo
        return _accept(source, rules, baseline, settings, compares=bool(compares or hyperfine or as_json))
    wanted = _wanted(outputs or [], as_json, settings)
    timed = hyperfine_export.read(hyperfine) if hyperfine is not None else None
    against, other = Against(baseline, tuple(base or ())), Other(base_command, base_dir)
    records = all_scenarios or other.is_given
    if all_scenarios:
        must_take_several(wanted)
    if demo:
        verdicts = [_demo()]
    elif every is not None:
        requested = Requested.of(against, budgets, "never", settings)
        verdicts = [judged_over_time(source, rules.chosen(), requested, every, is_alone=not records)]
    elif records:
        must_be_alone(against, other, source.captures, all_scenarios)
        requested = Requested.of(None, budgets, fail_on, settings)
        verdicts = (
            all_recorded(settings, other, runs, source, rules.chosen(), requested)
            if all_scenarios
            else [recorded(Pair.of(source.captures, other, runs), source, rules.chosen(), requested)]
        )
    else:
        requested = Requested.of(against, budgets, fail_on, settings)
        source = replace(source, captures=captures_to_check(source.captures, requested, settings))
        verdicts = [judged(source, rules.chosen(), requested)]
    if timed is not None:
        verdicts = timed.beside(verdicts)
    if not records and verdicts[0].is_open and ("text", "-") not in wanted:
        # The text form, which explains this to a person, is not written or goes to a file.
        output.note(f"tracealyze: {' '.join(verdicts[0].notes)}")
    try:
        write(verdicts, wanted)
    except BrokenPipeError:
        # Closing the pipe early must not turn a failure into a pass.
        output.abandon()
    source.must_be_complete(sum(verdict.lost_lines for verdict in verdicts))
    return exit_code_of(verdicts)


def _wanted(outputs: Sequence[str], as_json: bool, settings: CheckSettings) -> list[tuple[str, str]]:
    """The forms and where they go: those of the command line, or else those of the settings."""
    from tracealyze.render.gate import destinations

    if outputs or as_json:
        return destinations([*outputs, *(["json"] if as_json else [])])
    return destinations(settings.output, f"{settings.file}, output")


def _accept(
    source: CaptureOptions, rules: RuleOptions, file: str | None, settings: CheckSettings, compares: bool
) -> int:
    from tracealyze.commands.baseline import accept

    if compares:
        raise WrongUsage("--accept stores the captures and compares nothing: only --baseline FILE goes with it.")
    accept(replace(source, captures=list(source.captures or settings.captures)), rules.chosen(), file)
    return ExitCode.FINE


def _demo() -> Verdict:
    from tempfile import TemporaryDirectory

    from tracealyze.compare.gate.baseline import baseline_of
    from tracealyze.compare.gate.demo import captures
    from tracealyze.compare.gate.verdict import Criteria, verdict
    from tracealyze.compare.run import Run
    from tracealyze.trace.trace import read

    output.note("A demonstration that fails on purpose: a program with a new retry loop and a new sleep.")
    with TemporaryDirectory(prefix="tracealyze-demo-") as folder:
        before, after = (Run(read(file)) for file in captures(Path(folder)))
        found = verdict([after], Criteria(baseline=baseline_of([before]), baseline_path="(demonstration)"))
        return replace(found, named=("demonstration",))


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
