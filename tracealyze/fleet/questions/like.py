"""like: has anybody seen this? The captures whose causes are most similar to those of a new one.

Similarity is the weighted Jaccard index (Ruzicka): the sum over all causes of the smaller weight, divided by that of
the larger one. The weight of a cause is its share. Without findings, the shares of the classes of time are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.fleet.arrow import Table, compute, pa
from tracealyze.fleet.extract import capture_rows, weights
from tracealyze.fleet.incidence import USABLE, capture_places

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet
    from tracealyze.trace import Trace

SCHEMA = "tracealyze.fleet-like/1"


def like(fleet: CaptureSet, trace: Trace, limit: int) -> dict[str, Any]:
    """The most similar captures, the most similar first, each with the causes that it shares."""
    tables, _ = capture_rows(trace)
    mine = weights(tables["findings"])
    basis = "causes" if mine else "classes"
    if mine:
        similarity, rows = _by_causes(fleet, mine)
    else:
        similarity, rows = _by_classes(fleet, {row["class"]: row["share"] or 0.0 for row in tables["classes"]})
    uris = fleet.captures["uri"]
    candidates = numpy.flatnonzero(similarity > 0)
    if len(candidates) > limit:
        # All that are as similar as the last one that is shown, so that the names decide among equals.
        least = numpy.partition(similarity[candidates], -limit)[-limit]
        candidates = candidates[similarity[candidates] >= least]
    order = sorted(candidates.tolist(), key=lambda at: (-similarity[at], uris[at].as_py()))[:limit]
    return {
        "schema": SCHEMA,
        "basis": basis,
        "captures": len(fleet.captures),
        "similar": int((similarity > 0).sum()),
        "identical": int((similarity > 1 - 1e-9).sum()),
        "causes": [
            {name: row[name] for name in ("fingerprint", "rule", "program", "syscall", "target", "share")}
            for row in tables["findings"]
        ],
        "rows": [_document(fleet, rows, at, float(similarity[at])) for at in order],
    }


def _by_causes(fleet: CaptureSet, mine: dict[str, float]) -> tuple[Any, Table | None]:
    columns = ["capture_id", "fingerprint", "rule", "program", "share", "weight", "line"]
    wanted = compute.field("fingerprint").isin(pa.array(list(mine)))
    rows = fleet.table("findings", columns, wanted)
    places = capture_places(fleet, rows["capture_id"])
    number, names = len(fleet.captures), list(mine)
    codes = compute.index_in(rows["fingerprint"], value_set=pa.array(names)).to_numpy().astype(numpy.int64)
    kept = places >= 0
    theirs = numpy.bincount(
        places[kept] * len(names) + codes[kept], weights=rows["weight"].to_numpy()[kept], minlength=number * len(names)
    ).reshape(number, len(names))
    common = numpy.minimum(theirs, numpy.array([mine[name] for name in names])).sum(axis=1)
    all_of_theirs = fleet.captures["weight"].fill_null(0.0).to_numpy()
    either = all_of_theirs + sum(mine.values()) - common
    similarity = numpy.where(common > 0, common / numpy.maximum(either, 1e-12), 0.0)
    return numpy.where(_usable(fleet), similarity, 0.0), rows


def _by_classes(fleet: CaptureSet, mine: dict[str, float]) -> tuple[Any, None]:
    """One minus the distance of total variation between the shares."""
    rows = fleet.table("classes", ["capture_id", "class", "share"])
    places = capture_places(fleet, rows["capture_id"])
    number = len(fleet.captures)
    limits = numpy.array([mine.get(name, 0.0) for name in rows["class"].to_pylist()])
    shares = numpy.minimum(rows["share"].fill_null(0.0).to_numpy(), limits)
    kept = places >= 0
    common = numpy.bincount(places[kept], weights=shares[kept], minlength=number)
    return numpy.where(_usable(fleet), numpy.minimum(common, 1.0), 0.0), None


def _usable(fleet: CaptureSet) -> Any:
    return numpy.isin(numpy.array(fleet.captures["status"].to_pylist(), dtype=object), USABLE)


def _document(fleet: CaptureSet, rows: Table | None, at: int, similarity: float) -> dict[str, Any]:
    capture = fleet.captures.slice(at, 1).to_pylist()[0]
    causes = []
    if rows is not None:
        found = rows.filter(compute.equal(rows["capture_id"], capture["capture_id"])).to_pylist()
        causes = [{name: row[name] for name in ("fingerprint", "rule", "program", "share", "line")} for row in found]
    return {
        "similarity": similarity,
        "uri": capture["uri"],
        "wall_ns": capture["wall_ns"],
        "labels": {name: capture[name] for name in fleet.labels() if capture[name] is not None},
        "causes": sorted(causes, key=lambda cause: (-(cause["share"] or 0), cause["rule"])),
    }
