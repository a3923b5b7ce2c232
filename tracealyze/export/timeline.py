"""What `perfetto` and `chrome` draw, and what they leave out: the engine writes them, with these words.

Calls of a thread do not overlap, except in damaged captures: then the later call is on a second track. Of a large
trace, neighboring short calls of a thread are one slice that has their number and the sum of their times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.model.time_names import name_of

if TYPE_CHECKING:
    from tracealyze import _engine
    from tracealyze.model.table import Table
    from tracealyze.trace.trace import Trace

MAX_SLICES = 2_000_000
"""Calls that are slices of their own. Perfetto needs about 250 bytes of memory for each."""
FIRST_SYNTHETIC = 1 << 22
"""Above the largest process id of Linux: the number of an id that was used before."""
_MAX_PATH = 200_000
_NAMING = ("target", "class", "what", "syscall", "op")
"""The columns of the critical path that make the name of a stretch."""


def timeline_of(trace: Trace, max_slices: int = MAX_SLICES) -> _engine.Timeline:
    """The calls of a trace, at most about so many, and its critical path."""
    if trace.window.reason is not None:
        return trace.timeline(max_slices)
    few = trace.totals["calls"] <= _MAX_PATH
    path = trace.path_from(0 if few else trace.window.wall_ns // _MAX_PATH)
    return trace.timeline(max_slices, path, list(_names(path)))


def _names(path: Table) -> Iterator[str]:
    """The name of each stretch. Most have one that occurred before: only a silence is named after its own message."""
    known: dict[tuple[str | None, ...], str] = {}
    for values in zip(*map(path.column, _NAMING), strict=True):
        row = dict(zip(_NAMING, values, strict=True))
        key = values if row["class"] == "gap" else values[1:]
        if key not in known:
            known[key] = name_of(row)
        yield known[key]


def notes_of(timeline: _engine.Timeline) -> list[str]:
    """What a timeline leaves out, and what its numbers are."""
    notes = ["Only calls with a start and a duration are slices."]
    if timeline.min_ns:
        length = units.duration(timeline.min_ns)
        notes.append(f"Neighboring calls below {length} are merged, with their number and their time.")
    if timeline.has_reused_ids:
        notes.append(f"An id that was reused has a number from {FIRST_SYNTHETIC} on in its later lives.")
    return notes
