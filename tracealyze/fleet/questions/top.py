"""top: what occurs in how many captures, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.errors import WrongUsage, did_you_mean
from tracealyze.fleet.arrow import Table
from tracealyze.fleet.incidence import Incidence, Visibility, incidence
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
    extra = ["syscall", "basis"] if table == "findings" else []
    columns = dict.fromkeys([column, time, share, *about, *extra, *([line] if line else [])])
    rows = fleet.table(table, list(columns))
    found = incidence(fleet, rows, column, time, share)
    shares = found.share if share == "share" else _of_window(fleet, found)
    visible = Visibility(fleet)
    seconds = numpy.bincount(found.group, weights=found.time_ns, minlength=len(found.names))
    order = sorted(range(len(found.names)), key=lambda at: (-seconds[at], -found.counts[at], found.names[at] or ""))
    order = [at for at in order if found.counts[at]]
    documents = []
    for at in order[:limit]:
        pairs = found.of(at)
        worst = pairs[numpy.argmax(numpy.nan_to_num(shares[pairs]))]
        example = rows.slice(int(found.worst[worst]), 1).to_pylist()[0]
        could = visible.mask(example.get("syscall") if by == "fingerprint" else None, needs_wall=_needs_wall(example))
        # A capture that does show it could show it.
        number = int(could.sum() + (~could[found.capture[pairs]]).sum())
        documents.append(
            {column: found.names[at], **{name: example[name] for name in about}}
            | _numbers(len(pairs), number, int(seconds[at]), shares[pairs])
            | {"uri": fleet.captures["uri"][int(found.capture[worst])].as_py(), "line": example[line] if line else None}
        )
    return {
        "schema": SCHEMA,
        "by": by,
        "captures": len(fleet.captures),
        "usable": int(visible.mask(None, needs_wall=False).sum()),
        "groups": len(order),
        "rows": documents,
    }


def _needs_wall(example: dict[str, Any]) -> bool:
    return example.get("basis") == "wall"


def _of_window(fleet: CaptureSet, found: Incidence) -> Any:
    walls = fleet.captures["wall_ns"].fill_null(0).to_numpy()[found.capture]
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
