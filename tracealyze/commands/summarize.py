"""summarize: where the wall time of a capture went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.commands import _losses as losses
from tracealyze.commands._options import CaptureOptions, RowOptions, RuleOptions, with_options
from tracealyze.render import output
from tracealyze.render.forms import Form

if TYPE_CHECKING:
    from tracealyze.trace import Trace


@with_options(top=10)
def command(
    source: CaptureOptions,
    rules: RuleOptions,
    rows: RowOptions,
    full: Annotated[
        bool, typer.Option("--full", help="Show everything: all findings, processes, calls, the capture.")
    ] = False,
) -> None:
    """Show where the wall time of a capture went, which processes ran, which calls they made, and what to look at."""
    form, chosen = rows.form, rules.chosen()
    if source.condition is not None:
        output.note("--where filters the events counted below; the time breakdown still covers the whole window.")
    if form is Form.JSON:
        lost = _document(source.trace(rules=chosen))
    else:
        lost = sum(_show(trace, form, rows.top, full, number) for number, trace in enumerate(source.traces(chosen)))
    source.must_be_complete(lost)


def _document(trace: Trace) -> int:
    from tracealyze.render import json

    json.write_parts(trace.summary().parts())
    return losses.lost_lines(trace)


def _show(trace: Trace, form: Form, top: int, full: bool, number: int) -> int:
    summary = trace.summary()
    if form is Form.TABLE:
        from tracealyze.render import report

        output.write("\n" if number else "")
        report.show(trace, summary, top, full)
    elif form is Form.MARKDOWN:
        from tracealyze.render import report_markdown

        output.write("\n" if number else "")
        report_markdown.show(trace, summary, top, full)
    else:
        from tracealyze.render import partition
        from tracealyze.render.listing import write_listing

        write_listing(partition.listing(summary, trace.tick_ns), form)
        losses.report(trace)
    return losses.lost_lines(trace)
