"""The boot chart: an SVG in which rows are processes, and the critical path is drawn through them."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.render.picture import axis
from tracealyze.render.picture.labels import fitted
from tracealyze.render.picture.lanes import MAX_LANES, Lane, Lanes, lanes
from tracealyze.render.picture.looks import LOOKS, dark, hatched
from tracealyze.render.picture.path_runs import NO_LANE, Run, Stay, path_runs
from tracealyze.render.terminal import cells

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

_NAMES = 320
_PLOT = 800
_AMOUNTS = 100
_ROW = 18
_AXIS = 24
_PATH = _AXIS + 8
_TOP = _PATH + _ROW + 6
"""Where the lanes begin: below the axis and the critical path as a row of its own."""
_MAX_DEPTH = 12
_TICKS = 8
_NAME_CELLS = 44

_CHARACTER = 6
"""Width of a character of a label."""
_BADGE = 16
_MAX_STRETCHES = 40
_TITLE_CELLS = 200

_LIFE = "#767676"
_BAD = "#c0281e"


@dataclass(frozen=True)
class Chart:
    """A chart and what must be said about it."""

    svg: str
    caption: str
    width: int
    height: int
    rows: int


@dataclass(frozen=True)
class Mark:
    """A finding in the chart: its number on the page, and task, start and end of its stretches."""

    number: int
    title: str
    is_bad: bool
    stretches: Sequence[tuple[int, int, int]]


def boot_chart(
    trace: Trace,
    prefix: str = "c",
    scale_ns: int | None = None,
    marks: Sequence[Mark] = (),
    limit: int = MAX_LANES,
    before_ns: int = 0,
) -> Chart:
    """The chart of a trace with a window.

    `prefix` keeps ids apart if a page has several charts; `scale_ns` is the time that the whole width stands for,
    and `before_ns` that before the window, in a chart without marks. There are at most `limit` rows."""
    wall_ns = scale_ns or trace.window.wall_ns
    found = lanes(trace, limit)
    step_ns = max(wall_ns // _PLOT, 1)
    path = path_runs(trace, found.lane_of, step_ns, before_ns // step_ns)
    height = _TOP + _ROW * len(found.rows) + 4
    width = _NAMES + _PLOT + _AMOUNTS
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-labelledby="{prefix}-title" font-family="system-ui,sans-serif" font-size="12">\n'
        f'<title id="{prefix}-title">Timeline with the critical path</title>\n',
        hatched({run.cls for run in path.runs}, prefix),
        *_axis(wall_ns, height),
        *(_lane(lane, number, wall_ns, trace.tick_ns, before_ns) for number, lane in enumerate(found.rows)),
        f'<text x="4" y="{_PATH + 12}" font-weight="600" fill="currentColor">critical path</text>\n',
        f'<text x="{width - 4}" y="{_PATH + 12}" text-anchor="end" fill="currentColor">'
        f"{units.duration(trace.window.wall_ns, trace.tick_ns)}</text>\n",
        *_joins(path.runs),
        *_pieces([(run, _PATH) for run in path.runs], prefix),
        *_pieces([(run, _y(run.lane)) for run in path.runs if run.lane != NO_LANE], prefix),
        *(_label(stay, y) for stay in path.stays for y in _places(stay)),
        *_marks(marks, found, wall_ns),
        "</svg>\n",
    ]
    return Chart("".join(parts), _caption(trace, step_ns, found), width, height, len(found.rows))


def _axis(wall_ns: int, height: int) -> Iterator[str]:
    step_ns = axis.tick_ns(wall_ns, _TICKS)
    for at_ns in range(0, wall_ns + 1, step_ns):
        x = _NAMES + round(_PLOT * at_ns / wall_ns, 1)
        yield f'<path d="M{x} {_AXIS - 4}V{height}" stroke="currentColor" stroke-opacity=".15"/>'
        yield f'<text x="{x}" y="14" text-anchor="middle" fill="currentColor">{units.duration(at_ns)}</text>\n'


def _lane(lane: Lane, number: int, wall_ns: int, tick_ns: int, before_ns: int) -> str:
    y = _y(number)
    depth = min(lane.depth, _MAX_DEPTH)
    name = html.escape(fitted(lane.name, _NAME_CELLS - 2 * depth))
    took = units.duration(lane.exclusive_ns, tick_ns) if lane.exclusive_ns else ""
    return (
        f'<text x="{4 + 8 * depth}" y="{y + 12}" fill="currentColor">{name}</text>'
        f'<path d="{_lives(lane, y + 6, wall_ns, before_ns)}" fill="{_LIFE}"/>'
        f'<text x="{_NAMES + _PLOT + _AMOUNTS - 4}" y="{y + 12}" text-anchor="end" fill="currentColor">{took}</text>\n'
    )


def _lives(lane: Lane, y: int, wall_ns: int, before_ns: int) -> str:
    """The lifetimes as rectangles of a path; those less than a unit apart are one."""
    joined: list[tuple[int, int]] = []
    for start_ns, end_ns in lane.spans:
        begin, end = (round(10 * _PLOT * (before_ns + at) / wall_ns) for at in (start_ns, end_ns))
        end = max(end, begin + 10)
        if joined and begin < joined[-1][1] + 10:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return "".join(
        f"M{_NAMES + begin / 10:g} {y}h{(end - begin) / 10:g}v4h{(begin - end) / 10:g}z" for begin, end in joined
    )


def _y(lane: int) -> int:
    return _TOP + lane * _ROW


def _places(stay: Stay) -> list[int]:
    """Where a stay is drawn: in the row of the path, and in its lane."""
    return [_PATH] if stay.lane == NO_LANE else [_PATH, _y(stay.lane)]


def _joins(runs: Sequence[Run]) -> Iterator[str]:
    """Thin lines where the critical path goes from one lane to another."""
    joins = "".join(
        f"M{_NAMES + after.begin} {_y(before.lane) + 8}V{_y(after.lane) + 8}"
        for before, after in pairwise(runs)
        if before.lane != after.lane and NO_LANE not in (before.lane, after.lane)
    )
    if joins:
        yield f'<path d="{joins}" stroke="currentColor" stroke-opacity=".35" fill="none"/>\n'


def _pieces(placed: Sequence[tuple[Run, int]], prefix: str) -> Iterator[str]:
    """Thick pieces of the critical path at their heights."""
    drawn: dict[str, list[str]] = {}
    for run, y in placed:
        width = run.end - run.begin
        drawn.setdefault(run.cls, []).append(f"M{_NAMES + run.begin} {y + 2}h{width}v12h-{width}z")
    for cls in sorted(drawn):
        yield f'<path d="{"".join(drawn[cls])}" fill="url(#{prefix}-{cls})"/>\n'


def _label(stay: Stay, y: int) -> str:
    """What a wide stretch of the path mostly consists of, on a dark ground so that it can be read on each color."""
    room = (stay.end - stay.begin - 10) // _CHARACTER
    name = next((each for each in (stay.name, stay.call) if each and cells(shown(each)) <= room), None)
    if name is None:
        return ""
    x, color = _NAMES + stay.begin + 3, dark(LOOKS[stay.cls].color)
    return (
        f'<rect x="{x}" y="{y + 3}" width="{cells(shown(name)) * _CHARACTER + 4}" height="10" fill="{color}"/>'
        f'<text x="{x + 2}" y="{y + 11.5}" font-size="10" fill="#fff">{html.escape(shown(name))}</text>\n'
    )


def _marks(marks: Sequence[Mark], found: Lanes, wall_ns: int) -> Iterator[str]:
    """Brackets over the stretches of findings, in their lanes and over the critical path, with their numbers."""
    taken: set[tuple[int, str]] = set()
    for mark in marks:
        stretches = mark.stretches[:_MAX_STRETCHES]
        for task, start_ns, end_ns in stretches:
            lane = found.lane_of({"task": task, "pid": None, "since_ns": start_ns, "start_ns": start_ns})
            if lane is not None:
                yield _bracket(mark, start_ns, end_ns, _y(lane), wall_ns, taken)
        for start_ns, end_ns in _joined([(start_ns, end_ns) for _, start_ns, end_ns in stretches]):
            yield _bracket(mark, start_ns, end_ns, _PATH, wall_ns, taken)


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Times that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start_ns, end_ns in sorted(spans):
        if joined and start_ns <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end_ns))
        else:
            joined.append((start_ns, end_ns))
    return joined


def _bracket(mark: Mark, start_ns: int, end_ns: int, y: int, wall_ns: int, taken: set[tuple[int, str]]) -> str:
    color = _BAD if mark.is_bad else _LIFE
    begin, end = (_NAMES + round(_PLOT * at / wall_ns, 1) for at in (start_ns, end_ns))
    end = max(end, begin + 2)
    x = min(max(round((begin + end) / 2, 1), _NAMES + 7), _NAMES + _PLOT - 7)
    line = f'<path d="M{begin} {y + 4}v-3H{end}v3" stroke="{color}" stroke-width="1.5" fill="none"/>'
    places = {(y, f"at {x // _BADGE:g}"), (y, f"number {mark.number}")}
    if places & taken:
        return line
    taken |= places
    return (
        f"{line}<g><title>{html.escape(fitted(mark.title, _TITLE_CELLS))}</title>"
        f'<circle cx="{x}" cy="{y}" r="6.5" fill="{color}"/>'
        f'<text x="{x}" y="{y + 3.5}" font-size="10" font-weight="700" text-anchor="middle" fill="#fff">'
        f"{mark.number}</text></g>\n"
    )


def _caption(trace: Trace, step_ns: int, found: Lanes) -> str:
    rows = "Thin lines are lifetimes, thick ones the critical path. The right column is the time on it."
    if found.are_stretches:
        rows = "A row is the time from a message to the next one."
    step = f"A column of the plot stands for {units.duration(step_ns, trace.tick_ns)} and shows what took most of it."
    folded = f"{units.counted(found.folded, 'process', 'processes')} with little time are combined by program below."
    return " ".join([rows, step, *([folded] if found.folded else [])])
