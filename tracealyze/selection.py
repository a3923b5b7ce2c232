"""Selections: which events count, which pieces of the partition are meant, and from where on rows matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tracealyze import _engine

if TYPE_CHECKING:
    from tracealyze.expression import Expression


@dataclass(frozen=True)
class Selection:
    """Which events count. What is empty or None does not restrict; several conditions must all hold."""

    pids: tuple[int, ...] = ()
    programs: tuple[str, ...] = ()
    start: str | None = None
    end: str | None = None
    root: int | None = None
    syscalls: tuple[str, ...] = ()
    where: Expression | None = None
    """A condition on events."""
    capture: int | None = None
    """Number of the only capture that counts."""

    def for_engine(self) -> _engine.Selection:
        """The same, as the engine takes it."""
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
class Floor:
    """Time on the path from which on rows matter: alone, or with all of one process, one program or one capture."""

    within: str
    """row, process, program, or capture."""
    least_ns: tuple[int, ...]
    """By number of the capture."""


@dataclass(frozen=True)
class Scope:
    """Some pieces of the partition: those that have one of these values for each key, and none of the others."""

    only: Mapping[str, Sequence[object]] = field(default_factory=dict)
    without: Mapping[str, Sequence[object]] = field(default_factory=dict)

    def for_engine(self) -> tuple[list[tuple[str, Sequence[object]]], list[tuple[str, Sequence[object]]]]:
        """The same, as the engine takes it."""
        return list(self.only.items()), list(self.without.items())
