"""The diagnosis: matches of all rules, with overlapping path time divided among them, as findings.

Each match claims path time; the rule with the higher precedence takes what several claim. A match that keeps too
little of its time is not reported by itself: the finding that took most of it lists its rule under `also`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from tracealyze.base.heuristics import (
    MAX_TRACING_ERROR,
    MIN_ERROR_IMPACT_NS,
    MIN_MEASURED_TICKS,
    MIN_MIXED_SHARE,
    MIN_OWN_SHARE,
    MIN_WARNING_IMPACT_NS,
)
from tracealyze.findings import messages
from tracealyze.findings.basis import Basis, basis_of
from tracealyze.findings.bounds import has_upper_bounds, may_be_outside
from tracealyze.findings.cause import Cause
from tracealyze.findings.finding import Finding, Severity, severity
from tracealyze.findings.grouping import is_about_capture, stands
from tracealyze.findings.matching import PATH_TIME, Match, matches, tables_of, tick_ns
from tracealyze.findings.replayed_savings import with_replayed_savings
from tracealyze.findings.rule_set import Rule
from tracealyze.model.expression.evaluation import evaluate
from tracealyze.model.expression.schema import TABLES

if TYPE_CHECKING:
    from tracealyze.model.claims import Caller, Claim, ClaimShare, TakenShare
    from tracealyze.model.expression import Form
    from tracealyze.model.table import Row
    from tracealyze.model.trace_tables import TraceTables

_MAX_UNEXPLAINED = 3
_MAX_REMARKS = 2
_INFERRED = "inferred"
_LESS = {Severity.ERROR: Severity.WARNING, Severity.WARNING: Severity.INFO, Severity.INFO: Severity.INFO}
_OF_QUICK_CALLS = ("io",)
"""Tables whose costs are durations of calls that hardly do anything."""


@dataclass(frozen=True)
class Diagnosis:
    """All findings of a trace, and the time that none of them explains."""

    findings: list[Finding]
    causes: list[Cause]
    """One per finding, in the same order."""
    unexplained_ns: int
    """Time of the window that no finding covers."""
    unexplained: list[Row]
    """The largest pieces of it."""


Worded: TypeAlias = Callable[["Row"], "Row"]
"""Replaces values of a row in messages, such as the names of files."""


def diagnosis(trace: TraceTables, rules: Sequence[Rule], worded: Worded | None = None) -> Diagnosis:
    """What these rules find, by severity and then by impact. Rules that lead follow what they do not put in doubt."""
    single = [rule for rule in rules if not TABLES[rule.table].spans_captures]
    tables = tables_of(trace, single)
    found = [match for rule in single for match in matches(trace, rule, tables) if not _is_ignored(trace, match)]
    found.sort(key=lambda match: (-match.rule.precedence, -match.cost_ns, match.rule.code))
    settled = trace.claims([match.claims for match in found], _MAX_UNEXPLAINED)
    claimed = [
        _ClaimedMatch(_counted_once(match, share), share) for match, share in zip(found, settled.shares, strict=True)
    ]
    for each in claimed:
        if not each.is_finding:
            owner = _owner(claimed, each)
            owner.also.append(each.match.rule.name)
            owner.remarks += [each.match] if each.match.rule.remark else []
            owner.inherited_ns += each.ceded_ns
    reported = [each for each in claimed if each.is_finding]
    # The name of a function is a text of the trace, too.
    callers = trace.callers([_calls(each.match) for each in reported]) if worded is None else [None] * len(reported)
    findings = [
        (_finding(trace, each if worded is None else each.worded(worded), caller), each.cause)
        for each, caller in zip(reported, callers, strict=True)
    ]
    findings = with_replayed_savings(trace, findings)
    leading = {rule.name for rule in rules if rule.leads}
    findings.sort(key=lambda each: _order(trace, each[0], each[0].name in leading))
    return Diagnosis(
        [finding for finding, _ in findings],
        [cause for _, cause in findings],
        settled.unclaimed_ns,
        list(settled.unclaimed),
    )


def _calls(match: Match) -> tuple[tuple[Claim, ...], str | None, str | None]:
    """The calls that a match is about: where they are, their name and their operation."""
    return match.claims, match.row.get("syscall"), match.row.get("op")


def _counted_once(match: Match, share: ClaimShare) -> Match:
    """The match with its cost without overlap: the rows of a group may cover the same time, such as the children of a
    shell and those of its subshells."""
    is_path_time = match.rule.cost == PATH_TIME and match.basis is Basis.WALL
    if not match.rule.group or not is_path_time or not 0 < share.total_ns < match.cost_ns:
        return match
    return replace(match, cost_ns=share.total_ns)


@dataclass
class _ClaimedMatch:
    """A match with its share of the path time that it claims."""

    match: Match
    share: ClaimShare
    also: list[str] = field(default_factory=list)
    remarks: list[Match] = field(default_factory=list)
    """Those of them with a remark in their rule."""
    inherited_ns: int = 0
    """Impact of other matches that are reported as part of this one."""

    def worded(self, worded: Worded) -> _ClaimedMatch:
        """The same match with other words in its messages."""
        match, *remarks = (replace(each, row=worded(each.row)) for each in (self.match, *self.remarks))
        return replace(self, match=match, remarks=remarks)

    @property
    def cause(self) -> Cause:
        """Its events."""
        return Cause(self.match.claims, self.share.total_ns, self.match.rule.table, self.saving_ns)

    @property
    def is_finding(self) -> bool:
        """Whether it is reported by itself."""
        rule = self.match.rule
        is_free = not rule.cost and (self.match.basis is not Basis.COUNTS or rule.leads)
        if is_free or not self.share.taken:
            return True
        return self._keeps_most and not self._cost_is_mostly_taken

    @property
    def _keeps_most(self) -> bool:
        """Whether no other match has most of its path time."""
        return self.share.own_ns >= MIN_OWN_SHARE * self.share.total_ns

    @property
    def _cost_is_mostly_taken(self) -> bool:
        """Whether others have most of its cost: of a loop, only the time between the calls may be left."""
        cost_ns = self.share.total_ns if self.match.basis is Basis.COUNTS else self.match.cost_ns
        return sum(each.dur_ns for each in self.share.taken) >= MIN_OWN_SHARE * cost_ns

    @property
    def ceded_ns(self) -> int:
        """The impact of its own time where the time of its calls is taken: without calls, no time between them."""
        return self.impact_ns[1] if self._cost_is_mostly_taken and self._keeps_most else 0

    @property
    def impact_ns(self) -> tuple[int, int]:
        """Bounds of the time that could be freed: up to its own time without tracing overhead, and up to its cost."""
        is_outside = self.match.is_outside
        max_ns = self.match.cost_ns if is_outside else self._within_cost(self._own_without_tracing_ns)
        low, high = (
            max(0, min(round(_impact(self.match, bound)), max_ns)) for bound in self.match.rule.forms["impact"]
        )
        return min(low, high), high

    @property
    def _own_without_tracing_ns(self) -> int:
        """Its own time without tracing; of quick calls none if tracing may be all of it."""
        own_ns, tracing_ns = self.share.own_ns, self.share.tracing_ns
        may_be_all = tracing_ns * (1 + MAX_TRACING_ERROR) >= own_ns
        return 0 if may_be_all and self.match.rule.table in _OF_QUICK_CALLS else own_ns - tracing_ns

    @property
    def saving_ns(self) -> tuple[int, int]:
        """Bounds of the saving that it promises, that of inherited matches included."""
        low, high = self.impact_ns
        return low, self._within_cost(high + self.inherited_ns)

    def _within_cost(self, ns: int) -> int:
        """A saving up to the cost that the message shows: a loop also has time between its calls."""
        return min(ns, self.match.cost_ns) if self.match.rule.cost and self.match.basis is not Basis.COUNTS else ns


def _is_ignored(trace: TraceTables, match: Match) -> bool:
    return match.rule.upper_bounds == "ignore" and _may_be_outside(trace, match)


def _may_be_outside(trace: TraceTables, match: Match) -> bool:
    # The calls alone, without what the program may have computed, have to be enough for a finding.
    least = match.rule.at_least
    min_ns = max(least.total_ns, least.share * match.whole.ns)
    return may_be_outside(trace.capture_of(match.capture), match.rule, match.row, match.cost_ns, min_ns)


def _mixes_threads(trace: TraceTables, match: Match) -> bool:
    """Whether calls of several threads appear as those of one, so that it is unknown what a process waited for."""
    capture = trace.capture_of(match.capture)
    if capture is None or not capture.mixed_calls:
        return False
    calls = sum(capture.accounting.get(kind, 0) for kind in ("call", "call_start"))
    return capture.mixed_calls >= MIN_MIXED_SHARE * calls


def _owner(claimed: Sequence[_ClaimedMatch], match: _ClaimedMatch) -> _ClaimedMatch:
    """The finding that covers this match, through the largest takers. These come earlier in the order, so it ends."""
    while not match.is_finding and match.share.taken:
        match = claimed[_largest(match.share.taken).claim]
    return match


def _largest(taken: Sequence[TakenShare]) -> TakenShare:
    return max(taken, key=lambda each: each.dur_ns)


def _known_ns(trace: TraceTables, match: Match) -> int:
    """A long time that its calls take at least, where nothing else in the capture has a duration."""
    is_lower_bound = match.basis is Basis.ELAPSED and basis_of(trace, match.capture) is Basis.COUNTS
    return match.cost_ns if is_lower_bound and match.cost_ns >= MIN_ERROR_IMPACT_NS else 0


def _order(trace: TraceTables, finding: Finding, leads: bool) -> tuple[object, ...]:
    # Impacts exclude tracing overhead, so a warning stands, whatever tracing cost; so does much of a short window.
    impact_ns = finding.impact_ns[1] if finding.impact_ns else 0
    is_certain = stands(trace, finding, impact_ns)
    ranked = list(Severity).index(finding.severity)
    # Hints that promise little are ordered by what they explain, as in the diagnosis.
    explained = -(finding.share or 0.0) if not is_certain else 0.0
    # What is true of the whole capture follows what happened in it.
    about_capture = is_about_capture(trace, finding)
    # Lines of several files have no order. Hints without a share come by their cost, in which order they are already.
    lines = () if finding.files or (finding.share is None and not is_certain) else finding.lines
    # Seconds that passed say more than a number of calls whose times are unknown.
    return (
        about_capture,
        -finding.known_ns,
        not is_certain,
        not leads,
        ranked,
        explained,
        -impact_ns,
        finding.code,
        lines,
    )


def _finding(trace: TraceTables, claimed: _ClaimedMatch, caller: Caller | None) -> Finding:
    match, rule = claimed.match, claimed.match.rule
    low, high = claimed.saving_ns
    row = match.row
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=_severity(trace, match, high, claimed.share.tracing_ns),
        basis=match.basis,
        confidence=_INFERRED if _is_estimate(trace, match) else rule.confidence,
        message=messages.message(rule.message, match, trace) + messages.made_by(match, caller, trace),
        pid=row.get("pid"),
        program=row.get("program"),
        syscall=row.get("syscall"),
        op=row.get("op"),
        target=row.get("target"),
        calls=row.get("calls") or 0,
        impact_ns=None if match.basis is Basis.COUNTS else (low, high),
        share=match.whole.share(match.cost_ns),
        busy_share=row.get("busy_share"),
        lines=tuple(line for _, line in match.lines),
        files=tuple(file for file, _ in match.lines if file is not None),
        advice=_advice(trace, claimed),
        capture=match.capture,
        also=tuple(dict.fromkeys(name for name in claimed.also if name != rule.name)),
        title=rule.title,
        diagnosis=messages.sentence(rule.diagnosis or rule.message, match, trace, messages.within(caller)),
        function=caller.function if caller else None,
        source=caller.source if caller else None,
        module=caller.module if caller else None,
        extent=tuple((file or "", line) for file, line in match.extent),
        tracing_ns=_tracing_ns(trace, claimed),
        known_ns=_known_ns(trace, match),
    )


def _tracing_ns(trace: TraceTables, claimed: _ClaimedMatch) -> int:
    """What tracing added to its time: no more than to the whole capture, which is estimated otherwise or measured."""
    if not claimed.share.tracing_ns:
        return 0
    wholes = (row["tracing_ns"] for row in trace.table("captures") if row.get("capture", 0) == claimed.match.capture)
    return min(claimed.share.tracing_ns, next(wholes, None) or claimed.share.tracing_ns)


def _advice(trace: TraceTables, claimed: _ClaimedMatch) -> str:
    rule, match = claimed.match.rule, claimed.match
    remarks = [messages.message(each.rule.remark, each, trace) for each in claimed.remarks[:_MAX_REMARKS]]
    return " ".join([messages.message(rule.advice, match, trace), *dict.fromkeys(remarks)])


def _severity(trace: TraceTables, match: Match, impact_ns: int, tracing_ns: int) -> Severity:
    if match.basis is Basis.COUNTS and match.rule.warning_from:
        is_many = (match.row.get(match.rule.count) or 0) >= match.rule.warning_from
        # Known durations show that many calls cost little.
        is_cheap = basis_of(trace, match.capture) is not Basis.COUNTS
        return Severity.WARNING if is_many and not is_cheap else Severity.INFO
    if match.rule.severity:
        return Severity(match.rule.severity)
    if match.rule.upper_bounds == "info" and _may_be_outside(trace, match):
        return Severity.INFO
    # One thread may have slept or waited while another one worked.
    if match.rule.cost and _mixes_threads(trace, match):
        return Severity.INFO
    share = match.whole.share(impact_ns)
    if share is None:
        # A lower bound by itself: the share of it is unknown, and so is whether anybody waited.
        capture = trace.capture_of(match.capture)
        is_log = capture is not None and capture.dur_kind == "gap"
        # What a message of a log states is measured.
        return Severity.WARNING if is_log and impact_ns >= MIN_WARNING_IMPACT_NS else Severity.INFO
    # Of a window that a coarse clock measured, the share is at least this.
    precision = messages.share_precision(match, trace.capture_of(match.capture), match.whole.ns)
    # It does not show what tracing takes between calls. That may be more, so less of the lives of processes is left.
    unknown_ns = precision * tracing_ns if TABLES[match.rule.table].times == "lives" else 0
    found = severity(int(impact_ns - unknown_ns), share / (1 + precision))
    return _LESS[found] if _is_part_of_calls(trace, match) else found


def _is_part_of_calls(trace: TraceTables, match: Match) -> bool:
    """Whether its share is one of the time in calls, which is larger than that of the unknown window."""
    capture = trace.capture_of(match.capture)
    has_lines = capture is not None and bool(capture.has.get("events"))
    return match.basis is Basis.ELAPSED and not match.is_outside and has_lines


def _is_estimate(trace: TraceTables, match: Match) -> bool:
    """Whether its cost was not measured: it is an upper bound, or a few ticks of the clock."""
    capture = trace.capture_of(match.capture)
    is_upper_bound = bool(match.rule.cost) and has_upper_bounds(capture)
    # A log shows what was written during the time, not what took it.
    is_silence = bool(match.rule.cost) and capture is not None and capture.dur_kind == "gap"
    is_mixed = bool(match.rule.cost) and _mixes_threads(trace, match)
    is_lower_bound = match.basis is Basis.ELAPSED and basis_of(trace, match.capture) is Basis.COUNTS
    return (
        is_lower_bound
        or is_upper_bound
        or is_silence
        or is_mixed
        or 0 < match.cost_ns < MIN_MEASURED_TICKS * tick_ns(trace, match)
    )


def _impact(match: Match, bound: Form) -> float:
    return match.cost_ns * bound if isinstance(bound, int | float) else float(evaluate(bound, match.row) or 0)
