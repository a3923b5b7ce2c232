"""summarize: where the wall time of a capture went."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.base.errors import WrongUsage
from tracealyze.commands import _losses as losses
from tracealyze.commands._later import Later
from tracealyze.commands._options import AxisOptions, CaptureOptions, RowOptions, RuleOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render import json, output
from tracealyze.render.forms import BRIEF_TOKENS, MIN_BRIEF_TOKENS, Form

if TYPE_CHECKING:
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.trace import Trace


EXAMPLES = (
    "tracealyze summarize trace.out",
    "tracealyze summarize --pid 4711 --from +2 --to +5 trace.out",
    "tracealyze summarize trace.out --format markdown > ticket.md",
    "tracealyze summarize 'run*.strace'",
    "tracealyze summarize trace.out --every 10s",
    "tracealyze summarize trace.out --brief",
    "tracealyze summarize trace.out --brief --evidence",
)


@with_options(top=10)
def command(
    source: CaptureOptions,
    rules: RuleOptions,
    rows: RowOptions,
    axis: AxisOptions,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Show everything: all findings, processes, calls, the capture. JSON and CSV then have all rows.",
        ),
    ] = False,
    each: Annotated[
        bool, typer.Option("--each", help="With several captures or runs, show the report of each, not of the slowest.")
    ] = False,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            metavar="TIME",
            help="A row per interval of this length, such as 10s, instead of the report: calls, critical path, "
            "latencies, new findings; and what changed when.",
        ),
    ] = None,
    is_brief: Annotated[
        bool,
        typer.Option(
            "--brief",
            help="A short report for a ticket or a language model: causes, numbers and next commands, "
            "without names, paths and messages of the trace.",
        ),
    ] = False,
    evidence: Annotated[
        bool,
        typer.Option(
            "--evidence",
            help="With --brief: add how the run ended and the lines that prove it, quoted and marked as data.",
        ),
    ] = False,
    max_tokens: Annotated[
        int,
        typer.Option(
            "--max-tokens",
            metavar="N",
            min=MIN_BRIEF_TOKENS,
            help="With --brief: its maximum length, in tokens of three bytes.",
        ),
    ] = BRIEF_TOKENS,
) -> None:
    """Explain where the time went: diagnosis, findings, critical path."""
    form, chosen = rows.form, rules.chosen()
    if source.condition is not None:
        output.note("--where filters the events counted below; the time breakdown still covers the whole window.")
    if evidence and not is_brief:
        raise WrongUsage("--evidence belongs to --brief; the other reports quote their evidence anyway.")
    if every is not None:
        if is_brief or each or full:
            raise WrongUsage("--every is a report of its own, without --brief, --each and --full.")
        lost = _intervals(source.traces(chosen), every, form)
    elif is_brief:
        if form not in (Form.TABLE, Form.MARKDOWN):
            raise WrongUsage(f"--brief is text: use it without --format {form}.")
        lost = _brief(source.traces(chosen), max_tokens, evidence)
    elif form is Form.JSON:
        lost = _document(source.trace(rules=chosen), full, axis)
    elif each or form is Form.CSV:
        lost = sum(_show(trace, form, rows.top, full, number) for number, trace in enumerate(source.traces(chosen)))
    else:
        lost = write_reports(source.traces(chosen), form, rows.top, full, axis)
    source.must_be_complete(lost)


def _intervals(traces: Iterable[Trace], every: str, form: Form) -> int:
    """The intervals of each capture."""
    from tracealyze.render import every as table
    from tracealyze.trace.intervals import intervals, read_every

    every_ns = read_every(every)
    lost = 0
    documents = []
    for number, trace in enumerate(traces):
        with analyzing():
            found = intervals(trace, every_ns)
        if form is Form.JSON:
            documents.append(table.document(trace, every_ns, found))
        else:
            output.write("\n" if number else "")
            table.write(trace, every_ns, found, form)
        lost += losses.lost_lines(trace)
    if form is Form.JSON:
        json.write({"schema": table.SCHEMA, "captures": documents})
    return lost


def _document(trace: Trace, full: bool, axis: AxisOptions) -> int:
    from tracealyze.trace.summary import long_lists

    with analyzing():
        # At the same time as the findings: parts of both keep one core busy.
        lists = None if full else Later(lambda: long_lists(trace)).get
        summary = trace.summary()
        parts = summary.parts(full=full, lists=lists, aligned=axis.aligned or ())
    json.write_parts(parts)
    return losses.lost_lines(trace)


def _brief(traces: Iterable[Trace], max_tokens: int, evidence: bool) -> int:
    """The short report of each capture."""
    from tracealyze.render.brief import brief

    lost = 0
    for number, trace in enumerate(traces):
        with analyzing():
            text = brief(trace, max_tokens, evidence=evidence)
        output.write("\n" if number else "")
        output.write(text)
        lost += losses.lost_lines(trace)
    return lost


def write_reports(traces: Iterable[Trace], form: Form, top: int, full: bool, axis: AxisOptions | None = None) -> int:
    """A line per capture and the report of the slowest one, or only the report of a single one."""
    from tracealyze.render import overview
    from tracealyze.trace.together.meanwhile import Moments, meanwhile, moments
    from tracealyze.trace.together.shared_axis import extent_of, must_name_captures, notes

    aligned = axis.aligned or () if axis else ()
    told: list[Moments] = []
    runs: list[overview.Run] = []
    slowest: tuple[Trace, Summary] | None = None
    at = lost = 0
    for trace in traces:
        with analyzing():
            summary = trace.summary()
        runs.append(overview.run_of(trace, summary))
        told.append(moments(trace, extent_of(trace, aligned)))
        lost += losses.lost_lines(trace)
        if slowest is None or runs[-1].weight > runs[at].weight:
            slowest, at = (trace, summary), len(runs) - 1
    if slowest is None:
        return lost
    extents = [each.extent for each in told]
    must_name_captures(aligned, extents)
    used = 0
    if len(runs) > 1:
        show = overview.show if form is Form.TABLE else overview.show_markdown
        sentences = [*(each.text for each in meanwhile(told)), *notes(extents)]
        used = show(runs, at, sentences)
    _report(*slowest, form, top, full, used)
    return lost


def _show(trace: Trace, form: Form, top: int, full: bool, number: int) -> int:
    with analyzing():
        summary = trace.summary()
    if form is Form.CSV:
        from tracealyze.render import partition
        from tracealyze.render.listing import write_listing

        write_listing(partition.listing(summary, trace.tick_ns, full=full), form)
        losses.report(trace)
    else:
        output.write("\n" if number else "")
        _report(trace, summary, form, top, full)
    return losses.lost_lines(trace)


def _report(trace: Trace, summary: Summary, form: Form, top: int, full: bool, used: int = 0) -> None:
    """The report of one capture, after that many lines."""
    if form is Form.MARKDOWN:
        from tracealyze.render import report_markdown

        report_markdown.show(trace, summary, top, full)
    else:
        from tracealyze.render import report

        report.show(trace, summary, top, full, used)
