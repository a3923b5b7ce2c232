"""trend: causes that changed over versions or days, and the version in which they did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from tracealyze.base.errors import UnusableInput
from tracealyze.base.heuristics import FLEET_MAX_FALSE_DISCOVERIES
from tracealyze.fleet.columns import Texts
from tracealyze.fleet.incidence import Visibility
from tracealyze.fleet.shifts import shifts
from tracealyze.fleet.statistics import version_key

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

SCHEMA = "tracealyze.fleet-trend/1"
DAY = "day"
_SECONDS_OF_DAY = 86_400


def trend(fleet: CaptureSet, over: str, limit: int) -> dict[str, Any]:
    """The causes that changed, the most certain ones first, with the version since which they have."""
    is_day = over == DAY and DAY not in fleet.labels()
    fleet.load("start_ns" if is_day else over, *Visibility.COLUMNS)
    if not is_day:
        fleet.must_have_label(over, "--over")
    names, groups = _groups(_days(fleet) if is_day else fleet.texts(over))
    if len(names) < 2:
        raise UnusableInput(
            f"--over {over}: the captures have {len(names)} different values; a trend needs at least 2."
        )
    found = shifts(fleet, groups, len(names))
    return {
        "schema": SCHEMA,
        "over": over,
        "groups": [
            {"name": name, "captures": int(size)}
            for name, size in zip(names, numpy.bincount(groups[groups >= 0], minlength=len(names)), strict=True)
        ],
        "without": int((groups < 0).sum()),
        "tested": found.tested,
        "changed": len(found.found),
        "max_false_share": FLEET_MAX_FALSE_DISCOVERIES,
        "rows": [each.document | {"since": names[each.at], "first": names[each.first]} for each in found.found[:limit]],
    }


def _groups(values: Texts) -> tuple[list[str], Any]:
    """The values in order, and the number of the value of each capture, -1 without one."""
    known, codes = values.names, values.codes
    # Spellings of one version, such as 4.1 and v4.1, are one group with the name of the first.
    keys = sorted({_key(name) for name in known})
    at = {key: number for number, key in enumerate(keys)}
    names = {at[_key(name)]: name for name in sorted(known, reverse=True)}
    numbers = numpy.array([at[_key(name)] for name in known] or [0], dtype=numpy.int64)
    return [names[number] for number in range(len(keys))], numpy.where(codes >= 0, numbers[numpy.maximum(codes, 0)], -1)


def _days(fleet: CaptureSet) -> Texts:
    """The day of each capture."""
    days = numpy.floor(fleet.numbers("start_ns") / (_SECONDS_OF_DAY * 1e9))
    is_known = ~numpy.isnan(days)
    different, codes = numpy.unique(days[is_known], return_inverse=True)
    numbers = numpy.full(len(days), -1)
    numbers[is_known] = codes
    return Texts([str(numpy.datetime64(int(day), "D")) for day in different], numbers)


def _key(name: str) -> tuple[object, str]:
    return version_key(name), name.lower().removeprefix("v")
