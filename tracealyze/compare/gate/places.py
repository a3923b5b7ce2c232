"""The places that metrics are sums of: calls by program and shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from tracealyze.compare.metrics import Weigh
from tracealyze.compare.name_patterns import without_made_up_names
from tracealyze.compare.work import Work

if TYPE_CHECKING:
    from tracealyze.compare.run import Run

Place = tuple[str, str]
"""A program, by the last part of its path, and a shape."""

# A baseline stores this number of places; the others are only counted.
MAX_PLACES = 2000
_OUTCOMES = ("interrupted", "noreturn", "open", "unavailable", "failed")


@dataclass(frozen=True)
class Amounts:
    """Amounts of a place in one run, or the median of several."""

    calls: int = 0
    bytes: int = 0
    wait_ns: int = 0


Places = Mapping[Place, Amounts]


def places(runs: Sequence[Run]) -> dict[Place, Amounts]:
    """The amounts of each place: the median over the runs."""
    each = [_places([*run.work, *run.waits]) for run in runs]
    if len(each) == 1:
        return each[0]
    each, nothing = alike_named(each), Amounts()
    return {
        place: Amounts(*(round(median(numbers)) for numbers in zip(*map(_numbers, amounts), strict=True)))
        for place in sorted({place for run in each for place in run})
        for amounts in [[run.get(place, nothing) for run in each]]
    }


def alike_named(each: Sequence[Places]) -> list[dict[Place, Amounts]]:
    """Places of several runs under common names, those of the last run, even if each run made up its own."""
    everywhere = set(each[0]).intersection(*each)
    # Which names are alike can depend on their order, so it is always the same.
    named = without_made_up_names(place for run in reversed(each) for place in sorted(run) if place not in everywhere)
    found: list[dict[Place, Amounts]] = [{} for _ in each]
    for run, mine in zip(each, found, strict=True):
        for place, amounts in run.items():
            name = named.get(place, place)
            mine[name] = _sum(mine[name], amounts) if name in mine else amounts
    return found


def largest(all_places: Places, limit: int = MAX_PLACES) -> dict[Place, Amounts]:
    """The largest places, up to `limit`."""
    ranked = sorted(all_places.items(), key=lambda item: (-item[1].wait_ns, -item[1].calls, -item[1].bytes, item[0]))
    return dict(ranked[:limit])


def work_of(all_places: Places) -> Iterator[Work]:
    """The places as rows of work, so that metrics can weigh them."""
    for (program, shape), amounts in all_places.items():
        syscall = shape.partition("(")[0]
        end = shape.rpartition(")")[2].strip()
        yield Work(
            program=program,
            syscall=syscall,
            op=None,
            shape=shape,
            errno=end if end and end not in _OUTCOMES else None,
            outcome=(end if end in _OUTCOMES else "failed") if end else "ok",
            calls=amounts.calls,
            bytes=amounts.bytes,
            wait_ns=amounts.wait_ns,
            exclusive_ns=0,
            first_line=None,
            last_line=None,
        )


def weighed(all_places: Places, weigh: Weigh) -> Counter[Place]:
    """The contribution of each place to a metric."""
    return Counter({(row.program, row.shape): number for row in work_of(all_places) if (number := weigh(row))})


def _places(work: Iterable[Work]) -> dict[Place, Amounts]:
    found: dict[Place, Amounts] = {}
    for row in work:
        place = (row.program, row.shape)
        known = found.get(place)
        mine = Amounts(row.calls, row.bytes, row.wait_ns)
        found[place] = mine if known is None else _sum(known, mine)
    return found


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return replace(
        one, calls=one.calls + other.calls, bytes=one.bytes + other.bytes, wait_ns=one.wait_ns + other.wait_ns
    )


def _numbers(amounts: Amounts) -> tuple[int, int, int]:
    return amounts.calls, amounts.bytes, amounts.wait_ns
