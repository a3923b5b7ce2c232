"""Findings of one cause, told from their fingerprints, or where these differ by a name that somebody made up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from tracealyze.alike import differ_in_made_up_names
from tracealyze.words import short

if TYPE_CHECKING:
    from tracealyze.finding import Finding
    from tracealyze.gate.baseline import Known
    from tracealyze.metrics import Run

_About: TypeAlias = "tuple[str, str | None, str | None]"
"""A rule, a program and a syscall."""


class Causes:
    """The causes that are known, by the fingerprint of the first finding of each."""

    def __init__(self, known: Mapping[str, Known]) -> None:
        self._targets: dict[_About, dict[str, str]] = {}
        for fingerprint, each in known.items():
            self._targets.setdefault((each.name, each.program, each.syscall), {})[fingerprint] = each.target

    def of(self, run: Run) -> dict[str, list[Finding]]:
        """The findings of a run by their cause; what was not known yet is from now on."""
        found: dict[str, list[Finding]] = {}
        for finding in run.findings:
            found.setdefault(self._cause(finding), []).append(finding)
        return found

    def _cause(self, finding: Finding) -> str:
        known = self._targets.setdefault((finding.name, short(finding.program) or None, finding.syscall), {})
        mine, target = finding.fingerprint, finding.target or ""
        if mine not in known:
            here = (each for each, other in known.items() if other and differ_in_made_up_names(target, other))
            mine = next(here, mine)
            known.setdefault(mine, target)
        return mine
