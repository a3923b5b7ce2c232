"""A trace in a notebook: the answer, the findings, and where the time went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.findings.finding import findings_element
from tracealyze.model.html_tables import element, in_notebook, table_element
from tracealyze.trace.outcome.untraced import saving_ns
from tracealyze.trace.outcome.verdict import saving_of, sentences
from tracealyze.trace.trace_overview import overview

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding
    from tracealyze.model.trace_tables import TraceTables

_MAX_FINDINGS = 5
_MAX_PIECES = 8
_KEYS = ("pid", "program", "class", "syscall", "op")
_COLUMNS = (*_KEYS, "calls", "exclusive_ns")
_UNITS = {"exclusive_ns": "ns", "share": "share", "calls": "count"}


def notebook_view(trace: TraceTables, findings: Sequence[Finding]) -> str:
    """The begin of the report, as HTML."""
    parts = [element("p", overview(trace, findings), class_="remark")]
    wall_ns = trace.window.wall_ns
    if wall_ns:
        saving = saving_of(*saving_ns(trace, findings), wall_ns, trace.tick_ns)
        wall = f"{units.duration(wall_ns, trace.tick_ns)} wall time"
        parts.append(element("p", f"{wall}; {saving}" if saving else wall, class_="verdict"))
    stated = [each for each in sentences(trace, findings) if each.finding is None or not findings]
    parts += [element("p", each.text, class_="answer") for each in stated]
    if findings:
        parts.append(findings_element(findings, _MAX_FINDINGS))
    if wall_ns:
        parts.append(element("p", "Where the time went: the critical path", class_="remark"))
        parts.append(_pieces(trace, wall_ns))
    return in_notebook("".join(parts))


def _pieces(trace: TraceTables, wall_ns: int) -> str:
    """The largest pieces of the partition, with bars."""
    rows = trace.partition_by(list(_KEYS), limit=_MAX_PIECES)
    cells = [[*(row[name] for name in _COLUMNS), row["exclusive_ns"] / wall_ns] for row in rows]
    return table_element([*_COLUMNS, "share"], cells, len(cells), _UNITS)
