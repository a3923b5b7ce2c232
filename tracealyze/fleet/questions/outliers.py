"""outliers: captures whose wall time went elsewhere than in the others with the same label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.fleet.incidence import USABLE, capture_places
from tracealyze.fleet.statistics import robust_scores
from tracealyze.heuristics import FLEET_MIN_CAPTURES, FLEET_MIN_OUTLIER_SCORE, FLEET_MIN_OUTLIER_SHARE

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

SCHEMA = "tracealyze.fleet-outliers/1"


def outliers(fleet: CaptureSet, within: str | None, limit: int) -> dict[str, Any]:
    """Per capture the class of time that is furthest from the median of its group, the furthest capture first."""
    names, groups = _groups(fleet, within)
    classes, shares = _shares(fleet)
    captures = fleet.captures
    walls = captures["wall_ns"].fill_null(0).to_numpy()
    usable = numpy.isin(numpy.array(captures["status"].to_pylist(), dtype=object), USABLE) & (walls > 0)
    rows, compared = [], 0
    for number, name in enumerate(names):
        members = numpy.flatnonzero((groups == number) & usable)
        if len(members) < FLEET_MIN_CAPTURES:
            continue
        compared += len(members)
        rows.extend(_of_group(name, members, classes, shares))
    rows.sort(key=lambda row: (-abs(row["score"]), row["capture"]))
    return {
        "schema": SCHEMA,
        "within": within,
        "compared": compared,
        "outliers": len(rows),
        "min_score": FLEET_MIN_OUTLIER_SCORE,
        "rows": [_document(fleet, row) for row in rows[:limit]],
    }


def _of_group(name: str | None, members: Any, classes: list[str], shares: Any) -> list[dict[str, Any]]:
    """The outliers of one group."""
    mine = shares[members]
    scores = numpy.column_stack([robust_scores(column.tolist()) for column in mine.T]) if len(classes) else mine
    distances = mine - numpy.median(mine, axis=0)
    is_far = (numpy.abs(scores) >= FLEET_MIN_OUTLIER_SCORE) & (numpy.abs(distances) >= FLEET_MIN_OUTLIER_SHARE)
    found = []
    for row in numpy.flatnonzero(is_far.any(axis=1)):
        at = int(numpy.argmax(numpy.where(is_far[row], numpy.abs(distances[row]), -1)))
        found.append(
            {
                "capture": int(members[row]),
                "group": name,
                "class": classes[at],
                "share": float(mine[row, at]),
                "median_share": float(mine[row, at] - distances[row, at]),
                "score": float(scores[row, at]),
            }
        )
    return found


def _document(fleet: CaptureSet, row: dict[str, Any]) -> dict[str, Any]:
    capture = fleet.captures.slice(row["capture"], 1).to_pylist()[0]
    named = {name: capture[name] for name in ("uri", "wall_ns")}
    labels = {name: capture[name] for name in fleet.labels() if capture[name] is not None}
    return {name: value for name, value in row.items() if name != "capture"} | named | {"labels": labels}


def _groups(fleet: CaptureSet, within: str | None) -> tuple[list[str | None], Any]:
    if within is None:
        return [None], numpy.zeros(len(fleet.captures), numpy.int64)
    fleet.must_have_label(within, "--within")
    values = fleet.captures[within].to_pylist()
    names = sorted({value for value in values if value is not None})
    at = {name: number for number, name in enumerate(names)}
    return list(names), numpy.array([at.get(value, -1) for value in values], dtype=numpy.int64)


def _shares(fleet: CaptureSet) -> tuple[list[str], Any]:
    """The share of each class in each capture."""
    rows = fleet.table("classes", ["capture_id", "class", "share"])
    encoded = rows["class"].to_pylist()
    names = sorted({name for name in encoded if name})
    at = {name: number for number, name in enumerate(names)}
    places = capture_places(fleet, rows["capture_id"])
    codes = numpy.array([at.get(name, -1) for name in encoded], dtype=numpy.int64)
    kept = (places >= 0) & (codes >= 0)
    shares = numpy.zeros((len(fleet.captures), len(names)))
    numpy.add.at(shares, (places[kept], codes[kept]), rows["share"].fill_null(0.0).to_numpy()[kept])
    return names, shares
