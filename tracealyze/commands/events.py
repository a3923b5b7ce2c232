"""events: the events of a capture as a table, one row each."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form
from tracealyze.errors import UnusableInput, did_you_mean
from tracealyze.render import output

if TYPE_CHECKING:
    from tracealyze.trace import Trace

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
    if syscalls and not len(trace.events_of(limit=1)):
        _must_be_right(syscalls, trace)
    limit = top or (_ON_A_TERMINAL if sys.stdout.isatty() else None)
    events.FORMS[shared.form_of(form, as_json)](trace, limit)
    shared.close(trace, strict)


def _must_be_right(syscalls: Sequence[str], trace: Trace) -> None:
    """A name that is nearly there is misspelt; that there is no such call may be the answer."""
    from tracealyze import syscall_families as families

    seen = {name for name in trace.select().calls(by=["syscall"]).column("syscall") if name}
    for name in syscalls:
        if name not in seen and not families.is_syscall(name) and (hint := did_you_mean(name, seen | families.KNOWN)):
            raise UnusableInput(f'no call "{name}" in the capture.{hint}')
    output.note(f"No event is a call of {' or '.join(syscalls)}.")
