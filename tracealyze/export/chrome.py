"""chrome: the JSON of chrome://tracing, which Perfetto, speedscope and others read."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from tracealyze.export.timeline import notes_of, timeline_of

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace


def write(trace: Trace, to: BinaryIO) -> list[str]:
    """Write processes, threads, calls and the critical path. Times are microseconds since the first event."""
    timeline = timeline_of(trace)
    first, *more = notes_of(timeline)
    notes = [first, "Findings and the class of each wait are not in the file.", *more]
    timeline.write_chrome(notes, to.write)
    return notes
