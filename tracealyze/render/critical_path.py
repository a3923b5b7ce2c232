"""The critical path for people: start, duration, process and call of each segment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.program_names import short
from tracealyze.base.sanitize import shown
from tracealyze.model.time_names import name_of
from tracealyze.render.listing import Column, Listing

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.trace import Trace

_MIN_CALL_WIDTH = 24


def drawn(rows: Sequence[Row], trace: Trace) -> Listing:
    """Segments, with times since the start of their capture."""
    segments = [
        dict(row) | {"start_ns": row["start_ns"] - trace.start_of(row), "does": _does(row), "awaited": _awaited(row)}
        for row in rows
    ]
    columns = [
        Column("start_ns", "start"),
        Column("dur_ns", "dur"),
        Column("pid", "pid"),
        *(
            [Column("tid", "thread", drop_order=1)]
            if any(row["tid"] not in (None, row["pid"]) for row in segments)
            else []
        ),
        Column("line", "line", drop_order=1),
        *([Column("awaited", "waited via", drop_order=2)] if any(row["awaited"] for row in segments) else []),
        Column("does", "what", min_width=_MIN_CALL_WIDTH),
    ]
    return Listing("path", columns, segments, trace.tick_ns, moments=frozenset(["start_ns"]))


def _does(row: Row) -> str:
    program = short(row["program"])
    target = row["target"] if row["class"] != "gap" and row["pieces"] == 1 else None
    what = " ".join(shown(part) for part in (name_of(row), target) if part)
    if row["what"] in ("resume", "spawn"):
        what = {"resume": f"resumes after {what}", "spawn": f"starts a child with {what}"}[row["what"]]
    if row["pieces"] > 1:
        what = f"{units.counted(row['pieces'], 'part')}, mostly {what}"
    return f"{shown(program)}: {what}" if program else what


def _awaited(row: Row) -> str:
    """The kind of wait of another process for this one, marked if it is inferred."""
    return ", ".join(part for part in (row["how"], "inferred" if row["sure"] == "inferred" else None) if part)
