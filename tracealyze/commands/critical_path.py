"""critical-path: who the wall time belonged to, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze import units
from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form
from tracealyze.render import output

if TYPE_CHECKING:
    from tracealyze.trace import Trace

# Unless told otherwise, shorter stretches than this share of the window are left out; where most of it is in such, all
# but so many.
_LEAST_SHARE = 0.005
_MOST = 50
_COLUMNS = (
    *("start_ns", "dur_ns", "task", "pid", "tid", "program", "class", "what", "syscall", "op", "target", "line"),
    *("pieces", "waiter_pid", "how", "sure"),
)


def command(
    captures: shared.Captures = None,
    least: Annotated[
        str | None,
        typer.Option(
            "--min",
            metavar="TIME",
            help="Only stretches of at least this length, such as 5ms; unless told, those of "
            f"{_LEAST_SHARE:.1%} of the window, or the {_MOST} longest if these are not half of it.",
        ),
    ] = None,
    pids: shared.Pids = None,
    programs: shared.Programs = None,
    start: shared.Start = None,
    end: shared.End = None,
    root: shared.Root = None,
    where: shared.Where = None,
    top: shared.Top = 1000,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """List the stretches of the path in order of time: who everybody waited for, and what it did."""
    from tracealyze.render import critical_path
    from tracealyze.render.listing import FORMS, Column, Listing

    trace = Choice.of(captures, pids, programs, start, end, root, input_format, where).trace()
    wall_ns = trace.window.wall_ns
    least_ns = units.read_duration(least) if least is not None else round(wall_ns * _LEAST_SHARE)
    stretches, told = list(trace.path_from(least_ns)), f"shorter than {units.least(least_ns, trace.tick_ns)}"
    if least is None and 2 * sum(row["dur_ns"] for row in stretches) < wall_ns:
        stretches = list(trace.path_from(least_ns, _MOST))
        told = "no longer than " + units.duration(min((row["dur_ns"] for row in stretches), default=0), trace.tick_ns)
    rows = stretches[:top]
    chosen = shared.form_of(form, as_json)
    if chosen in (Form.JSON, Form.CSV):
        FORMS[chosen](Listing("path", [Column(name, name) for name in _COLUMNS], rows, trace.tick_ns))
    else:
        FORMS[chosen](critical_path.drawn(rows, trace))
    behind = stretches[top:]
    if behind:
        lasts = units.duration(sum(row["dur_ns"] for row in behind), trace.tick_ns)
        last = units.counted(len(behind), "stretch", "stretches")
        output.note(f"Left out: the last {last}, {lasts}; --top shows more.")
    _say_the_rest(trace, wall_ns - sum(row["dur_ns"] for row in stretches), told)
    shared.close(trace, strict)


def _say_the_rest(trace: Trace, left_ns: int, told: str) -> None:
    if trace.window.reason is not None:
        output.note("No path: without time stamps there is no wall time to follow.")
    elif left_ns:
        left, chosen = units.duration(left_ns, trace.tick_ns), " or not chosen" if trace.selection.where else ""
        output.note(f"Left out: {left} in stretches {told}{chosen}; --min 0s shows all.")
