"""What explains a difference: causes that are gone, new, or in both, each with its time on the critical path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from tracealyze.base.program_names import short
from tracealyze.findings.grouping import FindingGroup, grouped

if TYPE_CHECKING:
    from tracealyze.compare.run import Run
    from tracealyze.findings.finding import Finding

CauseKey: TypeAlias = tuple[str, str]
"""The rule, and the program."""
Fate: TypeAlias = Literal["gone", "new", "both"]
"""On which side a cause is."""
FATES: tuple[Fate, ...] = get_args(Fate)
"""In the order of a report."""


@dataclass(frozen=True)
class Cause:
    """The findings of one rule about one program, before and after."""

    fate: Fate
    finding: Finding
    """One that stands for them, of the later side if it has any."""
    before_ns: int
    """Median over the runs of the time that it explains; 0 if there is none."""
    after_ns: int

    def document(self) -> dict[str, object]:
        """The cause as it appears in JSON."""
        return {
            "status": self.fate,
            "code": self.finding.code,
            "rule": self.finding.name,
            "program": self.finding.program,
            "text": self.finding.diagnosis or self.finding.message,
            "before_ns": self.before_ns,
            "after_ns": self.after_ns,
        }


@dataclass(frozen=True)
class _Side:
    found: Mapping[CauseKey, FindingGroup]
    """Of the causes that most runs have, the first group."""
    times_ns: Mapping[CauseKey, int]


def key_of(group: FindingGroup) -> CauseKey:
    """What makes two groups of findings one cause: texts have numbers, and lines differ."""
    return group.first.name, short(group.first.program) or ""


def causes(before: Sequence[Run], after: Sequence[Run]) -> list[Cause]:
    """The causes that take time on either side: those that are gone, then new ones, then those in both."""
    then, now = _side(before), _side(after)
    made = []
    for key in {**then.found, **now.found}:
        fate: Fate = "gone" if key not in now.found else "new" if key not in then.found else "both"
        group = now.found.get(key) or then.found[key]
        cause = Cause(fate, group.first, then.times_ns.get(key, 0), now.times_ns.get(key, 0))
        if cause.before_ns or cause.after_ns:
            made.append(cause)
    return sorted(made, key=lambda each: (FATES.index(each.fate), -max(each.before_ns, each.after_ns)))


def _side(runs: Sequence[Run]) -> _Side:
    found: dict[CauseKey, FindingGroup] = {}
    times: dict[CauseKey, list[int]] = {}
    for run in runs:
        sums: dict[CauseKey, int] = {}
        for group in grouped(run.trace.findings):
            key = key_of(group)
            found.setdefault(key, group)
            took = (each.share * run.trace.wall_ns_of(each.capture) for each in group.members if each.share)
            sums[key] = sums.get(key, 0) + round(sum(took))
        for key, took_ns in sums.items():
            times.setdefault(key, []).append(took_ns)
    common = {key for key, each in times.items() if 2 * len(each) > len(runs)}
    missing = {key: [0] * (len(runs) - len(times[key])) for key in common}
    return _Side(
        {key: group for key, group in found.items() if key in common},
        {key: round(median([*times[key], *missing[key]])) for key in common},
    )
