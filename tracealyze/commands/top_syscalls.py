"""top-syscalls: which calls were made how often, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tracealyze.commands import _shared as shared
from tracealyze.commands._shared import Choice, Form

if TYPE_CHECKING:
    from tracealyze.table import Row


class By(StrEnum):
    """What rows are told apart by."""

    SYSCALL = "syscall"
    OP = "op"
    SHAPE = "shape"
    TARGET = "target"
    ERRNO = "errno"
    PROGRAM = "program"
    PID = "pid"
    TID = "tid"


class Sort(StrEnum):
    """What comes first: the row with the most of this."""

    TOTAL = "total"
    CALLS = "calls"
    FAILED = "failed"
    EXCLUSIVE = "exclusive"
    MEAN = "mean"
    MAX = "max"
    P99 = "p99"
    BYTES = "bytes"


_LEAST_OF_A_PATH = 24
_QUANTILES = {"mean": 1, "p50": 4, "p99": 3, "max": 2}
_KEYS = {By.OP: ["syscall", "op"]}
_SORTED_BY = {Sort.CALLS: "calls", Sort.FAILED: "failed", Sort.BYTES: "bytes"}


def command(
    captures: shared.Captures = None,
    by: Annotated[list[By] | None, typer.Option("--by", help="What rows are told apart by; may be repeated.")] = None,
    sort: Annotated[Sort, typer.Option("--sort", help="What comes first.")] = Sort.TOTAL,
    pids: shared.Pids = None,
    programs: shared.Programs = None,
    start: shared.Start = None,
    end: shared.End = None,
    root: shared.Root = None,
    where: shared.Where = None,
    top: shared.Top = 20,
    form: shared.FormOption = Form.TABLE,
    as_json: shared.AsJson = False,
    strict: shared.Strict = False,
    input_format: shared.InputFormat = None,
) -> None:
    """List calls by what they cost: how many, how many failed, their times, and their part of the path."""
    from tracealyze.render.listing import FORMS, Column, Listing

    choice = Choice.of(captures, pids, programs, start, end, root, input_format, where)
    trace = choice.trace()
    keys = list(dict.fromkeys(key for each in by or [By.OP] for key in _KEYS.get(each, [each.value])))
    rows = _largest(trace.calls(keys), _SORTED_BY.get(sort, f"{sort}_ns"), top)
    tick_ns = trace.dur_tick_ns
    if not rows and trace.is_summary_only:
        rows = trace.summary().syscalls[:top]
        # The table has steps of its own, finer than those of stamps that are not there.
        keys, tick_ns = ["syscall"], 1
    columns = [Column(key, key, least=_LEAST_OF_A_PATH if key in ("target", "shape") else 0) for key in keys]
    columns += [Column("calls", "calls"), Column("failed", "failed"), Column("total_ns", "total")]
    columns += [Column("exclusive_ns", "on path")] if trace.window.reason is None else []
    columns += [Column(f"{name}_ns", name, spare=spare) for name, spare in _QUANTILES.items()]
    FORMS[shared.form_of(form, as_json)](Listing("calls", columns, rows, tick_ns))
    shared.close(trace, strict)


def _largest(table: Iterable[Row], column: str, top: int) -> list[Row]:
    from heapq import nlargest

    return nlargest(top, table, key=lambda row: (row[column] or 0, row["calls"]))
