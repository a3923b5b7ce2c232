"""The timeline as text: a row per process, letters where the critical path is, lines where it only lives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.model.time_names import CLASSES
from tracealyze.render.picture import axis
from tracealyze.render.picture.labels import fitted
from tracealyze.render.picture.lanes import Lane, Lanes
from tracealyze.render.picture.looks import LOOKS, known
from tracealyze.render.picture.path_runs import Run, path_runs
from tracealyze.render.terminal import TextLine, cells

if TYPE_CHECKING:
    from tracealyze.render.text import Symbols
    from tracealyze.trace.trace import Trace

_AMOUNT = 9
_MAX_NAME_WIDTH = 40
_TICK_WIDTH = 8
_PATH = "critical path"
_INDENT = 2
_MAX_DEPTH = 6


def text_chart(
    trace: Trace, found: Lanes, width: int, drawn: Symbols, place: tuple[int, int] | None = None, least_name: int = 0
) -> Iterator[TextLine]:
    """The lines of the chart, none wider than `width` (at least 40): the axis, the path, then a line per lane.

    `place` is where the window begins on an axis of several captures, and how long that is, in nanoseconds. The names
    have at least `least_name` columns."""
    name_width = max(names_width(found, width, drawn), least_name)
    plot = max(width - name_width - _AMOUNT - 2, 1)
    wall_ns = trace.window.wall_ns
    before_ns, span_ns = place or (0, wall_ns)
    step_ns = max(-(-span_ns // plot), 1)
    before = before_ns // step_ns
    runs = path_runs(trace, found.lane_of, step_ns, before).runs
    yield ((" " * (name_width + _AMOUNT + 2), ""), (_axis(span_ns, plot), "dim"))
    total = units.duration(wall_ns, trace.tick_ns)
    yield (*_head(_PATH, total, name_width, drawn), *_row([False] * plot, runs, drawn))
    for number, lane in enumerate(found.rows):
        took = units.duration(lane.exclusive_ns, trace.tick_ns) if lane.exclusive_ns else ""
        mine = [run for run in runs if run.lane == number]
        alive = [False] * before + _alive(lane, step_ns, plot - before)
        yield (*_head(_label(lane, drawn), took, name_width, drawn), *_row(alive, mine, drawn))


def names_width(found: Lanes, width: int, drawn: Symbols) -> int:
    """The columns of the names in a chart of this width."""
    longest = max([cells(_PATH), *(cells(_label(lane, drawn)) for lane in found.rows)])
    return min(longest, _MAX_NAME_WIDTH, width // 3)


def key(trace: Trace) -> str:
    """The letters with the sums of their classes, the largest first. They add up to the window."""
    wall_ns = trace.window.wall_ns
    rows = sorted(trace.classes, key=lambda row: -row["exclusive_ns"])
    return ", ".join(
        f"{LOOKS[known(row['class'])].letter} {CLASSES.get(row['class'], row['class'])} "
        f"{units.duration(row['exclusive_ns'], trace.tick_ns)} ({units.share(row['exclusive_ns'] / wall_ns)})"
        for row in rows
        if row["exclusive_ns"]
    )


def _label(lane: Lane, drawn: Symbols) -> str:
    return f"{' ' * (_INDENT * min(lane.depth, _MAX_DEPTH))}{fitted(lane.name, _MAX_NAME_WIDTH, drawn.ellipsis)}"


def _head(name: str, took: str, name_width: int, drawn: Symbols) -> TextLine:
    shortened = fitted(name, name_width, drawn.ellipsis)
    return (f"{shortened}{' ' * (name_width - cells(shortened))}", ""), (f" {took:>{_AMOUNT}} ", "")


def _axis(wall_ns: int, plot: int) -> str:
    """Round times above the columns that they belong to."""
    line = ""
    for at_ns in range(0, wall_ns + 1, axis.tick_ns(wall_ns, max(plot // _TICK_WIDTH, 1))):
        label, column = units.duration(at_ns), plot * at_ns // max(wall_ns, 1)
        if column + len(label) <= plot and (column > len(line) or not line):
            line = f"{line.ljust(column)}{label}"
    return line


def _alive(lane: Lane, step_ns: int, plot: int) -> list[bool]:
    """The columns that a lifetime touches."""
    found = [False] * plot
    for start_ns, end_ns in lane.spans:
        for column in range(min(start_ns // step_ns, plot - 1), min(end_ns // step_ns + 1, plot)):
            found[column] = True
    return found


def _row(alive: Sequence[bool], runs: Sequence[Run], drawn: Symbols) -> TextLine:
    """The columns as pieces of one style each."""
    pieces: list[tuple[str, str]] = []
    at = 0
    for run in (*runs, Run(-1, "other", len(alive), len(alive))):
        before = "".join(drawn.alive if each else " " for each in alive[at : run.begin])
        pieces.append((before, "dim"))
        look = LOOKS[run.cls]
        pieces.append((look.letter * (run.end - run.begin), look.style))
        at = run.end
    return tuple(piece for piece in pieces if piece[0])
