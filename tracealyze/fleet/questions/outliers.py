"""outliers: captures whose wall time went elsewhere than in others of their group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.base.heuristics import (
    FLEET_MAX_FALSE_DISCOVERIES,
    FLEET_MIN_CAPTURES,
    FLEET_MIN_OUTLIER_SCORE,
    FLEET_MIN_OUTLIER_SHARE,
)
from tracealyze.fleet.columns import Coder, Texts, places_of
from tracealyze.fleet.statistics import tail_chances, tail_scores

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

SCHEMA = "tracealyze.fleet-outliers/1"


def outliers(fleet: CaptureSet, within: str | None, limit: int) -> dict[str, Any]:
    """Per capture the class of time that is furthest from the median of its group, the furthest capture first.

    A group has the same value of a label, or without one the same first program."""
    fleet.load("status", "wall_ns", *([within] if within is not None else []))
    if within is not None:
        fleet.must_have_label(within, "--within")
    groups = fleet.texts(within) if within is not None else _first_programs(fleet)
    classes, shares = _shares(fleet)
    has_time = fleet.usable & (numpy.nan_to_num(fleet.numbers("wall_ns")) > 0)
    found: list[dict[str, Any]] = []
    compared = 0
    for name, members in _members(groups, has_time):
        compared += len(members)
        found.extend(_of_group(name, members, classes, shares))
    found = _controlled(found, compared * max(len(classes), 1))
    found.sort(key=lambda row: (-abs(row["score"]), row["capture"]))
    shown = found[:limit]
    captures = fleet.at([row["capture"] for row in shown], ["uri", "wall_ns"])
    return {
        "schema": SCHEMA,
        "within": within,
        "compared": compared,
        "outliers": len(found),
        "min_score": FLEET_MIN_OUTLIER_SCORE,
        "max_false_share": FLEET_MAX_FALSE_DISCOVERIES,
        "rows": [
            {name: value for name, value in row.items() if name not in ("capture", "chance")}
            | {name: capture[name] for name in ("uri", "wall_ns", "labels")}
            for row, capture in zip(shown, captures, strict=True)
        ],
    }


def _members(groups: Texts, has_time: Any) -> list[tuple[str, Any]]:
    """Each group that is large enough, with the places of its captures."""
    places = numpy.flatnonzero(has_time & (groups.codes >= 0))
    places = places[numpy.argsort(groups.codes[places], kind="stable")]
    ends = numpy.searchsorted(groups.codes[places], numpy.arange(len(groups.names) + 1))
    found = [(name, places[ends[at] : ends[at + 1]]) for at, name in enumerate(groups.names)]
    return [(name, members) for name, members in found if len(members) >= FLEET_MIN_CAPTURES]


def _of_group(name: str, members: Any, classes: list[str], shares: Any) -> list[dict[str, Any]]:
    """The captures of one group that are far from its median."""
    mine = shares[members]
    distances = mine - numpy.median(mine, axis=0)
    scores = numpy.column_stack([tail_scores(column) for column in mine.T]) if len(classes) else mine
    chances = numpy.column_stack([tail_chances(column) for column in mine.T]) if len(classes) else mine
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
                "chance": float(chances[row, at]),
            }
        )
    return found


def _controlled(found: list[dict[str, Any]], tested: int) -> list[dict[str, Any]]:
    """Those among all tested values that are unlikely to be chance (Benjamini and Hochberg, 1995)."""
    ordered = sorted(found, key=lambda row: row["chance"])
    rate, kept = 1.0, []
    for rank in range(len(ordered), 0, -1):
        row = ordered[rank - 1]
        rate = min(rate, row["chance"] * tested / rank)
        if rate <= FLEET_MAX_FALSE_DISCOVERIES:
            kept.append(row | {"q_value": rate})
    return kept


def _first_programs(fleet: CaptureSet) -> Texts:
    """The program of the first process of each capture: what was traced."""
    first = numpy.full(len(fleet.ids), numpy.inf)
    codes, coder = numpy.full(len(fleet.ids), -1, numpy.int32), Coder()
    for batch in fleet.snapshot.batches("processes", ["capture_id", "program", "first_line"]):
        places = places_of(fleet.ids, batch["capture_id"].to_numpy())
        programs = coder.codes(batch["program"])
        lines = batch["first_line"].cast("float64").fill_null(numpy.inf).to_numpy()
        rows = numpy.flatnonzero((places >= 0) & (programs >= 0))
        # The one with the smallest line comes last, and stays.
        rows = rows[numpy.argsort(-lines[rows], kind="stable")]
        rows = rows[lines[rows] < first[places[rows]]]
        first[places[rows]], codes[places[rows]] = lines[rows], programs[rows]
    return Texts(coder.names, codes)


def _shares(fleet: CaptureSet) -> tuple[list[str], Any]:
    """The share of each class in each capture."""
    coder = Coder()
    columns: list[Any] = []
    for batch in fleet.snapshot.batches("classes", ["capture_id", "class", "share"]):
        places = places_of(fleet.ids, batch["capture_id"].to_numpy())
        codes = coder.codes(batch["class"])
        while len(columns) < len(coder.names):
            columns.append(numpy.zeros(len(fleet.ids)))
        values = batch["share"].fill_null(0.0).to_numpy()
        for code in numpy.unique(codes[codes >= 0]).tolist():
            chosen = (codes == code) & (places >= 0)
            columns[code] += numpy.bincount(places[chosen], weights=values[chosen], minlength=len(fleet.ids))
    return coder.names, numpy.column_stack(columns) if columns else numpy.zeros((len(fleet.ids), 0))
