"""Selections of events, scopes of the partition, and thresholds of path time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tracealyze import _engine

if TYPE_CHECKING:
    from tracealyze.model.expression import Expression


@dataclass(frozen=True)
class Selection:
    """Which events count. Empty or None does not restrict; several restrictions must all hold."""

    pids: tuple[int, ...] = ()
    programs: tuple[str, ...] = ()
    start: str | None = None
    end: str | None = None
    root: int | None = None
    syscalls: tuple[str, ...] = ()
    where: Expression | None = None
    """A condition on the columns of events."""
    capture: int | None = None
    """Number of the only capture to use."""

    def for_engine(self) -> _engine.Selection:
        """The selection as an engine object."""
        return _engine.Selection(
            pids=self.pids,
            programs=self.programs,
            from_=self.start,
            to=self.end,
            root=self.root,
            syscalls=self.syscalls,
            condition=self.where.for_engine() if self.where else None,
            capture=self.capture,
        )


@dataclass(frozen=True)
class Threshold:
    """Minimum path time of a row, or of all rows of one process, program or capture together."""

    within: str
    """row, process, program, or capture."""
    min_ns: tuple[int, ...]
    """By number of the capture."""

    def for_engine(self) -> tuple[str, tuple[int, ...]]:
        """The threshold as the engine's tuple."""
        return self.within, self.min_ns


@dataclass(frozen=True)
class Scope:
    """Pieces of the partition with one of the values in `only` for each of its keys, and none of those in `without`."""

    only: Mapping[str, Sequence[object]] = field(default_factory=dict)
    without: Mapping[str, Sequence[object]] = field(default_factory=dict)

    def for_engine(self) -> tuple[list[tuple[str, Sequence[object]]], list[tuple[str, Sequence[object]]]]:
        """The scope as the engine's tuples."""
        return list(self.only.items()), list(self.without.items())
