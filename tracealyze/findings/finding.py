"""Findings: what the rules say about a trace, with what it costs, the proof and the advice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING

from tracealyze import units
from tracealyze.expression.evaluation import evaluate
from tracealyze.findings import messages
from tracealyze.findings.matching import Match, matches, tables_of, tick_ns
from tracealyze.findings.messages import short
from tracealyze.findings.rule_set import Rule
from tracealyze.schema import ACROSS

if TYPE_CHECKING:
    from tracealyze.expression import Form
    from tracealyze.table import Row
    from tracealyze.trace import Trace


class Severity(StrEnum):
    """How much a finding matters: it follows from the time that could be freed."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


SEVERITIES = ((Severity.ERROR, units.S, 0.2), (Severity.WARNING, 100 * units.MS, 0.05))
"""Of each, from how much time that could be freed on, and from which share of the window on."""
# A rule speaks for itself if at least this part of its time is not told by a more specific one.
_OWN_PART = 0.5
_UNEXPLAINED_KEPT = 3
_INFERRED = "inferred"
# A cost of fewer steps of the clock than this is rather guessed.
_MEASURED_TICKS = 10
_CHANGING = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8,}|\d+")


@dataclass(frozen=True)
class Finding:
    """What one rule says about one place of a trace."""

    code: str
    name: str
    severity: Severity
    confidence: str
    message: str
    pid: int | None
    program: str | None
    syscall: str | None
    op: str | None
    target: str | None
    calls: int
    impact_ns: tuple[int, int]
    share: float
    lines: tuple[int, ...]
    advice: str
    capture: int = 0
    files: tuple[str, ...] = ()
    """The file of each line, where a capture has several; empty if it is not known."""
    also: tuple[str, ...] = ()
    """Names of more general rules that match here too."""
    tracing_ns: int = 0
    """What of its time tracing itself costs at least, judged by calls that do nothing. It cannot be freed."""

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """Where to look: file, or an empty text where the capture is one file or it is not known, and line."""
        return tuple(zip(self.files or ("",) * len(self.lines), self.lines, strict=True))

    @property
    def fingerprint(self) -> str:
        """The same for the same cause in another capture: no ids, lines or times in it."""
        from hashlib import blake2b

        target = _CHANGING.sub("N", self.target or "")
        facts = "\0".join((self.name, short(self.program), self.syscall or "", self.op or "", target))
        return blake2b(facts.encode(errors="surrogateescape"), digest_size=8).hexdigest()

    def document(self) -> dict[str, object]:
        """As it stands in JSON."""
        keys = [item.name for item in fields(self) if item.name != "also"]
        facts = {key: getattr(self, key) for key in keys}
        return facts | {"fingerprint": self.fingerprint, "also_matches": list(self.also)}


@dataclass(frozen=True)
class Diagnosis:
    """All findings about a trace, and what none of them explains."""

    findings: list[Finding]
    unexplained_ns: int
    """Time of the window that no finding covers."""
    unexplained: list[Row]
    """The largest pieces of it."""


def diagnosis(trace: Trace, chosen: Sequence[Rule]) -> Diagnosis:
    """What rules say, the costliest first; time that several speak of belongs to the most specific one."""
    alone = [rule for rule in chosen if rule.table not in ACROSS]
    tables = tables_of(trace, alone)
    found = [match for rule in alone for match in matches(trace, rule, tables)]
    found.sort(key=lambda match: (-match.rule.precedence, -match.cost_ns, match.rule.code))
    shares, rest, rest_ns = trace.claims([match.claimants for match in found], _UNEXPLAINED_KEPT)
    places = [_Place(match, *share) for match, share in zip(found, shares, strict=True)]
    for place in places:
        if not place.speaks and place.taken:
            most = max(place.taken, key=lambda taken: taken[1])[0]
            speaker = _speaking(places, most)
            speaker.also.append(place.match.rule.name)
            speaker.besides_ns += place.left_ns
    findings = [_finding(trace, place) for place in places if place.speaks]
    findings.sort(key=_order)
    return Diagnosis(findings, rest_ns, list(rest))


