"""Processes as a tree."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.escape import shown
from tracealyze.render.listing import Column, Listing
from tracealyze.render.report import end_of
from tracealyze.render.text import Symbols, symbols

if TYPE_CHECKING:
    from tracealyze.trace import Row, Trace

_TIMES = (
    Column("birth_ns", "born", spare=5),
    Column("wall_ns", "life"),
    Column("exclusive_ns", "on path"),
    Column("in_call_ns", "in calls", spare=2),
    Column("gap_ns", "user", spare=3),
)
_PLAIN = (
    *("pid", "parent_pid", "program", "argv", "birth_ns", "death_ns", "exit_code", "exit_signal", "wall_ns"),
    *("exclusive_ns", "in_call_ns", "gap_ns", "calls", "failed", "threads"),
)


def plain(rows: Sequence[Row], tick_ns: int) -> Listing:
    """For programs: parents are in a column."""
    return Listing("processes", [Column(name, name) for name in _PLAIN], rows, tick_ns)


def drawn(rows: Sequence[Row], trace: Trace, top: int) -> Listing:
    """For people: children below their parents, in the order of their births."""
    branches = symbols(sys.stdout)
    shown_rows = []
    for branch, row in _walk(rows, branches):
        name = f"{row['pid']} " if row["pid"] is not None else ""
        threads = f" ({row['threads']} threads)" if (row["threads"] or 1) > 1 else ""
        what = row["argv"] or row["program"] or "(program unknown)"
        shown_rows.append(dict(row) | {"end": end_of(row), "process": f"{branch}{name}{shown(what)}{threads}"})
        if len(shown_rows) == top:
            break
    columns = [Column("process", "process", least=36)]
    columns += [column for column in _TIMES if any(row[column.name] is not None for row in rows)]
    columns += [Column("calls", "calls", spare=1), Column("failed", "failed", spare=4), Column("end", "end")]
    return Listing("processes", columns, shown_rows, trace.tick_ns, moments=frozenset(["birth_ns"]))


def _walk(rows: Sequence[Row], branches: Symbols) -> Iterator[tuple[str, Row]]:
    """Each process with the branch that leads to it. Iterative: a chain of forks may be as long as it likes."""
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
