"""compare: causes that differ between two groups of captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.errors import UnusableInput
from tracealyze.fleet.arrow import pa
from tracealyze.fleet.shifts import shifts
from tracealyze.heuristics import FLEET_MAX_FALSE_DISCOVERIES

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
    walls = fleet.captures["wall_ns"].cast(pa.float64()).fill_null(0).to_numpy()
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
        "rows": [
            each.about
            | {
                "change": "worse" if each.score > 0 else "better",
                "before_share": each.before_share,
                "after_share": each.after_share,
                "q_value": each.q_value,
                "captures": each.captures,
                "could_show": each.could_show,
                "uri": each.uri,
                "line": each.line,
            }
            for each in found.found[:limit]
        ],
    }


def _places(fleet: CaptureSet, condition: str, name: str) -> Any:
    from tracealyze.fleet.incidence import capture_places

    chosen = numpy.zeros(len(fleet.captures), dtype=bool)
    places = capture_places(fleet, fleet.where(condition, name).captures["capture_id"])
    chosen[places[places >= 0]] = True
    return chosen
