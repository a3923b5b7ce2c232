"""The first of several runs, if only it does some work: it fills caches that the others read.

    run 1   1,204 calls   writes 30 files to __pycache__
    run 2     912 calls
    run 3     912 calls

Compared as it is, its metrics would be unstable, and a real change would be lost among them. It is set aside, and what
only it does is named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from tracealyze.compare.gate.call_rows import CallRow, call_rows, target_of
from tracealyze.compare.gate.places import alike_named, places
from tracealyze.compare.gate.stats import exceeds
from tracealyze.compare.metrics import Class, Name
from tracealyze.findings.compiled_rules import known_table

if TYPE_CHECKING:
    from tracealyze.compare.run import Run

# Two runs have to agree, before the first can differ from them.
_MIN_RUNS = 3


@dataclass(frozen=True)
class FirstRun:
    """A first run that was set aside, and the calls that only it makes."""

    capture: str
    because: str
    """The cache that it fills, if the calls show that."""
    rows: tuple[CallRow, ...]


def without_first(runs: Sequence[Run]) -> tuple[Sequence[Run], FirstRun | None]:
    """The runs that are to be compared, and the first one if it is set aside."""
    if len(runs) < _MIN_RUNS:
        return runs, None
    first, *later = runs
    more = list(_metrics_of_first_only(first, later))
    if not more:
        return runs, None
    rows = _rows_of_first_only(first, later)
    return (later, FirstRun(first.path, _because(rows), tuple(rows))) if rows else (runs, None)


def _metrics_of_first_only(first: Run, later: Sequence[Run]) -> Iterator[str]:
    """The counts of class A that are over their limits in the first run only. The others agree on them."""
    for name, value in first.values.items():
        metric = Name.of(name).metric
        if metric.cls not in (Class.SMALL, Class.LARGE) or metric.name == "finding" or value.cls is not None:
            continue
        others = [run.values[name].value - run.values[name].loose if name in run.values else 0 for run in later]
        if exceeds(min(others), max(others), metric.cls, metric.unit):
            continue
        if exceeds(max(others), value.value - value.loose, metric.cls, metric.unit):
            yield name


def _rows_of_first_only(first: Run, later: Sequence[Run]) -> list[CallRow]:
    mine, *others = alike_named([places([first]), *(places([run]) for run in later)])
    now = Counter({place: amounts.calls for place, amounts in mine.items()})
    then = Counter({place: max(run[place].calls if place in run else 0 for run in others) for place in mine})
    rows = call_rows((place for place in mine if now[place] > then[place] and target_of(place)), then, now)
    return [row for row in rows if row.growth > 0]


def _because(rows: Sequence[CallRow]) -> str:
    """The most specific cause that a call shows."""
    targets = [target_of(row.example) for row in rows]
    return next((why for pattern, why in _causes() if any(map(pattern.search, targets))), "")


@cache
def _causes() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(each["target"]), each["because"]) for each in known_table("first_runs")["first"])
