"""events: the events of a capture as a table, one row each."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form

_ON_A_TERMINAL = 50


def command(
    captures: shared.Captures = None,
    pids: shared.Pids = None,
    programs: shared.Programs = None,
    syscalls: Annotated[
        list[str] | None, typer.Option("--syscall", metavar="NAME", help="Only this call; may be repeated.")
    ] = None,
    start: shared.Start = None,
    end: shared.End = None,
    root: shared.Root = None,
    where: shared.Where = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", metavar="N", min=1, help="How many; all in a pipe, 50 on a terminal.", show_default=False
        ),
    ] = None,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """List the events in the order of the capture: when, who, what on what, with which result, how long."""
    from tracealyze.render import events

    choice = Choice.of(captures, pids, programs, start, end, root, input_format, where)
    trace = choice.trace(syscalls or ())
    limit = top or (_ON_A_TERMINAL if sys.stdout.isatty() else None)
    events.FORMS[shared.form_of(form, as_json)](trace, limit)
    shared.close(trace, strict)
