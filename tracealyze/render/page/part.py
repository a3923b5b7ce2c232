"""A capture as part of a page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tracealyze.findings.grouping import FindingGroup, grouped

if TYPE_CHECKING:
    from tracealyze.trace.summary import Summary
    from tracealyze.trace.trace import Trace


@dataclass(frozen=True)
class Part:
    """A capture as part of a page. The prefix keeps ids apart on a page with several."""

    trace: Trace
    summary: Summary
    top: int
    prefix: str = "c"
    scale_ns: int | None = None
    """The time that the width of the chart stands for; the window by default."""

    every_ns: int | None = None
    """Length of the intervals of the section about what changed over time; None without it."""

    @cached_property
    def groups(self) -> list[FindingGroup]:
        """The findings, in the order of all reports."""
        return grouped(self.summary.findings)

    def finding_id(self, number: int) -> str:
        """The id of the element of a finding, which ends with its number."""
        return f"{self.prefix}-finding-{number}"
