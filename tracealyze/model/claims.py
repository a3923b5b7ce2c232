"""Claims on critical-path time: what a match claims, and what of it is left when all claims are settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tracealyze.model.selection import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracealyze.model.table import Table


@dataclass(frozen=True)
class TableRows:
    """Rows of a table that knows the events of each row (`Table.knows_events`)."""

    table: Table
    numbers: Sequence[int]
    """Row numbers, from 0."""


Claim: TypeAlias = Scope | TableRows
"""What is claimed: pieces of the partition, or the events of table rows."""


@dataclass(frozen=True)
class Caller:
    """A function that makes most of some calls, by the stacks that the tracer printed."""

    function: str
    source: str | None
    """File and line in the function from which most of the time is spent; None if they are not printed."""
    module: str | None
    """The program or library that contains the function."""
    calls: int
    ns: int
    """Their time on the critical path, or their elapsed time."""
    all_calls: int
    """Number of calls of all functions."""


@dataclass(frozen=True)
class TakenShare:
    """Time of a claim that an earlier claim already has."""

    claim: int
    """Number of the earlier claim, from 0."""
    dur_ns: int


@dataclass(frozen=True)
class ClaimShare:
    """How much of the path one claim covers, and how much of that it keeps."""

    total_ns: int
    own_ns: int
    """The part that no earlier claim has."""
    tracing_ns: int
    """The minimum tracing overhead within `own_ns`."""
    taken: tuple[TakenShare, ...]


@dataclass(frozen=True)
class ClaimShares:
    """The path divided among claims: earlier claims take precedence."""

    shares: tuple[ClaimShare, ...]
    """One per claim, in the same order."""
    unclaimed: Table
    """The largest pieces of the partition that no claim covers."""
    unclaimed_ns: int
    """The sum of all such pieces."""
