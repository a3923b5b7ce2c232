"""Three or more states next to each other, such as healthy, degraded and stuck: calls and times of each syscall.

Tables that tracers print (`strace -c`, `truss -c`, `perf trace -s`) and captures with single calls can be mixed: both
have the calls of each syscall, and most have their duration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from statistics import median
from typing import TYPE_CHECKING, Any

from tracealyze.base.heuristics import MIN_DIFF_NS
from tracealyze.trace.summary import syscalls

if TYPE_CHECKING:
    from tracealyze.compare.run import Run

SCHEMA = "tracealyze.states/1"

_MAX_NAME_LENGTH = 14


@dataclass(frozen=True)
class Numbers:
    """The calls of one syscall in one state."""

    calls: int = 0
    failed: int = 0
    total_ns: int | None = None
    """Duration of these calls; None if the capture does not have it."""


@dataclass(frozen=True)
class State:
    """One column: a capture, or the median of several runs."""

    name: str
    """The name in headings."""
    captures: tuple[str, ...]
    syscalls: Mapping[str, Numbers]

    @property
    def calls(self) -> int:
        """All calls."""
        return sum(each.calls for each in self.syscalls.values())

    @property
    def total_ns(self) -> int | None:
        """Duration of all calls; None if the capture has no durations."""
        known = [each.total_ns for each in self.syscalls.values() if each.total_ns is not None]
        return sum(known) if known else None

    def of(self, syscall: str) -> Numbers:
        """The numbers of a syscall, which may be absent."""
        return self.syscalls.get(syscall) or Numbers(total_ns=None if self.total_ns is None else 0)


@dataclass(frozen=True)
class States:
    """All states, and the syscalls that differ between them, the largest difference first."""

    states: Sequence[State]
    differing: Sequence[str]

    def document(self) -> dict[str, Any]:
        """The comparison as it appears in JSON."""
        return {
            "schema": SCHEMA,
            "states": [
                {"name": each.name, "captures": list(each.captures), "calls": each.calls, "total_ns": each.total_ns}
                for each in self.states
            ],
            "syscalls": [
                {
                    "syscall": syscall,
                    "calls": [each.of(syscall).calls for each in self.states],
                    "failed": [each.of(syscall).failed for each in self.states],
                    "total_ns": [each.of(syscall).total_ns for each in self.states],
                }
                for syscall in self.differing
            ],
        }


def states(groups: Sequence[Sequence[Run]]) -> States:
    """Compare groups of runs, each of which is one state."""
    names = _names([group[0].path for group in groups])
    found = [
        State(name, tuple(run.path for run in group), _medians(group))
        for name, group in zip(names, groups, strict=True)
    ]
    everywhere = sorted({syscall for state in found for syscall in state.syscalls})
    spreads = {syscall: _spread([state.of(syscall) for state in found]) for syscall in everywhere}
    differing = [syscall for syscall in everywhere if any(spreads[syscall])]
    return States(found, sorted(differing, key=lambda syscall: [-number for number in spreads[syscall]]))


def _names(paths: Sequence[str]) -> list[str]:
    """File names without their ends if they are short and differ, otherwise numbers."""
    names = [PurePath(path).name.partition(".")[0] for path in paths]
    if len(set(names)) == len(names) and all(0 < len(name) <= _MAX_NAME_LENGTH for name in names):
        return names
    return [f"state {number}" for number in range(1, len(paths) + 1)]


def _spread(numbers: Sequence[Numbers]) -> tuple[int, int, int]:
    """The differences of times, calls and failed calls. Differences of times that any two runs have are zero."""
    known_ns = [each.total_ns for each in numbers if each.total_ns is not None]
    times_ns = max(known_ns) - min(known_ns) if known_ns else 0
    calls, failed = [each.calls for each in numbers], [each.failed for each in numbers]
    return times_ns if times_ns >= MIN_DIFF_NS else 0, max(calls) - min(calls), max(failed) - min(failed)


def _medians(runs: Sequence[Run]) -> dict[str, Numbers]:
    each = [{row["syscall"]: row for row in syscalls(run.trace) if row["syscall"]} for run in runs]
    found = {}
    for syscall in {name for rows in each for name in rows}:
        here = [rows.get(syscall) or {"calls": 0, "failed": 0, "total_ns": None} for rows in each]
        known_ns = [row["total_ns"] for row in here if row["total_ns"] is not None]
        found[syscall] = Numbers(
            calls=round(median(row["calls"] for row in here)),
            failed=round(median(row["failed"] for row in here)),
            total_ns=round(median(known_ns)) if known_ns else None,
        )
    return found
