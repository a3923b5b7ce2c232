"""top: what occurs in how many captures, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.fleet.arrow import Table
from tracealyze.fleet.incidence import Incidence, Visibility, examples, incidence
from tracealyze.fleet.statistics import wilson

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

SCHEMA = "tracealyze.fleet-top/1"

BY = {
    "fingerprint": ("findings", "fingerprint", "impact_high_ns", "share"),
    "rule": ("findings", "rule", "impact_high_ns", "share"),
    "program": ("processes", "program", "exclusive_ns", "exclusive_ns"),
    "target": ("calls", "target", "exclusive_ns", "exclusive_ns"),
    "class": ("classes", "class", "exclusive_ns", "share"),
}
"""What can be counted: table, column, time and share. Without shares, those of the window are computed."""

_ABOUT = ("code", "rule", "title", "program", "syscall", "op", "target")


def top(fleet: CaptureSet, by: str, limit: int) -> dict[str, Any]:
    """The groups with the most time, then those in the most captures."""
    if by not in BY:
        raise WrongUsage(f'--by: there is no "{by}" ({", ".join(BY)}).{did_you_mean(by, BY)}')
    table, column, time, share = BY[by]
    about = {"fingerprint": _ABOUT, "rule": ("code", "rule", "title")}.get(by, ())
    line = {"findings": "line", "classes": None}.get(table, "first_line")
    fleet.load(*Visibility.COLUMNS, *(["wall_ns"] if share != "share" else []))
    found = incidence(fleet, table, column, time, share)
    shares = found.share if share == "share" else _of_window(fleet, found)
    visible = Visibility(fleet)
    seconds, counts = found.seconds_ns, found.counts
    order = sorted(numpy.flatnonzero(counts).tolist(), key=lambda at: (-seconds[at], -counts[at], found.names[at]))
    shown = order[:limit]
    worst = [int(found.capture[found.of(at)][numpy.argmax(numpy.nan_to_num(shares[found.of(at)]))]) for at in shown]
    wanted = [(found.names[at], place) for at, place in zip(shown, worst, strict=True)]
    extra = ["syscall", "basis"] if table == "findings" else []
    rows = examples(fleet, table, column, share, wanted, [*about, *extra, *([line] if line else [])])
    documents = []
    for at, example, capture in zip(shown, rows, fleet.at(worst, ["uri"]), strict=True):
        could = visible.mask(example.get("syscall") if by == "fingerprint" else None, needs_wall=_needs_wall(example))
        # A capture that does show it could show it.
        number = int(could.sum() + (~could[found.capture[found.of(at)]]).sum())
        documents.append(
            {column: found.names[at], **{name: example[name] for name in about}}
            | _numbers(int(counts[at]), number, int(seconds[at]), shares[found.of(at)])
            | {"uri": capture["uri"], "line": example[line] if line else None}
        )
    return {
        "schema": SCHEMA,
        "by": by,
        "captures": len(fleet.ids),
        "usable": int(visible.mask(None, needs_wall=False).sum()),
        "groups": len(order),
        "rows": documents,
    }


def _needs_wall(example: dict[str, Any]) -> bool:
    return example.get("basis") == "wall"


def _of_window(fleet: CaptureSet, found: Incidence) -> Any:
    walls = numpy.nan_to_num(fleet.numbers("wall_ns"))[found.capture]
    return numpy.where(walls > 0, found.time_ns / numpy.maximum(walls, 1), numpy.nan)


def _numbers(captures: int, number: int, time_ns: int, shares: Any) -> dict[str, Any]:
    known = numpy.sort(shares[~numpy.isnan(shares)])
    low, high = wilson(captures, number)
    return {
        "captures": captures,
        "could_show": number,
        "capture_share": captures / number,
        "low_share": low,
        "high_share": high,
        "time_ns": time_ns,
        "median_share": _nearest_rank(known, 0.5),
        "p90_share": _nearest_rank(known, 0.9),
    }


def _nearest_rank(ordered: Any, quantile: float) -> float | None:
    if not len(ordered):
        return None
    return float(ordered[max(0, int(numpy.ceil(quantile * len(ordered))) - 1)])


def rows_of(table: Table) -> list[dict[str, Any]]:
    """Rows as dictionaries, with ids as hex digits."""
    return [
        row | ({"capture_id": f"{row['capture_id'] & (1 << 64) - 1:016x}"} if "capture_id" in row else {})
        for row in table.to_pylist()
    ]
