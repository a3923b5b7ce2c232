"""stages: what a log says again and again, of which items, and what each further item costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form
from tracealyze.render import output

if TYPE_CHECKING:
    from tracealyze.trace import Trace


def command(
    captures: shared.Captures = None,
    start: shared.Start = None,
    end: shared.End = None,
    where: shared.Where = None,
    top: shared.Top = 20,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """List the stages of a log: messages that differ in a number or name only, time after each, and what items cost.

    Of several logs, the stages stand side by side."""
    from tracealyze.render.listing import FORMS, Column, Listing
    from tracealyze.summary import STAGES

    trace = Choice.of(captures, None, None, start, end, None, input_format, where).trace()
    chosen = shared.form_of(form, as_json)
    if chosen is Form.JSON:
        _document(trace, top)
    elif chosen is Form.CSV:
        columns = [Column(name, name) for name in ("capture", *STAGES)]
        FORMS[chosen](Listing("stages", columns, trace.stages.head(top)))
    else:
        _shown(trace, top, chosen)
    if not any(each.dur_kind == "gap" for each in trace.captures):
        output.note("Only logs have stages; of calls, tracealyze loops and tree show what is repeated.")
    shared.close(trace, strict)


def _document(trace: Trace, top: int) -> None:
    from tracealyze.render import json
    from tracealyze.summary import ITEMS, STAGES

    json.write(
        {
            "items": [{key: row[key] for key in ("capture", *ITEMS)} for row in trace.items.head(top)],
            "stages": [{key: row[key] for key in ("capture", *STAGES)} for row in trace.stages.head(top)],
        }
    )


def _shown(trace: Trace, top: int, form: Form) -> None:
    from tracealyze.render import stages
    from tracealyze.render.listing import FORMS
    from tracealyze.render.terminal import Paper
    from tracealyze.sanitize import shown

    paper, rows = Paper(), list(trace.stages)
    several = len({row["capture"] for row in rows}) > 1
    told = stages.telling(trace) if form is Form.TABLE else []
    for item in told:
        name = f"{shown(trace.captures[item['capture']].path)}: " if several else ""
        paper.paragraph(name + stages.sentence(item, trace.tick_ns))
    if told:
        paper.line(("", ""))
    if several:
        FORMS[form](stages.side_by_side(rows[: top * len(trace.captures)], trace.captures, trace.tick_ns))
        return
    largest = sorted(rows, key=lambda row: -(row["exclusive_ns"] or 0))[:top]
    largest.sort(key=lambda row: (row["start_ns"], row["first_line"]))
    FORMS[form](stages.listing(largest, trace.tick_ns))
    if len(rows) > top:
        output.note(f"Left out: {len(rows) - top} stages with less silence; --top says how many to show.")
