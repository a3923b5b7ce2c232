"""compare: causes that differ between two groups of captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.base.errors import UnusableInput
from tracealyze.base.heuristics import FLEET_MAX_FALSE_DISCOVERIES
from tracealyze.fleet.columns import places_of
from tracealyze.fleet.shifts import shifts

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

SCHEMA = "tracealyze.fleet-compare/1"


def compare(fleet: CaptureSet, before: str, after: str, limit: int) -> dict[str, Any]:
    """The causes that differ, the most certain ones first. Captures that meet both conditions are in neither group."""
    sides = [_places(fleet, condition, name) for condition, name in ((before, "BEFORE"), (after, "AFTER"))]
    both = sides[0] & sides[1]
    groups = numpy.where(sides[0], 0, numpy.where(sides[1], 1, -1))
    groups[both] = -1
    for number, condition in enumerate((before, after)):
        if not (groups == number).any():
            raise UnusableInput(
                f"no capture meets only the condition {condition}. See: tracealyze fleet query captures."
            )
    found = shifts(fleet, groups, 2)
    walls = numpy.nan_to_num(fleet.numbers("wall_ns"))
    return {
        "schema": SCHEMA,
        "groups": [
            {
                "condition": condition,
                "captures": int((groups == number).sum()),
                "median_wall_ns": int(numpy.median(walls[groups == number])),
            }
            for number, condition in enumerate((before, after))
        ],
        "in_both": int(both.sum()),
        "tested": found.tested,
        "differ": len(found.found),
        "max_false_share": FLEET_MAX_FALSE_DISCOVERIES,
        "rows": [each.document for each in found.found[:limit]],
    }


def _places(fleet: CaptureSet, condition: str, name: str) -> Any:
    chosen = numpy.zeros(len(fleet.ids), dtype=bool)
    chosen[places_of(fleet.ids, fleet.where(condition, name).ids)] = True
    return chosen
