"""Processes as a tree."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.render.listing import Column, Listing
from tracealyze.render.processes import command_of, end_of
from tracealyze.render.text import Symbols, symbols
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
    return Listing("processes", columns, rows, tick_ns, moments=frozenset(["birth_ns", "death_ns"]))


def drawn(rows: Sequence[Row], trace: Trace, top: int) -> Listing:
    """For people: children below their parents, in order of birth."""
    branches = symbols(sys.stdout)
    shown_rows = []
    for branch, row in _walk(rows, branches):
        shown_rows.append(dict(row) | {"end": end_of(row), "process": f"{branch}{_name(row)}", "waits": _waits(row)})
        if len(shown_rows) == top:
            break
    columns = [Column("process", "process", min_width=36)]
    columns += [column for column in _TIMES if any(row.get(column.name) is not None for row in rows)]
    columns += [Column("waits", "blocked on", drop_order=5), Column("calls", "calls", drop_order=1)]
    columns += [Column("failed", "failed", drop_order=8), Column("end", "end")]
    return Listing("processes", columns, shown_rows, trace.tick_ns, moments=frozenset(["birth_ns"]))


def _name(row: Row) -> str:
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


def _walk(rows: Sequence[Row], branches: Symbols) -> Iterator[tuple[str, Row]]:
    """Each process with its branch. Iterative, because a chain of forks can have any length."""
    here = {row["task"] for row in rows}
    children: dict[object, list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row["birth_ns"] or 0, row["task"])):
        parent = row["parent_task"] if row["parent_task"] in here and row["parent_task"] != row["task"] else None
        children.setdefault(parent, []).append(row)
    waiting = [("", "", row) for row in reversed(children.get(None, []))]
    while waiting:
        branch, trunk, row = waiting.pop()
        yield branch, row
        below = children.get(row["task"], [])
        for child in reversed(below):
            last = child is below[-1]
            joint = branches.last_branch if last else branches.branch
            beyond = " " * len(branches.trunk) if last else branches.trunk
            waiting.append((trunk + joint, trunk + beyond, child))
