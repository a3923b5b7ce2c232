"""A window in intervals: what the critical path of each consists of, and how long calls took, below each other.

path     ▇▇▇▇▇▇▇▇▇▇▇▇      a column per interval, divided by class
fsync    ..       ..       median and 99th percentile, on a logarithmic axis
           ''''''''
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import log
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MIN_CALLS_OF_LEVEL
from tracealyze.base.sanitize import shown
from tracealyze.model.time_names import CLASSES
from tracealyze.render.picture.boot_chart import Chart
from tracealyze.render.picture.looks import LOOKS, hatched, known

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.intervals import Group, Interval

_LEFT, _PLOT, _RIGHT = 150, 740, 90
_WIDTH = _LEFT + _PLOT + _RIGHT
_TOP, _PATH, _LATENCY, _BETWEEN, _BOTTOM = 20, 80, 60, 14, 18
_MAX_GROUPS = 3
_MAX_LABELS = 6
_LINES = (("p99_ns", "3 2", "99th percentile"), ("p50_ns", "", "median"))


def interval_chart(
    found: Sequence[Interval], groups: Sequence[Group], prefix: str, when: Callable[[int], str], tick_ns: int
) -> Chart:
    """The chart of intervals. The durations of `groups`, by program and name, are drawn; `when` shows a moment."""
    groups = groups[:_MAX_GROUPS]
    height = _TOP + _PATH + len(groups) * (_BETWEEN + _LATENCY) + _BOTTOM
    names = {known(row["class"]) for each in found for row in each.path}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="Intervals">\n',
        hatched(names, prefix),
        *_axis(found, when, height),
        _name("critical path", _TOP),
        *_columns(found, prefix, when),
    ]
    for number, group in enumerate(groups):
        top = _TOP + _PATH + _BETWEEN + number * (_BETWEEN + _LATENCY)
        parts.extend(_latencies(found, group, top, tick_ns))
    caption = "Each column is an interval; its parts are the classes of time on the critical path."
    if groups:
        caption += " Below: the duration of calls, solid the median, dashed the 99th percentile, on logarithmic axes."
    return Chart("".join([*parts, "</svg>\n"]), caption, _WIDTH, height, 1 + len(groups))


def _x(number: float, found: Sequence[Interval]) -> float:
    return round(_LEFT + _PLOT * number / len(found), 2)


def _group(row: Row) -> Group:
    return row["program"], row["syscall"]


def _name(text: str, top: float) -> str:
    return f'<text x="4" y="{top + 12}" fill="currentColor">{html.escape(shown(text))}</text>\n'


def _axis(found: Sequence[Interval], when: Callable[[int], str], height: int) -> Iterator[str]:
    step = -(-len(found) // _MAX_LABELS)
    for at in range(0, len(found), step):
        x = _x(at, found)
        yield f'<path d="M{x} {_TOP}V{height - _BOTTOM}" stroke="currentColor" stroke-opacity=".15"/>\n'
        yield f'<text x="{x}" y="14" fill="currentColor">{html.escape(when(found[at].start_ns))}</text>\n'


def _columns(found: Sequence[Interval], prefix: str, when: Callable[[int], str]) -> Iterator[str]:
    """A column per interval. A short rest at the end is as much narrower."""
    longest_ns = max(1, *(each.dur_ns for each in found))
    for at, each in enumerate(found):
        sums: Counter[str] = Counter()
        for row in each.path:
            sums[known(row["class"])] += row["exclusive_ns"]
        x, width = _x(at, found), round(_PLOT / len(found) * each.dur_ns / longest_ns, 2)
        told = ", ".join(
            f"{CLASSES.get(name, name)} {units.share(ns / max(each.dur_ns, 1))}" for name, ns in sums.most_common()
        )
        title = f"{when(each.start_ns)}: {units.counted(each.total_calls, 'call')}; {told}"
        yield f"<g><title>{html.escape(shown(title))}</title>"
        bottom = float(_TOP + _PATH)
        for name in (name for name in LOOKS if sums[name]):
            part = _PATH * sums[name] / max(each.dur_ns, 1)
            bottom -= part
            yield (f'<rect x="{x}" y="{bottom:.2f}" width="{width}" height="{part:.2f}" fill="url(#{prefix}-{name})"/>')
        yield "</g>\n"


def _latencies(found: Sequence[Interval], group: Group, top: int, tick_ns: int) -> Iterator[str]:
    """Median and 99th percentile of a kind of call, with the least and the largest of both."""
    program, syscall = group
    of_group = ((at, row) for at, each in enumerate(found) for row in each.calls if _group(row) == group)
    rows = {at: row for at, row in of_group if row["calls"] >= MIN_CALLS_OF_LEVEL}
    values = [row[name] for row in rows.values() for name, *_ in _LINES if row[name]]
    yield _name(f"{syscall or 'calls'} {program or ''}".strip(), top)
    if not values:
        return
    least, most = min(values), max(values)
    span = log(most / least) or 1.0
    for text, y in ((units.duration(most, tick_ns), top + 10), (units.duration(least, tick_ns), top + _LATENCY)):
        yield f'<text x="{_LEFT + _PLOT + 6}" y="{y}" fill="currentColor">{html.escape(text)}</text>\n'
    for name, dashes, title in _LINES:
        points = [
            f"{_x(at + 0.5, found)} {top + _LATENCY * (1 - log(row[name] / least) / span):.2f}"
            for at, row in sorted(rows.items())
            if row[name]
        ]
        yield (
            f'<path d="M{"L".join(points)}" fill="none" stroke="currentColor" stroke-width="1.5" '
            f'stroke-dasharray="{dashes or "none"}"><title>{title}</title></path>\n'
        )
