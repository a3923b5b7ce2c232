"""The partition of the window folded for reading: process, then call, then target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze import units
from tracealyze.render.listing import Column, Listing

if TYPE_CHECKING:
    from tracealyze.summary import Summary
    from tracealyze.trace import Row

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
}
"""Classes of time that no call stands for, in words."""


@dataclass(frozen=True)
class Piece:
    """A line of the partition as it is read."""

    depth: int
    name: str
    remark: str
    exclusive_ns: int
    share: float


def name_of(row: Row) -> str:
    """The call with its request, or what else the time was."""
    call = " ".join(part for part in (row["syscall"], row["op"]) if part)
    if row["class"] == "gap":
        return f'silence after "{row["target"]}"' if row["target"] else "silence"
    return call or _CLASSES.get(row["class"]) or str(row["class"])


def listing(summary: Summary, tick_ns: int) -> Listing:
    """The partition as rows, unfolded."""
    names = ("pid", "tid", "program", "class", "syscall", "op", "target", "exclusive_ns", "share", "calls")
    headings = {"exclusive_ns": "on path"}
    columns = [Column(name, headings.get(name, name)) for name in names]
    return Listing("partition", columns, summary.partition, tick_ns)


def folded(rows: Sequence[Row], wall_ns: int, top: int) -> list[Piece]:
    """The largest pieces with their parts, and one for the rest, so that the outermost ones add up to the whole."""
    groups = _grouped(rows, _process)
    pieces: list[Piece] = []
    for group in groups[:top]:
        alone = len(groups) == 1 and group[0]["pid"] is None and not group[0]["program"]
        if not alone:
            pieces.append(_piece(0, _process(group[0]), "", group, wall_ns))
        pieces.extend(_calls(group, wall_ns, 0 if alone else 1, top if alone else _CALLS_PER_PROCESS))
    rest = [row for group in groups[top:] for row in group]
    if rest:
        pieces.append(_piece(0, f"{len(groups) - top} more processes", "", rest, wall_ns))
    return pieces


def _calls(rows: Sequence[Row], wall_ns: int, depth: int, most: int) -> list[Piece]:
    groups = _grouped(rows, lambda row: (name_of(row), row["class"]))
    large = [group for group in groups if _sum(group) >= _LEAST_SHARE * wall_ns][:most]
    shown = large if depth else large or groups[:most]
    pieces: list[Piece] = []
    for group in shown:
        targets = _grouped(group, lambda row: row["target"])
        only = targets[0][0]["target"] if len(targets) == 1 and group[0]["class"] != "gap" else None
        pieces.append(_piece(depth, name_of(group[0]), _remark(group, only, len(targets)), group, wall_ns))
        if len(targets) > 1:
            pieces.extend(_targets(targets, wall_ns, depth + 1))
    rest = [row for group in groups[len(shown) :] for row in group]
    if rest and _sum(rest) >= _LEAST_SHARE * wall_ns:
        others = units.counted(len(groups) - len(shown), "smaller piece")
        pieces.append(_piece(depth, others, "", rest, wall_ns))
    return pieces


def _targets(targets: Sequence[Sequence[Row]], wall_ns: int, depth: int) -> list[Piece]:
    large = [group for group in targets if _sum(group) >= _LEAST_SHARE * wall_ns][:_TARGETS_PER_CALL]
    return [
        _piece(depth, group[0]["target"] or "(no target)", units.counted(_calls_in(group), "call"), group, wall_ns)
        for group in large
    ]


def _remark(rows: Sequence[Row], target: str | None, targets: int) -> str:
    calls = _calls_in(rows)
    parts = [target or (f"{targets} targets" if targets > 1 else "")]
    if rows[0]["syscall"]:
        parts.append(units.counted(calls, "call"))
        if rows[0]["class"] in _CLASSES:
            parts.append(_CLASSES[rows[0]["class"]])
    return "  ".join(part for part in parts if part)


def _process(row: Row) -> str:
    named = (f"pid {row['pid']}" if row["pid"] is not None else "", row["program"] or "")
    return " ".join(part for part in named if part) or "the traced process"


def _grouped(rows: Sequence[Row], key: Callable[[Row], object]) -> list[list[Row]]:
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return sorted(groups.values(), key=_sum, reverse=True)


def _sum(rows: Sequence[Row]) -> int:
    return sum(row["exclusive_ns"] for row in rows)


def _calls_in(rows: Sequence[Row]) -> int:
    return sum(row["calls"] or 0 for row in rows)


def _piece(depth: int, name: str, remark: str, rows: Sequence[Row], wall_ns: int) -> Piece:
    exclusive_ns = _sum(rows)
    return Piece(depth, name, remark, exclusive_ns, exclusive_ns / wall_ns if wall_ns else 0.0)
