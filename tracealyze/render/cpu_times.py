"""Columns of CPU times, for tracers that print them: they separate waiting from working."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.render.listing import Column

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables


def with_waiting(rows: Sequence[Row], trace: TraceTables) -> list[Row]:
    """Rows of calls with their waiting time, if it is known."""
    return [dict(row) | {"waiting_ns": waiting_ns(row) if is_exact(trace) else None} for row in rows]


def cpu_columns(rows: Sequence[Row]) -> list[Column]:
    """Columns of the CPU time of calls and of the rest of them, if any row has that."""
    columns = [Column("cpu_ns", "CPU", drop_order=1), Column("waiting_ns", "waiting", drop_order=1)]
    return [column for column in columns if any(row.get(column.name) is not None for row in rows)]


def is_exact(trace: TraceTables) -> bool:
    """Whether all durations are those of calls alone, so that all time without CPU time is waiting."""
    return all(each.dur_kind == "exact" for each in trace.captures)


def waiting_ns(row: Row) -> int | None:
    """Time in calls without a CPU. A tracer that truncates both times may print more CPU time than duration."""
    total_ns, cpu_ns = row.get("total_ns"), row.get("cpu_ns")
    return None if total_ns is None or cpu_ns is None else max(0, total_ns - cpu_ns)


def divided(trace: TraceTables) -> str:
    """How the time in all calls divides, or an empty text where the tracer prints no CPU times of calls."""
    rows = [row for row in trace.calls(["syscall"], quantiles=False) if row["cpu_ns"] is not None]
    if not rows or not is_exact(trace):
        return ""
    total_ns, waited_ns = sum(row["total_ns"] for row in rows), sum(waiting_ns(row) or 0 for row in rows)
    elapsed, cpu, waiting = (
        units.duration(ns, trace.dur_tick_ns) for ns in (total_ns, total_ns - waited_ns, waited_ns)
    )
    return f"all calls: {elapsed} elapsed, {cpu} on a CPU, {waiting} waiting"
