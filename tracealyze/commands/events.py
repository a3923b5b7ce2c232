"""events: the events of a capture as a table, one row each."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.base.errors import UnusableInput, did_you_mean
from tracealyze.commands import _losses as losses
from tracealyze.commands._options import CaptureOptions, RowOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render import output

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

EXAMPLES = (
    "tracealyze events trace.out --pid 4711 --from +1.5",
    "tracealyze events trace.out --where 'dur_ns >= 50ms' --top 20",
    "tracealyze events trace.out --syscall openat --format csv > opens.csv",
)

_MAX_ON_A_TERMINAL = 50


@with_options(omit=["top"])
def command(
    source: CaptureOptions,
    rows: RowOptions,
    syscalls: Annotated[
        list[str] | None, typer.Option("--syscall", metavar="NAME", help="Only this call; may be repeated.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--top",
            metavar="N",
            min=1,
            help=f"Show up to N events. Default: {_MAX_ON_A_TERMINAL} on a terminal, otherwise all.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List events in the order of the capture: time, process, call, target, result and duration."""
    from tracealyze.render import events

    form = rows.form
    trace = source.trace(syscalls or ())
    if syscalls and not len(trace.events_of(limit=1)):
        _must_be_spelt_right(syscalls, trace)
    losses.note_if_summary_only(trace)
    with analyzing():
        # Times are shown from the start of the window; the rows themselves are written as they are read.
        _ = trace.windows
    events.write(trace, limit or (_MAX_ON_A_TERMINAL if sys.stdout.isatty() else None), form)
    source.close(trace)


def _must_be_spelt_right(syscalls: Sequence[str], trace: Trace) -> None:
    """A name close to a known one is misspelt; otherwise no such call is the answer."""
    from tracealyze._engine import SYSCALLS

    seen = {name for name in trace.select().calls(by=["syscall"]).column("syscall") if name}
    for name in syscalls:
        if name not in seen and name not in SYSCALLS and (hint := did_you_mean(name, seen | SYSCALLS.keys())):
            raise UnusableInput(f'no call "{name}" in the capture.{hint}')
    output.note(f"No event is a call of {' or '.join(syscalls)}.")
