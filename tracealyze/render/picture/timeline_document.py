"""The timeline as a document for programs: lanes, and the stretches of the critical path in them. Its size is bounded.

lanes   the first rows of the chart, each with its longest lives
path    the longest stretches in order of time; `path_rest_ns` is the time of all others
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, Any

from tracealyze.model.time_names import name_of
from tracealyze.render.capture_notes import name_of_capture
from tracealyze.render.picture.lanes import lanes
from tracealyze.trace.bounded import within
from tracealyze.trace.together.shared_axis import axis_of, extents_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tracealyze.render.picture.lanes import Lane, LaneOf
    from tracealyze.trace.trace import Trace

SCHEMA = "tracealyze.timeline/1"

_MAX_BYTES = 1_450_000
"""Captures, before they are indented within the document, which adds up to a third."""
_LISTED_BYTES = 1_000_000
"""Rows of all captures, before they are indented within the document, which adds up to two thirds."""
_MIN_BYTES = 4_000
"""Rows of a capture. Of very many captures, the first have so many, and the others are counted."""
_MAX_SPANS = 50
_MAX_STRETCHES = 4_000


def document(traces: Sequence[Trace], limit: int, aligned: Iterable[str] = ()) -> dict[str, Any]:
    """The timelines of all captures, each with at most `limit` lanes. `counts` has the number shown, and of all.

    `aligned` has moments that are the same in all captures. `before_ns` is where a capture begins on the axis of all
    captures of one time, and `axis_ns` is its length; a capture that is not on it has neither."""
    axis = axis_of(extents_of(traces, aligned))
    places = [axis.on(number) if axis else None for number in range(len(traces))]
    room = max(_LISTED_BYTES // len(traces), _MIN_BYTES)
    captures = within(
        (_timeline(trace, limit, room // 2, place) for trace, place in zip(traces, places, strict=True)), _MAX_BYTES
    )
    return {"schema": SCHEMA, "captures": captures, "counts": {"captures": [len(captures), len(traces)]}}


def _timeline(trace: Trace, limit: int, list_bytes: int, place: tuple[int, int] | None) -> dict[str, Any]:
    """The lanes and the critical path of a trace, with times in nanoseconds since the start of its window.

    Without a wall clock there are none, and `reason` says why."""
    window = trace.window
    about = {"capture": name_of_capture(trace.captures[0]), "wall_ns": window.wall_ns, "reason": window.reason}
    if place:
        about |= {"before_ns": place[0], "axis_ns": place[1]}
    if not window.wall_ns:
        return about | {"lanes": [], "folded": 0, "path": [], "path_rest_ns": 0, "counts": {"lanes": [0, 0]}}
    found = lanes(trace, limit)
    rows = within((_lane(lane, window.wall_ns) for lane in found.rows), list_bytes)
    path = _path(trace, found.lane_of, list_bytes)
    return about | {
        "lanes": rows,
        "folded": found.folded,
        "path": path,
        "path_rest_ns": window.wall_ns - sum(row["dur_ns"] for row in path),
        "counts": {"lanes": [len(rows), len(found.rows)]},
    }


def _lane(lane: Lane, wall_ns: int) -> dict[str, Any]:
    longest = nlargest(_MAX_SPANS, lane.spans, key=lambda span: span[1] - span[0])
    return {
        "lane": lane.name,
        "depth": lane.depth,
        "start_ns": min((start for start, _ in lane.spans), default=None),
        "end_ns": max((end for _, end in lane.spans), default=None),
        "lives": len(lane.spans),
        "spans": sorted(longest),
        "exclusive_ns": lane.exclusive_ns,
        "share": lane.exclusive_ns / wall_ns,
    }


def _path(trace: Trace, lane_of: LaneOf, max_bytes: int) -> list[dict[str, Any]]:
    zero_ns = trace.window.start_ns or 0
    longest_first = sorted(trace.path_from(0, _MAX_STRETCHES), key=lambda row: -row["dur_ns"])
    rows = (
        {
            "start_ns": row["start_ns"] - zero_ns,
            "dur_ns": row["dur_ns"],
            "lane": lane_of(dict(row) | {"since_ns": row["start_ns"] - zero_ns}),
            "class": row["class"],
            "what": name_of(row),
            "pid": row["pid"],
            "line": row["line"],
        }
        for row in longest_first
    )
    return sorted(within(rows, max_bytes), key=lambda row: row["start_ns"])
