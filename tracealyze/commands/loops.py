"""loops: sequences of calls that a task repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracealyze.commands import _losses as losses
from tracealyze.commands._options import CaptureOptions, RowOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render.forms import Form

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.trace import Trace

EXAMPLES = (
    "tracealyze loops trace.out",
    "tracealyze loops trace.out --pid 4711 --json",
)

_COLUMNS = (
    *("pid", "tid", "program", "turns", "period", "body", "total_ns", "dominant", "dominant_ns", "dominant_calls"),
    *("failing", "distinct_targets", "first_line", "last_line"),
)
_MIN_BODY_WIDTH = 24


@with_options()
def command(source: CaptureOptions, rows: RowOptions) -> None:
    """Show sequences of calls that a task repeats: how often, how long, and what the loop body does."""
    trace = source.trace()
    show(trace, rows)
    source.close(trace)


def show(trace: Trace, rows: RowOptions) -> None:
    """Write the loops, the longest first."""
    from tracealyze.render.listing import Column, Listing, write_listing

    form = rows.form
    with analyzing():
        loops = sorted(trace.loops, key=lambda row: -(row["total_ns"] or 0))[: rows.top]
    if form in (Form.JSON, Form.CSV):
        listing = Listing("loops", [Column(name, name) for name in _COLUMNS], loops, trace.dur_tick_ns)
    else:
        columns = [
            Column("pid", "pid"),
            Column("turns", "iterations"),
            Column("total_ns", "total"),
            Column("dominant_ns", "slowest call", drop_order=1),
            Column("distinct_targets", "targets", drop_order=2),
            Column("first_line", "line", drop_order=3),
            Column("what", "loop body", min_width=_MIN_BODY_WIDTH),
        ]
        listing = Listing("loops", columns, [dict(row) | {"what": _body(row)} for row in loops], trace.dur_tick_ns)
    if loops or not losses.replaces_listing(trace, form):
        write_listing(listing, form)


def _body(row: Row) -> str:
    return f"{row['dominant']}" if row["period"] == 1 else " · ".join(row["body"])
