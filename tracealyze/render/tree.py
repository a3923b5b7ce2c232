"""Processes as a tree."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracealyze.heuristics import MIN_FOLDED
from tracealyze.render.listing import Column, Listing
from tracealyze.render.processes import command_of, end_of
from tracealyze.render.text import symbols
from tracealyze.sanitize import shown

if TYPE_CHECKING:
    from tracealyze.table import Row
    from tracealyze.trace import Trace

_TIMES = (
    Column("birth_ns", "start", drop_order=9),
    Column("wall_ns", "lifetime"),
    Column("inclusive_ns", "incl. waits", drop_order=4),
    Column("exclusive_ns", "on path"),
    Column("in_call_ns", "in syscalls", drop_order=6),
    Column("user_ns", "user", drop_order=7),
    Column("stopped_ns", "stopped", drop_order=2),
    Column("slack_ns", "slack", drop_order=3),
)
_OF_ONE = ("slack_ns", "waits_for_pid", "waits_for_ns", "waits_for_how", "waits_for_sure")
_PLAIN = (
    *("pid", "parent_pid", "program", "argv", "birth_ns", "death_ns", "exit_code", "exit_signal", "wall_ns"),
    *("exclusive_ns", "in_call_ns", "gap_ns", "calls", "failed", "threads"),
    *("tid", "inclusive_ns", "user_ns", "stopped_ns", "slack_ns", "waits_for_pid", "waits_for_ns"),
    *("waits_for_how", "waits_for_sure"),
)


def rows_of(trace: Trace, threads: bool) -> list[Row]:
    """One row per process, with its part of the critical path, and optionally one row per thread below it."""
    chain = {row["task"]: row for row in trace.chain}
    rows: list[Row] = [{**chain.get(row["task"], {}), **_with_user(row)} for row in trace.processes]
    if threads:
        mains = {(row["capture"], row["pid"]): row["task"] for row in rows}
        for task in trace.tasks:
            main = mains.get((task["capture"], task["pid"]))
            if task["is_thread"] and main is not None:
                rows.append({**_with_user(task), **_as_child(task, main)})
    return rows


def _with_user(row: Row) -> Row:
    """Adds the time between calls without stops: user code, or untraced calls."""
    gap_ns = row["gap_ns"]
    return dict(row) | {"user_ns": None if gap_ns is None else gap_ns - (row["stopped_ns"] or 0), "tid": row.get("tid")}


def _as_child(task: Row, main: object) -> Row:
    birth_ns, death_ns = task["birth_ns"], task["death_ns"]
    life_ns = None if birth_ns is None else task["in_call_ns"] + task["gap_ns"]
    return {"parent_task": main, "parent_pid": task["pid"], "wall_ns": life_ns, "threads": 1, "death_ns": death_ns}


def plain(rows: Sequence[Row], tick_ns: int) -> Listing:
    """For programs: the parent is a column."""
    columns = [Column(name, name) for name in _PLAIN]
    return Listing("processes", columns, rows, tick_ns)


@dataclass(frozen=True)
class Pruning:
    """Which processes a tree omits or combines."""

    max_depth: int | None = None
    min_ns: int = 0
    """Processes with a shorter lifetime are omitted, unless a descendant lived that long."""
    folds: bool = False
    """Whether children without children that ran the same command become one row."""


def pruned(rows: Sequence[Row], pruning: Pruning) -> list[Row]:
    """The processes that remain, in the order of the tree, with their depth."""
    kept: list[Row] = []
    at_level: list[dict[str, Any]] = []
    for depth, row in _walk(rows):
        at_level[depth:] = [dict(row) | {"depth": depth}]
        if pruning.max_depth is not None and depth > pruning.max_depth:
            continue
        if (row["wall_ns"] or 0) >= pruning.min_ns:
            kept.extend(each for each in at_level if not each.get("is_kept"))
            for each in at_level:
                each["is_kept"] = True
    return _folded(kept) if pruning.folds else kept


def _folded(rows: Sequence[Row]) -> list[Row]:
    """Siblings without children that ran the same command and ended alike, as one row with sums of their times."""
    parents = {row["parent_task"] for row in rows}
    groups: dict[object, list[Row]] = {}
    for row in rows:
        is_leaf = row["task"] not in parents and not row.get("is_thread")
        # The hidden tasks of other rows are not None, so a row that stays alone has a key of its own.
        alike = (row["parent_task"], command_of(row), end_of(row)) if is_leaf else row["task"]
        groups.setdefault(alike, []).append(row)
    found = [each for group in groups.values() for each in ([_sum(group)] if len(group) >= MIN_FOLDED else group)]
    order = {row["task"]: number for number, row in enumerate(rows)}
    return sorted(found, key=lambda row: order[row["task"]])


def _sum(group: Sequence[Row]) -> Row:
    """One row for these processes. Slack and blocked on are those of a single process."""
    summed = (name for name in group[0] if name == "failed" or name == "calls" or name.endswith("_ns"))
    sums = {name: sum(row[name] or 0 for row in group) for name in summed if name not in _OF_ONE}
    return dict(group[0]) | sums | dict.fromkeys(_OF_ONE) | {"birth_ns": group[0]["birth_ns"], "folded": len(group)}


def drawn(rows: Sequence[Row], trace: Trace) -> Listing:
    """For people: children below their parents, in order of birth."""
    shown_rows = [
        dict(row)
        | {
            "end": end_of(row),
            "process": f"{branch}{_name(row)}",
            "waits": _waits(row),
            "birth_ns": None if row["birth_ns"] is None else row["birth_ns"] - trace.start_of(row),
        }
        for branch, row in zip(_branches([row["depth"] for row in rows]), rows, strict=True)
    ]
    columns = [Column("process", "process", min_width=36)]
    columns += [column for column in _TIMES if any(row.get(column.name) is not None for row in rows)]
    columns += [Column("waits", "blocked on", drop_order=5), Column("calls", "calls", drop_order=1)]
    columns += [Column("failed", "failed", drop_order=8), Column("end", "end")]
    return Listing("processes", columns, shown_rows, trace.tick_ns, moments=frozenset(["birth_ns"]))


def _branches(depths: Sequence[int]) -> Iterator[str]:
    """The lines that join each row to its parent, from the depths of all rows."""
    drawn = symbols(sys.stdout)
    # Whether a row has a later sibling, from the end to the beginning.
    has_next: list[bool] = []
    open_levels: set[int] = set()
    for depth in reversed(depths):
        has_next.append(depth in open_levels)
        open_levels = {level for level in open_levels if level < depth} | {depth}
    continues: list[bool] = []
    for depth, has in zip(depths, reversed(has_next), strict=True):
        continues[depth:] = [has]
        trunk = "".join(drawn.trunk if each else " " * len(drawn.trunk) for each in continues[1:depth])
        yield trunk + (drawn.branch if has else drawn.last_branch) if depth else ""


def _name(row: Row) -> str:
    if row.get("folded"):
        return f"{row['folded']} × {shown(command_of(row) or '(program unknown)')}"
    if row["tid"] is not None and row.get("is_thread"):
        return f"thread {row['tid']}"
    name = f"{row['pid']} " if row["pid"] is not None else ""
    threads = f" ({row['threads']} threads)" if (row["threads"] or 1) > 1 else ""
    return f"{name}{shown(command_of(row) or '(program unknown)')}{threads}"


def _waits(row: Row) -> str | None:
    """The process that it was blocked on longest, marked if that is inferred."""
    on = row.get("waits_for_pid")
    if on is None:
        return None
    return f"{on}, inferred" if row["waits_for_sure"] == "inferred" else str(on)


def _walk(rows: Sequence[Row]) -> Iterator[tuple[int, Row]]:
    """Each process with its depth. Iterative, because a chain of forks can have any length."""
    here = {row["task"] for row in rows}
    children: dict[object, list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row["birth_ns"] or 0, row["task"])):
        parent = row["parent_task"] if row["parent_task"] in here and row["parent_task"] != row["task"] else None
        children.setdefault(parent, []).append(row)
    waiting = [(0, row) for row in reversed(children.get(None, []))]
    while waiting:
        depth, row = waiting.pop()
        yield depth, row
        waiting.extend((depth + 1, child) for child in reversed(children.get(row["task"], [])))
