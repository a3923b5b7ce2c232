"""critical-path: which process the wall time belonged to, in order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_STRETCH_SHARE
from tracealyze.commands._options import CaptureOptions, RowOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render import output
from tracealyze.render.forms import Form
from tracealyze.trace.path_overview import MAX_STRETCHES, PathOverview, path_overview

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

EXAMPLES = (
    "tracealyze critical-path trace.out",
    "tracealyze critical-path trace.out --min 50ms --format csv",
)

_COLUMNS = (
    *(
        "start_ns",
        "dur_ns",
        "task",
        "pid",
        "tid",
        "program",
        "class",
        "class_name",
        "what",
        "syscall",
        "op",
        "target",
        "line",
    ),
    *("pieces", "waiter_pid", "how", "sure"),
)


@with_options(top=1000)
def command(
    source: CaptureOptions,
    rows: RowOptions,
    min_length: Annotated[
        str | None,
        typer.Option(
            "--min",
            metavar="TIME",
            help=f"Hide segments shorter than this, such as 5ms. Default: {MIN_STRETCH_SHARE:.1%} of the window; "
            f"the {MAX_STRETCHES} longest if those cover less than half of it.",
        ),
    ] = None,
) -> None:
    """Show the critical path in time order: which process it went through, and what that process did."""
    from tracealyze.render import critical_path
    from tracealyze.render.listing import Column, Listing, write_listing

    form = rows.form
    trace = source.trace()
    with analyzing():
        overview = path_overview(trace, None if min_length is None else units.read_duration(min_length))
    shown, hidden = overview.stretches[: rows.top], overview.stretches[rows.top :]
    if form in (Form.JSON, Form.CSV):
        write_listing(Listing("path", [Column(name, name) for name in _COLUMNS], shown, trace.tick_ns), form)
    else:
        write_listing(critical_path.drawn(shown, trace), form)
    if hidden:
        length = units.duration(sum(row["dur_ns"] for row in hidden), trace.tick_ns)
        number = units.counted(len(hidden), "segment")
        output.note(f"Hidden: the last {number}, {length}; use --top N to see more.")
    _note_left_out(trace, overview)
    source.close(trace)


def _note_left_out(trace: Trace, overview: PathOverview) -> None:
    if trace.window.reason is not None:
        output.note("No critical path: without timestamps there is no wall time to follow.")
    elif overview.left_out_ns:
        if overview.is_longest_only:
            shortest_ns = min((row["dur_ns"] for row in overview.stretches), default=0)
            which = f"no longer than {units.duration(shortest_ns, trace.tick_ns)}"
        else:
            which = f"shorter than {units.min_duration(overview.min_ns, trace.tick_ns)}"
        unmatched = " or not matched by --where" if trace.selection.where else ""
        length = units.duration(overview.left_out_ns, trace.tick_ns)
        output.note(f"Hidden: {length} in segments {which}{unmatched}; --min 0s shows all.")
