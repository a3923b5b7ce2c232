"""timeline: processes over time, with the critical path through them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.base.errors import WrongUsage
from tracealyze.commands import tree
from tracealyze.commands._options import AxisOptions, CaptureOptions, RowOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render import output
from tracealyze.render.forms import Form

if TYPE_CHECKING:
    from tracealyze.render.listing import Listing
    from tracealyze.render.picture.lanes import Lanes
    from tracealyze.trace.trace import Trace

EXAMPLES = (
    "tracealyze timeline trace.out",
    "tracealyze timeline trace.out --from +2 --to +5 --top 40",
    "tracealyze timeline trace.out --tree --depth 2 --min 100ms",
)


_MAX_LANES = 20


# Without a number, lanes and rows of the tree have limits of their own.
@with_options(top=None)
def command(
    source: CaptureOptions,
    axis: AxisOptions,
    rows: RowOptions,
    as_tree: Annotated[
        bool,
        typer.Option(
            "--tree", help="Show processes under their parents instead: lifetime, critical path, exit status."
        ),
    ] = False,
    threads: tree.Threads = False,
    depth: tree.Depth = None,
    min_length: tree.MinLength = None,
    no_fold: tree.NoFold = False,
) -> None:
    """Draw when processes ran, and the critical path through them.

    Captures of the same time, such as calls and a log, are drawn on one axis.

    With --tree, the slack of a process is how much longer it could have run without delaying the end, because its
    parent was blocked on other processes meanwhile. Siblings that ran the same command are one row."""
    from tracealyze.render.listing import write_listing

    shape = tree.Shape(threads, depth, min_length, no_fold)
    if as_tree:
        tree.show(source, rows if rows.top else replace(rows, top=tree.MAX_ROWS), shape)
        return
    if shape != tree.Shape():
        raise WrongUsage("--threads, --depth, --min and --no-fold choose the rows of --tree. Add --tree.")
    limit = max(rows.top or _MAX_LANES, 2)
    if rows.form is Form.JSON:
        _document(source, limit, axis)
    elif rows.form is not Form.TABLE:
        for trace in source.traces():
            write_listing(_listing(trace, _lanes(trace, limit)), rows.form)
            source.close(trace)
    else:
        _charts(source, axis, limit)


def _lanes(trace: Trace, limit: int) -> Lanes | None:
    from tracealyze.render.picture.lanes import lanes

    with analyzing():
        return lanes(trace, limit) if trace.window.wall_ns else None


def _charts(source: CaptureOptions, options: AxisOptions, limit: int) -> None:
    """The charts of all captures: those of one time on one axis."""
    from tracealyze.render.picture.text_chart import names_width
    from tracealyze.render.terminal import Terminal
    from tracealyze.trace.together.shared_axis import axis_of, extents_of, notes

    traces = list(source.traces())
    extents = extents_of(traces, options.aligned or ())
    axis = axis_of(extents)
    found = [_lanes(trace, limit) for trace in traces]
    terminal = Terminal()
    widths = (names_width(each, terminal.width, terminal.drawn) for each in found if each is not None and axis)
    name_width = max(widths, default=0)
    for number, (trace, each) in enumerate(zip(traces, found, strict=True)):
        output.write("\n" if number else "")
        _heading(trace)
        place = axis.on(number) if axis else None
        if each is None:
            _without_window(trace)
        else:
            _show(trace, each, place, name_width if place else 0)
    for text in notes(extents) if axis else ():
        terminal.paragraph(text, "dim")
    source.close(*traces)


def _document(source: CaptureOptions, limit: int, axis: AxisOptions) -> None:
    """One document about all captures."""
    from tracealyze.render import json
    from tracealyze.render.picture.timeline_document import document

    traces = list(source.traces())
    with analyzing():
        found = document(traces, limit, axis.aligned or ())
    json.write(found)
    source.close(*traces)


def _show(trace: Trace, found: Lanes, place: tuple[int, int] | None, name_width: int) -> None:
    from tracealyze.base import units
    from tracealyze.render.picture import text_chart
    from tracealyze.render.terminal import Terminal

    terminal = Terminal()
    for line in text_chart.text_chart(trace, found, terminal.width, terminal.drawn, place, name_width):
        terminal.line(*line)
    terminal.paragraph(text_chart.key(trace), "dim")
    if found.folded:
        folded = units.counted(found.folded, "process", "processes")
        terminal.paragraph(f"{folded} combined by program; --top N shows more.", "dim")


def _heading(trace: Trace) -> None:
    from tracealyze.render.capture_notes import name_of_capture
    from tracealyze.render.terminal import Terminal

    terminal = Terminal()
    terminal.line((terminal.cut_named(name_of_capture(trace.captures[0]), terminal.width), "bold"))


def _without_window(trace: Trace) -> None:
    from tracealyze.render.capture_notes import window_lines
    from tracealyze.render.terminal import Terminal

    terminal = Terminal()
    terminal.paragraph("There is no timeline, because the capture has no wall clock.")
    for text in window_lines(trace.window, trace.captures[0]):
        terminal.paragraph(text)


def _listing(trace: Trace, found: Lanes | None) -> Listing:
    """A row per lane, with times since the start of the window."""
    from tracealyze.render.listing import Column, Listing

    names = ("lane", "depth", "start_ns", "end_ns", "lives", "exclusive_ns", "share")
    wall_ns = trace.window.wall_ns
    listed = [
        {
            "lane": lane.name,
            "depth": lane.depth,
            "start_ns": min((start for start, _ in lane.spans), default=None),
            "end_ns": max((end for _, end in lane.spans), default=None),
            "lives": len(lane.spans),
            "exclusive_ns": lane.exclusive_ns,
            "share": lane.exclusive_ns / wall_ns,
        }
        for lane in (found.rows if found else ())
    ]
    return Listing("timeline", [Column(name, name) for name in names], listed, trace.tick_ns)
