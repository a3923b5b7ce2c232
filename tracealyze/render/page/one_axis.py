"""Captures of the same time, such as calls and a log, drawn one below the other on one axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tracealyze.render.capture_notes import name_of_capture
from tracealyze.render.page.markup import element
from tracealyze.render.page.sections import figure
from tracealyze.render.picture.boot_chart import boot_chart
from tracealyze.trace.together.meanwhile import meanwhile, moments
from tracealyze.trace.together.shared_axis import axis_of, extents_of, notes

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace

_MAX_CAPTURES = 8
_MAX_ROWS = 12
"""Rows of each chart: the section is an overview."""


def section(traces: Sequence[Trace], aligned: Iterable[str] = ()) -> Iterator[str]:
    """The section; nothing for a single capture, or if no two were made at the same time."""
    extents = extents_of(traces, aligned)
    axis = axis_of(extents)
    if axis is None:
        return
    told = [moments(trace, extent) for trace, extent in zip(traces, extents, strict=True)]
    yield '<section id="one-axis">\n<h2>At the same time</h2>\n'
    for text in (*(each.text for each in meanwhile(told)), *notes(extents)):
        yield element("p", text)
    places = [(trace, place) for number, trace in enumerate(traces) if (place := axis.on(number))]
    for number, (trace, (before_ns, axis_ns)) in enumerate(places[:_MAX_CAPTURES], start=1):
        name = name_of_capture(trace.captures[0])
        chart = boot_chart(trace, f"axis{number}", axis_ns, limit=_MAX_ROWS, before_ns=before_ns)
        yield element("h3", name)
        yield from figure(chart, f"Timeline of {name}")
    yield "</section>\n"
