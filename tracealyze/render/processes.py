"""Processes as people name them, and the table of them."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.render.listing import Column, Listing

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.trace import Trace

_MIN_NAME_WIDTH = 24


def listing(trace: Trace, top: int, tick_ns: int) -> tuple[str, Listing] | None:
    """The processes, most expensive first, with a remark on their order; None if there are none."""
    table = trace.processes
    is_timed = trace.window.reason is None
    columns_of_cost = map(table.column, ("pid", "exclusive_ns", "in_call_ns", "calls"))
    # The cost, and at equal cost the first: without a function per process, of which there may be very many.
    costs = [
        (on_path_ns or 0, in_calls_ns or 0, calls, -number)
        for number, (pid, on_path_ns, in_calls_ns, calls) in enumerate(zip(*columns_of_cost, strict=True))
        if calls or pid is not None
    ]
    if not costs:
        return None
    costliest = [-number for *_, number in nlargest(top, costs)]
    rows = [dict(row) | {"end": end_of(row), "what": command_of(row)} for row in table.pick(costliest)]
    columns = [Column("pid", "pid"), Column("parent_pid", "parent", drop_order=3)]
    if is_timed:
        columns += [
            Column("exclusive_ns", "on path"),
            Column("wall_ns", "lifetime"),
            Column("slack_ns", "slack", drop_order=6),
        ]
    columns += [Column("in_call_ns", "in syscalls", drop_order=5), Column("cpu_ns", "CPU", drop_order=5)]
    columns += [Column("calls", "calls", drop_order=2)]
    columns += [Column("failed", "failed", drop_order=4)]
    columns += [Column("end", "end"), Column("what", "program", min_width=_MIN_NAME_WIDTH)]
    order = "by time on the critical path" if is_timed else "by calls"
    return of_all(len(rows), len(costs), order), Listing("processes", columns, rows, tick_ns)


def of_all(listed: int, number: int, what: str) -> str:
    """How much of a list is shown, and its order."""
    return f"first {listed} of {units.count(number)}, {what}" if listed < number else what


def command_of(row: Row) -> str | None:
    """The command line of a process. If the tracer truncated it, the first word is the full program."""
    argv: str | None = row["argv"]
    program: str | None = row["program"]
    first, blank, rest = (argv or "").partition(" ")
    if program and first.endswith("...") and program.startswith(first.removesuffix("...")):
        return f"{program}{blank}{rest}"
    return argv or program


def end_of(row: Row) -> str:
    """How a process ended, as far as the capture shows it."""
    if row["exit_signal"]:
        return str(row["exit_signal"])
    if row["exit_code"] is not None:
        return f"exit {row['exit_code']}"
    return "" if row["death_ns"] is None else "exited"
