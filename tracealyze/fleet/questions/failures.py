"""failures: captures that could not be read.

Files in which no format was recognized are not captures, and counted apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

SCHEMA = "tracealyze.fleet-failures/1"
_SHOWN = ("uri", "status", "error_kind", "bytes", "error")


def failures(fleet: CaptureSet, limit: int) -> dict[str, Any]:
    """Kinds of failures with their numbers, and the captures, those of the rarest kind first."""
    fleet.load("status", "error_kind")
    statuses, kinds = fleet.texts("status"), fleet.texts("error_kind")
    failed = numpy.flatnonzero(~fleet.usable)
    by_status = _counted(statuses.names, statuses.codes)
    by_kind = _counted(kinds.names, kinds.codes[failed])
    # The rarest kinds first, as many of each as are shown at most; the names decide among equals.
    order = sorted(by_kind, key=lambda name: (by_kind[name], name))
    rows: list[dict[str, Any]] = []
    for kind in order:
        if len(rows) < limit:
            rows += _of_kind(fleet, failed[kinds.codes[failed] == kinds.names.index(kind)], limit - len(rows))
    return {
        "schema": SCHEMA,
        "captures": len(fleet.ids),
        "statuses": {name: by_status[name] for name in sorted(by_status)},
        "kinds": {name: by_kind[name] for name in sorted(by_kind, key=lambda name: (-by_kind[name], name))},
        "rows": rows,
    }


def _of_kind(fleet: CaptureSet, places: Any, limit: int) -> list[dict[str, Any]]:
    """The first ones by their names. The messages are long, so only those that are shown are read."""
    chosen = [int(number) for number in fleet.ids[fleet.first_by_name(places, limit)]]
    found = fleet.of_captures(chosen, _SHOWN)
    return [{name: found[number][name] for name in _SHOWN} for number in chosen]


def _counted(names: list[str], codes: Any) -> dict[str, int]:
    counts = numpy.bincount(codes[codes >= 0], minlength=len(names)).tolist()
    return {name: count for name, count in zip(names, counts, strict=True) if count}
