"""Events, written in batches: a capture may have more of them than fit into memory as text."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, assert_never

from tracealyze.base import units
from tracealyze.base.sanitize import shown
from tracealyze.render import json, output
from tracealyze.render.forms import Form
from tracealyze.render.listing import csv_cell, markdown_cell
from tracealyze.render.terminal import Terminal

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.trace import Trace

_COLUMNS = (
    *("line", "file", "tid", "pid", "program", "start_ns", "end_ns", "dur_ns", "cpu_ns", "requested_ns", "kind"),
    *("syscall", "op", "target", "ret", "errno", "bytes", "outcome", "dur_kind"),
)
_READ_BY_PEOPLE = (
    *("task", "file", "line", "tid", "start_ns", "dur_ns", "kind", "syscall", "op", "target", "ret", "errno"),
    "outcome",
)
_HEADINGS = ("line", "tid", "start s", "duration", "what")
# Up to this number, rows are fetched at once, without loading the Arrow library.
_MAX_ROWS_AT_ONCE = 2_000


def _batches(trace: Trace, columns: Sequence[str], limit: int | None) -> Iterator[Sequence[Row]]:
    table = trace.events_of(columns, limit)
    if len(table) <= _MAX_ROWS_AT_ONCE:
        yield table.head(len(table))
        return
    try:
        import pyarrow
    except ModuleNotFoundError:
        # An install without the data packages: it works, and takes the memory of all rows.
        yield table.head(len(table))
        return
    for batch in pyarrow.RecordBatchReader.from_stream(table):
        yield batch.to_pylist()


def _as_table(trace: Trace, limit: int | None) -> None:
    terminal = Terminal()
    cut = terminal.cut if sys.stdout.isatty() else _whole
    widths = (8, 7, 12, 9)
    output.write(f"{_aligned(_HEADINGS, widths)}\n")
    for rows in _batches(trace, _READ_BY_PEOPLE, limit):
        lines = (terminal.drawn.plain(_aligned(_cells(row, trace), widths)) for row in rows)
        output.write("".join(f"{cut(line, terminal.width)}\n" for line in lines))
    _say_if_more(trace, limit)


def _cells(row: Row, trace: Trace) -> tuple[str, ...]:
    start = "" if row["start_ns"] is None else units.offset(row["start_ns"] - trace.start_of(row), trace.tick_ns)
    took = "" if row["dur_ns"] is None else units.duration(row["dur_ns"], trace.tick_ns)
    tid = "" if row["tid"] is None else str(row["tid"])
    return str(row["line"]), tid, start, took, _what(row)


def _aligned(texts: Sequence[str], widths: Sequence[int]) -> str:
    *numbers, what = texts
    return f"{' '.join(f'{text:>{width}}' for text, width in zip(numbers, widths, strict=True))}  {what}"


def _what(row: Row) -> str:
    named = " ".join(shown(row[part]) for part in ("syscall", "op", "target") if row[part])
    if row["kind"] != "call":
        return f"{row['kind']}: {named}" if named else str(row["kind"])
    if row["errno"]:
        return f"{named} = {row['errno']}"
    if row["outcome"] in ("ok", "failed"):
        return f"{named} = {row['ret']}" if row["ret"] is not None else named
    return f"{named} ({row['outcome']})"


def _whole(line: str, _width: int) -> str:
    return line


def _say_if_more(trace: Trace, limit: int | None) -> None:
    if limit is not None and (every := len(trace.events)) > limit:
        output.note(f"First {units.count(limit)} of {units.counted(every, 'event')}; use --top N to see more.")


def _as_json(trace: Trace, limit: int | None) -> None:
    before = "[\n"
    for rows in _batches(trace, _COLUMNS, limit):
        for row in rows:
            output.write(before + json.text(row, indent=None))
            before = ",\n"
    output.write("[]\n" if before == "[\n" else "\n]\n")


def _as_csv(trace: Trace, limit: int | None) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for rows in _batches(trace, _COLUMNS, limit):
        writer.writerows([csv_cell(row[name]) for name in _COLUMNS] for row in rows)


def _as_markdown(trace: Trace, limit: int | None) -> None:
    output.write(f"| {' | '.join(_HEADINGS)} |\n|{' ---: |' * (len(_HEADINGS) - 1)} --- |\n")
    for rows in _batches(trace, _READ_BY_PEOPLE, limit):
        for row in rows:
            cells = map(markdown_cell, _cells(row, trace))
            output.write(f"| {' | '.join(cells)} |\n")
    _say_if_more(trace, limit)


def write(trace: Trace, limit: int | None, form: Form) -> None:
    """Write the events of a trace, up to a number of them, in an output form."""
    match form:
        case Form.TABLE:
            _as_table(trace, limit)
        case Form.JSON:
            _as_json(trace, limit)
        case Form.CSV:
            _as_csv(trace, limit)
        case Form.MARKDOWN:
            _as_markdown(trace, limit)
        case _:
            assert_never(form)
