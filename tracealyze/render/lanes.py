"""A timeline of a few lines: when each command ran, and when it was on the critical path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracealyze.render.path_rows import PathRow
    from tracealyze.render.text import Symbols
    from tracealyze.trace.trace import Trace

_MIN_LANES = 2
_MAX_LANES = 6
_MAX_PROCESSES = 5_000


def lanes(trace: Trace, rows: Sequence[PathRow], width: int, drawn: Symbols) -> list[tuple[str, str]]:
    """Name and bar of each command, in the order of their first time on the critical path.

    Empty where a table says as much: for a single command, or one that is on the path nearly all the time."""
    named = [row for row in rows if row.depth == 0 and row.owners][:_MAX_LANES]
    start_ns, wall_ns = trace.window.start_ns, trace.window.wall_ns
    if len(named) < _MIN_LANES or start_ns is None or len(trace.processes) > _MAX_PROCESSES:
        return []
    table = trace.processes
    lives = list(zip(*map(table.column, ("pid", "birth_ns", "death_ns")), strict=True))
    owners = {owner: number for number, row in enumerate(named) for owner in row.owners}
    # A process that ran several programs lives in the lane of the one with most of the time.
    lane_of: dict[int, int] = {}
    for (pid, _), number in owners.items():
        lane_of[pid] = min(lane_of.get(pid, number), number)
    alive = [[False] * width for _ in named]
    on_path = [[0] * width for _ in named]
    step_ns = max(wall_ns / width, 1)
    for pid, birth_ns, death_ns in lives:
        if pid in lane_of:
            begin = (birth_ns or start_ns) - start_ns
            end = (death_ns or start_ns + wall_ns) - start_ns
            for at in _cells(begin, end, step_ns, width):
                alive[lane_of[pid]][at] = True
    for stretch in trace.path_from(int(step_ns / 4)):
        lane = owners.get((stretch["pid"], stretch["program"]), lane_of.get(stretch["pid"]))
        if lane is not None:
            begin = stretch["start_ns"] - start_ns
            for at in _cells(begin, begin + stretch["dur_ns"], step_ns, width):
                overlap = min(begin + stretch["dur_ns"], (at + 1) * step_ns) - max(begin, at * step_ns)
                on_path[lane][at] += int(overlap)
    first = [next((at for at, ns in enumerate(lane) if 2 * ns >= step_ns), width) for lane in on_path]
    order = sorted(range(len(named)), key=lambda number: first[number])
    return [
        (
            named[number].name,
            "".join(
                drawn.blocks[-1] if 2 * ns >= step_ns else drawn.alive if is_alive else " "
                for ns, is_alive in zip(on_path[number], alive[number], strict=True)
            ).rstrip(),
        )
        for number in order
    ]


def _cells(begin_ns: float, end_ns: float, step_ns: float, width: int) -> Iterable[int]:
    """The cells that a span touches."""
    return range(max(int(begin_ns / step_ns), 0), min(int(end_ns / step_ns) + 1, width))
