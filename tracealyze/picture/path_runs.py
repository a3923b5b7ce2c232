"""The critical path in the columns of a picture. A picture only paints: all printed numbers come from tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze.picture.looks import known

if TYPE_CHECKING:
    from tracealyze.picture.lanes import LaneOf
    from tracealyze.trace import Trace


@dataclass(frozen=True)
class Run:
    """Columns in which one lane and class have most of the critical path."""

    lane: int
    cls: str
    begin: int
    end: int


def path_runs(trace: Trace, lane_of: LaneOf, step_ns: int) -> Iterator[Run]:
    """The critical path by columns of this length, in order of time."""
    last: Run | None = None
    for column, lane, cls in _columns(trace, lane_of, step_ns):
        if last is not None and (last.lane, last.cls, last.end) == (lane, cls, column):
            last = Run(lane, cls, last.begin, column + 1)
            continue
        if last is not None:
            yield last
        last = Run(lane, cls, column, column + 1)
    if last is not None:
        yield last


def _columns(trace: Trace, lane_of: LaneOf, step_ns: int) -> Iterator[tuple[int, int, str]]:
    """Each column with the lane and class that have the most time in it."""
    zero_ns = trace.window.start_ns or 0
    sums: dict[int, dict[tuple[int, str], int]] = {}
    for stretch in trace.path_from(step_ns // 4):
        begin_ns = stretch["start_ns"] - zero_ns
        lane = lane_of(dict(stretch) | {"since_ns": begin_ns})
        if lane is None:
            continue
        end_ns = begin_ns + stretch["dur_ns"]
        for column in range(begin_ns // step_ns, -(-end_ns // step_ns)):
            overlap_ns = min(end_ns, (column + 1) * step_ns) - max(begin_ns, column * step_ns)
            of_column = sums.setdefault(column, {})
            key = (lane, known(stretch["class"]))
            of_column[key] = of_column.get(key, 0) + overlap_ns
    for column in sorted(sums):
        (lane, cls), _ = max(sums[column].items(), key=lambda item: (item[1], -item[0][0], item[0][1]))
        yield column, lane, cls
