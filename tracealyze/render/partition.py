"""The partition of the window folded for reading: process, then call, then target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from tracealyze import units
from tracealyze.render.listing import Column, Listing
from tracealyze.selection import Scope

if TYPE_CHECKING:
    from tracealyze.summary import Summary
    from tracealyze.table import Row
    from tracealyze.trace import Trace

# A piece below this share of the window is told with the others of its kind.
_LEAST_SHARE = 0.01
_CALLS_PER_PROCESS = 5
_TARGETS_PER_CALL = 3

_CLASSES = {
    "user": "user code or untraced",
    "child": "waiting for a child that the capture does not show",
    "stopped": "stopped",
    "gap": "silence",
    "external": "waiting for something outside the capture",
    "poll-lag": "noticed late by polling",
    "polled": "polled for",
}
"""Classes and tags of time that the name of a call does not tell, in words."""


@dataclass(frozen=True)
class Piece:
    """A line of the partition as it is read."""

    depth: int
    name: str
    exclusive_ns: int
    share: float
    target: str = ""
    """What the calls worked on, if that is not the name."""
    count: str = ""
    """How many calls there were."""
    remark: str = ""


def name_of(row: Row) -> str:
    """The call with its request, or what else the time was."""
    call = " ".join(part for part in (row["syscall"], row["op"]) if part)
    if row["class"] == "gap":
        return f'silence after "{row["target"]}"' if row["target"] else "silence"
    if row["class"] == "other" and not row["syscall"]:
        # Of a log: others always have a call.
        return "repeated messages"
    return call or _CLASSES.get(row["class"]) or str(row["class"])


def listing(summary: Summary, tick_ns: int) -> Listing:
    """The partition as rows, unfolded."""
    names = ("pid", "tid", "program", "class", "syscall", "op", "target", "exclusive_ns", "share", "calls")
    headings = {"exclusive_ns": "on path"}
    columns = [Column(name, headings.get(name, name)) for name in names]
    return Listing("partition", columns, summary.partition, tick_ns)


def folded(trace: Trace, top: int) -> list[Piece]:
    """The largest pieces with their parts, and one for the rest, so that the outermost ones add up to the whole."""
    processes = trace.partition_by(["pid", "program"])
    pieces: list[Piece] = []
    for process in processes.head(top):
        if len(processes) == 1 and process["pid"] is None and not process["program"]:
            return _Process(trace, process).calls(0, top)
        pieces.append(_Process(trace, process).piece())
        pieces.extend(_Process(trace, process).calls(1, _CALLS_PER_PROCESS))
    if len(processes) > top:
        rest_ns = sum(processes.column("exclusive_ns")[top:])
        pieces.append(_piece(trace, 0, f"{len(processes) - top} more processes", rest_ns))
    return pieces


class _Process:
    """A process, or what else time was charged to, and its parts."""

    def __init__(self, trace: Trace, row: Row) -> None:
        self.trace = trace
        self.row = row
        self.only = {"pid": [row["pid"]], "program": [row["program"]]}
        self.least_ns = ceil(_LEAST_SHARE * trace.window.wall_ns)

    def piece(self) -> Piece:
        """All of it."""
        named = (f"pid {self.row['pid']}" if self.row["pid"] is not None else "", self.row["program"] or "")
        name = " ".join(part for part in named if part) or "the traced process"
        return _piece(self.trace, 0, name, self.row["exclusive_ns"])

    def calls(self, depth: int, most: int) -> list[Piece]:
        """Its largest calls, and silences, with their targets."""
        calls = self.trace.partition_by(["class", "syscall", "op"], Scope(self.only, {"class": ["gap"]}))
        silences = self.trace.partition_by(["class", "target"], Scope({**self.only, "class": ["gap"]}))
        largest = sorted([*calls.head(most), *silences.head(most)], key=lambda row: -row["exclusive_ns"])[:most]
        large = [row for row in largest if row["exclusive_ns"] >= self.least_ns]
        told = large if depth else large or largest
        pieces = [piece for row in told for piece in self._call(row, depth)]
        rest_ns = self.row["exclusive_ns"] - sum(row["exclusive_ns"] for row in told)
        others = len(calls) + len(silences) - len(told)
        if others and rest_ns >= self.least_ns:
            pieces.append(_piece(self.trace, depth, units.counted(others, "smaller piece"), rest_ns))
        return pieces

    def _call(self, row: Row, depth: int) -> Iterator[Piece]:
        piece = _piece(self.trace, depth, name_of(row), row["exclusive_ns"])
        target = row["target"] if row["class"] != "gap" else ""
        target = f"{row['targets']} targets" if row["targets"] > 1 else target or ""
        if row["syscall"]:
            count = units.counted(row["calls"], "call") if row["calls"] else ""
            remark = _CLASSES.get(row["tag"] or row["class"], "")
            yield replace(piece, target=target, count=count, remark=remark)
        else:
            yield replace(piece, target=target)
        if row["targets"] > 1:
            yield from self._targets(row, depth + 1)

    def _targets(self, call: Row, depth: int) -> Iterator[Piece]:
        here = Scope(self.only | {key: [call[key]] for key in ("class", "syscall", "op")})
        rows = self.trace.partition_by(["target"], here, at_least_ns=self.least_ns, most=_TARGETS_PER_CALL)
        for row in rows:
            piece = _piece(self.trace, depth, row["target"] or "(no target)", row["exclusive_ns"])
            yield replace(piece, count=units.counted(row["calls"], "call"))


def _piece(trace: Trace, depth: int, name: str, exclusive_ns: int) -> Piece:
    wall_ns = trace.window.wall_ns
    return Piece(depth, name, exclusive_ns, exclusive_ns / wall_ns if wall_ns else 0.0)
