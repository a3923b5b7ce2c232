"""like: has anybody seen this? The captures whose causes are most similar to those of a new one.

Similarity is the weighted Jaccard index (Ruzicka): the sum over all causes of the smaller weight, divided by that of
the larger one. The weight of a cause is its share. Without findings, the shares of the classes of time are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.fleet.arrow import compute, pa
from tracealyze.fleet.columns import Coder, places_of
from tracealyze.fleet.extract import capture_rows, weights

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet
    from tracealyze.trace.trace import Trace

SCHEMA = "tracealyze.fleet-like/1"


def like(fleet: CaptureSet, trace: Trace, limit: int) -> dict[str, Any]:
    """The most similar captures, the most similar first, each with the causes that it shares."""
    tables, _ = capture_rows(trace)
    fleet.load("status", "weight")
    mine = weights(tables["findings"])
    basis = "causes" if mine else "classes"
    if mine:
        similarity = _by_causes(fleet, mine)
    else:
        similarity = _by_classes(fleet, {row["class"]: row["share"] or 0.0 for row in tables["classes"]})
    candidates = numpy.flatnonzero(similarity > 0)
    if len(candidates) > limit:
        # All that are as similar as the last one that is shown, so that the names decide among equals.
        least = numpy.partition(similarity[candidates], -limit)[-limit]
        surely = candidates[similarity[candidates] > least]
        equal = fleet.first_by_name(candidates[similarity[candidates] == least], limit - len(surely))
        candidates = numpy.concatenate((surely, equal))
    captures = dict(zip(candidates.tolist(), fleet.at(candidates.tolist(), ["uri", "wall_ns"]), strict=True))
    order = sorted(captures, key=lambda at: (-similarity[at], captures[at]["uri"]))
    causes = _causes(fleet, mine, order)
    return {
        "schema": SCHEMA,
        "basis": basis,
        "captures": len(fleet.ids),
        "similar": int((similarity > 0).sum()),
        "identical": int((similarity > 1 - 1e-9).sum()),
        "causes": [
            {name: row[name] for name in ("fingerprint", "rule", "program", "syscall", "target", "share")}
            for row in tables["findings"]
        ],
        "rows": [
            {
                "similarity": float(similarity[at]),
                **{name: captures[at][name] for name in ("uri", "wall_ns", "labels")},
                "causes": causes.get(captures[at]["capture_id"], []),
            }
            for at in order
        ],
    }


def _by_causes(fleet: CaptureSet, mine: dict[str, float]) -> Any:
    names = list(mine)
    theirs = numpy.zeros((len(fleet.ids), len(names)))
    wanted = compute.field("fingerprint").isin(pa.array(names))
    for batch in fleet.snapshot.batches("findings", ["capture_id", "fingerprint", "weight"], wanted):
        places = places_of(fleet.ids, batch["capture_id"].to_numpy())
        codes = compute.index_in(batch["fingerprint"], value_set=pa.array(names)).to_numpy()
        kept = places >= 0
        numpy.add.at(theirs, (places[kept], codes[kept]), batch["weight"].to_numpy()[kept])
    common = numpy.minimum(theirs, numpy.array([mine[name] for name in names])).sum(axis=1)
    either = numpy.nan_to_num(fleet.numbers("weight")) + sum(mine.values()) - common
    similarity = numpy.where(common > 0, common / numpy.maximum(either, 1e-12), 0.0)
    return numpy.where(fleet.usable, similarity, 0.0)


def _by_classes(fleet: CaptureSet, mine: dict[str, float]) -> Any:
    """One minus the distance of total variation between the shares."""
    common, coder = numpy.zeros(len(fleet.ids)), Coder()
    for batch in fleet.snapshot.batches("classes", ["capture_id", "class", "share"]):
        places = places_of(fleet.ids, batch["capture_id"].to_numpy())
        codes = coder.codes(batch["class"])
        limits = numpy.array([*(mine.get(name, 0.0) for name in coder.names), 0.0])[codes]
        shares = numpy.minimum(batch["share"].fill_null(0.0).to_numpy(), limits)
        kept = places >= 0
        numpy.add.at(common, places[kept], shares[kept])
    return numpy.where(fleet.usable, numpy.minimum(common, 1.0), 0.0)


def _causes(fleet: CaptureSet, mine: dict[str, float], order: list[int]) -> dict[int, list[dict[str, Any]]]:
    """By capture, the causes that it has as well."""
    columns = ["fingerprint", "rule", "program", "share", "line"]
    ids = pa.array([int(fleet.ids[at]) for at in order], pa.int64())
    wanted = compute.field("capture_id").isin(ids) & compute.field("fingerprint").isin(
        pa.array(list(mine), pa.string())
    )
    found: dict[int, list[dict[str, Any]]] = {}
    for row in fleet.snapshot.rows("findings", ["capture_id", *columns], wanted).to_pylist():
        found.setdefault(row["capture_id"], []).append({name: row[name] for name in columns})
    return {
        number: sorted(causes, key=lambda cause: (-(cause["share"] or 0), cause["rule"]))
        for number, causes in found.items()
    }
