"""The boot chart: an SVG in which rows are processes, and the critical path is drawn through them."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tracealyze import units
from tracealyze.picture.labels import fitted
from tracealyze.picture.lanes import Lane, Lanes, lanes
from tracealyze.picture.looks import LOOKS, known
from tracealyze.picture.path_runs import Run, path_runs
from tracealyze.time_names import CLASSES

if TYPE_CHECKING:
    from tracealyze.trace import Trace

_NAMES = 320
_PLOT = 800
_AMOUNTS = 100
_ROW = 18
_AXIS = 24
_MAX_DEPTH = 12
_TICKS = 8
_NAME_CELLS = 44

_LIFE = "#8a8a8a"


@dataclass(frozen=True)
class Chart:
    """A chart and what must be said about it."""

    svg: str
    caption: str
    width: int
    height: int


def boot_chart(trace: Trace, prefix: str = "c", scale_ns: int | None = None) -> Chart:
    """The chart of a trace with a window.

    `prefix` keeps ids apart if a page has several charts; `scale_ns` is the time that the whole width stands for."""
    wall_ns = scale_ns or trace.window.wall_ns
    found = lanes(trace)
    step_ns = max(wall_ns // _PLOT, 1)
    runs = list(path_runs(trace, found.lane_of, step_ns))
    height = _AXIS + _ROW * len(found.rows) + 4
    width = _NAMES + _PLOT + _AMOUNTS
    classes = [row for row in trace.partition_by(["class"]) if row["exclusive_ns"]]
    names = {known(row["class"]) for row in classes} | {run.cls for run in runs}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-labelledby="{prefix}-title" font-family="system-ui,sans-serif" font-size="12">\n'
        f'<title id="{prefix}-title">Timeline with the critical path</title>\n',
        _patterns(sorted(names), prefix),
        *_axis(wall_ns, height),
        *(_lane(lane, number, wall_ns, trace.tick_ns) for number, lane in enumerate(found.rows)),
        *_path(runs, prefix),
        "</svg>\n",
    ]
    return Chart("".join(parts), _caption(trace, step_ns, found), width, height)


def legend(trace: Trace, prefix: str = "c") -> str:
    """The classes with their sums, as a list: the key of the colours. The sums add up to the window."""
    wall_ns = trace.window.wall_ns
    items = []
    for row in sorted(trace.partition_by(["class"]), key=lambda row: -row["exclusive_ns"]):
        if row["exclusive_ns"]:
            took = units.duration(row["exclusive_ns"], trace.tick_ns)
            name = html.escape(CLASSES.get(row["class"], str(row["class"])))
            items.append(
                '<li><svg width="14" height="14" aria-hidden="true">'
                f'<rect width="14" height="14" fill="url(#{prefix}-{known(row["class"])})"/></svg> '
                f"{name} {took} ({units.share(row['exclusive_ns'] / wall_ns)})</li>"
            )
    return f'<ul class="legend">{"".join(items)}</ul>\n'


def _patterns(names: Sequence[str], prefix: str) -> str:
    made = []
    for name in names:
        look = LOOKS[name]
        lines = f'<path d="{look.hatch}" stroke="#fff" stroke-opacity=".65" fill="none"/>' if look.hatch else ""
        made.append(
            f'<pattern id="{prefix}-{name}" width="6" height="6" patternUnits="userSpaceOnUse">'
            f'<rect width="6" height="6" fill="{look.color}"/>{lines}</pattern>\n'
        )
    return f"<defs>{''.join(made)}</defs>\n"


def _axis(wall_ns: int, height: int) -> Iterator[str]:
    step_ns = _tick_ns(wall_ns)
    for at_ns in range(0, wall_ns + 1, step_ns):
        x = _NAMES + round(_PLOT * at_ns / wall_ns, 1)
        yield f'<path d="M{x} {_AXIS - 4}V{height}" stroke="currentColor" stroke-opacity=".15"/>'
        yield f'<text x="{x}" y="14" text-anchor="middle" fill="currentColor">{units.duration(at_ns)}</text>\n'


def _tick_ns(wall_ns: int) -> int:
    """The smallest of 1, 2, 5, 10 … that divides the axis into few parts."""
    unit = 1
    while True:
        for factor in (1, 2, 5):
            if wall_ns <= factor * unit * _TICKS:
                return factor * unit
        unit *= 10


def _lane(lane: Lane, number: int, wall_ns: int, tick_ns: int) -> str:
    y = _AXIS + number * _ROW
    depth = min(lane.depth, _MAX_DEPTH)
    name = html.escape(fitted(lane.name, _NAME_CELLS - 2 * depth))
    took = units.duration(lane.exclusive_ns, tick_ns) if lane.exclusive_ns else ""
    return (
        f'<text x="{4 + 8 * depth}" y="{y + 12}" fill="currentColor">{name}</text>'
        f'<path d="{_lives(lane, y + 6, wall_ns)}" fill="{_LIFE}"/>'
        f'<text x="{_NAMES + _PLOT + _AMOUNTS - 4}" y="{y + 12}" text-anchor="end" fill="currentColor">{took}</text>\n'
    )


def _lives(lane: Lane, y: int, wall_ns: int) -> str:
    """The lifetimes as rectangles of a path; those less than a unit apart are one."""
    joined: list[tuple[int, int]] = []
    for start_ns, end_ns in lane.spans:
        begin, end = (round(10 * _PLOT * at / wall_ns) for at in (start_ns, end_ns))
        end = max(end, begin + 10)
        if joined and begin < joined[-1][1] + 10:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return "".join(
        f"M{_NAMES + begin / 10:g} {y}h{(end - begin) / 10:g}v4h{(begin - end) / 10:g}z" for begin, end in joined
    )


def _path(runs: Sequence[Run], prefix: str) -> Iterator[str]:
    """The critical path: thick pieces in the lanes, joined by thin lines where it goes from one to another."""
    joins = []
    for before, after in pairwise(runs):
        if before.lane != after.lane:
            x = _NAMES + after.begin
            joins.append(f"M{x} {_middle(before.lane)}V{_middle(after.lane)}")
    if joins:
        yield f'<path d="{"".join(joins)}" stroke="currentColor" stroke-opacity=".35" fill="none"/>\n'
    drawn: dict[str, list[str]] = {}
    for run in runs:
        width = run.end - run.begin
        drawn.setdefault(run.cls, []).append(
            f"M{_NAMES + run.begin} {_AXIS + run.lane * _ROW + 2}h{width}v12h-{width}z"
        )
    for cls in sorted(drawn):
        yield f'<path d="{"".join(drawn[cls])}" fill="url(#{prefix}-{cls})"/>\n'


def _middle(lane: int) -> int:
    return _AXIS + lane * _ROW + 8


def _caption(trace: Trace, step_ns: int, found: Lanes) -> str:
    rows = "Thin lines are lifetimes, thick ones the critical path. The right column is the time on it."
    if found.are_stretches:
        rows = "A row is the time from a message to the next one."
    step = f"A column of the plot stands for {units.duration(step_ns, trace.tick_ns)} and shows what took most of it."
    folded = f"{units.counted(found.folded, 'process', 'processes')} with little time are combined by program below."
    return " ".join([rows, step, *([folded] if found.folded else [])])
