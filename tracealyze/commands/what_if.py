"""what-if: the wall time after causes are removed."""

from __future__ import annotations

from typing import Annotated

import typer

from tracealyze.base.errors import WrongUsage
from tracealyze.commands._options import CaptureOptions, RowOptions, RuleOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render.forms import Form

EXAMPLES = (
    "tracealyze what-if trace.out --fix hot-loop --fix 2",
    "tracealyze what-if trace.out --without 'syscall == \"nanosleep\"' --parallel sh",
)
_TIMES = "="


@with_options(omit=["top"])
def command(
    source: CaptureOptions,
    rules: RuleOptions,
    rows: RowOptions,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            "--fix",
            metavar="FINDING",
            help="Remove the cause of a finding: its number in the report, its rule, or words of its text. Repeatable.",
            show_default=False,
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="EXPR",
            help="Remove the events that match a condition, as in --where. Repeatable.",
            show_default=False,
        ),
    ] = None,
    scale: Annotated[
        list[str] | None,
        typer.Option(
            "--scale",
            metavar="EXPR=N",
            help="Multiply the durations of events by N: 'syscall == \"fsync\"=0.5'. Repeatable.",
            show_default=False,
        ),
    ] = None,
    parallel: Annotated[
        list[str] | None,
        typer.Option(
            "--parallel",
            metavar="PROGRAM",
            help="Run serial children of this program in parallel, as far as their waits allow. Repeatable.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Predict the wall time after causes are removed.

    Replays the capture without them. Each fix is replayed alone and with the others: savings do not add up if one is
    hidden behind another.
    """
    from tracealyze.render import json
    from tracealyze.render import what_if as rendered
    from tracealyze.render.listing import write_listing

    form = rows.form
    factors = dict(scaled(text) for text in scale or ())
    trace = source.trace(rules=rules.chosen())
    with analyzing():
        found = trace.what_if(fix or (), without=without or (), scale=factors, parallel=parallel or ())
    if form is Form.JSON:
        json.write(found.document())
    elif form is Form.TABLE:
        rendered.show(found, trace.tick_ns)
    else:
        write_listing(rendered.listing(found, trace.tick_ns), form)
    source.close(trace)


def scaled(text: str) -> tuple[str, float]:
    """A condition and a factor."""
    condition, _, factor = text.rpartition(_TIMES)
    try:
        return condition.strip(), float(factor)
    except ValueError:
        raise WrongUsage(f"--scale: {text!r} has no factor; write 'syscall == \"fsync\"=0.5'.") from None
