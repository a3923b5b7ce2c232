"""The wall time as one bar, divided by class, and the key of the colors."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.model.time_names import CLASSES
from tracealyze.render.picture.looks import hatched, known

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.trace import Trace

_HEIGHT = 16


def class_bar(trace: Trace, prefix: str, scale_ns: int | None = None) -> str:
    """A bar as wide as its element. `scale_ns` is the time that the whole width stands for, the window by default."""
    scale_ns = scale_ns or trace.window.wall_ns
    rows = _classes(trace)
    parts, at_ns = [], 0
    for row in rows:
        x, width = (round(100 * ns / scale_ns, 3) for ns in (at_ns, row["exclusive_ns"]))
        cls = known(row["class"])
        title = html.escape(_entry(row, trace))
        parts.append(
            f'<g><title>{title}</title><rect x="{x}%" width="{width}%" height="{_HEIGHT}" '
            f'fill="url(#{prefix}-{cls})"/></g>\n'
        )
        at_ns += row["exclusive_ns"]
    names = {known(row["class"]) for row in rows}
    return (
        f'<svg class="whole" width="100%" height="{_HEIGHT}" role="img" aria-label="Wall time by class">\n'
        f"{hatched(names, prefix)}{''.join(parts)}</svg>\n"
    )


def legend(trace: Trace, prefix: str, with_sums: bool = True) -> str:
    """The classes, the largest first: the key of the colors. The sums add up to the window."""
    items = (
        '<span><svg width="12" height="12" aria-hidden="true">'
        f'<rect width="12" height="12" fill="url(#{prefix}-{known(row["class"])})"/></svg> '
        f"{html.escape(_entry(row, trace) if with_sums else _name(row))}</span>"
        for row in _classes(trace)
    )
    return f'<p class="legend">{" ".join(items)}</p>\n'


def _classes(trace: Trace) -> list[Row]:
    return sorted((row for row in trace.classes if row["exclusive_ns"]), key=lambda row: -row["exclusive_ns"])


def _name(row: Row) -> str:
    return CLASSES.get(row["class"], str(row["class"]))


def _entry(row: Row, trace: Trace) -> str:
    took = units.duration(row["exclusive_ns"], trace.tick_ns)
    return f"{_name(row)} {took} ({units.share(row['exclusive_ns'] / trace.window.wall_ns)})"
