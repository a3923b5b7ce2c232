"""loops: the same few calls again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form

if TYPE_CHECKING:
    from tracealyze.table import Row

_FOR_PROGRAMS = (
    *("pid", "tid", "program", "turns", "period", "body", "total_ns", "dominant", "dominant_ns", "dominant_calls"),
    *("failing", "distinct_targets", "first_line", "last_line"),
)
_LEAST_OF_A_BODY = 24


def command(
    captures: shared.Captures = None,
    pids: shared.Pids = None,
    programs: shared.Programs = None,
    start: shared.Start = None,
    end: shared.End = None,
    root: shared.Root = None,
    where: shared.Where = None,
    top: shared.Top = 20,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """List sequences of calls that a task repeats: how often, how long, and what each turn does."""
    from tracealyze.render.listing import FORMS, Column, Listing

    trace = Choice.of(captures, pids, programs, start, end, root, input_format, where).trace()
    rows = sorted(trace.loops, key=lambda row: -(row["total_ns"] or 0))[:top]
    chosen = shared.form_of(form, as_json)
    if chosen in (Form.JSON, Form.CSV):
        listing = Listing("loops", [Column(name, name) for name in _FOR_PROGRAMS], rows, trace.dur_tick_ns)
    else:
        columns = [
            Column("pid", "pid"),
            Column("turns", "turns"),
            Column("total_ns", "total"),
            Column("dominant_ns", "in the costliest", spare=1),
            Column("distinct_targets", "targets", spare=2),
            Column("first_line", "line", spare=3),
            Column("what", "each turn", least=_LEAST_OF_A_BODY),
        ]
        listing = Listing("loops", columns, [dict(row) | {"what": _body(row)} for row in rows], trace.dur_tick_ns)
    FORMS[chosen](listing)
    shared.close(trace, strict)


def _body(row: Row) -> str:
    return f"{row['dominant']}" if row["period"] == 1 else " · ".join(row["body"])
