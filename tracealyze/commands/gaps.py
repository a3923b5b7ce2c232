"""gaps: time between two calls of a task, and silences of a log."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_GAP_SHARE
from tracealyze.commands import _losses as losses
from tracealyze.commands._options import CaptureOptions, RowOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render import output
from tracealyze.render.forms import Form
from tracealyze.render.text import symbols

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.render.listing import Listing
    from tracealyze.trace.trace import Trace

EXAMPLES = (
    "tracealyze gaps trace.out",
    "tracealyze gaps /var/log/messages --min 1s",
)

_COLUMNS = ("pid", "tid", "program", "start_ns", "dur_ns", "line", "next_line", "before", "after")
_MIN_CALL_WIDTH = 16


@dataclass(frozen=True)
class Gaps:
    """The longest gaps, and the shortest length that was looked for."""

    rows: Sequence[Row]
    min_ns: int
    is_default: bool
    """Whether the length was not requested."""


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
    form = rows.form
    trace = source.trace()
    found = found_in(trace, min_length, rows.top)
    show(trace, found, form)
    note_hidden(trace, found)
    source.close(trace)


def found_in(trace: Trace, min_length: str | None, top: int) -> Gaps:
    """The longest gaps of a trace, down to a length that the user named or a share of the window."""
    with analyzing():
        min_ns = round(trace.window.wall_ns * MIN_GAP_SHARE) if min_length is None else units.read_duration(min_length)
        return Gaps(trace.gaps_from(min_ns).head(top), min_ns, min_length is None)


def document(found: Gaps) -> list[dict[str, Any]]:
    """The gaps as they appear in JSON."""
    return [{name: row.get(name) for name in _COLUMNS} for row in found.rows]


def show(trace: Trace, found: Gaps, form: Form) -> None:
    """Write the gaps."""
    from tracealyze.render.listing import write_listing

    if found.rows or not losses.replaces_listing(trace, form):
        write_listing(_listing(trace, found.rows, form), form)


def note_hidden(trace: Trace, found: Gaps) -> None:
    """Say which gaps are hidden, if the user did not."""
    if found.is_default and found.min_ns:
        output.note(f"Hidden: gaps shorter than {units.min_duration(found.min_ns, trace.tick_ns)}; --min 0s shows all.")


def _listing(trace: Trace, gaps: Sequence[Row], form: Form) -> Listing:
    from tracealyze.render.listing import Column, Listing

    if form in (Form.JSON, Form.CSV):
        return Listing("gaps", [Column(name, name) for name in _COLUMNS], gaps, trace.tick_ns)
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
    return Listing("gaps", columns, drawn, trace.tick_ns, moments=frozenset(["start_ns"]))
