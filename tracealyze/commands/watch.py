"""watch: what a trace that is still being written shows now."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.base import units
from tracealyze.base.errors import WrongUsage
from tracealyze.base.heuristics import MIN_WATCH_INTERVAL_NS
from tracealyze.commands._options import CaptureOptions, RuleOptions, with_options
from tracealyze.render import json, output, watch
from tracealyze.render.forms import Form
from tracealyze.render.watch import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracealyze.capture.watching import Watching
    from tracealyze.findings.rule_set import Rule

EXAMPLES = (
    "tracealyze watch app.strace",
    "ssh host strace -f -ttt -T -yy -p 4711 2>&1 | tracealyze watch -",
    "tracealyze watch app.strace --json --for 30s",
)

_TOP = 10


@with_options()
def command(
    rules: RuleOptions,
    capture: Annotated[
        str,
        typer.Argument(
            metavar="FILE|-",
            help="The file that the tracer writes, the name that its files begin with (strace -ff), or - for a pipe.",
            show_default=False,
        ),
    ],
    interval: Annotated[
        str, typer.Option("--interval", metavar="TIME", help="How often the screen is made anew.")
    ] = "1s",
    time_limit: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="End after this time, such as 30s.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object per interval instead of a screen.")
    ] = False,
    input_format: Annotated[
        str | None,
        typer.Option("--input-format", metavar="NAME", help="Format of the trace, if it is not recognized."),
    ] = None,
    has_report: Annotated[bool, typer.Option("--report/--no-report", help="Print the report after q.")] = True,
) -> None:
    """Watch a trace while it is written: last minute, open calls, findings.

    In a terminal this is a screen: q ends it and prints the report of the whole trace, h shows the keys. Elsewhere it
    writes a line per interval. Nothing of the trace is lost while the screen is slow."""
    from tracealyze.capture.follow import Follower
    from tracealyze.capture.watching import Watching
    from tracealyze.trace.trace import checked_format

    interval_ns = units.read_duration(interval)
    if interval_ns < MIN_WATCH_INTERVAL_NS:
        raise WrongUsage(f"--interval {interval}: at least {units.duration(MIN_WATCH_INTERVAL_NS)}.")
    until_s = time.monotonic() + units.read_duration(time_limit) / units.S if time_limit else None
    chosen = rules.chosen()
    watching = Watching(Follower(capture), chosen, checked_format(input_format))
    try:
        if _show(watching, State(os.path.basename(capture), interval_ns), until_s, as_json) and has_report:
            _report(watching.path, chosen)
    except KeyboardInterrupt:
        output.write("\n")
    finally:
        watching.close()


def _show(watching: Watching, state: State, until_s: float | None, as_json: bool) -> bool:
    """Watch until the end. Returns whether the user wants the report."""
    if as_json or not sys.stdout.isatty():
        _write_lines(watching, state.interval_ns / units.S, until_s, as_json)
        return False
    from tracealyze.commands import _screen

    return _screen.run(watching, state, until_s)


def _write_lines(watching: Watching, interval_s: float, until_s: float | None, as_json: bool) -> None:
    """A line per interval. The last one has what came before the end."""
    is_last = False
    while not is_last:
        is_last = watching.has_ended or (until_s is not None and time.monotonic() >= until_s)
        view = watching.view()
        if view is not None:
            output.write((json.text(watch.document(view), indent=None) if as_json else watch.line_of(view)) + "\n")
            output.flush(sys.stdout)
        if not is_last:
            time.sleep(interval_s)


def _report(path: str, rules: Sequence[Rule]) -> None:
    """The report of the whole trace."""
    from tracealyze.commands.summarize import write_reports

    write_reports(CaptureOptions(captures=[path]).traces(rules), Form.TABLE, _TOP, False)
