"""diff: what changed between two captures, or two sets of runs, or how several states differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from tracealyze.base.errors import WrongUsage
from tracealyze.commands import scaling
from tracealyze.commands._options import CaptureOptions, RowOptions, RuleOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render.forms import Form

EXAMPLES = (
    "tracealyze diff before.strace after.strace",
    "tracealyze diff --before a1 --before a2 --after b1 --after b2",
    "tracealyze diff before.strace after.strace --only processes",
    "tracealyze diff healthy.txt degraded.txt stuck.txt",
    "tracealyze diff 10=small.strace 20=mid.strace 40=large.strace 80=huge.strace",
    "tracealyze diff --n-from 'boot-([0-9]+)' 'boot-*.strace' --target-n 1000",
)


class Only(StrEnum):
    """The views of a difference."""

    CLASSES = "classes"
    PROCESSES = "processes"
    CALLS = "calls"
    TARGETS = "targets"


@with_options(omit=["captures", "pids", "root"], top=15)
def command(
    source: CaptureOptions,
    rules: RuleOptions,
    rows: RowOptions,
    captures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BEFORE AFTER]...",
            help="Two captures; a glob stands for several runs. More captures are states, shown as columns; "
            "N=CAPTURE names the size of each.",
            show_default=False,
        ),
    ] = None,
    before: Annotated[
        list[str] | None, typer.Option("--before", metavar="CAPTURE", help="A run before the change; may be repeated.")
    ] = None,
    after: Annotated[
        list[str] | None, typer.Option("--after", metavar="CAPTURE", help="A run after the change; may be repeated.")
    ] = None,
    only: Annotated[
        Only | None, typer.Option("--only", metavar="VIEW", help="Show only this view.", show_default=False)
    ] = None,
    n_from: scaling.NFrom = None,
    target: scaling.TargetN = None,
) -> None:
    """Show what changed between two captures: critical-path time, calls and bytes, per class, process, call and target.

    Several runs per side: `tracealyze diff --before a1 --before a2 --after b1 --after b2`; their medians are compared.

    Three or more captures are states of one system, such as healthy, degraded and stuck. Their calls and times are
    columns, one row per syscall. Tables of strace -c, truss -c, dtruss -c and perf trace -s are captures, too.

    Captures with sizes show how calls grow with the problem size: the number of calls of each kind is fitted as
    c + a·N^k. At least four sizes that span a factor of eight are required.
    """
    from tracealyze.compare.diff import VIEWS, diff
    from tracealyze.compare.run import Run
    from tracealyze.render import diff as rendered
    from tracealyze.render import json
    from tracealyze.render.listing import write_listing

    form, chosen = rows.form, rules.chosen()
    sizes = scaling.Sizes(n_from, target)
    if sizes != scaling.Sizes() or scaling.have_sizes(captures or []):
        scaling.show(replace(source, captures=captures), chosen, rows, sizes)
        return
    if len(captures or []) > 2 and not (before or after or only):
        _write_states(captures or [], source, rows)
        return
    sides = _sides(captures or [], before or [], after or [])
    then, now = ([Run(trace) for trace in replace(source, captures=list(side)).traces(chosen)] for side in sides)
    with analyzing():
        found = diff(then, now)
    if form is Form.JSON:
        json.write(found.document())
    elif form is Form.TABLE:
        rendered.show(found, rows.top, only)
    elif form is Form.MARKDOWN:
        rendered.as_markdown(found, rows.top, only)
    else:
        view = next(view for view in VIEWS if view.name == (only or Only.CALLS))
        write_listing(rendered.listing(view, found, None), form)
    source.close(*(run.trace for run in (*then, *now)))


def _write_states(captures: Sequence[str], source: CaptureOptions, rows: RowOptions) -> None:
    from tracealyze.compare.run import Run
    from tracealyze.compare.states import states
    from tracealyze.render import states as rendered

    groups = [[Run(trace) for trace in replace(source, captures=[each]).traces()] for each in captures]
    with analyzing():
        found = states(groups)
    rendered.write(found, rows.top, rows.form)
    source.close(*(run.trace for group in groups for run in group))


def _sides(captures: Sequence[str], before: Sequence[str], after: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The captures of both sides; which is which is never guessed."""
    if before and after and not captures:
        return before, after
    if len(captures) == 2 and not before and not after:
        return captures[:1], captures[1:]
    if len(captures) == 1 and bool(before) != bool(after):
        return (before, captures) if before else (captures, after)
    raise WrongUsage(
        "diff takes two captures, BEFORE and AFTER. For several runs per side, name each with --before or --after. "
        "For states as columns, name three or more captures without --before, --after and --only."
    )
