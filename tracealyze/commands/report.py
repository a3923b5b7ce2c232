"""report: the analysis as one HTML file, with a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.base.errors import WrongUsage
from tracealyze.commands import _captures, _losses
from tracealyze.commands._options import AxisOptions, CaptureOptions, RuleOptions, with_options
from tracealyze.commands._output_file import STDOUT, name_beside, opened, output_option
from tracealyze.commands._progress import analyzing
from tracealyze.model.selection import Selection
from tracealyze.render import output
from tracealyze.trace.intervals import read_every

if TYPE_CHECKING:
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.trace import Trace

EXAMPLES = (
    "tracealyze report trace.out -o report.html",
    "tracealyze report trace.out --every 10s",
    "tracealyze report --before slow.strace fast.strace -o change.html",
)


@with_options()
def command(
    source: CaptureOptions,
    rules: RuleOptions,
    axis: AxisOptions,
    before: Annotated[
        list[str] | None,
        typer.Option(
            "--before", metavar="CAPTURE", help="Compare with this earlier capture. Repeatable, oldest first."
        ),
    ] = None,
    file: Annotated[
        str | None,
        output_option("a file next to the capture"),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            metavar="TIME",
            help="Add a section with intervals of this length, such as 10s: what changed when.",
        ),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, max=200, help="Show up to N rows of each list.")
    ] = 20,
) -> None:
    """Write the report as a web page with a timeline.

    The page is one file. It needs no network and no scripts, so it can be mailed, attached to a ticket, or kept with
    a build."""
    from tracealyze.render.page import document

    if every is not None and before:
        raise WrongUsage("--every is about one capture, so it excludes --before.")
    every_ns = read_every(every) if every is not None else None
    chosen = rules.chosen()
    earlier = [
        _analyzed(trace.with_rules(chosen))
        for name in before or ()
        for trace in _captures.traces([name], Selection(), source.input_format)
    ]
    runs = [_analyzed(trace) for trace in source.traces(chosen)]
    traces = [trace for trace, _ in (*earlier, *runs)]
    with analyzing():
        if earlier:
            from tracealyze.compare.diff import diff
            from tracealyze.compare.run import Run

            text = document.of_steps([*earlier, *runs], diff([Run(traces[0])], [Run(traces[-1])]), top)
        else:
            text = document.of_captures(runs, top, axis.aligned or (), every_ns)
    target = file or name_beside(traces[-1], "html")
    with opened(
        target, [file for trace in traces for each in trace.captures for file in each.files], is_text=True
    ) as to:
        to.write(text.encode())
    if target != STDOUT:
        output.note(f"Written: {target}")
    source.must_be_complete(sum(map(_losses.lost_lines, traces)))


def _analyzed(trace: Trace) -> tuple[Trace, Summary]:
    with analyzing():
        return trace, trace.summary()
