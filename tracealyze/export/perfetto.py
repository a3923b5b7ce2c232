"""perfetto: a trace for https://ui.perfetto.dev, with processes, threads, calls, the critical path and findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from tracealyze.export.timeline import notes_of, timeline_of
from tracealyze.render.picture.stretches import stretches_of

if TYPE_CHECKING:
    from tracealyze import _engine
    from tracealyze.trace.trace import Trace


def write(trace: Trace, to: BinaryIO) -> list[str]:
    """Write the trace. Times are nanoseconds since the first event."""
    timeline = timeline_of(trace)
    timeline.write_perfetto(list(_moments(trace)), to.write)
    return [*notes_of(timeline), "A finding is a moment at the start of its evidence, with its length as a fact."]


def _moments(trace: Trace) -> Iterator[_engine.FoundMoment]:
    """The findings where they are in time. Without a window they have no place."""
    if trace.window.reason is not None:
        return
    for finding in trace.findings:
        for task, start, end in stretches_of(trace, finding):
            at_ns = start + (trace.window.start_ns or 0)
            yield finding.title or finding.name, at_ns, end - start, finding.name, finding.message, task
