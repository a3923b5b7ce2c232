"""The events behind a finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracealyze.model.claims import Claim

_WHOLE_PPM = 1_000_000
_HIDDEN_BY_GRAPH = ("polls",)
"""Tables whose costs are pauses that hide awaited work: a replay removes all of them, and the awaited work stays."""


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

    def kept_ppm(self, saving_ns: float) -> int:
        """The share of it that remains in a replay, in millionths, if so much is saved."""
        if self.table in _HIDDEN_BY_GRAPH:
            return 0
        return round(_WHOLE_PPM * max(0.0, 1 - saving_ns / self.claimed_ns))
