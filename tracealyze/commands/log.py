"""log: the stages of a log, and the longest silences between messages or calls."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.commands._options import CaptureOptions, RowOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render import output
from tracealyze.render.forms import Form

if TYPE_CHECKING:
    from tracealyze.commands.gaps import Gaps
    from tracealyze.trace.trace import Trace

EXAMPLES = (
    "tracealyze log boot.log",
    "tracealyze log before.log after.log --only stages",
    "tracealyze log trace.out --only gaps --min 1s",
)


class Only(StrEnum):
    """The views of a log."""

    STAGES = "stages"
    GAPS = "gaps"


@with_options()
def command(
    source: CaptureOptions,
    rows: RowOptions,
    only: Annotated[
        Only | None, typer.Option("--only", metavar="VIEW", help="Show only this view.", show_default=False)
    ] = None,
    min_length: Annotated[
        str | None,
        typer.Option(
            "--min", metavar="TIME", help="Hide gaps shorter than this, such as 5ms. Default: 0.1% of the window."
        ),
    ] = None,
) -> None:
    """Show the stages and the longest silences of a log.

    Stages are messages that differ only in a number or name. For each kind of items, the cost of an additional one is
    shown; the stages of several logs are next to each other. Between calls a task runs its own code, or makes calls
    that were not traced.

    As CSV there is one view: the stages of a log, the gaps of a trace of calls."""
    from tracealyze.commands import gaps, stages

    form = rows.form
    trace = source.trace()
    is_log = any(each.dur_kind == "gap" for each in trace.captures)
    views = (only,) if only else tuple(Only) if is_log else (Only.GAPS,)
    found = gaps.found_in(trace, min_length, rows.top) if Only.GAPS in views else None
    if form is Form.JSON:
        _document(trace, views, found, rows.top)
    else:
        for number, view in enumerate(views if form is not Form.CSV else views[:1]):
            output.write("\n" if number else "")
            if view is Only.STAGES:
                stages.show(trace, form, rows.top)
            elif found is not None:
                gaps.show(trace, found, form)
    if found is not None:
        gaps.note_hidden(trace, found)
    source.close(trace)


def _document(trace: Trace, views: tuple[Only, ...], found: Gaps | None, top: int) -> None:
    from tracealyze.commands import gaps, stages
    from tracealyze.render import json

    document = stages.document(trace, top) if Only.STAGES in views else {}
    if found is not None:
        document["gaps"] = gaps.document(found)
    with analyzing():
        json.write(document)
