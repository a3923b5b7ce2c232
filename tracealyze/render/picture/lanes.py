"""The rows of the boot chart: processes in the order of their tree, or the stretches of a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_LINK_SHARE, MIN_PIECE_SHARE
from tracealyze.base.program_names import short, told_apart
from tracealyze.model.time_names import name_of
from tracealyze.render.processes import command_of

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.trace import Trace

MAX_LANES = 200
"""Rows of a chart. With more processes, those with little time are folded by program."""
_MAX_STRETCHES = 30


@dataclass(frozen=True)
class Lane:
    """A row: its name, spans in nanoseconds since the start of the window, and time on the critical path."""

    name: str
    spans: Sequence[tuple[int, int]]
    exclusive_ns: int
    depth: int = 0


LaneOf: TypeAlias = "Callable[[Row], int | None]"
"""The number of the lane that a stretch of the critical path belongs to."""


@dataclass(frozen=True)
class Lanes:
    """The rows of a chart, from the top, and the one of each stretch."""

    rows: Sequence[Lane]
    lane_of: LaneOf
    folded: int = 0
    """Processes that have no row of their own."""
    are_stretches: bool = False
    """Whether rows are stretches of a log, rather than processes."""


def lanes(trace: Trace, limit: int = MAX_LANES) -> Lanes:
    """The rows for a trace with a window, at most `limit`."""
    wall_ns = trace.window.wall_ns
    least_ns = ceil(wall_ns * MIN_PIECE_SHARE / 10), ceil(wall_ns * MIN_LINK_SHARE)
    found = trace.chart_rows((limit, max(limit // 6, 1)), least_ns)
    if found["has_ids"]:
        return _of_processes(found)
    return _of_stretches(trace, min(limit - 1, _MAX_STRETCHES))


@dataclass(frozen=True)
class _Process:
    """A process with a row; times since the start of the window."""

    row: Row
    depth: int
    parent: int | None
    is_leaf: bool
    start_ns: int
    end_ns: int
    exclusive_ns: int


def _of_processes(found: dict[str, Any]) -> Lanes:
    listed = [_Process(row, *facts) for row, facts in zip(found["processes"], found["listed"], strict=True)]
    rows: list[Lane] = []
    lane_of_row: list[int] = []
    repeated = list(_repeated(listed))
    commands = told_apart([command_of(members[0].row) or "" for members in repeated])
    for members, command in zip(repeated, commands, strict=True):
        lane_of_row += [len(rows)] * len(members)
        first = members[0]
        name = f"{len(members)} × {command}" if len(members) > 1 else _name(first.row, command)
        spans = sorted((each.start_ns, each.end_ns) for each in members)
        rows.append(Lane(name, spans, sum(each.exclusive_ns for each in members), first.depth))
    for program, number, exclusive_ns, spans in found["groups"]:
        lane_of_row.append(len(rows))
        rows.append(Lane(_group_name(program, number), spans, exclusive_ns))
    of_task: list[int] = found["of_task"]

    def lane_of(stretch: Row) -> int | None:
        row = of_task[stretch["task"]]
        return None if row < 0 else lane_of_row[row]

    return Lanes(rows, lane_of, sum(number for _, number, _, _ in found["groups"]))


def _repeated(listed: Sequence[_Process]) -> Iterator[list[_Process]]:
    """Processes that share a row: siblings without children that ran one command after another."""
    members: list[_Process] = []
    for each in listed:
        if members and not _repeats(each, members[-1]):
            yield members
            members = []
        members.append(each)
    if members:
        yield members


def _repeats(each: _Process, last: _Process) -> bool:
    alike = command_of(each.row) == command_of(last.row) is not None and each.parent == last.parent
    return alike and each.is_leaf and last.is_leaf and each.depth == last.depth and each.start_ns >= last.end_ns


def _group_name(program: str | None, number: int) -> str:
    """The row of the small processes of a program, or of all other programs."""
    if program is None:
        return f"{units.count(number)} × other programs"
    name = short(program) or "(program unknown)"
    return f"{units.count(number)} × {name}" if number > 1 else name


def _name(row: Row, command: str) -> str:
    return " ".join(part for part in (str(row["pid"] or ""), command or "(program unknown)") if part)


def _of_stretches(trace: Trace, limit: int) -> Lanes:
    """For a log, or a trace without process ids: a row per long stretch, in order of time."""
    zero_ns, wall_ns = trace.window.start_ns or 0, trace.window.wall_ns
    min_ns = int(wall_ns * MIN_PIECE_SHARE)
    found = [row for row in trace.path_from(0, limit) if row["dur_ns"] >= min_ns]
    longest = sorted(found, key=lambda row: row["start_ns"])
    rows = [
        Lane(_message(row), [(row["start_ns"] - zero_ns, row["start_ns"] - zero_ns + row["dur_ns"])], row["dur_ns"])
        for row in longest
    ]
    number_of = {row["start_ns"]: number for number, row in enumerate(longest)}
    rest_ns = wall_ns - sum(row.exclusive_ns for row in rows)
    if rest_ns > 0:
        rows.append(Lane("all shorter stretches", [], rest_ns))
    other = len(rows) - 1 if rest_ns > 0 else None
    return Lanes(rows, lambda stretch: number_of.get(stretch["start_ns"], other), are_stretches=True)


def _message(row: Row) -> str:
    """The message before a silence, or the name of another stretch."""
    is_silence = row["class"] == "gap" and row["target"]
    return str(row["target"]) if is_silence else name_of(row)
