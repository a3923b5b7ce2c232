"""query: rows of a table that meet a condition on its columns, and on those and the labels of captures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracealyze.fleet import conditions
from tracealyze.fleet.arrow import Table, pa
from tracealyze.fleet.questions.top import rows_of
from tracealyze.fleet.tables import TABLES

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

SCHEMA = "tracealyze.fleet-query/1"
_LISTS = ("buckets", "counts")


def query(fleet: CaptureSet, table: str, condition: str | None, limit: int | None) -> dict[str, Any]:
    """The rows, and how many there are. Those that are not shown are only counted."""
    schema = fleet.schema(table)
    form = conditions.parsed(schema, condition, table, "--where") if condition else None
    columns = [name for name in schema.names if name in TABLES[table].names and name not in _LISTS]
    found, matches = _first_rows(fleet.matching(table, form, columns), limit)
    if limit is not None and matches >= limit:
        # The rest is counted without the columns that nobody sees.
        matches = sum(len(rows) for rows in fleet.matching(table, form, ["capture_id"]))
    empty = pa.schema([schema.field(name) for name in columns]).empty_table()
    rows = _documents(fleet, pa.concat_tables([empty, *found]))
    return {"schema": SCHEMA, "table": table, "matches": matches, "rows": rows}


def _first_rows(batches: Iterator[Table], limit: int | None) -> tuple[list[Table], int]:
    """The first rows, and how many they are."""
    shown, kept = [], 0
    for rows in batches:
        shown.append(rows if limit is None else rows.slice(0, limit - kept))
        kept += len(shown[-1])
        if limit is not None and kept >= limit:
            break
    return shown, kept


def _documents(fleet: CaptureSet, found: Any) -> list[dict[str, Any]]:
    """The rows with URI, status and labels of their captures."""
    ids = found["capture_id"].to_pylist()
    others = fleet.of_captures(ids)
    names = fleet.labels()
    documents = []
    for row, number in zip(rows_of(found), ids, strict=True):
        capture = others[number]
        labels = {name: capture["labels"].get(name) for name in names if name not in row}
        documents.append(row | {name: capture[name] for name in ("uri", "status")} | labels)
    return documents