def severity(impact_ns: int, share: float) -> Severity:
    """The severity of freeing so much time, which is this share of the window."""
    for name, at_least_ns, at_least_share in SEVERITIES:
        if impact_ns >= at_least_ns and share >= at_least_share:
            return name
    return Severity.INFO


@dataclass
class _Place:
    """A match, and what of its time is its own."""

    match: Match
    total_ns: int
    own_ns: int
    tracing_ns: int
    taken: list[tuple[int, int]]
    """Numbers of the matches that have the rest of it, and how much."""
    also: list[str] = field(default_factory=list)
    besides_ns: int = 0
    """What could be freed of time that others left to it."""

    @property
    def speaks(self) -> bool:
        """Whether it is a finding of its own."""
        if not self.match.rule.cost or not self.taken:
            return True
        return self.is_mostly_own and not self.is_told

    @property
    def is_mostly_own(self) -> bool:
        """Whether most of its time is told by nobody else."""
        return self.own_ns >= _OWN_PART * self.total_ns

    @property
    def is_told(self) -> bool:
        """Whether others tell most of what it costs: a loop, of which only the time between the calls is left to it."""
        return sum(ns for _, ns in self.taken) >= _OWN_PART * self.match.cost_ns

    @property
    def left_ns(self) -> int:
        """What could be freed of its own time, which goes with what others tell: no calls, no time between them."""
        return self.impact_ns[1] if self.is_told and self.is_mostly_own else 0

    @property
    def impact_ns(self) -> tuple[int, int]:
        """What could be freed, from and to: no more than its own time, without what only tracing costs."""
        most_ns = self.own_ns - self.tracing_ns
        low, high = (
            max(0, min(round(_impact(self.match, bound)), most_ns)) for bound in self.match.rule.forms["impact"]
        )
        return min(low, high), high


def _speaking(places: Sequence[_Place], number: int) -> _Place:
    """The place that speaks for the time that this one has; the first of a chain always does."""
    while not places[number].speaks and places[number].taken:
        number = max(places[number].taken, key=lambda taken: taken[1])[0]
    return places[number]


def _order(finding: Finding) -> tuple[object, ...]:
    return (list(Severity).index(finding.severity), -finding.impact_ns[1], finding.code, finding.lines)


def _finding(trace: Trace, place: _Place) -> Finding:
    match, rule = place.match, place.match.rule
    wall_ns = trace.wall_ns_of(match.capture)
    low, high = place.impact_ns
    high += place.besides_ns
    share = match.cost_ns / wall_ns if wall_ns else 0.0
    row = match.row
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=Severity(rule.severity) if rule.severity else severity(high, high / wall_ns if wall_ns else 0.0),
        confidence=_INFERRED if _is_guessed(trace, match) else rule.confidence,
        message=messages.message(rule.message, match, trace),
        pid=row.get("pid"),
        program=row.get("program"),
        syscall=row.get("syscall"),
        op=row.get("op"),
        target=row.get("target"),
        calls=row.get("calls") or 0,
        impact_ns=(low, high),
        share=share,
        lines=tuple(line for _, line in match.lines),
        files=tuple(file for file, _ in match.lines if file is not None),
        advice=messages.message(rule.advice, match, trace),
        capture=match.capture,
        also=tuple(dict.fromkeys(name for name in place.also if name != rule.name)),
        tracing_ns=place.tracing_ns,
    )


def _is_guessed(trace: Trace, match: Match) -> bool:
    return 0 < match.cost_ns < _MEASURED_TICKS * tick_ns(trace, match)


def _impact(match: Match, bound: Form) -> float:
    return match.cost_ns * bound if isinstance(bound, int | float) else float(evaluate(bound, match.row) or 0)
