"""tree: which process started which, how long each lived, and what it spent its life on."""

from __future__ import annotations

from typing import Annotated

import typer

from tracealyze import units
from tracealyze.commands._options import CaptureOptions, RowOptions, with_options
from tracealyze.render import output
from tracealyze.render.forms import Form


@with_options(top=1000)
def command(
    source: CaptureOptions,
    rows: RowOptions,
    threads: Annotated[bool, typer.Option("--threads", help="Show threads below their processes.")] = False,
) -> None:
    """Show processes as a tree: lifetime, exclusive and inclusive time on the path, slack, and exit status.

    The slack of a process is how much longer it could have run without delaying the end, because its parent was
    blocked on other processes meanwhile. It is shown only where the parent waited for nothing but its exit.
    """
    from tracealyze.render import tree
    from tracealyze.render.listing import write_listing

    form, top = rows.form, rows.top
    trace = source.trace()
    processes = tree.rows_of(trace, threads)
    listing = tree.drawn(processes, trace, top) if form is Form.TABLE else tree.plain(processes[:top], trace.tick_ns)
    write_listing(listing, form)
    if len(processes) > top:
        hidden = units.counted(len(processes) - top, "row")
        output.note(f"Left out: {hidden} of {units.count(len(processes))}; --top shows more.")
    source.close(trace)
