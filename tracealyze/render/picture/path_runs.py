"""The critical path in the columns of a picture. A picture only paints: all printed numbers come from tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from tracealyze.model.time_names import CLASSES, name_of
from tracealyze.render.picture.looks import known

if TYPE_CHECKING:
    from tracealyze.render.picture.lanes import LaneOf
    from tracealyze.trace.trace import Trace


NO_LANE = -1
"""The critical path is in many tasks, and in none of them for long."""


@dataclass(frozen=True)
class Run:
    """Columns in which one lane and class have most of the critical path."""

    lane: int
    cls: str
    begin: int
    end: int


@dataclass(frozen=True)
class Stay:
    """Columns in which the critical path stays in one lane, and what it mostly does there."""

    lane: int
    cls: str
    begin: int
    end: int
    name: str
    call: str
    """The name in one word, if it is a call with a request."""


@dataclass
class _Column:
    """Time by lane and class, and by lane, name and call."""

    classes: Counter[tuple[int, str]] = field(default_factory=Counter)
    names: Counter[tuple[int, tuple[str, str]]] = field(default_factory=Counter)

    @property
    def most(self) -> tuple[int, str]:
        (lane, cls), _ = max(self.classes.items(), key=lambda item: (item[1], -item[0][0], item[0][1]))
        return lane, cls


@dataclass(frozen=True)
class PathRuns:
    """The critical path as runs, in order of time; neither runs nor stays overlap."""

    runs: Sequence[Run]
    stays: Sequence[Stay]


def path_runs(trace: Trace, lane_of: LaneOf, step_ns: int, before: int = 0) -> PathRuns:
    """The critical path by columns of this length. The picture has `before` columns before the window."""
    found = _columns(trace, lane_of, step_ns)
    found |= _filled(trace, step_ns, set(range(-(-trace.window.wall_ns // step_ns))) - set(found))
    columns = {before + number: column for number, column in found.items()}
    runs = list(_runs(columns))
    return PathRuns(runs, list(_stays(columns, runs)))


def _runs(columns: dict[int, _Column]) -> Iterator[Run]:
    last: Run | None = None
    for column in sorted(columns):
        lane, cls = columns[column].most
        if last is not None and (last.lane, last.cls, last.end) == (lane, cls, column):
            last = Run(lane, cls, last.begin, column + 1)
            continue
        if last is not None:
            yield last
        last = Run(lane, cls, column, column + 1)
    if last is not None:
        yield last


def _stays(columns: dict[int, _Column], runs: Sequence[Run]) -> Iterator[Stay]:
    for lane, members in groupby(runs, key=lambda run: run.lane):
        of_lane = list(members)
        names: Counter[tuple[str, str]] = Counter()
        classes: Counter[str] = Counter()
        for run in of_lane:
            classes[run.cls] += run.end - run.begin
            for column in range(run.begin, run.end):
                for (owner, name), ns in columns[column].names.items():
                    names[name] += ns if owner == lane else 0
        cls = max(classes, key=lambda each: (classes[each], each))
        name = max(names, key=lambda each: (names[each], each))
        is_most = 2 * names[name] >= names.total()
        title = CLASSES.get(cls, cls)
        known_as, call = name if is_most else (title, "")
        yield Stay(lane, cls, of_lane[0].begin, of_lane[-1].end, known_as, call)


def _filled(trace: Trace, step_ns: int, missing: set[int]) -> dict[int, _Column]:
    """Columns in which all stretches are short. What they consist of is known, but no lane has much of it."""
    columns: dict[int, _Column] = {}
    if not missing or len(trace.windows) > 1:
        return columns
    for row in trace.path_intervals_of(step_ns):
        if row["interval"] in missing:
            column, cls = columns.setdefault(row["interval"], _Column()), known(row["class"])
            column.classes[NO_LANE, cls] += row["exclusive_ns"]
            name = (str(row["syscall"] or CLASSES.get(row["class"], row["class"])), str(row["syscall"] or ""))
            column.names[NO_LANE, name] += row["exclusive_ns"]
    return columns


def _columns(trace: Trace, lane_of: LaneOf, step_ns: int) -> dict[int, _Column]:
    zero_ns = trace.window.start_ns or 0
    columns: dict[int, _Column] = {}
    for stretch in trace.path_from(step_ns // 4):
        begin_ns = stretch["start_ns"] - zero_ns
        lane = lane_of(dict(stretch) | {"since_ns": begin_ns})
        if lane is None:
            continue
        end_ns = begin_ns + stretch["dur_ns"]
        cls, name = known(stretch["class"]), (name_of(stretch), str(stretch["syscall"] or ""))
        for number in range(begin_ns // step_ns, -(-end_ns // step_ns)):
            overlap_ns = min(end_ns, (number + 1) * step_ns) - max(begin_ns, number * step_ns)
            column = columns.setdefault(number, _Column())
            column.classes[lane, cls] += overlap_ns
            column.names[lane, name] += overlap_ns
    return columns
