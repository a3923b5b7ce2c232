"""A finding that a baseline accepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracealyze.base.program_names import short

if TYPE_CHECKING:
    from tracealyze.findings.finding import Finding


@dataclass(frozen=True)
class KnownFinding:
    """An accepted cause, and up to how many findings of it."""

    name: str
    code: str
    severity: str
    program: str | None
    syscall: str | None
    number: int
    target: str = ""

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> KnownFinding:
        """From findings with one cause."""
        first = findings[0]
        return cls(
            first.name,
            first.code,
            str(first.severity),
            short(first.program) or None,
            first.syscall,
            len(findings),
            first.target or "",
        )
