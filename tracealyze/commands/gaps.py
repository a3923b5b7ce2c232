"""gaps: time between two calls of a task, and silences of a log."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_GAP_SHARE
from tracealyze.commands import _losses as losses
from tracealyze.commands._options import CaptureOptions, RowOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render import output
from tracealyze.render.forms import Form
from tracealyze.render.text import symbols

EXAMPLES = (
    "tracealyze gaps trace.out",
    "tracealyze gaps /var/log/messages --min 1s",
)

_COLUMNS = ("pid", "tid", "program", "start_ns", "dur_ns", "line", "next_line", "before", "after")
_MIN_CALL_WIDTH = 16


@with_options()
def command(
    source: CaptureOptions,
    rows: RowOptions,
    min_length: Annotated[
        str | None,
        typer.Option(
            "--min",
            metavar="TIME",
            help=f"Hide gaps shorter than this, such as 5ms. Default: {MIN_GAP_SHARE:.1%} of the window.",
        ),
    ] = None,
) -> None:
    """Show the longest times between two calls or log messages.

    Between calls a task runs its own code, or makes calls that were not traced."""
    from tracealyze.render.listing import Column, Listing, write_listing

    form = rows.form
    trace = source.trace()
    with analyzing():
        min_ns = round(trace.window.wall_ns * MIN_GAP_SHARE) if min_length is None else units.read_duration(min_length)
        gaps = trace.gaps_from(min_ns).head(rows.top)
    if form in (Form.JSON, Form.CSV):
        listing = Listing("gaps", [Column(name, name) for name in _COLUMNS], gaps, trace.tick_ns)
    else:
        arrow = symbols(sys.stdout).arrow
        drawn = [
            dict(row)
            | {"start_ns": row["start_ns"] - trace.start_of(row)}
            | {"between": f"{row['before']} {arrow} {row['after'] or ''}".strip()}
            for row in gaps
        ]
        columns = [
            Column("pid", "pid"),
            Column("start_ns", "after", drop_order=2),
            Column("dur_ns", "gap"),
            Column("line", "line", drop_order=3),
            Column("between", "between", min_width=_MIN_CALL_WIDTH),
        ]
        listing = Listing("gaps", columns, drawn, trace.tick_ns, moments=frozenset(["start_ns"]))
    if gaps or not losses.replaces_listing(trace, form):
        write_listing(listing, form)
    if min_length is None and min_ns:
        output.note(f"Hidden: gaps shorter than {units.min_duration(min_ns, trace.tick_ns)}; --min 0s shows all.")
    source.close(trace)
