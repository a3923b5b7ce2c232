"""Documents of bounded size: the largest rows of long tables, and what they leave out in folded rows.

    partition   the largest pieces | the rest per process and class | per program and class | per class

The rows still sum to the window, because each of them leaves out exactly what the rows before it hold.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracealyze.model.table import Row, Table
    from tracealyze.model.trace_tables import TraceTables

# The rows of all lists together, with their indentation, take less than the 2 MB that a document may have.
_PIECES_BYTES = 400_000
_FOLDED_BYTES = (250_000, 120_000, 60_000)
# The shortest row of the partition takes more bytes than this, so more rows are never needed.
_MIN_ROW_BYTES = 100
_FOLDED_BY = (("capture", "pid", "program", "class"), ("capture", "program", "class"), ("class",))
_SUMS = ("exclusive_ns", "calls", "pieces")


def within(rows: Iterable[Mapping[str, Any]], max_bytes: int) -> list[dict[str, Any]]:
    """The first rows that together take no more bytes than these as JSON."""
    kept: list[dict[str, Any]] = []
    for row in rows:
        max_bytes -= indented_bytes(row)
        if max_bytes < 0:
            break
        kept.append(dict(row))
    return kept


def indented_bytes(row: Mapping[str, Any]) -> int:
    """The length of a row as JSON with an indentation of two."""
    if any(isinstance(value, dict | list | tuple) for value in row.values()):
        return len(json.dumps(row, ensure_ascii=False, default=str, indent=2).encode(errors="replace"))
    # Only without an indentation json uses its encoder in C. An indentation adds a line feed and two blanks before each
    # member, where one of the blanks stands otherwise, and a line feed after the last one.
    length = len(json.dumps(row, ensure_ascii=False, default=str).encode(errors="replace"))
    return length + (2 * len(row) + 2 if row else 0)


def max_rows(max_bytes: int) -> int:
    """The number of rows that may fit into so many bytes."""
    return max_bytes // _MIN_ROW_BYTES


def largest(table: Table, keys: Sequence[str], by: str, max_bytes: int, number: int) -> list[dict[str, Any]]:
    """The rows with the largest values of a column within so many bytes, in the order of the table.

    `number` is that of all rows, of which the table has at least the largest that may fit."""
    most = max_rows(max_bytes)
    numbers: Iterable[int] = range(len(table))
    if number > most:
        values = table.column(by)
        numbers = nlargest(most, numbers, key=lambda at: values[at] or 0)
    numbers = list(numbers)
    kept = within(({key: row[key] for key in keys} for row in table.pick(numbers)), max_bytes)
    in_order = sorted(zip(numbers, kept, strict=False), key=lambda pair: pair[0])
    return [row for _, row in in_order]


def partition(trace: TraceTables, keys: Sequence[str]) -> list[dict[str, Any]]:
    """The largest pieces of the window, and folded rows for the others; they sum to the window."""
    most = max_rows(_PIECES_BYTES)
    # One more than can be shown, to know whether that is all.
    pieces = trace.partition_by(None, limit=most + 1).head(most + 1)
    kept = within(({key: row[key] for key in keys} for row in pieces), _PIECES_BYTES)
    if len(kept) == len(pieces):
        return kept
    # What the rows so far hold, by the keys that they share.
    held: list[Row] = [dict(row) | {"pieces": 1} for row in pieces[: len(kept)]]
    for by, max_bytes in zip(_FOLDED_BY, _FOLDED_BYTES, strict=True):
        groups = trace.partition_by(by, limit=max_rows(max_bytes))
        rest = list(_rest(groups, by, held))
        rows = within((_folded(row, keys) for row in rest), max_bytes)
        kept.extend(rows)
        held.extend(rest[: len(rows)])
    return kept


def _rest(groups: Iterable[Row], by: Sequence[str], held: Iterable[Row]) -> Iterator[Row]:
    """What is left of each group without the rows that are shown already."""
    shown: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0] * len(_SUMS))
    for row in held:
        sums = shown[tuple(row[key] for key in by)]
        for at, name in enumerate(_SUMS):
            sums[at] += row[name]
    for group in groups:
        sums = shown[tuple(group[key] for key in by)]
        rest = {name: group[name] - sums[at] for at, name in enumerate(_SUMS)}
        if rest["exclusive_ns"]:
            share = group["share"] and group["share"] * rest["exclusive_ns"] / group["exclusive_ns"]
            yield {**dict.fromkeys(group), **{key: group[key] for key in (*by, "class_name")}, **rest, "share": share}


def _folded(row: Row, keys: Sequence[str]) -> dict[str, Any]:
    return {key: row[key] for key in keys} | {"folded": row["pieces"]}
