"""Findings of one rule with one cause, combined."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.program_names import short
from tracealyze.findings.compiled_rules import INCUBATOR
from tracealyze.findings.finding import SEVERITIES, Finding, Severity
from tracealyze.findings.rule_set import rules

if TYPE_CHECKING:
    from tracealyze.model.trace_tables import TraceTables

# Numbers with their unit, and ids in names: these differ between processes with the same cause.
_NUMBER = re.compile(r"(?:up to |< |> )?(?:0x[0-9a-f]+|\d[\d,.]*)(?: ?(?:ns|µs|ms|s|min|h|%|bytes|[KMGT]iB)\b)?|once")

_ENDS = 2
"""The first and the last line of what a finding is about."""


@dataclass(frozen=True)
class FindingGroup:
    """One or more findings of one rule, of one capture, that differ in ids and numbers only."""

    members: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The finding that stands for all of them."""
        return self.members[0]

    @property
    def impact_ns(self) -> tuple[int, int]:
        """Bounds of the time that could be saved."""
        return impact_ns(self.members)

    @property
    def rest(self) -> str:
        """The end of a sentence about the first finding: where else it holds; empty if nowhere."""
        others = len(self.members) - 1
        if not others:
            return ""
        pids = [each.pid for each in self.members]
        nouns = ("process", "processes") if None not in pids and len(set(pids)) == len(pids) else ("place", "places")
        return f" The same in {units.counted(others, *(f'more {noun}' for noun in nouns))}."


def impact_ns(findings: Iterable[Finding]) -> tuple[int, int]:
    """Bounds of the time that could be saved by these findings together. They have no path time in common."""
    bounds = [finding.impact_ns for finding in findings if finding.impact_ns]
    return sum(low for low, _ in bounds), sum(high for _, high in bounds)


def grouped(findings: Iterable[Finding]) -> list[FindingGroup]:
    """The findings by cause, in the order of their first members."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_cause(finding), []).append(finding)
    return [FindingGroup(tuple(members)) for members in groups.values()]


def _cause(finding: Finding) -> tuple[object, ...]:
    said = finding.message.removeprefix(f"pid {finding.pid} ")
    return (finding.capture, finding.code, short(finding.program), finding.severity, _NUMBER.sub("N", said))


def is_about_capture(trace: TraceTables, finding: Finding) -> bool:
    """Whether a finding of no cost is about the capture as a whole, so that its lines are not evidence."""
    capture = trace.capture_of(finding.capture)
    if capture is None or finding.severity != "info" or finding.share or len(finding.lines) < _ENDS:
        return False
    if len(capture.files) > 1:
        # Each file has lines of its own.
        return finding.name in about_captures()
    first, last = finding.lines[:_ENDS]
    return first == capture.first_line and last - first + 1 >= capture.lines


@cache
def that_mean(meaning: str) -> frozenset[str]:
    """Names of the packaged rules whose findings mean this for the verdict of a run: a key of `rule_file.MEANINGS`."""
    return frozenset(rule.name for rule in rules(INCUBATOR) if meaning in rule.means)


def stands(trace: TraceTables, finding: Finding, impact_ns: int) -> bool:
    """Whether it is a warning or an error, or could save a large part of the wall time, without that of tracing."""
    *_, large_share = SEVERITIES[0]
    is_large = impact_ns >= large_share * max(trace.wall_ns_of(finding.capture), 1)
    return finding.severity is not Severity.INFO or is_large


@cache
def that_doubt_times() -> frozenset[str]:
    """Names of those packaged rules about captures as a whole that lead: no time means much before they are read."""
    return frozenset(rule.name for rule in rules() if rule.leads) & about_captures()


@cache
def about_captures() -> frozenset[str]:
    """Names of the packaged rules about captures as a whole. Their lines are the first and the last one."""
    return frozenset(rule.name for rule in rules() if rule.table == "captures")
