"""Processes as a tree."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze.base.heuristics import MIN_FOLDED
from tracealyze.base.sanitize import shown
from tracealyze.render.listing import Column, Listing
from tracealyze.render.processes import command_of, end_of
from tracealyze.render.text import symbols

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.trace import Trace

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


@dataclass(frozen=True)
class Pruning:
    """Which processes a tree omits or combines."""

    max_depth: int | None = None
    min_ns: int = 0
    """Processes with a shorter lifetime are omitted, unless a descendant lived that long."""
    folds: bool = False
    """Whether children without children that ran the same command become one row."""
    is_flat: bool = False
    """Whether the rows are in the order of the tables instead. Nothing is omitted or combined."""


@dataclass(frozen=True)
class Tree:
    """The first rows of a tree, one per process, each with its depth and its part of the critical path."""

    rows: list[Row]
    number: int
    """Number of all rows."""
    every: int
    """Number of processes and threads, with the omitted and the combined ones."""


def tree_of(trace: Trace, pruning: Pruning, limit: int, *, threads: bool = False) -> Tree:
    """The processes, and optionally threads below them."""
    found, number, every = trace.tree(
        threads=threads,
        is_flat=pruning.is_flat,
        max_depth=pruning.max_depth,
        min_ns=pruning.min_ns,
        min_folded=MIN_FOLDED if pruning.folds else None,
        most=limit,
    )
    return Tree([_row(trace, place, folded) for place, folded in found], number, every)


def _row(trace: Trace, place: tuple[int | None, ...], folded: tuple[int, list[tuple[str, int]]] | None) -> Row:
    process, task, link, depth = place
    if process is None:
        [thread] = trace.tasks.pick([task or 0])
        return {**_with_user(thread), **_as_child(thread), "depth": depth}
    waits = trace.chain.pick([] if link is None else [link])
    row = {**(waits[0] if waits else {}), **trace.processes.pick([process])[0], "depth": depth}
    if folded is None:
        return _with_user(row)
    number, sums = folded
    # Slack and the process it was blocked on belong to a single process.
    return {**_with_user(row | dict(sums)), **dict.fromkeys(_OF_ONE), "folded": number}


def _with_user(row: Row) -> Row:
    """Adds the time between calls without stops: user code, or untraced calls."""
    gap_ns = row["gap_ns"]
    return dict(row) | {"user_ns": None if gap_ns is None else gap_ns - (row["stopped_ns"] or 0), "tid": row.get("tid")}


def _as_child(task: Row) -> Row:
    life_ns = None if task["birth_ns"] is None else task["in_call_ns"] + task["gap_ns"]
    return {"parent_pid": task["pid"], "wall_ns": life_ns, "threads": 1}


def plain(rows: Sequence[Row], tick_ns: int) -> Listing:
    """For programs: the parent is a column."""
    columns = [Column(name, name) for name in _PLAIN]
    return Listing("processes", columns, rows, tick_ns)


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
