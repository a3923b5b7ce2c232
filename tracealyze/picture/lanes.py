"""The rows of the boot chart: processes in the order of their tree, or the stretches of a log."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, TypeAlias

from tracealyze import units
from tracealyze.heuristics import MIN_LINK_SHARE, MIN_PIECE_SHARE
from tracealyze.program_names import short
from tracealyze.render.processes import command_of
from tracealyze.time_names import name_of

if TYPE_CHECKING:
    from tracealyze.table import Row
    from tracealyze.trace import Trace

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
    table = trace.processes
    if any(pid is not None for pid in table.column("pid")):
        return _of_processes(trace, limit)
    return _of_stretches(trace, min(limit - 1, _MAX_STRETCHES))


@dataclass(frozen=True)
class _Processes:
    """Columns of the table of processes; times since the start of the window."""

    task: list[int]
    pid: list[int | None]
    parent: list[int | None]
    program: list[str | None]
    start_ns: list[int]
    end_ns: list[int]
    exclusive_ns: list[int]


def _columns(trace: Trace) -> _Processes:
    table = trace.processes
    zero_ns, wall_ns = trace.window.start_ns or 0, trace.window.wall_ns

    def within(values: Sequence[int | None], missing_ns: int) -> list[int]:
        return [missing_ns if each is None else min(max(each - zero_ns, 0), wall_ns) for each in values]

    return _Processes(
        task=table.column("task"),
        pid=table.column("pid"),
        parent=table.column("parent_task"),
        program=table.column("program"),
        start_ns=within(table.column("birth_ns"), 0),
        end_ns=within(table.column("death_ns"), wall_ns),
        exclusive_ns=[each or 0 for each in table.column("exclusive_ns")],
    )


def _of_processes(trace: Trace, limit: int) -> Lanes:
    each = _columns(trace)
    count = len(each.task)
    kept = set(range(count)) if count <= limit else _relevant(each, trace.window.wall_ns, limit)
    listed = _tree_order(each, kept)
    names = {at: row for (at, _), row in zip(listed, trace.processes.pick([at for at, _ in listed]), strict=True)}
    rows: list[Lane] = []
    number_of: dict[int, int] = {}
    for members, depth in _repeated(each, listed, names):
        number_of |= dict.fromkeys(members, len(rows))
        several = len(members) > 1
        name = f"{len(members)} × {command_of(names[members[0]])}" if several else _name(names[members[0]])
        spans, exclusive_ns = _sums(each, members)
        rows.append(Lane(name, spans, exclusive_ns, depth))
    folded, number_in = _folded(each, [at for at in range(count) if at not in kept], _most_folded(limit))
    number_of |= {at: len(rows) + number for at, number in number_in.items()}
    return Lanes([*rows, *folded], _by_task(each, number_of), count - len(listed))


def _most_folded(limit: int) -> int:
    """The number of programs with a row for their small processes."""
    return max(limit // 6, 1)


def _relevant(each: _Processes, wall_ns: int, limit: int) -> set[int]:
    """The processes that are worth a row where there are many: with much time on the critical path, or a long life."""
    cost_ns, life_ns = wall_ns * MIN_PIECE_SHARE / 10, wall_ns * MIN_LINK_SHARE
    found = [
        at
        for at, exclusive_ns in enumerate(each.exclusive_ns)
        if exclusive_ns >= cost_ns or each.end_ns[at] - each.start_ns[at] >= life_ns
    ]
    key = each.exclusive_ns.__getitem__
    return set(nlargest(limit - _most_folded(limit) - 1, found, key=lambda at: (key(at), -at)))


def _repeated(
    each: _Processes, listed: Sequence[tuple[int, int]], names: dict[int, Row]
) -> Iterator[tuple[list[int], int]]:
    """Processes that share a row, with their depth: siblings without children that ran one command after another."""
    parents = set(each.parent)
    members: list[int] = []
    depth_of_members = 0
    for at, depth in listed:
        if members:
            last = members[-1]
            alike = (
                command_of(names[at]) == command_of(names[last]) is not None and each.parent[at] == each.parent[last]
            )
            is_leaf = each.task[at] not in parents and each.task[last] not in parents
            if alike and is_leaf and depth == depth_of_members and each.start_ns[at] >= each.end_ns[last]:
                members.append(at)
                continue
            yield members, depth_of_members
        members, depth_of_members = [at], depth
    if members:
        yield members, depth_of_members


def _sums(each: _Processes, members: Sequence[int]) -> tuple[list[tuple[int, int]], int]:
    """Lifetimes, and the sum of times on the critical path."""
    spans = sorted((each.start_ns[at], each.end_ns[at]) for at in members)
    return spans, sum(each.exclusive_ns[at] for at in members)


def _name(row: Row) -> str:
    return " ".join(part for part in (str(row["pid"] or ""), command_of(row) or "(program unknown)") if part)


def _tree_order(each: _Processes, kept: set[int]) -> list[tuple[int, int]]:
    """Each of these processes with its depth, after its nearest ancestor among them, in order of birth."""
    above = _nearest(each, kept)
    children: dict[int | None, list[int]] = {}
    for at in sorted(kept, key=lambda at: (each.start_ns[at], each.task[at])):
        children.setdefault(above[at], []).append(at)
    found: list[tuple[int, int]] = []
    waiting = [(at, 0) for at in reversed(children.get(None, []))]
    while waiting:
        at, depth = waiting.pop()
        found.append((at, depth))
        waiting.extend((child, depth + 1) for child in reversed(children.get(at, [])))
    return found


def _nearest(each: _Processes, kept: set[int]) -> dict[int, int | None]:
    """The nearest ancestor of each process among those kept. Each ancestor is passed once, as chains may be long."""
    at_of = {task: at for at, task in enumerate(each.task)}
    known: dict[int, int | None] = {}
    for start in kept:
        passed: list[int] = []
        at: int | None = start
        while at is not None and at not in known:
            passed.append(at)
            # Until it is known: a circle of parents, which only a damaged capture has, ends here.
            known[at] = None
            parent = each.parent[at]
            at = None if parent is None else at_of.get(parent)
            if at in kept:
                break
        nearest = at if at in kept else None if at is None else known[at]
        known |= dict.fromkeys(passed, nearest)
    return known


def _folded(each: _Processes, rest: Sequence[int], most: int) -> tuple[list[Lane], dict[int, int]]:
    """One row per program for processes without a row of their own; the last one for the remaining programs."""
    of_program: dict[str | None, list[int]] = {}
    for at in rest:
        of_program.setdefault(each.program[at], []).append(at)
    groups: dict[str, list[int]] = {}
    for program, members in of_program.items():
        groups.setdefault(short(program) or "(program unknown)", []).extend(members)
    ranked = sorted(groups.items(), key=lambda group: (-sum(each.exclusive_ns[at] for at in group[1]), group[0]))
    named = [
        (f"{units.count(len(members))} × {name}" if len(members) > 1 else name, members)
        for name, members in ranked[:most]
    ]
    if others := [at for _, members in ranked[most:] for at in members]:
        named.append((f"{units.count(len(others))} × other programs", others))
    rows = [Lane(name, *_sums(each, members)) for name, members in named]
    return rows, {at: number for number, (_, members) in enumerate(named) for at in members}


def _by_task(each: _Processes, number_of: dict[int, int]) -> LaneOf:
    by_task = {task: number_of[at] for at, task in enumerate(each.task)}
    lives: dict[int | None, list[tuple[int, int]]] = {}

    def lane_of(stretch: Row) -> int | None:
        if stretch["task"] in by_task:
            return by_task[stretch["task"]]
        if not lives:
            # A thread belongs to the process with its pid that lives at the time: ids are reused.
            for at in sorted(range(len(each.task)), key=lambda at: each.start_ns[at]):
                lives.setdefault(each.pid[at], []).append((each.start_ns[at], number_of[at]))
        of_pid = lives.get(stretch["pid"])
        if not of_pid:
            return None
        return of_pid[max(bisect_right(of_pid, (stretch["since_ns"], MAX_LANES)) - 1, 0)][1]

    return lane_of


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
