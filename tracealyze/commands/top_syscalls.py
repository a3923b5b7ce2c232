"""top-syscalls: how often each call was made, and its cost."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.base.errors import WrongUsage
from tracealyze.commands._options import CaptureOptions, RowOptions, with_options
from tracealyze.commands._progress import analyzing

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.render.forms import Form


EXAMPLES = (
    "tracealyze top-syscalls trace.out",
    "tracealyze top-syscalls trace.out --by errno --sort failed",
    "tracealyze top-syscalls trace.out --program cc1 --by target --top 5",
    "tracealyze top-syscalls trace.out --by loop",
    "tracealyze top-syscalls trace.out --every 10s --top 3",
)


class By(StrEnum):
    """Keys that calls can be grouped by."""

    SYSCALL = "syscall"
    OP = "op"
    SHAPE = "shape"
    TARGET = "target"
    ERRNO = "errno"
    PROGRAM = "program"
    PID = "pid"
    TID = "tid"
    FUNCTION = "function"
    SOURCE = "source"
    MODULE = "module"
    LOOP = "loop"


class Sort(StrEnum):
    """Columns that rows can be sorted by."""

    TOTAL = "total"
    CALLS = "calls"
    FAILED = "failed"
    EXCLUSIVE = "exclusive"
    MEAN = "mean"
    MAX = "max"
    P99 = "p99"
    BYTES = "bytes"


_MIN_WIDTHS = {"target": 24, "shape": 24, "program": 12, "function": 24, "source": 24, "module": 12}
_OF_STACKS = (By.FUNCTION, By.SOURCE, By.MODULE)
_QUANTILES = {"mean": 1, "p50": 4, "p99": 3, "max": 2}
_KEYS = {By.OP: ["syscall", "op"]}
_SORTED_BY = {Sort.CALLS: "calls", Sort.FAILED: "failed", Sort.BYTES: "bytes"}


@with_options()
def command(
    source: CaptureOptions,
    rows: RowOptions,
    by: Annotated[list[By] | None, typer.Option("--by", metavar="KEY", help="Group by this key. Repeatable.")] = None,
    sort: Annotated[
        Sort, typer.Option("--sort", metavar="COLUMN", help="Sort by this column, largest first.")
    ] = Sort.TOTAL,
    every: Annotated[
        str | None,
        typer.Option("--every", metavar="TIME", help="The largest calls of each interval of this length, such as 10s."),
    ] = None,
) -> None:
    """Rank syscalls by cost: count, failures, duration, critical path.

    With --by loop, the sequences of calls that a task repeats: how often, how long, and what the loop body does."""
    from tracealyze.model.capture_input.recapture import without_stacks
    from tracealyze.render import output
    from tracealyze.render.cpu_times import cpu_columns, with_waiting
    from tracealyze.render.listing import Column, Listing, write_listing

    form = rows.form
    if every is not None:
        if by or sort is not Sort.TOTAL:
            raise WrongUsage("--every lists calls by program and name, the longest total first: no --by, no --sort.")
        _by_interval(source, every, rows.top, form)
        return
    if By.LOOP in (by or ()):
        _by_loop(source, rows, by or (), sort)
        return
    trace = source.trace()
    keys = list(dict.fromkeys(key for each in by or [By.OP] for key in _KEYS.get(each, [each.value])))
    with analyzing():
        calls: list[Row] = list(trace.calls(keys, limit=rows.top, order=_SORTED_BY.get(sort, f"{sort}_ns")))
    tick_ns = trace.dur_tick_ns
    if trace.is_mostly_table:
        from tracealyze.trace.summary import syscalls

        calls = syscalls(trace)[: rows.top]
        # The tracer's table has a resolution of its own, and there are no timestamps to take one from.
        keys, tick_ns = ["syscall"], 1
    if not trace.has_stacks and any(each in _OF_STACKS for each in by or ()):
        output.note(without_stacks(trace.captures[0].format))
    columns = [Column(key, key, min_width=_MIN_WIDTHS.get(key, 0)) for key in keys]
    columns += [Column("calls", "calls"), Column("failed", "failed"), Column("total_ns", "total")]
    calls = with_waiting(calls, trace)
    columns += cpu_columns(calls)
    columns += [Column("exclusive_ns", "on path")] if trace.window.reason is None else []
    columns += [Column(f"{name}_ns", name, drop_order=order) for name, order in _QUANTILES.items()]
    write_listing(Listing("calls", columns, calls, tick_ns), form)
    source.close(trace)


def _by_interval(source: CaptureOptions, every: str, top: int, form: Form) -> None:
    """The largest calls of each interval of a capture."""
    from tracealyze.render.every import groups
    from tracealyze.render.listing import write_listing
    from tracealyze.trace.intervals import intervals, read_every

    trace = source.trace()
    if len(trace.captures) > 1:
        raise WrongUsage("--every divides the window of one capture. Name only that one.")
    with analyzing():
        found = intervals(trace, read_every(every), with_findings=False)
    write_listing(groups(trace, found, top), form)
    source.close(trace)


def _by_loop(source: CaptureOptions, rows: RowOptions, by: Sequence[By], sort: Sort) -> None:
    """The sequences of calls that a task repeats."""
    from tracealyze.commands import loops

    if len(by) > 1 or sort is not Sort.TOTAL:
        raise WrongUsage("--by loop lists whole loops, the longest total first: no other --by, no --sort.")
    trace = source.trace()
    loops.show(trace, rows)
    source.close(trace)
