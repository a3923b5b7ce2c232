"""A trace in one line, for interactive sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.model.capture_input.capture_info import counted_processes
from tracealyze.model.selection import Selection
from tracealyze.trace.outcome.untraced import saving_ns
from tracealyze.trace.outcome.verdict import saving_of

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.model.trace_tables import TraceTables


def overview(trace: TraceTables, findings: Sequence[Finding] | None) -> str:
    """`login.truss: 11.42 s, 5 processes, 2,275 calls, 1 finding (saves up to 9.74 s)`, with findings if given."""
    totals = trace.totals
    parts = [
        units.duration(trace.window.wall_ns, trace.tick_ns) if trace.window.reason is None else "no wall time",
        counted_processes(totals["processes"], trace.captures),
        units.counted(totals["calls"], "call"),
    ]
    if findings is not None:
        parts.append(_found(trace, findings))
    selected = "selected events of " if trace.selection != Selection(capture=trace.selection.capture) else ""
    return f"{selected}{_name(trace)}: {', '.join(parts)}"


def _name(trace: TraceTables) -> str:
    captures = trace.captures
    if len(captures) != 1:
        return units.counted(len(captures), "capture")
    run = f" (run {captures[0].run})" if captures[0].runs > 1 else ""
    return shown(captures[0].path.rstrip("/").rsplit("/", 1)[-1]) + run


def _found(trace: TraceTables, findings: Sequence[Finding]) -> str:
    saves = saving_of(*saving_ns(trace, findings), 0, trace.tick_ns)
    return (units.counted(len(findings), "finding") if findings else "no findings") + (f" ({saves})" if saves else "")
