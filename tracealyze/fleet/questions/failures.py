"""failures: captures that could not be read, or are no captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracealyze.fleet.arrow import compute, pa

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

SCHEMA = "tracealyze.fleet-failures/1"


def failures(fleet: CaptureSet, limit: int) -> dict[str, Any]:
    """Kinds of failures with their numbers, and the captures, those of the rarest kind first."""
    captures = fleet.captures
    statuses = {row["values"]: row["counts"] for row in compute.value_counts(captures["status"]).to_pylist()}
    chosen = compute.invert(compute.is_in(captures["status"], value_set=_usable()))
    failed = captures.filter(chosen).select(["capture_id", "uri", "status", "error_kind", "bytes"])
    kinds = {row["values"]: row["counts"] for row in compute.value_counts(failed["error_kind"]).to_pylist()}
    # Messages are long, so only those that are shown are read.
    rows = sorted(failed.to_pylist(), key=lambda row: (kinds[row["error_kind"]], row["error_kind"] or "", row["uri"]))
    rows = rows[:limit]
    ids = [row["capture_id"] for row in rows]
    wanted = compute.field("capture_id").isin(ids)
    errors = fleet.snapshot.rows("captures", ["capture_id", "error"], wanted).to_pylist()
    texts = {row["capture_id"]: row["error"] for row in errors}
    return {
        "schema": SCHEMA,
        "captures": len(captures),
        "statuses": {name: statuses[name] for name in sorted(statuses)},
        "kinds": {name: kinds[name] for name in sorted(kinds, key=lambda name: (-kinds[name], name or ""))},
        "rows": [
            {name: row[name] for name in ("uri", "status", "error_kind", "bytes")} | {"error": texts[row["capture_id"]]}
            for row in rows
        ],
    }


def _usable() -> Any:
    from tracealyze.fleet.incidence import USABLE

    return pa.array(list(USABLE))
