"""tree: which process started which, how long each lived, and what it spent its life on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tracealyze.base import units
from tracealyze.commands import _losses as losses
from tracealyze.commands._options import CaptureOptions, RowOptions, with_options
from tracealyze.commands._progress import analyzing
from tracealyze.render import output
from tracealyze.render.forms import Form

if TYPE_CHECKING:
    from tracealyze.render.tree import Tree


EXAMPLES = (
    "tracealyze tree trace.out",
    "tracealyze tree trace.out --depth 2 --min 100ms",
    "tracealyze tree trace.out --threads --no-fold",
)


MAX_ROWS = 1000

Threads: TypeAlias = Annotated[bool, typer.Option("--threads", help="Show threads below their processes.")]
Depth: TypeAlias = Annotated[
    int | None, typer.Option("--depth", metavar="N", min=0, help="Hide processes more than N levels below the top.")
]
MinLength: TypeAlias = Annotated[
    str | None, typer.Option("--min", metavar="TIME", help="Hide processes with a shorter lifetime, such as 5ms.")
]
NoFold: TypeAlias = Annotated[
    bool, typer.Option("--no-fold", help="Show siblings that ran the same command one by one.")
]


@dataclass(frozen=True)
class Shape:
    """Which rows the tree has."""

    threads: bool = False
    depth: int | None = None
    min_length: str | None = None
    no_fold: bool = False


@with_options(top=MAX_ROWS)
def command(
    source: CaptureOptions,
    rows: RowOptions,
    threads: Threads = False,
    depth: Depth = None,
    min_length: MinLength = None,
    no_fold: NoFold = False,
) -> None:
    """Show processes as a tree: lifetime, critical path, exit status.

    The slack of a process is how much longer it could have run without delaying the end, because its parent was
    blocked on other processes meanwhile. It is shown only where the parent waited for nothing but its exit.
    Siblings that ran the same command are one row with the sums of their times.
    """
    show(source, rows, Shape(threads, depth, min_length, no_fold))


def show(source: CaptureOptions, rows: RowOptions, shape: Shape) -> None:
    """Write the tree of a capture."""
    from tracealyze.render import tree
    from tracealyze.render.listing import write_listing

    form = rows.form
    is_drawn = form in (Form.TABLE, Form.MARKDOWN)
    trace = source.trace()
    min_ns = 0 if shape.min_length is None else units.read_duration(shape.min_length)
    is_flat = not is_drawn and shape.depth is None and not min_ns
    pruning = tree.Pruning(shape.depth, min_ns, folds=is_drawn and not shape.no_fold, is_flat=is_flat)
    with analyzing():
        found = tree.tree_of(trace, pruning, rows.top, threads=shape.threads)
    if found.rows or not losses.replaces_listing(trace, form):
        write_listing(tree.drawn(found.rows, trace) if is_drawn else tree.plain(found.rows, trace.tick_ns), form)
    _note_hidden(found)
    source.close(trace)


def _note_hidden(found: Tree) -> None:
    hidden = found.number - len(found.rows)
    if hidden:
        output.note(f"Hidden: {units.counted(hidden, 'row')} of {units.count(found.number)}; use --top N to see more.")
    elif pruned := found.every - sum(row.get("folded", 1) for row in found.rows):
        output.note(f"Hidden by --depth or --min: {units.counted(pruned, 'row')} of {units.count(found.every)}.")
