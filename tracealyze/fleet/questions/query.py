"""query: rows of a table that meet a condition on its columns, and on those and the labels of captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracealyze.fleet import conditions
from tracealyze.fleet.arrow import Table
from tracealyze.fleet.incidence import capture_places
from tracealyze.fleet.questions.top import rows_of

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

SCHEMA = "tracealyze.fleet-query/1"
_ALWAYS = ("uri", "status")


def query(fleet: CaptureSet, table: str, condition: str | None, limit: int | None) -> dict[str, Any]:
    """The rows, and how many there are."""
    found = rows(fleet, table, condition)
    shown = found if limit is None else found.slice(0, limit)
    return {"schema": SCHEMA, "table": table, "matches": len(found), "rows": rows_of(shown)}


def rows(fleet: CaptureSet, table: str, condition: str | None) -> Table:
    """All rows that meet the condition, with URI and labels of their captures."""
    found = fleet.table(table)
    if table != "captures":
        found = found.drop_columns([name for name in ("buckets", "counts") if name in found.column_names])
        found = _with_captures(fleet, found)
    return found.filter(conditions.mask(found, condition, table, "--where")) if condition else found


def _with_captures(fleet: CaptureSet, found: Table) -> Table:
    places = capture_places(fleet, found["capture_id"])
    found = found.filter(places >= 0)
    captures = fleet.captures.select([*_ALWAYS, *fleet.labels()]).take(places[places >= 0])
    return conditions.with_labels(found, {name: captures[name] for name in captures.column_names})
