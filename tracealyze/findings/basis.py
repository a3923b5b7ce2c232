"""The basis of a finding: what its cost is a share of.

wall      the capture has a window                        85% of the 11.42 s window
elapsed   no wall clock, but durations (`strace -T`)      95% of the 735 ms in calls of the process
          a table that the tracer printed (`strace -c`)   97% of the 6.7 s in the tracer's table
counts    neither                                         2,511 of 2,757 calls of the process
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tracealyze.base import units

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables


class Basis(StrEnum):
    """What a finding rests on."""

    WALL = "wall"
    """The window."""
    ELAPSED = "elapsed"
    """Durations of calls, which overlap between tasks."""
    COUNTS = "counts"
    """Numbers of calls."""


@dataclass(frozen=True)
class Whole:
    """What a match is a part of."""

    basis: Basis = Basis.WALL
    ns: int = 0
    """Length of the window, or the elapsed time of all calls; 0 if unknown."""
    calls: int = 0
    """Number of calls, for counts."""
    is_process: bool = False
    """Whether it is one process. Otherwise it is the capture."""
    is_table: bool = False
    """Whether it is a table that the tracer printed, whose times are not those of the calls next to it."""

    def share(self, cost_ns: int) -> float | None:
        """The share of a cost; None if the whole is unknown."""
        if self.basis is Basis.WALL:
            return cost_ns / self.ns if self.ns else 0.0
        return cost_ns / self.ns if self.ns and self.basis is Basis.ELAPSED else None


def basis_of(trace: TraceTables, number: int) -> Basis:
    """The basis of findings about a capture. A lower bound of a duration is elapsed time even if none is printed."""
    capture = trace.capture_of(number)
    if capture is None or capture.has.get("wall_clock", True):
        return Basis.WALL
    has_times = capture.has.get("durations") or (capture.has.get("summary_table") and not capture.has.get("events"))
    return Basis.ELAPSED if has_times else Basis.COUNTS


def whole_of(trace: TraceTables, row: Row, basis: Basis) -> Whole:
    """The whole of which a row is a part: the window, the calls of its process, or the calls of the capture."""
    number, pid = int(row.get("capture") or 0), row.get("pid")
    if basis is Basis.WALL:
        return Whole(ns=trace.wall_ns_of(number))
    of_process = trace.calls_of_processes.get((number, pid)) if pid is not None else None
    elapsed_ns, calls = of_process or trace.calls_of_processes.get((number, None), (0, 0))
    # Lower bounds are the only known durations, so the elapsed time of all calls is unknown.
    is_known = basis_of(trace, number) is Basis.ELAPSED
    return Whole(basis, elapsed_ns if is_known else 0, calls, of_process is not None)


def whole_of_table(trace: TraceTables, number: int) -> Whole:
    """All that the tracer's table of a capture counts."""
    rows = [row for row in trace.summary_rows if row["capture"] == number]
    return Whole(
        Basis.ELAPSED, sum(row["total_ns"] or 0 for row in rows), sum(row["calls"] for row in rows), is_table=True
    )


_ON_PATH = " on the critical path"
_OF_WINDOW = " of the {window} window"
_SHARE_OF_WINDOW = ("({share} of the {window} window)", "({dominant_exclusive_share} of the {window} window)")


def worded(text: str, whole: Whole) -> str:
    """The text of a rule in the words that fit the basis. Rules are written for captures with a window."""
    if whole.basis is Basis.WALL:
        return text
    text = text.replace(_ON_PATH, "")
    if whole.ns:
        part = "in the tracer's table" if whole.is_table else f"in calls of the {_name(whole)}"
        return text.replace(_OF_WINDOW, f" of the {{window}} {part}")
    for share in _SHARE_OF_WINDOW:
        text = text.replace(share, "(a lower bound)")
    return text


def in_total(whole: Whole) -> str:
    """How many calls the whole has, as a clause."""
    return f"the {_name(whole)} {'makes' if whole.is_process else 'has'} {units.counted(whole.calls, 'call')} in total"


def _name(whole: Whole) -> str:
    return "process" if whole.is_process else "capture"
