"""diff: what changed from some captures to others."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form
from tracealyze.errors import WrongUsage


class Only(StrEnum):
    """One of the views."""

    CLASSES = "classes"
    PROCESSES = "processes"
    CALLS = "calls"
    TARGETS = "targets"


def command(
    captures: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BEFORE AFTER]", help="Two captures; a glob is several runs.", show_default=False),
    ] = None,
    before: Annotated[
        list[str] | None, typer.Option("--before", metavar="CAPTURE", help="A run of before; may be repeated.")
    ] = None,
    after: Annotated[
        list[str] | None, typer.Option("--after", metavar="CAPTURE", help="A run of after; may be repeated.")
    ] = None,
    only: Annotated[Only | None, typer.Option("--only", help="Show only this view.", show_default=False)] = None,
    programs: shared.Programs = None,
    start: shared.Start = None,
    end: shared.End = None,
    where: shared.Where = None,
    top: shared.Top = 15,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """Say what changed from BEFORE to AFTER: time on the path, calls and bytes, per class, process, call and target.

    Several runs a side: `tracealyze diff --before a1 --before a2 --after b1 --after b2`; their median is compared.
    """
    from tracealyze.compare.diff import VIEWS, diff
    from tracealyze.compare.metrics import Run
    from tracealyze.render import diff as rendered
    from tracealyze.render import json
    from tracealyze.render.listing import FORMS

    def runs(named: Sequence[str]) -> list[Run]:
        choice = Choice.of(list(named), None, programs, start, end, None, input_format, where)
        return [Run(trace) for trace in choice.traces()]

    then, now = (runs(named) for named in _sides(captures or [], before or [], after or []))
    found = diff(then, now)
    if shared.form_of(form, as_json) is Form.JSON:
        json.write(found.document())
    elif form is Form.TABLE:
        rendered.show(found, top, only)
    elif form is Form.MARKDOWN:
        rendered.as_markdown(found, top, only)
    else:
        view = next(view for view in VIEWS if view.name == (only or Only.CALLS))
        FORMS[form](rendered.listing(view, found, None))
    for run in (*then, *now):
        shared.tell_losses(run.trace)
    shared.must_be_whole(sum(shared.lost_lines(run.trace) for run in (*then, *now)), strict)


def _sides(captures: Sequence[str], before: Sequence[str], after: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The captures of both sides; which is which is never guessed."""
    if before and after and not captures:
        return before, after
    if len(captures) == 2 and not before and not after:
        return captures[:1], captures[1:]
    if len(captures) == 1 and bool(before) != bool(after):
        return (before, captures) if before else (captures, after)
    raise WrongUsage(
        "diff takes two captures, BEFORE and AFTER; for several runs of a side name each with --before or --after."
    )
