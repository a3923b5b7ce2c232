"""summarize: where the wall time of a capture went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form
from tracealyze.render import output

if TYPE_CHECKING:
    from tracealyze.trace import Trace


def command(
    captures: shared.Captures = None,
    pids: shared.Pids = None,
    programs: shared.Programs = None,
    start: shared.Start = None,
    end: shared.End = None,
    root: shared.Root = None,
    where: shared.Where = None,
    folders: shared.RuleFolders = None,
    select: shared.Select = None,
    ignore: shared.Ignore = None,
    top: shared.Top = 10,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """Say where the wall time of a capture went, who ran, what was called, and what is worth a look."""
    choice = Choice.of(captures, pids, programs, start, end, root, input_format, where)
    choice = choice.with_rules(shared.chosen_rules(folders, select, ignore))
    if where is not None:
        output.note("Only events that meet --where count; where the time went, and what is left of it, is told of all.")
    if shared.form_of(form, as_json) is Form.JSON:
        lost = _document(choice.trace())
    else:
        lost = sum(_shown(trace, form, top, number) for number, trace in enumerate(choice.traces()))
    shared.must_be_whole(lost, strict)


def _document(trace: Trace) -> int:
    from tracealyze.render import json

    json.write_parts(trace.summary().parts())
    return shared.lost_lines(trace)


def _shown(trace: Trace, form: Form, top: int, number: int) -> int:
    summary = trace.summary()
    if form is Form.TABLE:
        from tracealyze.render import report

        output.write("\n" if number else "")
        report.show(trace, summary, top)
    elif form is Form.MARKDOWN:
        from tracealyze.render import report_markdown

        output.write("\n" if number else "")
        report_markdown.show(trace, summary, top)
    else:
        from tracealyze.render import partition
        from tracealyze.render.listing import FORMS

        FORMS[form](partition.listing(summary, trace.tick_ns))
        shared.tell_losses(trace)
    return shared.lost_lines(trace)
