"""Savings that are smaller than the time on the critical path, because another process needs the time as well.

A shorter sleep in parallel is not on the critical path of the capture. Without the longer one, it is. A replay without
the causes shows that. docs/what-if.md has the method.
Captures with more than `MAX_REPLAYED_CALLS` calls are not replayed: it would cost a third of the time of the report.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.base.heuristics import MAX_REPLAYED_CALLS, MAX_RESIDUE_SHARE
from tracealyze.base.sanitize import shown
from tracealyze.findings.basis import Basis
from tracealyze.findings.finding import Finding, Severity
from tracealyze.model.trace_tables import LeftOut, Replayed, Variant

if TYPE_CHECKING:
    from tracealyze.findings.cause import Cause
    from tracealyze.model.trace_tables import TraceTables

_MAX_REPLAYED = 8


def without_hidden(trace: TraceTables, found: Sequence[tuple[Finding, Cause]]) -> list[tuple[Finding, Cause]]:
    """The findings in the same order, those with a hidden saving with what is left of it."""
    of_captures: dict[int, list[int]] = defaultdict(list)
    for number, (finding, cause) in enumerate(found):
        if _is_replayed(trace, finding, cause):
            of_captures[finding.capture].append(number)
    changed = list(found)
    for capture, numbers in of_captures.items():
        largest = sorted(numbers, key=lambda number: -_saved_ns(found[number][0]))[:_MAX_REPLAYED]
        for number, finding in _limited(trace, capture, {each: found[each] for each in largest}).items():
            changed[number] = (finding, found[number][1])
    return changed


def _is_replayed(trace: TraceTables, finding: Finding, cause: Cause) -> bool:
    capture = trace.capture_of(finding.capture)
    is_log = capture is None or capture.dur_kind == "gap"
    is_cause = finding.basis is Basis.WALL and finding.severity is not Severity.INFO
    has_saving = cause.claimed_ns > 0 and _saved_ns(finding) > 0
    return is_cause and has_saving and not is_log and trace.totals["calls"] <= MAX_REPLAYED_CALLS


def _saved_ns(finding: Finding) -> int:
    return finding.impact_ns[1] if finding.impact_ns else 0


def _limited(trace: TraceTables, capture: int, found: dict[int, tuple[Finding, Cause]]) -> dict[int, Finding]:
    """Those of these findings of a capture whose saving other processes hide even if all of them are fixed.

    Replays keep what tracing added: findings promise nothing of that, and a replay without it rests on an average."""
    numbers = list(found)
    shares = {number: found[number][1].kept_ppm(_saved_ns(found[number][0])) for number in numbers}
    claims = [found[number][1].claims for number in numbers]

    def walls(sets: Sequence[Sequence[int]]) -> list[Replayed]:
        variants = [
            Variant(tuple((numbers.index(each), shares[each]) for each in fixed), LeftOut.NOTHING) for fixed in sets
        ]
        return trace.replayed(capture, claims, (), variants)

    answers = walls([[], numbers])
    if not answers:
        return {}
    before, after = answers
    promised_ns = min(sum(_saved_ns(found[number][0]) for number in numbers), before.wall_ns)
    rival = _rival(trace, (before, after), {found[number][0].pid for number in numbers})
    if before.wall_ns - after.wall_ns >= (1 - MAX_RESIDUE_SHARE) * promised_ns or not rival:
        return {}
    alone = walls([[number] for number in numbers])
    others = walls([[each for each in numbers if each != number] for number in numbers])
    limited = {}
    for number, fixed, left in zip(numbers, alone, others, strict=True):
        finding = found[number][0]
        saved_ns = max(before.wall_ns - fixed.wall_ns, left.wall_ns - after.wall_ns, 0)
        if saved_ns < (1 - MAX_RESIDUE_SHARE) * _saved_ns(finding):
            limited[number] = _shortened(finding, saved_ns, rival, trace.tick_ns)
    return limited


def _rival(trace: TraceTables, replays: tuple[Replayed, Replayed], pids: set[int | None]) -> str:
    """The program of another process that takes over more of the time than any other; empty if there is none."""
    before, after = replays
    found = after.most_gained(before)
    is_other = found is not None and found.pid not in pids and _sleeps_or_works(trace, found.pid, found.ns)
    return found.name if found and is_other else ""


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
    return replace(finding, impact_ns=(min(low_ns, saved_ns), saved_ns), advice=f"{hint} {finding.advice}".rstrip())
