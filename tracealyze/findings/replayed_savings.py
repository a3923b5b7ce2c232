"""Savings by a replay of the capture without the causes: of each alone, of each where the others are fixed, of all.

Times on the critical path do not always add up to a saving. A shorter sleep in parallel is not on the path, but without
the longer one, it is. Two causes may cover the same time. docs/what-if.md has the method.
Captures with more than `MAX_REPLAYED_CALLS` calls are only replayed without all causes: for each of them, it would cost
a third of the time of the report.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MAX_REPLAYED_CALLS, MAX_REPLAYED_ONCE_CALLS, MAX_RESIDUE_SHARE
from tracealyze.base.sanitize import shown
from tracealyze.findings.basis import Basis
from tracealyze.findings.finding import Finding, Severity
from tracealyze.model.trace_tables import LeftOut, Replayed, TraceTables, Variant

if TYPE_CHECKING:
    from tracealyze.findings.cause import Cause

_MAX_ALONE = 8
"""Causes that are also replayed one by one: the largest."""

_LOW, _HIGH = 0, 1


def with_replayed_savings(trace: TraceTables, found: Sequence[tuple[Finding, Cause]]) -> list[tuple[Finding, Cause]]:
    """The findings in the same order, with what a replay leaves of their savings."""
    of_captures: dict[int, list[int]] = defaultdict(list)
    for number, (finding, cause) in enumerate(found):
        if _is_replayed(trace, finding, cause):
            of_captures[finding.capture].append(number)
    changed = list(found)
    for capture, numbers in of_captures.items():
        replays = _Replays(trace, capture, [found[number] for number in numbers])
        for number, finding in zip(numbers, replays.findings(), strict=True):
            changed[number] = (finding, found[number][1])
    return changed


def _is_replayed(trace: TraceTables, finding: Finding, cause: Cause) -> bool:
    capture = trace.capture_of(finding.capture)
    is_log = capture is None or capture.dur_kind == "gap"
    is_cause = finding.basis is Basis.WALL and finding.severity is not Severity.INFO
    has_saving = cause.claimed_ns > 0 and _saved_ns(finding) > 0
    return is_cause and has_saving and not is_log and trace.totals["calls"] <= MAX_REPLAYED_ONCE_CALLS


def _saved_ns(finding: Finding) -> int:
    return finding.impact_ns[_HIGH] if finding.impact_ns else 0


@dataclass(frozen=True)
class _Replays:
    """Replays of a capture without some of the causes of these findings.

    They keep what tracing added: findings promise nothing of that, and a replay without it rests on an average."""

    trace: TraceTables
    capture: int
    found: Sequence[tuple[Finding, Cause]]

    def findings(self) -> list[Finding]:
        """The findings, with the bounds that the replays show."""
        unchanged = [finding for finding, _ in self.found]
        every = range(len(self.found))
        answers = self._without([([], _HIGH), (every, _HIGH), (every, _LOW)])
        if not answers:
            return unchanged
        before, after, least = answers
        together_ns = (before.wall_ns - least.wall_ns, before.wall_ns - after.wall_ns)
        promised_ns = min(sum(map(_saved_ns, unchanged)), before.wall_ns)
        is_hidden = together_ns[_HIGH] < (1 - MAX_RESIDUE_SHARE) * promised_ns
        rival = self._rival(before, after) if is_hidden else ""
        if is_hidden and not rival:
            # Something else waits meanwhile, and nobody knows for what: perhaps for the removed cause.
            return unchanged
        bounded = [replace(finding, together_ns=together_ns) for finding in unchanged]
        is_small = self.trace.totals["calls"] <= MAX_REPLAYED_CALLS
        # What another process takes over has to be said, whatever it costs.
        if rival or (len(bounded) > 1 and is_small):
            for number in sorted(every, key=lambda each: -_saved_ns(bounded[each]))[:_MAX_ALONE]:
                bounded[number] = self._limited(number, bounded[number], (before, after), rival)
        return bounded

    def _without(self, sets: Sequence[tuple[Sequence[int], int]]) -> list[Replayed]:
        """The window without some causes, as far as the lower or upper bound of each finding says."""
        variants = []
        for fixed, bound in sets:
            shares = tuple((each, self._kept_ppm(each, bound)) for each in fixed)
            variants.append(Variant(shares, LeftOut.NOTHING))
        return self.trace.replayed(self.capture, [cause.claims for _, cause in self.found], (), variants)

    def _kept_ppm(self, number: int, bound: int) -> int:
        finding, cause = self.found[number]
        return cause.kept_ppm((finding.impact_ns or (0, 0))[bound])

    def _limited(self, number: int, finding: Finding, whole: tuple[Replayed, Replayed], rival: str) -> Finding:
        """The finding with what is left of its saving if it is fixed alone, or last."""
        before, after = whole
        others = [each for each in range(len(self.found)) if each != number]
        alone, last = self._without([([number], _HIGH), (others, _HIGH)])
        alone_ns, last_ns = before.wall_ns - alone.wall_ns, last.wall_ns - after.wall_ns
        saved_ns, promised_ns = max(alone_ns, last_ns, 0), _saved_ns(finding)

        def is_less(ns: int) -> bool:
            return ns < (1 - MAX_RESIDUE_SHARE) * promised_ns

        if rival and is_less(saved_ns):
            return _shortened(finding, saved_ns, rival, self.trace.tick_ns)
        if is_less(alone_ns):
            return _remarked(finding, f"Alone, this saves {self._at_most(alone_ns)}: another cause takes as long.")
        if is_less(last_ns):
            return _remarked(finding, f"After the other causes are fixed, this saves {self._at_most(last_ns)}.")
        return finding

    def _at_most(self, ns: int) -> str:
        return f"at most {units.duration(ns, self.trace.tick_ns)}" if ns > self.trace.tick_ns else "nothing"

    def _rival(self, before: Replayed, after: Replayed) -> str:
        """The program of another process that takes over more of the time than any other; empty if there is none."""
        gain = after.most_gained(before)
        pids = {finding.pid for finding, _ in self.found}
        is_other = gain is not None and gain.pid not in pids and _sleeps_or_works(self.trace, gain.pid, gain.ns)
        return gain.name if gain and is_other else ""


def _sleeps_or_works(trace: TraceTables, pid: int, gain_ns: int) -> bool:
    """Whether a process certainly takes most of that time by itself.

    What a wait with an unknown end waits for may be the cause that was removed."""
    slept_ns = sum(row["ran_ns"] or 0 for row in trace.table("sleeps") if row["pid"] == pid)
    worked_ns = sum(row["gap_ns"] or 0 for row in trace.processes if row["pid"] == pid)
    return bool(2 * (slept_ns + worked_ns) >= gain_ns)


def _shortened(finding: Finding, saved_ns: int, rival: str, tick_ns: int) -> Finding:
    low_ns, high_ns = finding.impact_ns or (0, 0)
    both = units.duration(high_ns, tick_ns)
    hint = f"{shown(rival)} runs meanwhile, and takes over: only without that, this saves up to {both}."
    return _remarked(replace(finding, impact_ns=(min(low_ns, saved_ns), saved_ns)), hint)


def _remarked(finding: Finding, remark: str) -> Finding:
    return replace(finding, advice=f"{remark} {finding.advice}".rstrip())
