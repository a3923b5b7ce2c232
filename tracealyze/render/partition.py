"""The partition of the window for people: by process, then call, then target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Any

from tracealyze.base import units
from tracealyze.base.heuristics import MAX_REST_SHARE, MIN_PIECE_SHARE, MIN_PROCESS_SHARE
from tracealyze.model.selection import Scope
from tracealyze.model.time_names import CLASSES, name_of
from tracealyze.render.listing import Column, Listing

if TYPE_CHECKING:
    from tracealyze.model.table import Row
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.trace import Trace

_CALLS_PER_PROCESS = 5
_TARGETS_PER_CALL = 3
_CALL = ("class", "syscall", "op")


@dataclass(frozen=True)
class Piece:
    """A line of the partition."""

    depth: int
    name: str
    exclusive_ns: int
    share: float
    target: str = ""
    """The target of the calls, if it is not the name."""
    count: str = ""
    """The number of calls."""
    remark: str = ""


def listing(summary: Summary, tick_ns: int, *, full: bool = False) -> Listing:
    """The partition as rows, one per piece; unless it is `full`, small ones of many are folded."""
    rows = summary.partition(full=full)
    names = [
        "pid",
        "tid",
        "program",
        "class",
        "class_name",
        "syscall",
        "op",
        "target",
        "exclusive_ns",
        "share",
        "calls",
    ]
    if any("folded" in row for row in rows):
        names.append("folded")
        rows = [row | {"folded": row.get("folded")} for row in rows]
    headings = {"exclusive_ns": "on path"}
    columns = [Column(name, headings.get(name, name)) for name in names]
    return Listing("partition", columns, rows, tick_ns)


def folded(trace: Trace, top: int) -> list[Piece]:
    """The largest pieces with their parts, and one for the rest, so that the outermost pieces add up to the window.

    The outermost pieces are processes. If many small processes have most of the time, they are combined by program."""
    largest = trace.partition_by(["pid", "program"], limit=max(top, 2))
    all_ns = sum(trace.partition_by([]).column("exclusive_ns"))
    parts = [Part(trace, row) for row in largest.head(top)]
    if len(largest) == 1 and parts[0].is_nameless:
        return parts[0].calls(0, top)
    if sum(part.exclusive_ns for part in parts) < (1 - MAX_REST_SHARE) * all_ns:
        parts = _by_program(trace, parts, top)
    pieces: list[Piece] = []
    for part in parts:
        pieces.append(part.piece())
        pieces.extend(part.calls(1, _CALLS_PER_PROCESS))
    rest_ns = all_ns - sum(part.exclusive_ns for part in parts)
    if rest_ns:
        pieces.append(_piece(trace, 0, _others(trace, parts), rest_ns))
    return pieces


def _others(trace: Trace, parts: list[Part]) -> str:
    """The number of other processes. If there are none, the rest is time of the listed processes in other programs."""
    listed = [
        Scope({key: part.only[key] for key in (["program"] if isinstance(part, _Group) else ["pid"])}) for part in parts
    ]
    rest = sum(trace.partition_by([], apart_from=listed).column("processes"))
    return units.counted(rest, "more process", "more processes") if rest else "rest of these processes"


def _by_program(trace: Trace, largest: list[Part], top: int) -> list[Part]:
    """The large processes, and the others by program."""
    large = [part for part in largest if part.share >= MIN_PROCESS_SHARE]
    apart = tuple(Scope(part.only) for part in large)
    rest = max(top - len(large), 0)
    programs = trace.partition_by(["program"], apart_from=apart, limit=rest).head(rest)
    listed = {"program": [row["program"] for row in programs]}
    # Two passes over the pieces give everything about programs, because there may be millions of pieces.
    calls = _by_call(trace, listed, apart)
    targets = _by_call(trace, listed, apart, "target", min_ns=_min_piece_ns(trace))
    names = {part.row["program"] for part in large}
    groups = [
        _Group(trace, row, calls[row["program"]], targets.get(row["program"], []), row["program"] in names)
        for row in programs
    ]
    return sorted([*large, *groups], key=lambda part: -part.exclusive_ns)


def _by_call(
    trace: Trace, only: Mapping[str, list[Any]], apart: Sequence[Scope], *more: str, min_ns: int = 0
) -> dict[str | None, list[Row]]:
    """The calls of each of these programs, largest first."""
    found: dict[str | None, list[Row]] = {}
    for row in trace.partition_by(["program", *_CALL, *more], Scope(only), apart_from=apart, min_ns=min_ns):
        found.setdefault(row["program"], []).append(row)
    return found


def _min_piece_ns(trace: Trace) -> int:
    return ceil(MIN_PIECE_SHARE * trace.window.wall_ns)


class Part:
    """A process, or another owner of time, and its parts."""

    def __init__(self, trace: Trace, row: Row) -> None:
        self.trace = trace
        self.row = row
        self.only = {key: [row[key]] for key in ("pid", "program")}
        self.exclusive_ns: int = row["exclusive_ns"]
        self.min_ns = _min_piece_ns(trace)

    @property
    def is_nameless(self) -> bool:
        """Whether neither pid nor program is known: in a log, or in a trace of a single process."""
        return self.row["pid"] is None and not self.row["program"]

    @property
    def share(self) -> float:
        """Its share of the window."""
        wall_ns = self.trace.window.wall_ns
        return self.exclusive_ns / wall_ns if wall_ns else 0.0

    def piece(self) -> Piece:
        """The part as a single piece."""
        named = (f"pid {self.row['pid']}" if self.row["pid"] is not None else "", self.row["program"] or "")
        name = " ".join(part for part in named if part) or "the traced process"
        piece = _piece(self.trace, 0, name, self.exclusive_ns)
        # Ids are reused.
        several = self.row["processes"] > 1
        return replace(piece, count=f"{units.count(self.row['processes'])} processes") if several else piece

    def calls(self, depth: int, limit: int) -> list[Piece]:
        """The largest calls and silences, with their targets."""
        largest, kinds = self._kinds(limit)
        large = [row for row in largest if row["exclusive_ns"] >= self.min_ns]
        listed = large if depth else large or largest
        pieces = [piece for row in listed for piece in self._call(row, depth)]
        rest_ns = self.exclusive_ns - sum(row["exclusive_ns"] for row in listed)
        others = kinds - len(listed)
        if others and rest_ns >= self.min_ns:
            pieces.append(_piece(self.trace, depth, units.counted(others, "other", "others"), rest_ns))
        return pieces

    def _kinds(self, limit: int) -> tuple[Sequence[Row], int]:
        """The largest calls and silences, and the number of all of them."""
        silent = {"class": ["gap"]}
        calls = self.trace.partition_by(_CALL, Scope(self.only, silent))
        silences = self.trace.partition_by(["class", "target"], Scope(self.only | silent))
        largest = sorted([*calls.head(limit), *silences.head(limit)], key=lambda row: -row["exclusive_ns"])[:limit]
        return largest, len(calls) + len(silences)

    def _targets(self, call: Row) -> Iterable[Row]:
        """The largest targets of a call."""
        here = Scope(self.only | {key: [call[key]] for key in _CALL})
        return self.trace.partition_by(["target"], here, min_ns=self.min_ns, limit=_TARGETS_PER_CALL)

    def _call(self, row: Row, depth: int) -> Iterator[Piece]:
        piece = _piece(self.trace, depth, name_of(row), row["exclusive_ns"])
        target = row["target"] if row["class"] != "gap" else ""
        target = units.counted(row["targets"], "target") if row["targets"] > 1 else target or ""
        if row["syscall"]:
            count = units.counted(row["calls"], "call") if row["calls"] else ""
            remark = CLASSES.get(row["tag"] or row["class"], "")
            yield replace(piece, target=target, count=count, remark=remark)
        else:
            yield replace(piece, target=target)
        if row["targets"] > 1:
            for target in self._targets(row):
                piece = _piece(self.trace, depth + 1, target["target"] or "(no target)", target["exclusive_ns"])
                yield replace(piece, count=units.counted(target["calls"], "call"))


class _Group(Part):
    """The processes of a program, except those that are listed by themselves."""

    def __init__(self, trace: Trace, row: Row, calls: list[Row], targets: list[Row], is_rest: bool) -> None:
        super().__init__(trace, row)
        self.known_calls = calls
        self.known_targets = targets
        self.is_rest = is_rest

    def piece(self) -> Piece:
        count = self.row["processes"]
        if count == 1:
            return super().piece()
        piece = _piece(self.trace, 0, self.row["program"] or "unknown program", self.exclusive_ns)
        return replace(piece, count=f"{units.count(count)} {'other ' if self.is_rest else ''}processes")

    def _kinds(self, limit: int) -> tuple[Sequence[Row], int]:
        return self.known_calls[:limit], len(self.known_calls)

    def _targets(self, call: Row) -> Iterable[Row]:
        here = (row for row in self.known_targets if all(row[key] == call[key] for key in _CALL))
        return islice(here, _TARGETS_PER_CALL)


def _piece(trace: Trace, depth: int, name: str, exclusive_ns: int) -> Piece:
    wall_ns = trace.window.wall_ns
    return Piece(depth, name, exclusive_ns, exclusive_ns / wall_ns if wall_ns else 0.0)
