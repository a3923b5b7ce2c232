"""The events behind a finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracealyze.model.claims import Claim


@dataclass(frozen=True)
class Cause:
    """The events that a finding is about."""

    claims: tuple[Claim, ...]
    claimed_ns: int
    """Their time on the critical path."""
    table: str
    """The table that the rule reads."""
    saving_ns: tuple[int, int]
    """Bounds of what its time on the path allows to save, even if other work hides a part of that."""
