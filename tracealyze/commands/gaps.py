"""gaps: time between two calls of a task, and silences of a log."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tracealyze import units
from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form
from tracealyze.render import output
from tracealyze.render.text import symbols

# Unless told otherwise, gaps below this share of the window are left out.
_LEAST_SHARE = 0.001
_COLUMNS = ("pid", "tid", "program", "start_ns", "dur_ns", "line", "next_line", "before", "after")
_LEAST_OF_A_CALL = 16


def command(
    captures: shared.Captures = None,
    least: Annotated[
        str | None,
        typer.Option(
            "--min", metavar="TIME", help="Only gaps of at least this length, such as 5ms.", show_default=False
        ),
    ] = None,
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
    """List the longest times between two calls of a task (user code, or calls left out) or two messages of a log."""
    from tracealyze.render.listing import FORMS, Column, Listing

    trace = Choice.of(captures, pids, programs, start, end, root, input_format, where).trace()
    least_ns = units.read_duration(least) if least is not None else round(trace.window.wall_ns * _LEAST_SHARE)
    rows = list(trace.gaps_from(least_ns))[:top]
    chosen = shared.form_of(form, as_json)
    if chosen in (Form.JSON, Form.CSV):
        listing = Listing("gaps", [Column(name, name) for name in _COLUMNS], rows, trace.tick_ns)
    else:
        arrow, first_ns = symbols(sys.stdout).arrow, trace.first_ns
        told = [
            dict(row)
            | {"start_ns": row["start_ns"] - first_ns}
            | {"between": f"{row['before']} {arrow} {row['after'] or ''}".strip()}
            for row in rows
        ]
        columns = [
            Column("pid", "pid"),
            Column("start_ns", "after", spare=2),
            Column("dur_ns", "gap"),
            Column("line", "line", spare=3),
            Column("between", "between", least=_LEAST_OF_A_CALL),
        ]
        listing = Listing("gaps", columns, told, trace.tick_ns, moments=frozenset(["start_ns"]))
    FORMS[chosen](listing)
    if least is None and least_ns:
        output.note(f"Left out: gaps shorter than {units.least(least_ns, trace.tick_ns)}; --min 0s shows all.")
    shared.close(trace, strict)
