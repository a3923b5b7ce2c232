"""Findings with the same cause: by fingerprint, even if a name is made up or the program was renamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, TypeAlias

from tracealyze.base.program_names import short
from tracealyze.compare.name_patterns import differ_in_made_up_names

if TYPE_CHECKING:
    from tracealyze.compare.gate.known_finding import KnownFinding
    from tracealyze.compare.run import Run
    from tracealyze.findings.finding import Finding

_About: TypeAlias = "tuple[str, str | None, str | None]"
"""A rule, a program and a syscall."""


class Causes:
    """Known causes, by the fingerprint of their first finding."""

    def __init__(self, known: Mapping[str, KnownFinding], programs: Iterable[str] = ()) -> None:
        self._programs = frozenset(programs)
        """All programs that ran when these causes were found."""
        self._targets: dict[_About, dict[str, str]] = {}
        for fingerprint, each in known.items():
            self._targets.setdefault((each.name, each.program, each.syscall), {})[fingerprint] = each.target

    def of(self, run: Run) -> dict[str, list[Finding]]:
        """The findings of a run by cause. New causes become known."""
        programs = {row.program for row in run.work}
        found: dict[str, list[Finding]] = {}
        for finding in run.findings:
            found.setdefault(self._cause(finding, programs), []).append(finding)
        return found

    def _cause(self, finding: Finding, programs: Set[str]) -> str:
        about, target = (finding.name, short(finding.program) or None, finding.syscall), finding.target or ""
        mine, known = finding.fingerprint, self._targets.setdefault(about, {})
        if mine not in known:
            mine = _same(target, known) or self._of_renamed(about, target, programs) or mine
            known.setdefault(mine, target)
        return mine

    def _of_renamed(self, about: _About, target: str, programs: Set[str]) -> str | None:
        """The cause in a program that no longer runs, if this one is new: it was renamed, or its name has a version."""
        rule, program, syscall = about
        if not program or program in self._programs:
            return None
        for (name, former, call), known in self._targets.items():
            if (name, call) == (rule, syscall) and former in self._programs - programs:
                found = next((each for each, other in known.items() if other == target), _same(target, known))
                if found is not None:
                    return found
        return None


def _same(target: str, known: Mapping[str, str]) -> str | None:
    """The cause whose target differs only in made-up names."""
    return next((each for each, other in known.items() if other and differ_in_made_up_names(target, other)), None)
