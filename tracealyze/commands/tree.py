"""tree: who started whom, how long each lived, and what it spent its life on."""

from __future__ import annotations

from typing import Annotated

import typer

from tracealyze import units
from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form
from tracealyze.render import output


def command(
    captures: shared.Captures = None,
    pids: shared.Pids = None,
    programs: shared.Programs = None,
    start: shared.Start = None,
    end: shared.End = None,
    root: shared.Root = None,
    where: shared.Where = None,
    threads: Annotated[bool, typer.Option("--threads", help="Show threads below their processes.")] = False,
    top: shared.Top = 1000,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """Show the processes as a tree: life, time on the path with and without what it waited for, slack, and the end.

    The slack of a process is how much longer it could have gone on without moving the end: what its waiter waits for
    others meanwhile. It is told only where nothing but its end was waited for.
    """
    from tracealyze.render import tree
    from tracealyze.render.listing import FORMS

    trace = Choice.of(captures, pids, programs, start, end, root, input_format, where).trace()
    chosen = shared.form_of(form, as_json)
    rows = tree.rows_of(trace, threads)
    listing = tree.drawn(rows, trace, top) if chosen is Form.TABLE else tree.plain(rows[:top], trace.tick_ns)
    FORMS[chosen](listing)
    if len(rows) > top:
        output.note(f"Left out: {units.counted(len(rows) - top, 'row')} of {units.count(len(rows))}; --top shows more.")
    shared.close(trace, strict)
