"""The table of calls with the largest totals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.render import cpu_times
from tracealyze.render.listing import Column, Listing
from tracealyze.render.processes import of_all

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.trace import Trace

_MIN_NAME_WIDTH = 24
# Above this number of targets, single targets are too expensive to list, and of little use.
_MAX_TARGETS = 20_000
_MAX_TARGET_ROWS = 3


def listing(trace: Trace, summary: Summary, top: int) -> tuple[str, Listing] | None:
    """The top calls by request and target, with a remark on their order; None if there are none."""
    rows = top_calls(trace, top)
    if not rows or trace.is_mostly_table:
        return _of_tracers(trace, summary, top)
    columns = [Column("calls", "calls"), Column("failed", "failed", drop_order=1), Column("total_ns", "total")]
    rows = cpu_times.with_waiting(rows, trace)
    columns += cpu_times.cpu_columns(rows)
    if summary.window.reason is None:
        columns.append(Column("exclusive_ns", "on path"))
    columns += [
        Column("mean_ns", "mean"),
        Column("max_ns", "max", drop_order=2),
        Column("what", "call", min_width=_MIN_NAME_WIDTH),
    ]
    timed = any(row["total_ns"] for row in rows)
    remark = "by total time (summed over tasks, so it can exceed wall time)" if timed else "by count"
    has_cpu_times = any(row["cpu_ns"] is not None for row in rows)
    if has_cpu_times and (divided := cpu_times.divided(trace)):
        remark = f"{remark}; {divided}"
    return remark, Listing("calls", columns, rows, trace.dur_tick_ns or trace.tick_ns)


def _of_tracers(trace: Trace, summary: Summary, top: int) -> tuple[str, Listing] | None:
    rows = [dict(row) | {"what": row["syscall"]} for row in summary.syscalls[:top]]
    if not rows:
        return None
    columns = [Column("calls", "calls"), Column("failed", "failed", drop_order=1), Column("total_ns", "total")]
    columns += [Column("mean_ns", "mean"), Column("what", "call", min_width=_MIN_NAME_WIDTH)]
    remark = of_all(len(rows), len(summary.syscalls), "from the tracer's own table")
    return remark, Listing("calls", columns, rows, trace.tick_ns)


def top_calls(trace: Trace, top: int) -> list[Row]:
    """The calls with the largest totals, by request, and by target if there are few."""
    rows = [row for kind in _kinds(trace).values() for row in _limit_targets(kind)]
    return sorted(rows, key=lambda row: (-(row["total_ns"] or 0), -row["calls"]))[:top]


def numbers_of_calls(trace: Trace) -> dict[str, int]:
    """The number of calls by name and request, the most frequent first."""
    numbers = {" ".join(filter(None, kind)): sum(row["calls"] for row in rows) for kind, rows in _kinds(trace).items()}
    return dict(sorted(numbers.items(), key=lambda item: (-item[1], item[0])))


def _kinds(trace: Trace) -> dict[tuple[str, str | None], list[Row]]:
    """Calls by name and request; a row per target if there are few."""
    table = None
    if not trace.has_more_targets(_MAX_TARGETS):
        table = trace.calls(by=["syscall", "op", "target"], quantiles=False, limit=_MAX_TARGETS + 1)
    if table is None or len(table) > _MAX_TARGETS:
        table = trace.calls(by=["syscall", "op"], quantiles=False)
    kinds: dict[tuple[str, str | None], list[Row]] = {}
    for row in table:
        kinds.setdefault((row["syscall"], row["op"]), []).append(row)
    return kinds


def _limit_targets(rows: list[Row]) -> list[Row]:
    """Rows of one kind of call. With many targets: the targets with most of its time, and one row for the rest."""
    total_ns = sum(row["total_ns"] or 0 for row in rows)
    large = [row for row in rows if len(rows) <= _MAX_TARGET_ROWS or 2 * (row["total_ns"] or 0) > total_ns > 0]
    single: list[Row] = [dict(row) | {"what": call_of(row)} for row in large]
    others = [row for row in rows if row not in large]
    return [*single, _combined(others, "other targets" if single else "targets")] if others else single


def _combined(rows: list[Row], what: str) -> Row:
    sums: dict[str, Any] = {key: sum(row[key] or 0 for row in rows) for key in ("calls", "failed", "exclusive_ns")}
    timed = [row for row in rows if row["max_ns"] is not None]
    sums["total_ns"] = sum(row["total_ns"] or 0 for row in rows)
    cpu_ns = [row["cpu_ns"] for row in rows if row["cpu_ns"] is not None]
    sums["cpu_ns"] = sum(cpu_ns) if cpu_ns else None
    sums["mean_ns"] = sums["total_ns"] // max(sums["calls"], 1) if timed else None
    sums["max_ns"] = max((row["max_ns"] for row in timed), default=None)
    named = {"syscall": rows[0]["syscall"], "op": rows[0]["op"], "target": f"({units.count(len(rows))} {what})"}
    return sums | {"what": call_of(named)}


def call_of(row: Row) -> str:
    """A call with its request and target on one line."""
    return " ".join(shown(part) for part in (row.get("syscall"), row.get("op"), row.get("target")) if part)
